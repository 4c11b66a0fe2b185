package quantisation

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// checkMatrix panics unless m has at least one element and all its data.
func checkMatrix(call, name string, m blas64.General) {
	if m.Rows < 1 || m.Cols < 1 || m.Stride < m.Cols || !matrix.Holds(len(m.Data), m.Rows, m.Cols, m.Stride) {
		panic(fmt.Sprintf("quantisation: %s: %s is %d × %d with stride %d and %d elements, want at least 1 × 1 and all elements",
			call, name, m.Rows, m.Cols, m.Stride, len(m.Data)))
	}
}

// checkFactors panics unless a × b is defined.
func checkFactors(call string, a, b blas64.General) {
	checkMatrix(call, "a", a)
	checkMatrix(call, "b", b)
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("quantisation: %s: a has %d columns, b has %d rows", call, a.Cols, b.Rows))
	}
}

// checkShape panics unless m has the shape of like.
func checkShape(call, name string, m, like blas64.General) {
	checkMatrix(call, name, m)
	if m.Rows != like.Rows || m.Cols != like.Cols {
		panic(fmt.Sprintf("quantisation: %s: %s is %d × %d, want %d × %d", call, name, m.Rows, m.Cols, like.Rows, like.Cols))
	}
}

// elementwise returns the matrix of f(x, y) for the elements x and y of two
// matrices of one shape.
func elementwise(f func(x, y float64) float64, x, y blas64.General) blas64.General {
	z := matrix.New64(x.Rows, x.Cols)
	for i := range x.Rows {
		for j := range x.Cols {
			z.Data[i*z.Stride+j] = f(x.Data[i*x.Stride+j], y.Data[i*y.Stride+j])
		}
	}
	return z
}

// sumOfProducts returns ab + cd + ….
func sumOfProducts(factors ...blas64.General) blas64.General {
	z := matrix.New64(factors[0].Rows, factors[1].Cols)
	for i := 0; i < len(factors); i += 2 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, factors[i], factors[i+1], 1, z)
	}
	return z
}
