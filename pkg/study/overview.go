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

// Overview returns a table with a row for each machine and class of
// distributions, worst cases over all K and all distributions of the class. The
// columns are τ of the paper's theorem; τ of the tightest valid bound for each
// level of knowledge; the largest relative deviation of the mean (one sign) or
// slope (mean zero) and of the spread of the errors from their predictions; and
// the time to compute the exact error relative to that of the product. The two
// classes are data of mean zero and data of one sign. Other distributions are
// omitted.
func (s *BoundSweep) Overview() *viz.Table {
	levels := []bound.Knowledge{bound.Moments, bound.Sums, bound.Trace}
	header := []string{"Machine", "Entries", "τ of VIBEA", "τ from the distribution", "τ from sums", "τ from a trace",
		"predictions off by", "exact / product time"}
	least := make([]sweep.Row, len(levels))
	var rows [][]string
	for _, m := range distinct(s, machineOf) {
		for _, kind := range []string{meanZero, sameSign} {
			of := s.of(func(r sweep.Row) bool { return !r.PerOutput && r.Machine == m && kindOf(r.Data) == kind })
			if len(of) == 0 {
				continue
			}
			row := []string{machineNamed(m), kind, worstOf(of, "vibea")}
			for i, knows := range levels {
				cell := "–"
				if r, ok := loosest(of, knows); ok {
					cell = twoDigits(r.Tightness)
					if least[i].Bound == "" || r.Tightness < least[i].Tightness {
						least[i] = r
					}
				}
				row = append(row, cell)
			}
			mean, spread := deviations(of, kind)
			rows = append(rows, append(row, percentOff(larger(mean, spread)), twoDigits(cost(of))))
		}
	}
	t := viz.NewTable(s.stem+"-overview",
		fmt.Sprintf("With the trace of a run an error reaches %s of its bound or more; from the distribution of the data alone, %s or more.",
			twoDigits(least[len(least)-1].Tightness), twoDigits(least[0].Tightness)),
		fmt.Sprintf("Worst over K = %s and entries ~ %s. τ, brackets and ✗ as in the tables of tightness. %s",
			typeset.List(lengths(s)), typeset.List(names(s)), s.conditions("K")), header)
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

// lengths returns the values of K of a sweep.
func lengths(s *BoundSweep) (ks []string) {
	for _, k := range distinct(s, lengthOf) {
		ks = append(ks, fmt.Sprint(k))
	}
	return ks
}

// Summary returns the findings of [BoundSweep.Overview] as text: the ratio of
// the VIBEA bound to the error on the first machine, which rounds to nearest;
// its violations on the other machines; the ratios of valid bounds to the
// error, for bounds known before the product is computed and for bounds from a
// run; and the deviations from the predictions.
func (s *BoundSweep) Summary() string {
	machines := distinct(s, machineOf)
	first, others := machines[:1], machines[1:]
	rows := func(machines []string, kind string) []sweep.Row {
		return s.of(func(r sweep.Row) bool {
			return !r.PerOutput && slices.Contains(machines, r.Machine) && kindOf(r.Data) == kind
		})
	}
	// too returns the range, over all cells, of the ratio 1/τ of the tightest valid
	// bound to the largest error.
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
		off = append(off, percentOff(larger(larger(mean, spread), larger(slope, other)))+" "+on(m))
	}
	return fmt.Sprintf("With data of both signs the theorem of the paper is up to %s times too large on the paper's model; "+
		"of products of one sign it is exceeded on %s of the outputs of tensor cores, of all lengths. "+
		"From the distribution of the data alone follow bounds that hold: %s times the largest error on tensor cores where errors drift, "+
		"%s times where they cancel, and %s times on the paper's model with data of both signs. "+
		"With sums or traces all come within %s times there, and within %s and %s on tensor cores. "+
		"Where the sample is large enough to tell, mean, slope and spread are as predicted, to %s.",
		times(1/loose), share(above, outputs), too(others, sameSign, bound.Moments),
		too(others, meanZero, bound.Moments), too(first, meanZero, bound.Moments),
		too(first, meanZero, bound.Trace), too(others, sameSign, bound.Trace), too(others, meanZero, bound.Trace),
		strings.Join(off, ", "))
}

// The classes of distributions.
const (
	meanZero = "mean zero"
	sameSign = "one sign"
)

// kindOf returns the class of the distribution with the given name, or "" if it
// is in neither.
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

// names returns the names of the distributions of a sweep.
func names(s *BoundSweep) (sets []string) {
	for _, l := range distinct(s, dataOf) {
		sets = append(sets, dataNamed(l))
	}
	return sets
}

// eachCell calls f with each cell of rows: the rows of one machine,
// distribution and K, of which the first is the row of the error.
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

// loosest returns, of the tightest valid bounds of all cells, the least tight,
// and whether every cell has a valid bound. It omits cells with a product
// without any error, which says nothing of a bound.
func loosest(rows []sweep.Row, knows bound.Knowledge) (worst sweep.Row, ok bool) {
	ok = true
	eachCell(rows, func(cell []sweep.Row) {
		r, found := sweep.Tightest(cell, knows)
		ok = ok && found
		if found && r.Tightness > 0 && (worst.Bound == "" || r.Tightness < worst.Tightness) {
			worst = r
		}
	})
	return worst, ok && worst.Bound != ""
}

// worstOf returns, as the text of a table cell, the worst row of a bound: that
// with the most violations and, among these, the largest |error|/bound; without
// violations, that with the least τ that is not 0.
func worstOf(rows []sweep.Row, name string) string {
	var worst sweep.Row
	for _, r := range rows {
		if r.Bound != name || r.Tightness == 0 {
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

// deviations returns the largest relative deviation of the mean (of the slope,
// for data of mean zero) and of the spread from their predictions. Means and
// slopes count only where their standard error is below 5 % of the prediction.
// It returns NaN where nothing was predicted or no sample is large enough.
func deviations(rows []sweep.Row, kind string) (mean, spread float64) {
	mean, spread = math.NaN(), math.NaN()
	eachCell(rows, func(cell []sweep.Row) {
		e := cell[0]
		// The outputs of one row of D are not independent, and count as one.
		noise := e.Spread() / math.Sqrt(float64(e.M*e.Runs))
		measured, predicted := e.Mean(), e.Predicted.Mean
		if kind == meanZero {
			data, _ := sweep.FindGenerator(e.Data)
			noise *= data.X.MeanAbs() * data.Y.MeanAbs() * math.Sqrt(float64(e.K)/(data.X.MeanSquare()*data.Y.MeanSquare()))
			measured, predicted = e.Slope(), e.Predicted.Slope
		}
		if noise < 0.05*math.Abs(predicted) && measured != 0 {
			mean = larger(mean, math.Abs(predicted/measured-1))
		}
		if e.Spread() > 0 { // otherwise all errors are equal, or there are none
			spread = larger(spread, math.Abs(e.Predicted.Spread/e.Spread()-1))
		}
	})
	return mean, spread
}

// larger returns the larger of x and y, where NaN counts as smaller than any
// number.
func larger(x, y float64) float64 {
	if math.IsNaN(x) || y > x {
		return y
	}
	return x
}

// cost returns the time to compute all exact errors divided by that of all
// products.
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
