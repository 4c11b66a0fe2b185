package study

import (
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Tightness returns the table of τ, the largest |error|/bound of a product (the
// least over the seeds), of every bound on every machine, for one distribution
// and K. Brackets mark a bound that is not claimed for the machine or the data,
// a cross a bound that is violated. The rows are grouped by what a bound
// assumes; bounds that agree on every machine to 5 % share a row.
func (s *BoundSweep) Tightness(data string, k int) *viz.Table {
	machines := distinct(s, machineOf)
	header := []string{"Bounds (equal to 5 %: one row)", "need to know"}
	for _, m := range machines {
		header = append(header, machineNamed(m))
	}
	t := viz.NewTable(fmt.Sprintf("%s-tightness-%s-%d", s.stem, slugOf(data), k),
		fmt.Sprintf("The largest error reaches %s of the tightest bound that holds.", s.reached(data, k)),
		fmt.Sprintf("Numbers are τ = |error|/bound, the largest of a product, least over seeds. "+
			"Brackets: an assumption is false; –: not for this machine. ✗ 3×, 79 %%: exceeded up to threefold, on 79 %% of outputs. Entries ~ %s, %s",
			dataNamed(data), s.conditions(fmt.Sprint(k))), header)
	for _, group := range assumptions {
		rows := s.judged(data, k, group.holds)
		if len(rows) > 0 {
			t.Row(append([]string{"*" + group.title + "*"}, make([]string, len(machines)+1)...)...)
		}
		for _, r := range rows {
			cells := []string{strings.Join(r.names, "; "), knowing[r.needs]}
			for _, m := range machines {
				cell := "–"
				if row, ok := r.on[m]; ok {
					cell = tightness(row)
				}
				cells = append(cells, cell)
			}
			t.Row(cells...)
		}
	}
	return t
}

// assumptions are the groups of bounds, by what they assume of a machine.
var assumptions = []struct {
	title string
	holds func(bound.Model) bool
}{
	{"Sums rounded to nearest", func(m bound.Model) bool { return !m.Random && m.Name != truncates && m.Name != "any" }},
	{"Sums rounded to nearest, errors random", func(m bound.Model) bool { return m.Random && m.Zero }},
	{"Sums truncated", func(m bound.Model) bool { return m.Name == truncates }},
	{"Sums truncated, products random", func(m bound.Model) bool { return m.Random && !m.Zero }},
}

var truncates = bound.Truncating.Name

// knowing are words for what a bound needs to know of the data.
var knowing = map[bound.Knowledge]string{bound.Nothing: "nothing", bound.Moments: "distribution", bound.Sums: "sums", bound.Trace: "trace"}

// judgement is one row of the table of tightness: bounds that need the same
// knowledge and agree, with the result of the first one on each machine.
type judgement struct {
	names []string
	needs bound.Knowledge
	on    map[string]sweep.Row
}

// judged returns the judgements of the bounds whose model is wanted, in the
// order of the catalogue. The exact error, which is no bound, is not among
// them.
func (s *BoundSweep) judged(data string, k int, wanted func(bound.Model) bool) []judgement {
	results := map[string]map[string]sweep.Row{} // by bound and machine
	for _, r := range s.of(func(r sweep.Row) bool { return !r.PerOutput && r.Data == data && r.K == k }) {
		if results[r.Bound] == nil {
			results[r.Bound] = map[string]sweep.Row{}
		}
		results[r.Bound][r.Machine] = r
	}
	var rows []judgement
	for _, b := range bound.Catalogue() {
		if wanted(b.Model) && results[b.Name] != nil {
			rows = fold(rows, judgement{[]string{boundNamed(b.Name)}, b.Needs, results[b.Name]})
		}
	}
	return rows
}

// fold appends a judgement to rows, or its names to the first row that it
// agrees with.
func fold(rows []judgement, next judgement) []judgement {
	for i, r := range rows {
		if r.agrees(next) {
			rows[i].names = append(r.names, next.names...)
			return rows
		}
	}
	return append(rows, next)
}

// agrees reports whether two bounds need the same knowledge and have, on every
// machine, the same verdict and the same |error|/bound to 5 %.
func (j judgement) agrees(with judgement) bool {
	if j.needs != with.needs || len(j.on) != len(with.on) {
		return false
	}
	for m, r := range j.on {
		q, ok := with.on[m]
		near := func(x, y float64) bool { return math.Abs(x-y) <= 0.05*max(x, y) }
		if !ok || r.Verdict != q.Verdict || !near(r.Tightness, q.Tightness) ||
			!near(r.Largest, q.Largest) || !near(float64(r.Violations), float64(q.Violations)) {
			return false
		}
	}
	return true
}

// tightness returns the text of a cell of the table.
func tightness(r sweep.Row) string {
	switch {
	case r.Violations > 0:
		return fmt.Sprintf("✗ %s×, %s", times(r.Largest), share(r.Violations, r.Outputs))
	case r.Verdict != sweep.Holds:
		return "(" + twoDigits(r.Tightness) + ")"
	}
	return twoDigits(r.Tightness)
}

// times returns the factor x as text, to two digits below 10 and to the nearest
// integer below 10⁴.
func times(x float64) string {
	if x >= 9.95 && x < 1e4 {
		return fmt.Sprintf("%.0f", x)
	}
	return twoDigits(x)
}

// share returns the fraction n/total as a percentage. It is 100 % or 0 % only
// if it is all or none.
func share(n, total int) string {
	switch p := 100 * float64(n) / float64(total); {
	case n == 0 || n == total:
		return fmt.Sprintf("%.0f %%", p)
	case p < 0.1:
		return "< 0.1 %"
	case p > 99:
		return "> 99 %"
	default:
		return times(p) + " %"
	}
}

// reached returns the least and the largest τ, over the machines, of the
// tightest valid bound, as text.
func (s *BoundSweep) reached(data string, k int) string {
	least, most := math.Inf(1), 0.0
	for _, m := range distinct(s, machineOf) {
		if r, ok := sweep.Tightest(s.cell(m, data, k), bound.Trace); ok {
			least, most = min(least, r.Tightness), max(most, r.Tightness)
		}
	}
	return fmt.Sprintf("%s to %s %%", times(100*least), times(100*most))
}
