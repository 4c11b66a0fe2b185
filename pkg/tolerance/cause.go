package tolerance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Cause would explain why outputs are beyond their tolerance.
type Cause struct {
	Name     string  `json:"cause"`    // dropped, scale, rows, columns, transposed, sums, factors, bit, not-finite, zeros
	Words    string  `json:"words"`    // what it is, and where
	Explains float64 `json:"explains"` // the share of the outputs beyond that it explains
}

// String returns the words, and which share is explained unless all are.
func (c Cause) String() string {
	if c.Explains >= 1 {
		return c.Words
	}
	return fmt.Sprintf("%s (%.3g %% of them)", c.Words, 100*c.Explains)
}

// A suspicion is a result of which outputs are beyond their tolerance.
type suspicion struct {
	t                 *Tolerance
	got, want, limits blas64.General
	beyond            []Element // by rows
}

// slack is how many tolerances an output may be from what a cause would make of
// it: the cause has its own rounding errors.
const slack = 2

// leastShare is the share of the outputs beyond that a cause has to explain.
const leastShare = 0.5

// detectives are what looks for causes, the cheap ones first.
var detectives = []func(suspicion) []Cause{
	suspicion.notFinite, suspicion.zeros, suspicion.bits, suspicion.moved, suspicion.transposed, suspicion.scaled, suspicion.products, suspicion.arithmetic,
}

