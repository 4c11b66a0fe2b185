package audit

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas64"
)

// predicted returns what is predicted of E = δA B̂ + A δB, where x = Â and y =
// B̂.
func (l *Layer) predicted(a, b, x, y blas64.General) Errors {
	ofA, ofB := partsOf(minus(x, a), y), partsOf(a, minus(y, b))
	both := parts{plus(ofA.row, ofB.row), plus(ofA.column, ofB.column), ofA.variance + ofB.variance}
	return Errors{
		Activations: math.Sqrt(ofA.common()+ofA.variance) / l.size,
		Weights:     math.Sqrt(ofB.common()+ofB.variance) / l.size,
		Common:      math.Sqrt(both.common()) / l.size,
		Predicted:   math.Sqrt(both.common()+both.variance) / l.size,
	}
}

// parts are those of a product: what its rows have in common, what the columns
// of the rest have in common, and the mean variance of what is left of both.
type parts struct {
	row, column blas64.General
	variance    float64
}

// partsOf returns the parts of xy. With P = 11ᵀ/M and Q = 11ᵀ/N they are those
// of xy = Pxy + (x-Px)yQ + (x-Px)(y-yQ), which are orthogonal: the mean of the
// squares of xy is the sum of those of the three.
func partsOf(x, y blas64.General) (p parts) {
	M, N := x.Rows, y.Cols
	row, column := matrix.Product64(filled(1, M, 1/float64(M)), x), matrix.Product64(y, filled(N, 1, 1/float64(N)))
	p.row = matrix.Product64(row, y)
	x = minus(x, matrix.Product64(filled(M, 1, 1), row))
	p.column = matrix.Product64(x, column)
	y = minus(y, matrix.Product64(column, filled(1, N, 1)))
	p.variance = variance(x, y)
	return p
}

// common returns the mean of the squares of what is in common.
func (p parts) common() float64 { return square(rms(p.row.Data)) + square(rms(p.column.Data)) }

// variance returns the mean over all i, j of Σ xᵢₖ² yₖⱼ², the variance of an
// element of xy if signs of the products are random.
func variance(x, y blas64.General) float64 {
	sum := 0.0
	for k := range x.Cols {
		left, right := 0.0, 0.0
		for i := range x.Rows {
			left += square(x.Data[i*x.Stride+k])
		}
		for _, v := range y.Data[k*y.Stride : k*y.Stride+y.Cols] {
			right += square(v)
		}
		sum += left * right
	}
	return sum / float64(x.Rows) / float64(y.Cols)
}

// filled returns a matrix of equal elements.
func filled(rows, cols int, v float64) blas64.General {
	return matrix.Map64(func(float64) float64 { return v }, matrix.New64(rows, cols))
}

func minus(x, y blas64.General) blas64.General { return combined(x, -1, y) }
func plus(x, y blas64.General) blas64.General  { return combined(x, 1, y) }

// combined returns x + sy.
func combined(x blas64.General, s float64, y blas64.General) blas64.General {
	z := matrix.New64(x.Rows, x.Cols)
	for i, v := range x.Data {
		z.Data[i] = v + s*y.Data[i]
	}
	return z
}

func square(x float64) float64 { return x * x }
