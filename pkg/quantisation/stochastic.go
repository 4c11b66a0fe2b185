package quantisation

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// A StochasticProduct is the product of two matrices that are rounded at
// random, or of which one is. Its error
//
//	E = ÂB̂ - AB,
//
// where A and B are the means of Â and B̂, is a sum of K independent random
// numbers of mean zero, each of four values that are known. So its distribution
// is known, and what the methods return is exact, or a theorem, for any data:
// constants, correlated rows, outliers. What is assumed is that the random bits
// are ideal and independent, also those of Â and B̂: of the product of a matrix
// with its own transpose only one factor may be rounded, or each with bits of
// its own. The numbers of a row of E share the errors of Â; statements about
// several outputs together need a union bound, [roundoff.Failure.Split].
//
// Where the number of random bits is limited, A is not quite what was rounded.
// Bias returns by how much AB differs from the product of that.
type StochasticProduct struct{ a, b TwoPoint }

// Stochastic returns the product of Â, M × K, and B̂, K × N. It panics if the
// shapes do not fit.
func Stochastic(a, b TwoPoint) StochasticProduct {
	checkFactors("Stochastic", a.mean, b.mean)
	return StochasticProduct{a, b}
}

// Rows returns the rows lo to hi-1 of the product, without copying.
func (s StochasticProduct) Rows(lo, hi int) StochasticProduct {
	a := s.a
	return StochasticProduct{TwoPoint{matrix.Rows64(a.mean, lo, hi), matrix.Rows64(a.low, lo, hi), matrix.Rows64(a.high, lo, hi)}, s.b}
}

// Bias returns AB - XY, for the matrices X and Y before rounding: what a
// limited number of random bits adds to E. It is known and no random number.
// The error and the panics are those of [Known].
func (s StochasticProduct) Bias(x, y blas64.General) (blas64.General, error) {
	p, err := Known(x, y, s.a.mean, s.b.mean)
	if err != nil {
		return blas64.General{}, err
	}
	return p.Error(), nil
}

// Variance returns the variance of E, V = v_A B² + A² v_B + v_A v_B, squares by
// elements, where v = (x-l)(h-x) for an element of mean x and of the values l
// and h.
func (s StochasticProduct) Variance() blas64.General {
	va, vb := s.a.each(variance), s.b.each(variance)
	squareB := s.b.each(func(x, l, h float64) float64 { return x*x + variance(x, l, h) }) // E b̂²
	return sumOfProducts(va, squareB, matrix.Map64(square, s.a.mean), vb)
}

// SubGaussian returns t with P(|E_ij| > t_ij) <= e^f for every i and j:
//
//	t² = 2 log(2/ζ) min(κ_A B² + ā² κ_B, κ_A b̄² + A² κ_B),  ζ = e^f,
//
// squares by elements, where ā and b̄ are the greater magnitudes of the two
// values and κ is the sub-Gaussian constant of Kearns and Saul. It costs four
// products. It panics unless -Inf < f < 0.
//
// Source: derived here. Given Â, Σ_k â_ik (b̂_kj - b_kj) is sub-Gaussian with
// Σ_k â² κ_B <= Σ_k ā² κ_B; what is left is Σ_k (â_ik - a_ik) b_kj, with
// Σ_k κ_A b². The second form exchanges Â and B̂.
func (s StochasticProduct) SubGaussian(f roundoff.Failure) blas64.General {
	κa, κb := s.a.each(proxy), s.b.each(proxy)
	left := sumOfProducts(κa, matrix.Map64(square, s.b.mean), matrix.Map64(square, s.a.each(largest)), κb)
	right := sumOfProducts(κa, matrix.Map64(square, s.b.each(largest)), matrix.Map64(square, s.a.mean), κb)
	return elementwise(func(x, y float64) float64 { return roundoff.Azuma(min(x, y), f) }, left, right)
}

// Bernstein returns t with P(|E_ij| > t_ij) <= e^f for every i and j, by
// Bernstein's inequality with the variance of E and the greatest of the four
// values of its K terms. It takes some times as long as a product. It panics
// unless -Inf < f < 0.
func (s StochasticProduct) Bernstein(f roundoff.Failure) blas64.General {
	f.TwoSidedLog() // panics here, not on another goroutine
	t := s.Variance()
	parallel.Ranges(t.Rows, func(lo, hi int) {
		var e fourPoint
		for i := lo; i < hi; i++ {
			for j := range t.Cols {
				greatest := 0.0
				for k := range s.a.mean.Cols {
					s.term(&e, i, k, j)
					for _, q := range e.value {
						greatest = max(greatest, math.Abs(q))
					}
				}
				at := i*t.Stride + j
				t.Data[at] = roundoff.Bernstein(t.Data[at], greatest, f)
			}
		}
	})
	return t
}
