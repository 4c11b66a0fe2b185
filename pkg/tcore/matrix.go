package tcore

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// checkProduct panics unless the product of a and b is defined and not empty.
func checkProduct(call string, a, b blas32.General) { matrix.CheckProduct("tcore", call, a, b) }

// checkResult panics unless the matrix d called name has the shape of a × b.
func checkResult(call, name string, a, b, d blas32.General) {
	checkShape(call, name, a.Rows, b.Cols, d)
}

// checkShape panics unless the matrix m called name is rows × cols.
func checkShape(call, name string, rows, cols int, m blas32.General) {
	checkMatrix(call, name, m)
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("tcore: %s: %s is %d × %d, want %d × %d", call, name, m.Rows, m.Cols, rows, cols))
	}
}

// checkMatrix panics unless m is a matrix of at least one element.
func checkMatrix(call, name string, m blas32.General) { matrix.Check("tcore", call, name, m) }
