package quantisation

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas64"
)

// A KnownProduct is a product AB beside the product ÂB̂ of quantised matrices
// that is computed in its place, where all four matrices are known. Its error
// is
//
//	E = ÂB̂ - AB = Â dB + dA B,  dA = Â - A,  dB = B̂ - B.
//
// Nothing is assumed of data or rounding: this is algebra. Results are
// evaluated in binary64 and not rounded outward.
type KnownProduct struct {
	a, b, qa, da, db blas64.General // qa is Â
}

// Known returns the product of a, M × K, and b, K × N, beside that of the
// quantised matrices qa = Â and qb = B̂. The error names an element that is not
// finite. It panics if a matrix is empty or its data are too short, or if the
// shapes do not fit.
func Known(a, b, qa, qb blas64.General) (KnownProduct, error) {
	checkFactors("Known", a, b)
	checkShape("Known", "qa", qa, a)
	checkShape("Known", "qb", qb, b)
	for _, m := range []struct {
		name string
		blas64.General
	}{{"a", a}, {"b", b}, {"qa", qa}, {"qb", qb}} {
		if err := finite("Known", m.name, m.General); err != nil {
			return KnownProduct{}, err
		}
	}
	return KnownProduct{a: a, b: b, qa: qa, da: elementwise(difference, qa, a), db: elementwise(difference, qb, b)}, nil
}

// Rows returns the rows lo to hi-1 of the product, without copying, for
// products that are too large to keep E.
func (p KnownProduct) Rows(lo, hi int) KnownProduct {
	p.a, p.qa, p.da = matrix.Rows64(p.a, lo, hi), matrix.Rows64(p.qa, lo, hi), matrix.Rows64(p.da, lo, hi)
	return p
}

// Error returns E. In any order of the sums, and for data of binary64, what is
// computed differs from E by at most γ = nu/(1-nu) of Elementwise, where n = 2K
// + 1 and u = 2^-53; a relative error of E may be larger where the terms
// cancel.
func (p KnownProduct) Error() blas64.General {
	return sumOfProducts(p.qa, p.db, p.da, p.b)
}

// Elementwise returns |dA||B| + |Â||dB|, which |E| does not exceed. It costs as
// much as E.
func (p KnownProduct) Elementwise() blas64.General {
	return sumOfProducts(matrix.Map64(math.Abs, p.qa), matrix.Map64(math.Abs, p.db), matrix.Map64(math.Abs, p.da), matrix.Map64(math.Abs, p.b))
}

// Variance returns V_ij = Σ_k (da²b² + a²db²), to first order the variance of E
// if all errors of elements had random signs, independent of each other. It
// needs no law of the data, whose elements may differ in scale. This is a
// prediction, not a bound: where errors have a common sign, as those of equal
// numbers have, E is far larger.
func (p KnownProduct) Variance() blas64.General {
	return sumOfProducts(matrix.Map64(square, p.da), matrix.Map64(square, p.b), matrix.Map64(square, p.a), matrix.Map64(square, p.db))
}

// Standardised returns z = E/√V, 0 where both are 0.
func (p KnownProduct) Standardised() blas64.General {
	return elementwise(func(e, v float64) float64 {
		if e == 0 {
			return 0
		}
		return e / math.Sqrt(v)
	}, p.Error(), p.Variance())
}

// RowSquares returns for every row of E an unbiased estimate of the sum of its
// squares, Σ_j E_ij²: the mean of (Ex)_i² over so many random vectors x of
// elements ±1. Its relative standard deviation is less than √(2/probes). A
// probe costs O(MK + KN), where E costs O(MKN). The squares of rows add up to
// that of the Frobenius norm; the largest element of a row may be anything
// between √(1/N) of the root and the root. RowSquares panics if probes < 1.
//
// Source: the estimator of a trace of Hutchinson 1990, for the diagonal of EEᵀ.
func (p KnownProduct) RowSquares(probes int, seed uint64) []float64 {
	check.Count("probes", probes)
	random := rand.New(rand.NewPCG(seed, 0))
	x := matrix.New64(p.b.Cols, probes)
	for i := range x.Data {
		x.Data[i] = float64(1 - 2*int(random.Uint64()>>63))
	}
	ex := sumOfProducts(p.qa, sumOfProducts(p.db, x), p.da, sumOfProducts(p.b, x))
	squares := make([]float64, ex.Rows)
	for i := range squares {
		for _, v := range ex.Data[i*probes : (i+1)*probes] {
			squares[i] += v * v / float64(probes)
		}
	}
	return squares
}

// MeanPart returns matrices L, M × 2, and R, 2 × N, at a cost of O(MK + KN).
// LR is the part of E that the means of the data make:
//
//	LR_ij = ā_i Σ_k dB_kj + b̄_j Σ_k dA_ik,
//
// where ā_i is the mean of row i of Â and b̄_j that of column j of B. What is
// left, E - LR, is the error of the same products with the means taken off:
//
//	(Â - ā1ᵀ) dB + dA (B - 1b̄ᵀ)
//
// For data of mean zero LR is small. For U(0,1) it is three quarters of the
// variance of E, and who subtracts it from ÂB̂ halves the error.
func (p KnownProduct) MeanPart() (L, R blas64.General) {
	L, R = matrix.New64(p.a.Rows, 2), matrix.New64(2, p.b.Cols)
	K := float64(p.a.Cols)
	for i := range L.Rows {
		for k := range p.a.Cols {
			L.Data[2*i] += p.qa.Data[i*p.qa.Stride+k] / K
			L.Data[2*i+1] += p.da.Data[i*p.da.Stride+k]
		}
	}
	for k := range p.b.Rows {
		for j := range R.Cols {
			R.Data[j] += p.db.Data[k*p.db.Stride+j]
			R.Data[R.Cols+j] += p.b.Data[k*p.b.Stride+j] / K
		}
	}
	return L, R
}

func difference(x, y float64) float64 { return x - y }
func square(x float64) float64        { return x * x }

// finite returns an error that names the first element of m that is NaN or
// infinite.
func finite(call, name string, m blas64.General) error {
	for i := range m.Rows {
		for j, v := range m.Data[i*m.Stride : i*m.Stride+m.Cols] {
			if v-v != 0 {
				return fmt.Errorf("quantisation: %s: %s(%d, %d) = %v, want a finite number", call, name, i, j, v)
			}
		}
	}
	return nil
}
