package exact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Wrong arguments panic with the name of the argument and its value.
func TestPanics(t *testing.T) {
	a, b, empty := matrix.New(2, 8), matrix.New(8, 3), matrix.New(0, 8)
	e, err := GEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"exact: GEMM: a is 0 × 8, want at least 1 × 1", func() { _, _ = GEMM(empty, b) }},
		{"exact: GEMMs: a is 0 × 8, want at least 1 × 1", func() { _, _, _ = GEMMs(empty, b) }},
		{"exact: AbsGEMM: b has 23 elements, want at least 24", func() { _, _ = AbsGEMM(a, blas32.General{Rows: 8, Cols: 3, Stride: 3, Data: b.Data[:23]}) }},
		{"exact: Error: d is 3 × 2, want 2 × 3", func() { e.Error(matrix.New(3, 2)) }},
		{"exact: Error64: d is 3 × 2, want 2 × 3", func() { e.Error64(matrix.New64(3, 2)) }},
		{"exact: At: (2, 0), want an element of a 2 × 3 matrix", func() { e.At(2, 0) }},
		{"exact: At: (0, -1), want an element of a 2 × 3 matrix", func() { e.At(0, -1) }},
		{"exact: Error64: d is 2 × 3 of stride 3 with 0 elements", func() { e.Error64(blas64.General{Rows: 2, Cols: 3, Stride: 3}) }},
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, tt.want) {
					t.Errorf("panic %q, want %q", r, tt.want)
				}
			}()
			tt.call()
		}()
	}
}
