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
	widest, product, exact := rows[0], 0.0, 0.0
	for _, r := range rows {
		if shift(r) > shift(widest) {
			widest = r
		}
		product += r.Product
		exact += r.Exact
	}
	t := viz.NewTable(fmt.Sprintf("%s-moments-%d", s.stem, k),
		fmt.Sprintf("Where products have one sign, truncation shifts all errors: on %s with %s their mean is %s times their spread.",
			widest.Machine, typeset.Minus(widest.Data), times(shift(widest))),
		fmt.Sprintf("Mean and standard deviation of error/|A||B|, and the slope of the error on the exact result, K = %d. Exact errors took %s times as long as the products. %s. Drawn by study.BoundSweep.Moments.",
			k, typeset.Number(exact/product, 2), s.conditions()),
		[]string{"Machine", "Data", "mean", "predicted", "slope", "predicted", "spread", "predicted"})
	for _, r := range rows {
		t.Row(r.Machine, typeset.Minus(r.Data), typeset.Number(r.Mean(), 3), predicted(r.Predicted.Mean), typeset.Number(r.Slope(), 3), predicted(r.Predicted.Slope),
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
