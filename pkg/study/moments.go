package study

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Moments returns the table of the measured mean, slope and spread of the
// errors at one K, beside their predictions. It panics if there are no rows of
// errors at this K.
func (s *BoundSweep) Moments(k int) *viz.Table {
	rows := s.of(func(r sweep.Row) bool { return r.Bound == sweep.ErrorRow && !r.PerOutput && r.K == k })
	shift := func(r sweep.Row) float64 { return math.Abs(r.Mean()) / r.Spread() }
	widest := rows[0]
	for _, r := range rows {
		if shift(r) > shift(widest) {
			widest = r
		}
	}
	t := viz.NewTable(fmt.Sprintf("%s-moments-%d", s.stem, k),
		fmt.Sprintf("The mean of the errors is at most %s times their spread: %s, with %s.",
			times(shift(widest)), on(widest.Machine), dataNamed(widest.Data)),
		"Mean and spread (standard deviation) of error/|A||B|, and slope of the error over the exact result, each beside its prediction. "+s.conditions(fmt.Sprint(k)),
		[]string{"Machine", "Entries", "mean", "mean, predicted", "slope", "slope, predicted", "spread", "spread, predicted"})
	for _, r := range rows {
		t.Row(machineNamed(r.Machine), dataNamed(r.Data), typeset.Number(r.Mean(), 3), predicted(r.Predicted.Mean), typeset.Number(r.Slope(), 3), predicted(r.Predicted.Slope),
			typeset.Number(r.Spread(), 3), predicted(r.Predicted.Spread))
	}
	return t
}

func predicted(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return typeset.Number(x, 3)
}
