package study

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Best returns the chart of τ of the tightest valid bound on every machine at
// one K, with a panel for each distribution: among the bounds that can be
// computed before the product, and among all bounds.
func (s *BoundSweep) Best(k int) *viz.Chart {
	machines := distinct(s, machineOf)
	kinds := []struct {
		series viz.Series
		knows  bound.Knowledge
	}{
		{viz.Series{Label: "from the distribution", Color: viz.Orange}, bound.Moments},
		{viz.Series{Label: "from the sums or the trace of the run", Color: viz.SkyBlue}, bound.Trace},
	}
	least := []float64{math.Inf(1), math.Inf(1)}
	τ := map[string][][]float64{}
	for _, data := range distinct(s, dataOf) {
		for i, kind := range kinds {
			values := make([]float64, len(machines))
			for j, m := range machines {
				r, ok := sweep.Tightest(s.cell(m, data, k), kind.knows)
				if !ok {
					continue
				}
				values[j] = r.Tightness
				least[i] = min(least[i], r.Tightness)
			}
			τ[data] = append(τ[data], values)
		}
	}
	c := viz.NewChart(fmt.Sprintf("%s-best-%d", s.stem, k),
		fmt.Sprintf("From the sums or the trace of a run, bounds come close to the error, τ ≥ %s; from the distribution of the data, τ falls to %s.",
			twoDigits(least[1]), twoDigits(least[0])),
		"τ = |error|/bound of the tightest bound that holds, the largest of a product, least over seeds. "+s.conditions(fmt.Sprint(k)))
	titles := make([]string, len(machines))
	for i, m := range machines {
		titles[i] = machineNamed(m)
	}
	for _, data := range distinct(s, dataOf) {
		p := c.Panel("Entries ~ "+dataNamed(data), viz.Axis{Label: "τ, the largest |error| / bound", Max: 1}, viz.Axis{Label: "Machine"})
		for i, kind := range kinds {
			p.Bars(kind.series, titles, τ[data][i])
		}
	}
	return c
}
