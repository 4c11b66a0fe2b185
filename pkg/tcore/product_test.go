package tcore

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// counted returns how many multiply-adds work computes on each path.
func counted(work func()) map[*path]int64 {
	n := map[*path]int64{}
	for _, p := range paths {
		n[p] = -p.done.Load()
	}
	work()
	for _, p := range paths {
		n[p] += p.done.Load()
	}
	return n
}

// where yields the elements (i, j) of z for which test returns true, row by
// row.
func where(z blas32.General, test func(i, j int) bool) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		for i := range z.Rows {
			for j := range z.Cols {
				if test(i, j) && !yield(i, j) {
					return
				}
			}
		}
	}
}

// everyNth yields every step-th element of z, row by row.
func everyNth(z blas32.General, step int) iter.Seq2[int, int] {
	return where(z, func(i, j int) bool { return (i*z.Cols+j)%step == 0 })
}

// oneIn yields each element of z with the probability 1/n.
func oneIn(rng *rand.Rand, z blas32.General, n int) iter.Seq2[int, int] {
	return where(z, func(int, int) bool { return rng.IntN(n) == 0 })
}

// ofEachRow yields n elements of each row of z, chosen one by one.
func ofEachRow(rng *rand.Rand, z blas32.General, n int) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		for i := range z.Rows {
			for range n {
				if !yield(i, rng.IntN(z.Cols)) {
					return
				}
			}
		}
	}
}

// wide64 returns the numbers in binary64.
func wide64(x []float32) []float64 {
	z := make([]float64, len(x))
	for i, v := range x {
		z[i] = float64(v)
	}
	return z
}

// column returns column j of m.
func column(m blas32.General, j int) []float32 {
	x := make([]float32, m.Rows)
	for i := range x {
		x[i] = m.Data[i*m.Stride+j]
	}
	return x
}

// compareSums fails unless the given elements of z are what want returns for
// them and for their elements of c, or 0 if there is no c, rounded to binary32
// if d.C has other numbers. They are sums of k products.
func compareSums(t *testing.T, d Device, k int, c, z blas32.General, elements iter.Seq2[int, int], want func(i, j int, start float64) float64) {
	t.Helper()
	fault := "" // told after the loop, whose body is no helper
	for i, j := range elements {
		start := 0.0
		if c.Data != nil {
			start = float64(c.Data[i*c.Stride+j])
		}
		got, want := float64(z.Data[i*z.Stride+j]), want(i, j, start)
		if !Binary32.contains(d.C) {
			want = float64(float32(want))
		}
		if !same(got, want) {
			fault = fmt.Sprintf("%s, %v, %d × %d × %d, C %t: (%d, %d) = %x, want %x", d.Name, features, z.Rows, k, z.Cols, c.Data != nil, i, j, got, want)
			break
		}
	}
	if fault != "" {
		t.Fatal(fault)
	}
}

// compareElements fails unless the given elements of z = C + AB are the Dot of
// their rows, columns and elements of C.
func compareElements(t *testing.T, d Device, a, b, c, z blas32.General, elements iter.Seq2[int, int]) {
	t.Helper()
	compareSums(t, d, a.Cols, c, z, elements, func(i, j int, start float64) float64 {
		return d.Dot(wide64(matrix.Row(a, i)), wide64(column(b, j)), start)
	})
}

// compareProduct compares some elements of each row of C + AB with Dot, and
// checks that no element beside the result changes.
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
	compareElements(t, d, a, b, c, z, ofEachRow(rng, z, min(each, b.Cols)))
}
