package tcore

import (
	"iter"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// multiply stores AB in d.
func (t TensorCore) multiply(a, b, d blas32.General) {
	t.Device(t.Name).MultiplyAdd(a, b, blas32.General{}, d)
}

// slowDot computes Algorithm 1 step by step, from line 1.
func (t TensorCore) slowDot(x, y []float32) float32 {
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	t.represent(lx, x)
	t.represent(ly, y)
	return float32(t.dot(lx, ly))
}

// compareElements fails unless the given elements of z = AB are the slowDot of
// their rows and columns.
func (t TensorCore) compareElements(tb *testing.T, a, b, z blas32.General, elements iter.Seq2[int, int]) {
	tb.Helper()
	compareSums(tb, t.Device(t.Name), a.Cols, blas32.General{}, z, elements, func(i, j int, _ float64) float64 {
		return float64(t.slowDot(matrix.Row(a, i), column(b, j)))
	})
}
