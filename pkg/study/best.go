package study

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/typeset"
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
	least := make([]sweep.Row, len(kinds))
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
				if least[i].Bound == "" || r.Tightness < least[i].Tightness {
					least[i] = r
				}
			}
			τ[data] = append(τ[data], values)
		}
	}
	at := func(r sweep.Row) string {
		return fmt.Sprintf("%s, %s on %s with %s", typeset.Number(r.Tightness, 2), r.Bound, r.Machine, typeset.Minus(r.Data))
	}
	c := viz.NewChart(fmt.Sprintf("%s-best-%d", s.stem, k),
		fmt.Sprintf("Seeing a run is worth more than knowing its data: with its sums or its trace τ is %s, at least, without them as little as %s.",
			at(least[1]), at(least[0])),
		fmt.Sprintf("τ of the tightest bound that holds; 1 would be an error that reaches its bound, no bar is no such bound. K = %d. %s. Drawn by study.BoundSweep.Best.",
			k, s.conditions()))
	for _, data := range distinct(s, dataOf) {
		p := c.Panel(typeset.Minus(data), viz.Axis{Label: "τ, the largest |error| / bound", Max: 1}, viz.Axis{Label: "machine"})
		for i, kind := range kinds {
			p.Bars(kind.series, machines, τ[data][i])
		}
	}
	return c
}
