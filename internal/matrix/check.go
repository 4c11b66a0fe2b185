package matrix

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// CheckProduct panics unless a and b are not empty, their data are as long as
// their shapes require, and a × b is defined. The message contains the names of
// the package and of the function that was called.
func CheckProduct(pkg, call string, a, b blas32.General) {
	Check(pkg, call, "a", a)
	Check(pkg, call, "b", b)
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("%s: %s: a has %d columns, b has %d rows", pkg, call, a.Cols, b.Rows))
	}
}

// Check panics unless m has at least one element, its stride is at least its
// number of columns, and its data are as long as its shape requires. The
// message contains the names of the package, of the function that was called,
// and of the matrix.
func Check(pkg, call, name string, m blas32.General) {
	if m.Rows < 1 || m.Cols < 1 {
		panic(fmt.Sprintf("%s: %s: %s is %d × %d, want at least 1 × 1", pkg, call, name, m.Rows, m.Cols))
	}
	if m.Stride < m.Cols {
		panic(fmt.Sprintf("%s: %s: %s has stride %d, want at least its %d columns", pkg, call, name, m.Stride, m.Cols))
	}
	if !Holds(len(m.Data), m.Rows, m.Cols, m.Stride) {
		panic(fmt.Sprintf("%s: %s: %s has %d elements, want at least %.0f", pkg, call, name, len(m.Data),
			float64(m.Rows-1)*float64(m.Stride)+float64(m.Cols)))
	}
}

// Holds reports whether n elements are enough for a matrix of this shape. It is
// correct also if the number of elements of the matrix exceeds the greatest
// int.
func Holds(n, rows, cols, stride int) bool { return n >= cols && rows-1 <= (n-cols)/stride }

// NotFinite returns the row and the column of the first element that is not
// finite, in row-major order, and whether there is one.
func NotFinite(m blas32.General) (i, j int, found bool) {
	for i := range m.Rows {
		for j, x := range Row(m, i) {
			if x-x != 0 {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}
