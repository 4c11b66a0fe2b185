package quant

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// Loss says what a matrix lost when it was quantised.
type Loss struct {
	RMS     float64 // root of Σ (x̂ - x)² / Σ x², 0 for zeros
	Drift   float64 // Σ |x̂| / Σ |x| - 1: what clipping takes from all numbers, 0 for zeros
	Flushed int     // numbers other than 0 that became 0
	Clipped int     // numbers of which the code stands for less than 31/32, as the greatest code
	NaN     int     // numbers that became NaN, or were it
}

// Loss compares the numbers that the codes and scales stand for, in binary64,
// with x, the matrix that was quantised. It panics if x has another shape.
func (q *Quantised) Loss(x blas32.General) Loss {
	if x.Rows != q.Rows || x.Cols != q.Cols {
		panic(fmt.Sprintf("quant: Loss: x is %d × %d, the codes are %d × %d", x.Rows, x.Cols, q.Rows, q.Cols))
	}
	var l Loss
	var errors, squares, before, after float64
	greatest := q.Recipe.Element.Max()
	for i := range q.Rows {
		for j, v := range matrix.Row(x, i) {
			number := float64(q.Number(i, j))
			x, z := float64(v), number*float64(q.Scale(i, j))*float64(q.TensorScale())
			switch {
			case z != z || math.IsInf(z, 0) || x != x || math.IsInf(x, 0):
				l.NaN++
				continue
			case z == 0 && x != 0:
				l.Flushed++
			case math.Abs(number) == greatest && math.Abs(z) < math.Abs(x)*31/32:
				l.Clipped++
			}
			errors += (z - x) * (z - x)
			squares += x * x
			before += math.Abs(x)
			after += math.Abs(z)
		}
	}
	if before > 0 {
		l.RMS, l.Drift = math.Sqrt(errors/squares), after/before-1
	}
	return l
}
