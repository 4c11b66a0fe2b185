package tcore

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// checkProduct panics unless a × b can be formed and is not empty.
func checkProduct(call string, a, b blas32.General) {
	checkMatrix(call, "a", a)
	checkMatrix(call, "b", b)
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("tcore: %s: a has %d columns, b has %d rows", call, a.Cols, b.Rows))
	}
}

// checkResult panics unless the matrix d called name has the shape of a × b.
func checkResult(call, name string, a, b, d blas32.General) {
	checkMatrix(call, name, d)
	if d.Rows != a.Rows || d.Cols != b.Cols {
		panic(fmt.Sprintf("tcore: %s: %s is %d × %d, want %d × %d", call, name, d.Rows, d.Cols, a.Rows, b.Cols))
	}
}

// checkMatrix panics unless m is a matrix of at least one element.
func checkMatrix(call, name string, m blas32.General) {
	if m.Rows < 1 || m.Cols < 1 {
		panic(fmt.Sprintf("tcore: %s: %s is %d × %d, want at least 1 × 1", call, name, m.Rows, m.Cols))
	}
	if m.Stride < m.Cols {
		panic(fmt.Sprintf("tcore: %s: %s has stride %d, want at least its %d columns", call, name, m.Stride, m.Cols))
	}
	if !holds(len(m.Data), m.Rows, m.Cols, m.Stride) {
		panic(fmt.Sprintf("tcore: %s: %s has %d elements, want at least %.0f", call, name, len(m.Data),
			float64(m.Rows-1)*float64(m.Stride)+float64(m.Cols)))
	}
}

// holds reports whether n elements are enough for a matrix, of which no int need hold the number.
func holds(n, rows, cols, stride int) bool { return n >= cols && rows-1 <= (n-cols)/stride }
