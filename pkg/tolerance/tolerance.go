package tolerance

import (
	"math"

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
	Limits         blas64.General // |D̂ - AB| <= Limits, elementwise

	// Bound is the bound that gives the limit of an output of median size, with
	// Parts parts of K, those with which it is greatest; 0 if that is not told.
	Bound      bound.Result
	Parts      int
	Confidence roundoff.Failure // of all outputs together: [roundoff.Never] if the bounds always hold
}

// Of returns the tolerance for an implementation. Every output of a sound one
// is within it with confidence 1 - e^f for all outputs together, if the data
// are as the Why of the bound assumes; with f = [roundoff.Never] always.
//
// Of bounds that hold with a probability the tightest may be chosen after the
// data are known, since f is divided among all of the catalogue. Rounding the
// sum to the format of D adds half a unit in the last place of the greatest
// result that the tolerance allows, which is less than any share of |A||B|
// where products cancel.
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
	t := &Tolerance{Data: d, Implementation: by, Limits: matrix.New64(d.A.Rows, d.B.Cols)}
	t.limit(alternatives, f)
	return t, nil
}

// limit fills in Limits, for each output the greatest over the alternatives of
// the least that a bound allows, and names the bound of an output of median
// size.
func (t *Tolerance) limit(alternatives [][]ceiling, f roundoff.Failure) {
	out, middle := t.Implementation.output(), medianOf(t.Sizes.Data)
	merges := float64(len(alternatives))*float64(len(t.Sizes.Data))*float64(t.A.Cols) <= mostMerged
	t.Confidence = roundoff.Never
	for _, bounds := range alternatives {
		var sums []float64
		if parts := bounds[0].parts; parts > 1 && merges {
			sums = t.partSums(bounds[0].length)
		}
		for i, size := range t.Sizes.Data {
			const rounded = 1 + 0x1p-48 // sizes, and this arithmetic
			exact, least, which := math.Abs(t.Exact.Data[i]), math.Inf(1), 0
			for j, c := range bounds {
				e := c.Limit(size * rounded)
				if sums != nil {
					e = min(e, c.merged(size*rounded, sums[i]*rounded))
				}
				if c.stores {
					e += storing(exact+e, out)
				}
				if e < least {
					least, which = e, j
				}
			}
			least = least*rounded + exact*0x1p-53 // AB is rounded to binary64
			if most := &t.Limits.Data[i]; least > *most || t.Bound.Bound == "" {
				*most = max(*most, least)
				if i == middle {
					t.Bound, t.Parts = bounds[which].Result, bounds[which].parts
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
