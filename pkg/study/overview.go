package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Overview returns the table of what is known about a machine, worst cases over
// all K and all distributions of a kind: τ of the paper's theorem, then of the
// tightest bound that holds for all that it needs to know; how far mean or
// slope and spread are from what was predicted; and what the exact error costs.
// Data of mean zero and of one sign are kinds of their own, others are left
// out.
func (s *BoundSweep) Overview() *viz.Table {
	levels := []struct {
		name  string
		knows bound.Knowledge
	}{{"told before", bound.Moments}, {"from sums", bound.Sums}, {"from a trace", bound.Trace}}

	header := []string{"Machine", "Data", "VIBEA"}
	for _, l := range levels {
		header = append(header, l.name)
	}
	least := make([]sweep.Row, len(levels))
	var rows [][]string
	for _, m := range distinct(s, machineOf) {
		for _, kind := range []string{meanZero, sameSign} {
			of := s.of(func(r sweep.Row) bool { return !r.PerOutput && r.Machine == m && kindOf(r.Data) == kind })
			if len(of) == 0 {
				continue
			}
			row := []string{m, kind, worstOf(of, "vibea")}
			for i, l := range levels {
				cell := "–"
				if r, ok := loosest(of, l.knows); ok {
					cell = typeset.Number(r.Tightness, 2) + ", " + r.Bound
					if least[i].Bound == "" || r.Tightness < least[i].Tightness {
						least[i] = r
					}
				}
				row = append(row, cell)
			}
			mean, spread := deviations(of, kind)
			rows = append(rows, append(row, percentOff(mean), percentOff(spread), typeset.Number(cost(of), 2)))
		}
	}
	last := least[len(least)-1]
	t := viz.NewTable(s.stem+"-overview",
		fmt.Sprintf("With the trace of a run an error reaches %s of its bound or more, on all machines; told before, %s or more.",
			typeset.Number(last.Tightness, 2), typeset.Number(least[0].Tightness, 2)),
		fmt.Sprintf("τ = |error|/bound, the largest of a product, then the least over seeds, K = %v, entries ~ %s; ✗: so many times above, on so many outputs. "+
			"Mean (of one sign) or slope (of mean zero) and spread: how far off what was predicted, where the sample tells it to 5 %%. Exact: its time over that of the product. %s. Drawn by study.BoundSweep.Overview.",
			distinct(s, lengthOf), strings.Join(names(s), ", "), s.conditions()),
		append(header, "mean or slope", "spread", "exact"))
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

// Summary says in words what [BoundSweep.Overview] shows: how VIBEA does on the
// first machine, which rounds to nearest, and on the others, how many times too
// large the bounds are that hold, told before or from a run, and how far off
// the predictions are.
func (s *BoundSweep) Summary() string {
	machines := distinct(s, machineOf)
	first, others := machines[:1], machines[1:]
	rows := func(machines []string, kind string) []sweep.Row {
		return s.of(func(r sweep.Row) bool {
			return !r.PerOutput && slices.Contains(machines, r.Machine) && kindOf(r.Data) == kind
		})
	}
	// too returns how many times too large the tightest bound is, from where it is
	// best to where worst.
	too := func(machines []string, kind string, knows bound.Knowledge) string {
		least, most := math.Inf(1), 0.0
		eachCell(rows(machines, kind), func(cell []sweep.Row) {
			if r, ok := sweep.Tightest(cell, knows); ok {
				least, most = min(least, 1/r.Tightness), max(most, 1/r.Tightness)
			}
		})
		return times(least) + " to " + times(most)
	}
	loose := math.Inf(1)
	for _, r := range rows(first, meanZero) {
		if r.Bound == "vibea" {
			loose = min(loose, r.Tightness)
		}
	}
	above, outputs := 0, 0
	for _, r := range rows(others, sameSign) {
		if r.Bound == "vibea" {
			above, outputs = above+r.Violations, outputs+r.Outputs
		}
	}
	var off []string
	for _, m := range machines {
		mean, spread := deviations(rows([]string{m}, sameSign), sameSign)
		slope, other := deviations(rows([]string{m}, meanZero), meanZero)
		off = append(off, percentOff(larger(larger(mean, spread), larger(slope, other)))+" on "+m)
	}
	return fmt.Sprintf("With data of both signs the theorem of the paper is up to %s times too large on the paper's model; "+
		"of products of one sign it is exceeded on %s of the outputs of tensor cores, of all lengths. "+
		"Told before, the distribution of the data gives bounds that hold: %s times the largest error on tensor cores where errors drift, "+
		"%s times where they cancel, and %s times on the paper's model with data of both signs. "+
		"With sums or traces all come within %s times there, and within %s and %s on tensor cores. "+
		"Mean, slope and spread are as predicted, to %s.",
		times(1/loose), share(above, outputs), too(others, sameSign, bound.Moments),
		too(others, meanZero, bound.Moments), too(first, meanZero, bound.Moments),
		too(first, meanZero, bound.Trace), too(others, sameSign, bound.Trace), too(others, meanZero, bound.Trace),
		strings.Join(off, ", "))
}

// The kinds of distributions.
const (
	meanZero = "mean zero"
	sameSign = "one sign"
)

// kindOf returns the kind of a distribution, or "".
func kindOf(name string) string {
	switch l, err := sweep.FindGenerator(name); {
	case err != nil || !l.X.CanDraw() || !l.Y.CanDraw():
	case l.X.Mean()*l.Y.Mean() == 0:
		return meanZero
	case l.X.MeanAbs() == math.Abs(l.X.Mean()) && l.Y.MeanAbs() == math.Abs(l.Y.Mean()):
		return sameSign
	}
	return ""
}

// names returns the distributions of a sweep.
func names(s *BoundSweep) (sets []string) {
	for _, l := range distinct(s, dataOf) {
		sets = append(sets, typeset.Minus(l))
	}
	return sets
}

// eachCell calls f with the rows of every distribution and K, that of the error
// first.
func eachCell(rows []sweep.Row, f func(cell []sweep.Row)) {
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].Bound != sweep.ErrorRow {
			j++
		}
		f(rows[i:j])
		i = j
	}
}