// causes returns the causes that explain at least half of the outputs that are
// beyond, the likeliest first; the first that explains all ends the search.
func (s suspicion) causes() (all []Cause) {
	for _, find := range detectives {
		for _, c := range find(s) {
			if c.Explains >= leastShare {
				all = append(all, c)
			}
			if c.Explains >= 1 {
				return []Cause{c}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Cause) int { return cmp.Compare(b.Explains, a.Explains) })
	return all[:min(3, len(all))]
}

// share returns a cause with the share of the outputs beyond for which explains
// is true.
func (s suspicion) share(name, words string, explains func(e Element) bool) Cause {
	n := 0
	for _, e := range s.beyond {
		if explains(e) {
			n++
		}
	}
	return Cause{name, words, float64(n) / float64(len(s.beyond))}
}

// near reports whether an output is as a cause would have it, which is computed
// in binary64.
func near(e Element, x, limit float64) bool {
	return math.Abs(e.Got-x) <= slack*limit+0x1p-40*math.Abs(x)
}

// notFinite finds NaN and infinities.
func (s suspicion) notFinite() []Cause {
	out := s.t.Implementation.output()
	nan, inf, over := 0, 0, 0
	for _, e := range s.beyond {
		switch {
		case e.Got != e.Got:
			nan++
		case math.IsInf(e.Got, 0):
			inf++
			if math.Abs(e.Want)+e.Limit >= out.Max() {
				over++
			}
		}
	}
	if nan+inf == 0 {
		return nil
	}
	words := fmt.Sprintf("%d outputs are NaN and %d infinite", nan, inf)
	if over > 0 {
		words += fmt.Sprintf("; of %d the exact result does not fit in %s, which ends at %.4g", over, out.Name, out.Max())
	}
	return []Cause{{"not-finite", words, float64(nan+inf) / float64(len(s.beyond))}}
}

// zeros finds outputs that are 0, as those that nobody wrote.
func (s suspicion) zeros() []Cause {
	return []Cause{s.share("zeros", "they are 0, as outputs that were not written", func(e Element) bool { return e.Got == 0 })}
}

// bits finds outputs with one flipped bit, of which there may be few.
func (s suspicion) bits() []Cause {
	if len(s.beyond) > max(2, len(s.limits.Data)/256) {
		return nil
	}
	var words []string
	c := s.share("bit", "", func(e Element) bool {
		f := s.t.Implementation.output()
		if f.Round(e.Got, tcore.ToNearestEven) != e.Got {
			f = tcore.Binary32
		}
		code := f.Encode(e.Got, tcore.ToNearestEven)
		for place := range f.Bits() {
			if x := f.Decode(code ^ 1<<place); math.Abs(x-e.Want) <= e.Limit {
				if len(words) < 3 {
					words = append(words, fmt.Sprintf("place %d of [%d, %d]", place, e.Row, e.Column))
				}
				return true
			}
		}
		return false
	})
	c.Words = fmt.Sprintf("one bit is flipped, of %s, in %s", s.t.Implementation.output().Name, strings.Join(words, ", "))
	return []Cause{c}
}

// linesOf returns the rows or columns with outputs that are beyond, by their
// numbers.
func (s suspicion) linesOf(columns bool) map[int][]Element {
	lines := map[int][]Element{}
	for _, e := range s.beyond {
		i := e.Row
		if columns {
			i = e.Column
		}
		lines[i] = append(lines[i], e)
	}
	return lines
}

// mostLines is how many rows or columns are looked at.
const mostLines = 64

// moved finds rows and columns that are where another belongs.
func (s suspicion) moved() (found []Cause) {
	for _, columns := range []bool{false, true} {
		name, n := "row", s.want.Rows
		if columns {
			name, n = "column", s.want.Cols
		}
		lines := s.linesOf(columns)
		if len(lines) > mostLines {
			continue
		}
		numbers, from, explained := sorted(lines), map[int]int{}, 0
		for _, i := range numbers {
			for r := range n {
				if r == i || !s.isLine(columns, i, r) {
					continue
				}
				from[i] = r
				explained += len(lines[i])
				break
			}
		}
		var words []string
		for _, i := range numbers {
			r, ok := from[i]
			back, swapped := from[r]
			switch {
			case !ok || swapped && back == i && r < i || len(words) == 4:
			case swapped && back == i:
				words = append(words, fmt.Sprintf("%ss %d and %d are swapped", name, i, r))
			default:
				words = append(words, fmt.Sprintf("%s %d is what %s %d should be", name, i, name, r))
			}
		}
		found = append(found, Cause{name + "s", strings.Join(words, ", "), float64(explained) / float64(len(s.beyond))})
	}
	return found
}

// isLine reports whether row or column i of the outputs is what r should be.
func (s suspicion) isLine(columns bool, i, r int) bool {
	n := s.want.Cols
	if columns {
		n = s.want.Rows
	}
	for j := range n {
		at, from := [2]int{i, j}, [2]int{r, j}
		if columns {
			at, from = [2]int{j, i}, [2]int{j, r}
		}
		e := Element{Got: s.got.Data[at[0]*s.got.Stride+at[1]]}
		o := from[0]*s.want.Stride + from[1]
		if !near(e, s.want.Data[o], s.limits.Data[o]) {
			return false
		}
	}
	return true
}

// sorted returns the keys in order.
func sorted[V any](m map[int]V) (keys []int) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// transposed finds a transposed result, and transposed factors.
func (s suspicion) transposed() (found []Cause) {
	a, b := s.t.A, s.t.B
	if s.want.Rows == s.want.Cols {
		found = append(found, s.share("transposed", "D is transposed", func(e Element) bool {
			return near(e, s.want.Data[e.Column*s.want.Stride+e.Row], e.Limit)
		}))
	}
	try := func(words string, m blas64.General) {
		found = append(found, s.share("transposed", words, func(e Element) bool {
			return near(e, m.Data[e.Row*m.Stride+e.Column], e.Limit)
		}))
	}
	if b.Rows == b.Cols {
		try("B is transposed", matrix.Product64(matrix.Float64(a), matrix.Float64(matrix.Transpose(b))))
	}
	if a.Rows == a.Cols {
		try("A is transposed", matrix.Product64(matrix.Float64(matrix.Transpose(a)), matrix.Float64(b)))
	}
	return found
}

// scaled finds outputs, rows or columns that have a wrong scale.
func (s suspicion) scaled() (found []Cause) {
	of := func(name string, lines map[int][]Element) {
		if len(lines) > mostLines {
			return
		}
		var words []string
		explained := 0
		for _, i := range sorted(lines) {
			if len(lines[i]) < fewestOutputs {
				continue
			}
			q := ratio(lines[i], func(e Element) float64 { return e.Got }, func(e Element) float64 { return e.Want })
			fits := 0
			for _, e := range lines[i] {
				if near(e, q*e.Want, max(1, math.Abs(q))*e.Limit) {
					fits++
				}
			}
			if fits < len(lines[i]) {
				continue
			}
			explained += fits
			if len(words) < 4 {
				words = append(words, fmt.Sprintf("%s by %s", strings.TrimSpace(fmt.Sprintf(name, i)), factor(q)))
			}
		}
		found = append(found, Cause{"scale", "a scale is wrong: " + strings.Join(words, ", "), float64(explained) / float64(len(s.beyond))})
	}
	rows, columns := s.linesOf(false), s.linesOf(true)
	if len(rows) > 1 && len(columns) > 1 {
		of("all of them%.0d", map[int][]Element{0: s.beyond})
	}
	of("row %d", rows)
	of("column %d", columns)
	return found
}

// fewestOutputs is how many outputs a factor has to explain: one or two have
// one by chance.
const fewestOutputs = 3

// ratio returns the q for which y is nearest to qx.
func ratio(all []Element, y, x func(Element) float64) float64 {
	xy, xx := 0.0, 0.0
	for _, e := range all {
		xy += y(e) * x(e)
		xx += x(e) * x(e)
	}
	if xx == 0 || xy-xy != 0 {
		return 0
	}
	return xy / xx
}

// factor returns a factor in words, as a power of two if it is near to one.
func factor(q float64) string {
	if e := math.Round(math.Log2(math.Abs(q))); e != 0 && math.Abs(math.Abs(q)/math.Exp2(e)-1) < 1e-3 {
		return fmt.Sprintf("a factor of %g", math.Copysign(math.Exp2(e), q))
	}
	return fmt.Sprintf("a factor of %.6g", q)
}

// subset returns rows and columns, at most n of each, evenly spread.
func subset(a, b blas32.General, n int) (rows, columns []int) {
	spread := func(of int) (all []int) {
		m := min(n, of)
		for i := range m {
			all = append(all, i*of/m)
		}
		return all
	}
	return spread(a.Rows), spread(b.Cols)
}
