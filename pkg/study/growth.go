package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	machines := distinct(s, machineOf)
	c := viz.NewChart(fmt.Sprintf("%s-growth-%s", s.stem, slugOf(data)),
		fmt.Sprintf("With entries from %s the largest error grows %s.", dataNamed(data), s.powers(data)),
		"Dashed: the tightest bounds that hold, certain (orange) and probabilistic (blue). Dotted: VIBEA, where it is exceeded. "+s.conditions("K"))
	curves := map[string][]growthCurve{}
	ranges := map[string][]float64{} // the values drawn, by the format of the factors
	for _, m := range machines {
		curves[m] = s.growthCurves(data, m, ks)
		for _, curve := range curves[m] {
			ranges[factorsOf(m)] = append(ranges[factorsOf(m)], curve.y...)
		}
	}
	for _, m := range machines {
		y := viz.Axis{Label: "Largest |error| / |A||B|, and bounds on it", Log: true}
		y.Min, y.Max = decades(slices.Min(ranges[factorsOf(m)]), slices.Max(ranges[factorsOf(m)]))
		p := c.Panel(machineNamed(m), viz.Axis{Label: "Inner dimension K", Log: true, Min: min(100, float64(slices.Min(ks))), Max: float64(slices.Max(ks))}, y)
		for _, curve := range curves[m] {
			p.Line(curve.Series, curve.x, curve.y)
			p.Points(curve.Series, curve.x, curve.y)
		}
	}
	return c
}

// powers returns with which power of K the largest error grows, the least and
// the greatest, as text with the machines.
func (s *BoundSweep) powers(data string) string {
	var all []sweep.Growth
	for _, g := range sweep.GrowthOf(s.of(func(r sweep.Row) bool { return r.Data == data && !r.PerOutput })) {
		if !math.IsNaN(g.Error) { // of errors that are all zero at some K
			all = append(all, g)
		}
	}
	slices.SortStableFunc(all, func(a, b sweep.Growth) int { return cmp.Compare(a.Error, b.Error) })
	if len(all) == 0 {
		return "by a power of K that these lengths do not tell"
	}
	part := func(g sweep.Growth) string {
		return typeset.Minus(fmt.Sprintf("%.2f (%s)", g.Error, machineNamed(g.Machine)))
	}
	return "with a power of K from " + part(all[0]) + " to " + part(all[len(all)-1])
}

// growthCurve is one line of a panel of the chart of growth.
type growthCurve struct {
	viz.Series
	x, y []float64
}

// growthCurves returns the lines of the panel of one machine: the largest
// error, the tightest bounds, and the paper's theorem if it is exceeded.
func (s *BoundSweep) growthCurves(data, machine string, ks []int) []growthCurve {
	var curves []growthCurve
	add := func(series viz.Series, bound string, y func(sweep.Row) float64) {
		curve := growthCurve{Series: series}
		for _, k := range ks {
			for _, r := range s.cell(machine, data, k) {
				if r.Bound == bound && y(r) > 0 {
					curve.x, curve.y = append(curve.x, float64(k)), append(curve.y, y(r))
				}
			}
		}
		if len(curve.x) > 1 {
			curves = append(curves, curve)
		}
	}
	constant := func(r sweep.Row) float64 { return r.Constant }
	last := s.cell(machine, data, slices.Max(ks))
	add(paper.Observed, sweep.ErrorRow, func(r sweep.Row) float64 { return r.Largest })
	for _, kind := range []struct {
		certain bool
		series  viz.Series
	}{{true, paper.DBEA}, {false, paper.VIBEA}} {
		best, ok := sweep.Tightest(slices.DeleteFunc(slices.Clone(last), func(r sweep.Row) bool { return r.Deterministic != kind.certain }), bound.Trace)
		if ok {
			kind.series.Label = boundNamed(best.Bound)
			add(kind.series, best.Bound, constant)
		}
	}
	if slices.ContainsFunc(last, func(r sweep.Row) bool { return r.Bound == "vibea" && r.Violations > 0 }) {
		add(viz.Series{Label: "VIBEA, exceeded", Color: paper.VIBEA.Color, Style: viz.Dotted}, "vibea", constant)
	}
	return curves
}

// factorsOf returns the format of the factors of a machine of package sweep.
// Panels of machines with the same one share a range and can be compared.
func factorsOf(machine string) string {
	m, _ := sweep.FindMachine(machine) // no format if there is none
	return m.Device.A.Name
}
