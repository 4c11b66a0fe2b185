package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Tightness returns the table of τ, the largest |error|/bound of a product (the
// least over the seeds), of every bound on every machine, for one distribution
// and K. Brackets mark a bound that is not claimed for the machine or the data,
// a cross a bound that is violated.
func (s *BoundSweep) Tightness(data string, k int) *viz.Table {
	machines := distinct(s, machineOf)
	cells := map[[2]string]string{}
	var bounds []string
	for _, m := range machines {
		for _, r := range s.cell(m, data, k) {
			if r.Bound == sweep.ErrorRow {
				continue
			}
			cells[[2]string{r.Bound, m}] = tightness(r)
			if !slices.Contains(bounds, r.Bound) {
				bounds = append(bounds, r.Bound)
			}
		}
	}
	t := viz.NewTable(fmt.Sprintf("%s-tightness-%s-%d", s.stem, slugOf(data), k),
		fmt.Sprintf("The tightest bound that holds is %s.", s.tightest(data, k)),
		fmt.Sprintf("τ: largest |error|/bound in a product, worst seed (1 = tight). "+
			"In brackets: the bound assumes what is false there. ✗ a×, b: exceeded by up to a factor a, on a share b of outputs. Entries ~ %s, K = %d. %s. Drawn by study.BoundSweep.Tightness.",
			typeset.Minus(data), k, s.conditions()), append([]string{"Bound"}, machines...))
	for _, b := range bounds {
		row := []string{b}
		for _, m := range machines {
			row = append(row, orDash(cells[[2]string{b, m}]))
		}
		t.Row(row...)
	}
	return t
}

// tightness returns the text of a cell of the table.
func tightness(r sweep.Row) string {
	switch {
	case r.Violations > 0:
		return fmt.Sprintf("✗ %s×, %s", times(r.Largest), share(r.Violations, r.Outputs))
	case r.Verdict != sweep.Holds:
		return "(" + typeset.Number(r.Tightness, 2) + ")"
	}
	return typeset.Number(r.Tightness, 2)
}

// times returns the factor x as text, to two digits below 10 and to the nearest
// integer below 10⁴.
func times(x float64) string {
	if x >= 10 && x < 1e4 {
		return fmt.Sprintf("%.0f", x)
	}
	return typeset.Number(x, 2)
}

// share returns the fraction n/total as text.
func share(n, total int) string {
	switch p := 100 * float64(n) / float64(total); {
	case n == total:
		return "all"
	case p < 0.1:
		return fmt.Sprintf("%d of %d", n, total)
	case p > 99:
		return "> 99 %"
	default:
		return typeset.Number(p, 2) + " %"
	}
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// tightest returns the tightest valid bound on each machine, as text.
func (s *BoundSweep) tightest(data string, k int) string {
	var words []string
	for _, m := range distinct(s, machineOf) {
		if r, ok := sweep.Tightest(s.cell(m, data, k), bound.Trace); ok {
			words = append(words, fmt.Sprintf("%s on %s (τ = %s)", r.Bound, m, typeset.Number(r.Tightness, 2)))
		}
	}
	return strings.Join(words, ", ")
}