// loosest returns the least tight of the tightest bounds of all cells, and
// false where some cell has none.
func loosest(rows []sweep.Row, knows bound.Knowledge) (worst sweep.Row, ok bool) {
	ok = true
	eachCell(rows, func(cell []sweep.Row) {
		r, found := sweep.Tightest(cell, knows)
		ok = ok && found
		if found && (worst.Bound == "" || r.Tightness < worst.Tightness) {
			worst = r
		}
	})
	return worst, ok
}

// worstOf returns how a bound did where it did worst.
func worstOf(rows []sweep.Row, name string) string {
	var worst sweep.Row
	for _, r := range rows {
		if r.Bound != name {
			continue
		}
		switch {
		case worst.Bound == "", r.Violations > worst.Violations,
			r.Violations == worst.Violations && r.Violations > 0 && r.Largest > worst.Largest,
			r.Violations == 0 && worst.Violations == 0 && r.Tightness < worst.Tightness:
			worst = r
		}
	}
	if worst.Bound == "" {
		return "–"
	}
	return tightness(worst)
}

// deviations returns the largest relative distance of mean or slope and of
// spread from what was predicted; NaN where nothing was, or where the sample
// leaves more than 5 % of it open.
func deviations(rows []sweep.Row, kind string) (mean, spread float64) {
	mean, spread = math.NaN(), math.NaN()
	eachCell(rows, func(cell []sweep.Row) {
		e := cell[0]
		noise := e.Spread() / math.Sqrt(float64(e.M*e.Runs)) // outputs of a row are not independent
		measured, predicted := e.Mean(), e.Predicted.Mean
		if kind == meanZero {
			data, _ := sweep.FindGenerator(e.Data)
			noise *= data.X.MeanAbs() * data.Y.MeanAbs() * math.Sqrt(float64(e.K)/(data.X.MeanSquare()*data.Y.MeanSquare()))
			measured, predicted = e.Slope(), e.Predicted.Slope
		}
		if noise < 0.05*math.Abs(predicted) && measured != 0 {
			mean = larger(mean, math.Abs(predicted/measured-1))
		}
		if e.Spread() > 0 { // else all errors are alike, or there are none
			spread = larger(spread, math.Abs(e.Predicted.Spread/e.Spread()-1))
		}
	})
	return mean, spread
}

// larger returns the larger number, of those that are numbers.
func larger(x, y float64) float64 {
	if math.IsNaN(x) || y > x {
		return y
	}
	return x
}

// cost returns the time of all exact errors over that of all products.
func cost(rows []sweep.Row) float64 {
	exact, product := 0.0, 0.0
	eachCell(rows, func(cell []sweep.Row) {
		exact += cell[0].Exact
		product += cell[0].Product
	})
	return exact / product
}

func percentOff(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return times(100*x) + " %"
}
