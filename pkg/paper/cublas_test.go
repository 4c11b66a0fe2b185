package paper

import (
	"math"
	"testing"
)

// The correct calls compute the product in the memory order that they are meant
// for. The other calls, each with at least one mistake, compute no element
// correctly.
func TestGemmEx(t *testing.T) {
	for _, size := range [][3]int{{5, 7, 3}, {2, 3, 4}, {6, 2, 5}} {
		m, k, n := size[0], size[1], size[2]
		for i, call := range GemmExCalls(m, k, n) {
			want := 0
			if i >= 3 {
				want = m * n
			}
			if got := call.right(m, k, n); got != want {
				t.Errorf("%v, %s: %d of %d elements right, want %d", size, call.Name, got, m*n, want)
			}
		}
	}
}

// Run accesses exactly the memory that Extent returns: shortening an array by
// one element changes the result.
func TestGemmEx_touches_its_extent(t *testing.T) {
	for _, call := range GemmExCalls(4, 5, 3) {
		call.Alpha = floatOne
		sizeA, sizeB, sizeC := call.Extent()
		ones := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = 1
			}
			return x
		}
		// wrong returns the number of elements of C that are not a sum of K ones.
		wrong := func(shortA, shortB, shortC int) (n int) {
			a, b, c := ones(sizeA-shortA), ones(sizeB-shortB), make([]float32, sizeC-shortC)
			if call.Swapped {
				a, b = b, a
			}
			call.Run(a, b, c)
			for j := range call.N {
				for i := range call.M {
					if at := i + j*call.LDC; at >= len(c) || c[at] != float32(call.K) {
						n++
					}
				}
			}
			return n
		}
		if got := [4]int{wrong(0, 0, 0), wrong(1, 0, 0), wrong(0, 1, 0), wrong(0, 0, 1)}; got != [4]int{0, call.N, call.M, 1} {
			t.Errorf("%s: %v elements wrong, want 0, a row, a column, 1", call.Name, got)
		}
	}
}

// The library refuses leading dimensions that are too small; at the paper's
// size no call has one.
func TestGemmEx_is_not_refused_for_its_leading_dimensions(t *testing.T) {
	g := DefaultGEMM
	for _, call := range GemmExCalls(g.M, g.K, g.N) {
		if call.LDA < call.M || call.LDB < call.K || call.LDC < call.M {
			t.Errorf("%+v", call)
		}
	}
}

// The bits of the integer 1, read as a float, are the least subnormal number,
// so that the product is almost zero.
func TestGemmEx_reads_alpha_as_a_float(t *testing.T) {
	call := GemmExCalls(1, 1, 1)[2]
	c := []float32{7}
	call.Run([]float32{3}, []float32{2}, c)
	if want := float32(6 * 0x1p-149); c[0] != want || math.Float32frombits(floatOne) != 1 {
		t.Errorf("%v, want %v", c[0], want)
	}
}
