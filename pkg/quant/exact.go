package quant

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas64"
)

// Ratio returns what Quantise has rounded to the code of element (i, j), if the
// element was x: x divided by the scales of its block, in binary32, as
// Scale.Apply of the recipe says.
func (q *Quantised) Ratio(x float32, i, j int) float32 {
	rows, cols := q.blockSize()
	_, across := q.Blocks()
	s := q.Scales[i/rows*across+j/cols]
	if factor, ok := q.Recipe.Scale.factor(s, q.Tensor); ok {
		return x * factor
	}
	return x / s
}

// Unit returns what the number of the code (i, j) is multiplied by, exactly:
// the scale of its block times that of the tensor.
func (q *Quantised) Unit(i, j int) float64 {
	return float64(q.Scale(i, j)) * float64(q.TensorScale())
}

// Values returns the numbers that codes and scales stand for, Number times
// Unit. They are exact where number and scales have at most 53 bits together,
// as those of all recipes with at most one scale in binary32 have.
func (q *Quantised) Values() blas64.General {
	z := matrix.New64(q.Rows, q.Cols)
	for i := range q.Rows {
		for j := range q.Cols {
			z.Data[i*q.Cols+j] = float64(q.Number(i, j)) * q.Unit(i, j)
		}
	}
	return z
}
