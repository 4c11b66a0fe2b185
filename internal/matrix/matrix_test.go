package matrix

import (
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// The results do not depend on the strides of the matrices.
func TestOfAMatrixWithinAnother(t *testing.T) {
	m := blas32.General{Rows: 2, Cols: 3, Stride: 4, Data: []float32{1, -2, 3, 99, 4, 5, -6}}
	general := func(rows, cols int, data ...float32) blas32.General {
		return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	}
	for _, c := range []struct{ name, got, want any }{
		{"New", New(2, 1), general(2, 1, 0, 0)},
		{"New64", len(New64(2, 3).Data), 6},
		{"Row", Row(m, 1), []float32{4, 5, -6}},
		{"Transpose", Transpose(m), general(3, 2, 1, 4, -2, 5, 3, -6)},
		{"Map", Map(m, func(x float32) float32 { return 2 * x }), general(2, 3, 2, -4, 6, 8, 10, -12)},
		{"Vectors", Vectors(m), [][]float64{{1, -2, 3}, {4, 5, -6}}},
		{"Rows", Transpose(Rows(m, 1, 2)), general(3, 1, 4, 5, -6)},
		{"Columns", Transpose(Columns(m, 1, 3)), general(2, 2, -2, 5, 3, -6)},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%v: %v, want %v", c.name, c.got, c.want)
		}
	}
}
