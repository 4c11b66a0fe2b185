package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Range is what is known of the sizes of the elements of one given matrix,
// whose rows (of A) or columns (of B) are summed along K. The zero value means
// that nothing is known. See [RangesOf].
type Range struct {
	Max float64 // |x| <= Max; 0 means unknown

	// Scale is the greatest scale of a block and LeastScale the least, for a device
	// with block scales; 0 means unknown. Elements are counted without their
	// scales.
	Scale, LeastScale float64

	small perExponent[float64] // [e]: the greatest Σ|x| of one row over its elements with 2^e <= |x| < 2^(e+1)
}

// RangesOf returns the ranges of the rows of a and of the columns of b. It
// ignores elements that are not finite.
func RangesOf(a, b blas64.General) (x, y Range) {
	x = rangeOf(a.Rows, a.Cols, func(i, l int) float64 { return a.Data[i*a.Stride+l] })
	y = rangeOf(b.Cols, b.Rows, func(j, l int) float64 { return b.Data[l*b.Stride+j] })
	return x, y
}

// RangesOf32 is [RangesOf] for matrices in binary32.
func RangesOf32(a, b blas32.General) (x, y Range) {
	x = rangeOf(a.Rows, a.Cols, func(i, l int) float64 { return float64(a.Data[i*a.Stride+l]) })
	y = rangeOf(b.Cols, b.Rows, func(j, l int) float64 { return float64(b.Data[l*b.Stride+j]) })
	return x, y
}

// rangeOf returns the range of n vectors of length k.
func rangeOf(n, k int, at func(i, l int) float64) Range {
	var r Range
	var row perExponent[float64]
	for i := range n {
		clear(row.values)
		for l := range k {
			x := math.Abs(at(i, l))
			if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
				continue
			}
			r.Max = max(r.Max, x)
			*row.at(math.Ilogb(x)) += x
		}
		for j, sum := range row.values {
			z := r.small.at(row.first + j)
			*z = max(*z, sum)
		}
	}
	return r
}

// known reports whether the range is known.
func (r Range) known() bool { return r.Max != 0 }

// below returns an upper bound of Σ|x| over the nonzero elements of one row
// with |x| < 2^e.
func (r Range) below(e int) float64 {
	sum := 0.0
	for i, s := range r.small.values {
		if r.small.first+i < e {
			sum += s
		}
	}
	return sum
}

// A factor is what is known of the numbers of one matrix as the machine
// multiplies them, after conversion and scaling.
type factor struct {
	max  float64 // |x| <= max
	tiny float64 // |x| < tiny for subnormal x; 0 if no x is subnormal
	sum  float64 // Σ|x| <= sum over the subnormal x of a row
}

// factors returns what is known of the factors of A and B: from the matrices,
// else from the distributions, else from the formats.
func (k Problem) factors() (x, y factor) {
	return k.factor(k.Device.A, k.X, k.RangeX), k.factor(k.Device.B, k.Y, k.RangeY)
}

func (k Problem) factor(f tcore.Format, d Distribution, r Range) factor {
	scale := 1.0
	switch {
	case r.Scale > 0:
		scale = r.Scale
	case k.Device.ScaleBlock > 0 && !r.known():
		scale = k.Device.Scale.Max()
	}
	z := factor{max: f.Max(), tiny: f.MinNormal()}
	switch {
	case r.known():
		z.max = r.Max
	case d.told() && !math.IsInf(d.MaxAbs(), 1):
		z.max = d.MaxAbs()
	}
	z.max = min(f.Max(), math.Abs(f.Round(z.max, tcore.ToNearestEven)))
	z.sum = float64(k.Length()) * z.tiny
	if r.known() { // rounding to f at most doubles a number if the result is below 2^Emin
		small := r.below(f.Emin)
		z.sum = min(z.sum, 2*small)
		if small == 0 {
			z.tiny = 0
		}
	}
	return factor{z.max * scale, z.tiny * scale, z.sum * scale}
}
