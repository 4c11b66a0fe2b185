package tcore

import (
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// compareProduct compares elements of C + AB with the Dot of the device: all,
// or a few of each row.
func compareProduct(t *testing.T, rng *rand.Rand, d Device, a, b, c blas32.General, few int) {
	t.Helper()
	z := zeros(a.Rows, b.Cols)
	d.MultiplyAdd(a, b, c, z)
	x, y := make([]float64, a.Cols), make([]float64, a.Cols)
	for i := range a.Rows {
		widenSlice(x, matrix.Row(a, i))
		for j := range b.Cols {
			if few < b.Cols && rng.IntN(b.Cols) >= few {
				continue
			}
			widenSlice(y, column(b, j))
			start := 0.0
			if c.Data != nil {
				start = float64(c.Data[i*c.Stride+j])
			}
			if got, want := float64(z.Data[i*z.Stride+j]), d.Dot(x, y, start); !same(got, want) {
				t.Fatalf("%s, %d × %d × %d: (%d, %d) = %x, want %x", d.Name, a.Rows, a.Cols, b.Cols, i, j, got, want)
			}
		}
	}
}
