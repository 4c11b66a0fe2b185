package quantisation

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// A TwoPoint is a matrix of independent random numbers of which each has two
// values: what stochastic rounding makes of given data.
type TwoPoint struct {
	mean, low, high blas64.General
}

// IdealBits is the number of random bits of a rounding whose mean is exactly
// the number that is rounded.
const IdealBits = 0

// Rounded returns x, rounded to f by stochastic rounding with so many random
// bits (8 in hardware, 1 to 32 in [tcore.Stochastic]; or IdealBits). An element
// between the neighbours l and h of f, |l| < |h|, becomes h with the
// probability φ = (x-l)/(h-l), truncated to a multiple of 2^-bits; so its mean
// is that much nearer to zero, and less than 2^-bits of a step from x. The
// error names an element that is not finite or not between two numbers of f. It
// panics if x is empty or its data are too short, or unless 0 <= bits <= 32.
func Rounded(x blas64.General, f tcore.Format, bits int) (TwoPoint, error) {
	checkMatrix("Rounded", "x", x)
	check.Number("bits", float64(bits), 0 <= bits && bits <= 32, "0 <= bits <= 32")
	if err := finite("Rounded", "x", x); err != nil {
		return TwoPoint{}, err
	}
	z := TwoPoint{matrix.New64(x.Rows, x.Cols), matrix.New64(x.Rows, x.Cols), matrix.New64(x.Rows, x.Cols)}
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			low, high := f.Round(v, tcore.ToNegative), f.Round(v, tcore.ToPositive)
			if !(low <= v && v <= high && high-low <= math.MaxFloat64) {
				return TwoPoint{}, fmt.Errorf("quantisation: Rounded: x(%d, %d) = %v, want a number between two of %s", i, j, v, f.Name)
			}
			at := i*x.Cols + j
			z.low.Data[at], z.high.Data[at], z.mean.Data[at] = low, high, meanRounded(v, low, high, bits)
		}
	}
	return z, nil
}

// meanRounded returns the mean of x after stochastic rounding to low or high.
func meanRounded(x, low, high float64, bits int) float64 {
	if bits == IdealBits || low == high {
		return x
	}
	near, far := low, high
	if x < 0 {
		near, far = high, low
	}
	φ := math.Ldexp(math.Floor(math.Ldexp((x-near)/(far-near), bits)), -bits)
	return near + float64(φ*(far-near))
}

// Exact returns x, without any randomness: a factor that is not rounded, or not
// at random. The error and the panics are those of [Rounded].
func Exact(x blas64.General) (TwoPoint, error) {
	checkMatrix("Exact", "x", x)
	return TwoPoint{x, x, x}, finite("Exact", "x", x)
}

// Times returns the matrix with every element multiplied by that of s, the
// scale of its block. The error names a scale that is not finite; Times panics
// if the shapes differ or a scale is negative.
func (p TwoPoint) Times(s blas64.General) (TwoPoint, error) {
	checkShape("TwoPoint.Times", "s", s, p.mean)
	if err := finite("TwoPoint.Times", "s", s); err != nil {
		return TwoPoint{}, err
	}
	product := func(x, s float64) float64 {
		check.NotNegative("s", s)
		return x * s
	}
	return TwoPoint{elementwise(product, p.mean, s), elementwise(product, p.low, s), elementwise(product, p.high, s)}, nil
}

// Mean returns the means of the elements.
func (p TwoPoint) Mean() blas64.General { return p.mean }

// each returns the matrix of f(mean, low, high).
func (p TwoPoint) each(f func(mean, low, high float64) float64) blas64.General {
	z := matrix.New64(p.mean.Rows, p.mean.Cols)
	for i := range z.Rows {
		for j := range z.Cols {
			z.Data[i*z.Stride+j] = f(p.mean.Data[i*p.mean.Stride+j], p.low.Data[i*p.low.Stride+j], p.high.Data[i*p.high.Stride+j])
		}
	}
	return z
}

// variance returns (x-l)(h-x), the variance of l or h with mean x.
func variance(x, l, h float64) float64 { return (x - l) * (h - x) }

// proxy returns κ with E e^(θ(X-x)) <= e^(θ²κ/2) for all θ, where X is l or h
// with mean x. With p the smaller of the two probabilities it is
//
//	κ = (h-l)² (1-2p) / (2 log((1-p)/p)),
//
// a quarter of (h-l)² for p = ½, never less than the variance.
//
// Source: Kearns & Saul 1998; proof of Berend & Kontorovich 2013.
func proxy(x, l, h float64) float64 {
	near := min(x-l, h-x)
	if near <= 0 {
		return 0
	}
	p := near / (h - l)
	y := 1 - 2*p
	if y < 1e-4 { // log((1-p)/p) = 2 artanh y = 2y (1 + y²/3 + …)
		return square(h-l) / 4 / (1 + y*y/3)
	}
	return square(h-l) * y / (2 * (math.Log1p(-p) - math.Log(p)))
}

// largest returns the greater magnitude of l and h.
func largest(_, l, h float64) float64 { return max(-l, h) }
