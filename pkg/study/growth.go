package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Growth returns the chart of the largest |error|/|A||B| and of bounds on it
// against K, for one distribution, with a panel for each machine. The bounds
// are the tightest valid deterministic and the tightest valid probabilistic
// bound at the largest K, and the paper's theorem where it is violated there.
func (s *BoundSweep) Growth(data string) *viz.Chart {
	ks := distinct(s, lengthOf)
	exponent := map[string]float64{}
	for _, g := range sweep.GrowthOf(s.of(func(r sweep.Row) bool { return r.Data == data && !r.PerOutput })) {
		exponent[g.Machine] = g.Error
	}
	var words []string
	machines := distinct(s, machineOf)
	for _, m := range machines {
		words = append(words, m+" "+typeset.Number(exponent[m], 2))
	}
	c := viz.NewChart(fmt.Sprintf("%s-growth-%s", s.stem, slugOf(data)),
		fmt.Sprintf("The largest |error|/|A||B| grows with a power of K that depends on the machine: %s.", strings.Join(words, ", ")),
		fmt.Sprintf("Beside it the tightest deterministic and probabilistic bounds that hold, and the paper's theorem where it is exceeded. Entries ~ %s. %s. Drawn by study.BoundSweep.Growth.",
			typeset.Minus(data), s.conditions()))
	for _, m := range machines {
		p := c.Panel(m, viz.Axis{Label: "Inner dimension K", Log: true, Min: float64(slices.Min(ks)), Max: float64(slices.Max(ks))},
			viz.Axis{Label: "Largest |error| / |A||B|, and bounds on it", Log: true})
		line := func(series viz.Series, bound string, y func(sweep.Row) float64) {
			var x, values []float64
			for _, k := range ks {
				for _, r := range s.cell(m, data, k) {
					if r.Bound == bound && y(r) > 0 {
						x, values = append(x, float64(k)), append(values, y(r))
					}
				}
			}
			if len(x) > 1 {
				p.Line(series, x, values)
			}
		}
		constant := func(r sweep.Row) float64 { return r.Constant }
		last := s.cell(m, data, slices.Max(ks))
		line(paper.Observed, sweep.ErrorRow, func(r sweep.Row) float64 { return r.Largest })
		for _, kind := range []struct {
			certain bool
			series  viz.Series
		}{{true, paper.DBEA}, {false, paper.VIBEA}} {
			best, ok := sweep.Tightest(slices.DeleteFunc(slices.Clone(last), func(r sweep.Row) bool { return r.Deterministic != kind.certain }), bound.Trace)
			if ok {
				kind.series.Label = best.Bound
				line(kind.series, best.Bound, constant)
			}
		}
		if i := slices.IndexFunc(last, func(r sweep.Row) bool { return r.Bound == "vibea" && r.Violations > 0 }); i >= 0 {
			line(viz.Series{Label: "vibea, exceeded", Color: paper.VIBEA.Color, Style: viz.Dotted}, "vibea", constant)
		}
	}
	return c
}
