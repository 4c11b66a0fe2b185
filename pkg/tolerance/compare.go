package tolerance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas64"
)

// An Element is one output. Its error is |Got - Want|; Limit is its tolerance.
type Element struct {
	Row    int     `json:"row"`
	Column int     `json:"column"`
	Got    float64 `json:"got"`
	Want   float64 `json:"want"` // the exact one, that of the other implementation, or the middle of what truncation makes of it
	Error  float64 `json:"error"`
	Limit  float64 `json:"limit"`
}

// Excess returns the error over the tolerance, +Inf if the output is not
// finite.
func (e Element) Excess() float64 {
	if !(e.Error < math.Inf(1)) {
		return math.Inf(1)
	}
	return e.Error / e.Limit
}

// A Report says which outputs are beyond their tolerance.
type Report struct {
	Outputs int       // how many there are
	Beyond  int       // how many are beyond
	Worst   []Element // those that are furthest beyond, the worst first, at most 8
	Largest float64   // the greatest error over tolerance of all outputs
	Causes  []Cause   // that would explain it, the likeliest first

	// Parts is 0, or the number of parts of K that fits best, where every output is
	// as far from the exact one as some number of parts allows, but no one number
	// fits all. [MixedSplits] would allow them.
	Parts int
	// Alike is 0, or the number of parts of K for which the device computes the
	// bits of all outputs but those that are beyond.
	Alike int
}

// worstShown is how many outputs a report lists.
const worstShown = 8

// Compare reports which of the outputs D̂ are beyond the tolerance of the exact
// ones: further than Limits, or if none are beyond what the number of parts of
// K allows that fits best. With [UnknownSplit] one number has to fit all
// outputs. Where all products have one sign and sums are truncated, it allows
// errors of one sign, of at least what truncation takes for sure, whence the
// middle of what is allowed is not the exact output.
//
// If no output is beyond all that, a few are if all others have the bits that
// the device computes for one number of parts, added from the first to the
// last: fewer than one in 128, in products of at most 2³⁴ multiply-adds on
// devices that [Tolerance.Emulate] takes. With [MixedSplits] none are. It
// panics if got is not M × N.
func (t *Tolerance) Compare(got blas64.General) Report {
	r := t.bounded(got)
	if r.Within() {
		if apart := t.apart(got); !apart.Within() {
			return apart
		}
	}
	return r
}

// bounded reports which of the outputs are beyond what bounds allow.
func (t *Tolerance) bounded(got blas64.General) Report {
	r := t.compare(got, t.Exact, t.Limits)
	if orders := t.Implementation.Orders; !r.Within() || orders != UnknownSplit && orders != OneMachine {
		return r
	}
	best, fewest := 0, math.MaxInt
	for a, bounds := range t.alternatives {
		n, centres, radii := 0, []float64(nil), []float64(nil)
		if len(t.alternatives) > 1 || bounds[0].loss > 0 {
			centres, radii = t.errors(a)
		}
		for i, radius := range radii {
			if !(math.Abs(got.Data[i/t.Exact.Cols*got.Stride+i%t.Exact.Cols]-t.Exact.Data[i]-centres[i]) <= radius) {
				n++
			}
		}
		if n == 0 {
			return r
		}
		if n < fewest {
			best, fewest = a, n
		}
	}
	want, limits := matrix.New64(t.Limits.Rows, t.Limits.Cols), matrix.New64(t.Limits.Rows, t.Limits.Cols)
	centres, radii := t.errors(best)
	for i, centre := range centres {
		want.Data[i], limits.Data[i] = t.Exact.Data[i]+centre, radii[i]*(1+0x1p-50)
	}
	if r = t.compare(got, want, limits); !r.Within() && t.Implementation.Orders == UnknownSplit {
		r.Parts = t.alternatives[best][0].parts
	}
	return r
}

