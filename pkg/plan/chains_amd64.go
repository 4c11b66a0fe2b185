package plan

import (
	"github.com/roundofflab/roundoff/internal/vector"
	"gonum.org/v1/gonum/blas/blas32"
)

// vectorAddRows is addRows by the processor's FMAs. It returns false, and adds
// nothing, if there are none.
func vectorAddRows(sum, factors []float32, m blas32.General, k []int) bool {
	if features.Bits == 0 {
		return false
	}
	vector.SumsRows(&sum[0], len(sum)/8, &factors[0], &m.Data[0], 4*m.Stride, &k[0], len(k))
	return true
}

// vectorTranspose stores in z the transpose of the leading columns of 8 rows of
// a, a multiple of 8 of n, and returns their number.
func vectorTranspose(z []float32, ldz int, a []float32, lda, n int) int {
	if features.Bits == 0 || n < 8 {
		return 0
	}
	vector.Transpose8(&z[0], 4*ldz, &a[0], 4*lda, n/8)
	return n / 8 * 8
}

// vectorAdd adds the leading elements of x to those of z, a multiple of 8 of
// them, and returns their number. x of 8 elements is added to all.
func vectorAdd(z, x []float32) int {
	n := len(z) / 8
	if features.Bits == 0 || n == 0 {
		return 0
	}
	step := 32
	if len(x) == 8 {
		step = 0
	}
	vector.Add(&z[0], &x[0], step, n)
	return 8 * n
}
