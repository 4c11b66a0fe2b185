package study

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Broken returns the table of bounds that are claimed for a machine and are
// violated by data that violate their assumption: the largest |error|/bound
// over all machines.
func (s *BoundSweep) Broken() *viz.Table {
	sets := distinct(s, dataOf)
	largest := map[[2]string]float64{}
	var bounds []string
	var worst sweep.Row
	for _, r := range s.of(func(r sweep.Row) bool { return r.Violations > 0 && !r.PerOutput && r.Verdict != sweep.NotMachine }) {
		if !slices.Contains(bounds, r.Bound) {
			bounds = append(bounds, r.Bound)
		}
		at := [2]string{r.Bound, r.Data}
		largest[at] = max(largest[at], r.Largest)
		if r.Largest > worst.Largest {
			worst = r
		}
	}
	finding := "No bound that holds on a machine is exceeded there"
	if len(bounds) > 0 {
		finding = fmt.Sprintf("Data that break what a bound assumes exceed it by up to %s times, %s on %s with %s", times(worst.Largest), worst.Bound, worst.Machine, worst.Data)
	}
	t := viz.NewTable(s.stem+"-broken",
		fmt.Sprintf("%s; %s.", finding, s.Counted()),
		fmt.Sprintf("The largest |error|/bound, where it is above 1 and the bound holds on the machine. K = %v. %s. Drawn by study.BoundSweep.Broken.",
			distinct(s, lengthOf), s.conditions()), append([]string{"Bound"}, sets...))
	for _, b := range bounds {
		row := []string{b}
		for _, l := range sets {
			cell := "–"
			if x := largest[[2]string{b, l}]; x > 0 {
				cell = times(x) + "×"
			}
			row = append(row, cell)
		}
		t.Row(row...)
	}
	return t
}