// CompareWith reports which outputs of two implementations differ by more than
// both tolerances allow together. What they multiply may differ, as where one
// converts to other formats: then so may their outputs, by the difference of
// the exact products. It panics if got, want or the product of other is not M ×
// N.
func (t *Tolerance) CompareWith(got, want blas64.General, other *Tolerance) Report {
	t.mustFit("want", want)
	t.mustFit("other", other.Exact)
	limits, centre := matrix.New64(t.Limits.Rows, t.Limits.Cols), matrix.New64(t.Limits.Rows, t.Limits.Cols)
	for i := range limits.Data {
		limits.Data[i] = t.Limits.Data[i] + other.Limits.Data[i]
		w := want.Data[i/want.Cols*want.Stride+i%want.Cols]
		centre.Data[i] = w + (t.Exact.Data[i] - other.Exact.Data[i])
		limits.Data[i] += 0x1p-50 * (math.Abs(w) + math.Abs(t.Exact.Data[i])) // of these operations
	}
	return t.compare(got, centre, limits)
}

func (t *Tolerance) mustFit(name string, m blas64.General) {
	if m.Rows != t.Limits.Rows || m.Cols != t.Limits.Cols {
		panic(fmt.Sprintf("tolerance: %s is %d × %d, want %d × %d", name, m.Rows, m.Cols, t.Limits.Rows, t.Limits.Cols))
	}
}

// compare reports which outputs are further from those of want than limits.
func (t *Tolerance) compare(got, want, limits blas64.General) Report {
	t.mustFit("got", got)
	r := Report{Outputs: len(limits.Data)}
	var beyond []Element
	for i, limit := range limits.Data {
		e := Element{Row: i / limits.Cols, Column: i % limits.Cols, Want: want.Data[i], Limit: limit}
		e.Got = got.Data[e.Row*got.Stride+e.Column]
		e.Error = math.Abs(e.Got - e.Want)
		if e.Error > 0 || e.Error != e.Error {
			r.Largest = max(r.Largest, e.Excess())
		}
		if !(e.Error <= limit) {
			beyond = append(beyond, e)
		}
	}
	if len(beyond) == 0 {
		return r
	}
	r.Beyond = len(beyond)
	r.Causes = suspicion{t: t, got: got, want: want, limits: limits, beyond: beyond}.causes()
	slices.SortStableFunc(beyond, func(a, b Element) int { return cmp.Compare(b.Excess(), a.Excess()) })
	r.Worst = slices.Clone(beyond[:min(worstShown, len(beyond))])
	return r
}

// Within reports whether no output is beyond its tolerance.
func (r Report) Within() bool { return r.Beyond == 0 }

// String returns the report as a text of a few lines, one if nothing is beyond.
func (r Report) String() string {
	if r.Within() {
		return fmt.Sprintf("all %d outputs are within their tolerance, at most %.2g of it", r.Outputs, r.Largest)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d outputs are beyond their tolerance", r.Beyond, r.Outputs)
	for _, e := range r.Worst {
		if e.Limit == 0 {
			fmt.Fprintf(&b, "\n  [%d, %d] is %.9g, want %.9g: off by %.3g", e.Row, e.Column, e.Got, e.Want, e.Error)
			continue
		}
		fmt.Fprintf(&b, "\n  [%d, %d] is %.9g, want %.9g ± %.2g: off by %.3g, %.3g times the tolerance", e.Row, e.Column, e.Got, e.Want, e.Limit, e.Error, e.Excess())
	}
	if more := r.Beyond - len(r.Worst); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	if r.Parts > 0 {
		fmt.Fprintf(&b, "\nevery output fits some number of parts of K, and none fits all: these are for %d, which fits best; mixed orders allow each output another", r.Parts)
	}
	if r.Alike > 0 {
		fmt.Fprintf(&b, "\nall others have the bits of the device, with K in parts: %d", r.Alike)
	}
	if len(r.Causes) == 0 {
		b.WriteString("\nno cause that is known here would explain it")
	}
	for i, c := range r.Causes {
		if i == 0 {
			b.WriteString("\nwhat would explain it:")
		}
		b.WriteString("\n  " + c.String())
	}
	return b.String()
}
