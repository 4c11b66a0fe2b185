package tolerance

import (
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Tolerance is how far outputs may be from the exact ones.
type Tolerance struct {
	*Data
	Implementation Implementation

	// |D̂ - AB| <= Limits, elementwise, with the number of parts of K that
	// allows most. [Tolerance.Compare] asks for more than that: see there.
	Limits blas64.General

	// Bound is the bound that gives the limit of an output of median size, with
	// Parts parts of K, those with which it is greatest; 0 if that is not told.
	Bound      bound.Result
	Parts      int
	Confidence roundoff.Failure // of all outputs together: [roundoff.Never] if the bounds always hold

	alternatives [][]ceiling // the bounds for each number of parts
	kept         [][]float64 // their limits; nil if they are too many to be kept
	exact        []bool      // whether an output is exact; nil if that is not known of any
	sign         float64     // of all products, 0 if they have both
}

// Of returns the tolerance for an implementation. Every output of a sound one
// is within it with confidence 1 - e^f for all outputs together, if the data
// are as the Why of the bound assumes; with f = [roundoff.Never] always.
//
// Of bounds that hold with a probability the tightest may be chosen after the
// data are known, since f is divided among all of the catalogue. Rounding the
// sum to the format of D adds half a unit in the last place of the greatest
// result that the tolerance allows, which is less than any share of |A||B|
// where products cancel. Where all sums of an output are exact whatever their
// order is, as those of numbers of few bits, nothing else is added.
//
// On devices that add in binary64 nothing is assumed of the order: the bound is
// K 2^-53 |A||B| (Jeannerod & Rump 2013).
//
// The error says that an element is no number of the formats of the device, or
// why no bound holds. Of panics unless f < 0.
func (d *Data) Of(by Implementation, f roundoff.Failure) (*Tolerance, error) {
	pkg.Number("f", float64(f), f < 0, "f < 0, a logarithm, as FailureOf(0.99) is")
	if err := by.check(); err != nil {
		return nil, err
	}
	device := by.device()
	if err := d.fits(device); err != nil {
		return nil, err
	}
	k, err := d.problem(by, f != roundoff.Never)
	if err != nil {
		return nil, err
	}
	alternatives, err := alternatives(k, by, f)
	if err != nil {
		return nil, err
	}
	t := &Tolerance{Data: d, Implementation: by, Limits: matrix.New64(d.A.Rows, d.B.Cols), alternatives: alternatives, exact: d.exact(by), sign: d.sign()}
	t.limit(f)
	return t, nil
}

// limit fills in Limits, for each output the greatest over the alternatives of
// the least that a bound allows, and names the bound of an output of median
// size.
func (t *Tolerance) limit(f roundoff.Failure) {
	middle := medianOf(t.Sizes.Data)
	t.Confidence = roundoff.Never
	keep := len(t.alternatives)*len(t.Sizes.Data) <= mostKept
	for _, bounds := range t.alternatives {
		limits, which := t.allowed(bounds, middle)
		if keep {
			t.kept = append(t.kept, limits)
		}
		for i, e := range limits {
			if most := &t.Limits.Data[i]; e > *most || t.Bound.Bound == "" {
				*most = max(*most, e)
				if i == middle {
					t.Bound, t.Parts = which, bounds[0].parts
				}
			}
		}
		for _, c := range bounds {
			if c.Confidence != roundoff.Never {
				t.Confidence = f
			}
		}
	}
	if t.Bound.Confidence != roundoff.Never {
		t.Bound.Confidence = f // of all bounds together
	}
}

// allowed returns for each output the least that one of the bounds allows, and
// which it is at one of the outputs.
func (t *Tolerance) allowed(bounds []ceiling, at int) (limits []float64, which bound.Result) {
	out := t.Implementation.output()
	var sums []float64
	if parts := bounds[0].parts; parts > 1 && float64(len(t.alternatives))*float64(len(t.Sizes.Data))*float64(t.A.Cols) <= mostMerged {
		sums = t.partSums(bounds[0].length)
	}
	limits = make([]float64, len(t.Sizes.Data))
	for i, size := range t.Sizes.Data {
		const rounded = 1 + 0x1p-48 // sizes, and this arithmetic
		exact, least, by := math.Abs(t.Exact.Data[i]), math.Inf(1), bound.Result{}
		for _, c := range bounds {
			e := c.Limit(size * rounded)
			if sums != nil {
				e = min(e, c.merged(size*rounded, sums[i]*rounded))
			}
			if c.stores {
				e += storing(exact+e, out)
			}
			if e < least {
				least, by = e, c.Result
			}
		}
		limits[i] = least*rounded + exact*0x1p-53 // AB is rounded to binary64
		if t.exact != nil && t.exact[i] {
			limits[i], by = 0, exactSums
			if bounds[0].stores {
				limits[i] = storing(exact, out)
			}
		}
		if i == at {
			which = by
		}
	}
	return limits, which
}

// errors returns the centres and radii of the intervals of the errors of the
// outputs that an alternative, the bounds for one number of parts, allows. A
// centre is 0 but for products of one sign, whose sums truncation makes smaller
// for sure.
func (t *Tolerance) errors(alternative int) (centres, radii []float64) {
	bounds := t.alternatives[alternative]
	if t.kept != nil {
		radii = slices.Clone(t.kept[alternative])
	} else {
		radii, _ = t.allowed(bounds, 0)
	}
	centres = make([]float64, len(radii))
	c := bounds[0]
	if c.loss == 0 || t.sign == 0 {
		return centres, radii
	}
	for i, limit := range radii {
		most := -c.loss + c.merging(t.Sizes.Data[i], limit) + math.Abs(t.Exact.Data[i])*0x1p-50 // times the sign
		if c.stores {
			most += storing(math.Abs(t.Exact.Data[i])+limit, t.Implementation.output())
		}
		if most < limit {
			centres[i], radii[i] = t.sign*(most-limit)/2, (most+limit)/2
		}
	}
	return centres, radii
}

// mostKept is how many limits are kept, 32 MiB of them.
const mostKept = 1 << 22

// mostMerged is for how many products sums of parts are computed, in seconds.
const mostMerged = 1 << 33

// medianOf returns the index of a median of x.
func medianOf(x []float64) int {
	i, least, m := 0, math.Inf(1), sample.Median(x)
	for j, v := range x {
		if off := math.Abs(v - m); off < least {
			i, least = j, off
		}
	}
	return i
}
