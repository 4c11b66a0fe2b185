package matrix

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// CheckProduct panics unless a × b can be formed and is not empty. The panic
// names the package and the function that was called.
func CheckProduct(pkg, call string, a, b blas32.General) {
	Check(pkg, call, "a", a)
	Check(pkg, call, "b", b)
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("%s: %s: a has %d columns, b has %d rows", pkg, call, a.Cols, b.Rows))
	}
}

// Check panics unless m is a matrix of at least one element.
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

// Holds reports whether n elements are enough for a matrix, of which no int
// need hold the number.
func Holds(n, rows, cols, stride int) bool { return n >= cols && rows-1 <= (n-cols)/stride }

// NotFinite returns where the first element is that is not finite.
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
