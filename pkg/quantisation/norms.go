package quantisation

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// Hoeffding returns t = λ(2w+w²)√S with λ = √(2 log(2/ζ)), which |E_ij| exceeds
// with a probability of at most ζ = e^f, E = ÂB̂ - AB, if
//
//	|â - a| <= w|a|', |b̂ - b| <= w|b|',  S >= Σ_k |a_ik|'²|b_kj|'²,
//
// and the K terms âb̂ - ab have mean zero, each given those before it. Squares
// and SquaresByNorms return S; the dash stands for what they do to numbers that
// underflow.
//
//   - Stochastic rounding with ideal random bits meets all that with w = 2u:
//     then this is a theorem.
//   - Rounding to nearest has w = u, but its errors are functions of the data,
//     and their means are zero for many data, not for all. Then this is a
//     model, and constants, of which all errors are the same, contradict it.
//
// Hoeffding panics unless 0 < w < 1, S >= 0 and -Inf < f < 0.
//
// Source: Hoeffding 1963, Theorem 2; Azuma 1967.
func Hoeffding(w, S float64, f roundoff.Failure) float64 {
	check.Unit("w", w)
	check.NotNegative("S", S)
	return (2*w + float64(w*w)) * roundoff.Azuma(S, f)
}

// Squares returns S_ij = Σ_k |a_ik|'²|b_kj|'², where |x|' is the greater of |x|
// and least, and 0 for x = 0. With least = 2^Emin, the least normal number, in
// units of the scale if there is one, errors of subnormal numbers are included:
// they are at most u least with rounding to nearest, and 2u least otherwise.
// least = 0 assumes that no element underflows. Squares costs one product. It
// panics if the shapes do not fit or least is negative or infinite.
func Squares(a, b blas64.General, least float64) blas64.General {
	checkFactors("Squares", a, b)
	f := squareAtLeast(least)
	return sumOfProducts(matrix.Map64(f, a), matrix.Map64(f, b))
}

// SquaresByNorms returns S_ij >= Σ_k |a_ik|'²|b_kj|'², as [Squares] with the
// same least, from norms of row a_i and column b_j alone, at a cost of O(MK +
// KN + MN): the least of
//
//	‖a_i‖₄² ‖b_j‖₄²,  ‖a_i‖₂² max|b_j|²,  max|a_i|² ‖b_j‖₂².
//
// It panics as Squares does.
//
// Source: Hölder's inequality for the exponents 2 and 2, 1 and ∞, ∞ and 1.
func SquaresByNorms(a, b blas64.General, least float64) blas64.General {
	checkFactors("SquaresByNorms", a, b)
	f := squareAtLeast(least)
	rows, columns := make([]norms, a.Rows), make([]norms, b.Cols)
	for i := range rows {
		for k := range a.Cols {
			rows[i].add(f(a.Data[i*a.Stride+k]))
		}
	}
	for k := range b.Rows {
		for j := range columns {
			columns[j].add(f(b.Data[k*b.Stride+j]))
		}
	}
	z := matrix.New64(a.Rows, b.Cols)
	for i, x := range rows {
		for j, y := range columns {
			z.Data[i*z.Stride+j] = min(math.Sqrt(x.squares*y.squares), x.sum*y.largest, x.largest*y.sum)
		}
	}
	return z
}

// norms are those of a vector of squares.
type norms struct{ sum, squares, largest float64 }

func (n *norms) add(x float64) {
	n.sum += x
	n.squares += float64(x * x)
	n.largest = max(n.largest, x)
}

// squareAtLeast returns the function |x|'².
func squareAtLeast(least float64) func(x float64) float64 {
	check.Number("least", least, 0 <= least && least <= math.MaxFloat64, "0 <= least < +Inf")
	return func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return square(max(math.Abs(x), least))
	}
}
