package tcore

import (
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// compareProduct compares some elements of C + AB with Dot, and checks that no
// element beside the result changes.
func compareProduct(t *testing.T, rng *rand.Rand, d Device, a, b, c blas32.General, each int) {
	t.Helper()
	const beside = 12345
	whole := zeros(a.Rows+2, b.Cols+3)
	for i := range whole.Data {
		whole.Data[i] = beside
	}
	z := matrix.Columns(matrix.Rows(whole, 1, a.Rows+1), 1, b.Cols+1)
	d.MultiplyAdd(a, b, c, z)
	for i := range whole.Rows {
		for j, v := range matrix.Row(whole, i) {
			if inside := i >= 1 && i <= a.Rows && j >= 1 && j <= b.Cols; !inside && v != beside {
				t.Fatalf("%s, %d × %d × %d: element (%d, %d) beside the result is %x", d.Name, a.Rows, a.Cols, b.Cols, i-1, j-1, v)
			}
		}
	}
	x, y := make([]float64, a.Cols), make([]float64, a.Cols)
	for i := range a.Rows {
		copy(x, matrix.Vectors(matrix.Rows(a, i, i+1))[0])
		for range min(each, b.Cols) {
			j, start := rng.IntN(b.Cols), 0.0
			for k := range y {
				y[k] = float64(b.Data[k*b.Stride+j])
			}
			if c.Data != nil {
				start = float64(c.Data[i*c.Stride+j])
			}
			got, want := float64(z.Data[i*z.Stride+j]), float64(float32(d.Dot(x, y, start)))
			if !same(got, want) {
				t.Fatalf("%s, %d × %d × %d, C %t: (%d, %d) = %x, want %x", d.Name, a.Rows, a.Cols, b.Cols, c.Data != nil, i, j, got, want)
			}
		}
	}
}
