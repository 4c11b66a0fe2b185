package tcore

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"
)

// Mul stores in dst the product AB as the machine computes it, for matrices of
// gonum/mat. Their elements are rounded to binary32 first, and then to the
// formats of the device. As with [mat.Dense.Mul] dst is either empty or has the
// shape of AB; it may be a or b.
//
// It panics if a shape does not fit, a matrix is empty or [Machine.Check]
// returns an error.
func (m Machine) Mul(dst *mat.Dense, a, b mat.Matrix) {
	x, y := general("a", a), general("b", b)
	z := matrix.New(x.Rows, y.Cols)
	m.GEMM(blas.NoTrans, blas.NoTrans, 1, x, y, 0, blas32.General{}, z)
	if dst.IsEmpty() {
		dst.ReuseAs(z.Rows, z.Cols)
	}
	if r, c := dst.Dims(); r != z.Rows || c != z.Cols {
		panic(fmt.Sprintf("tcore: Mul: dst is %d × %d, want %d × %d", r, c, z.Rows, z.Cols))
	}
	for i := range z.Rows {
		for j, v := range matrix.Row(z, i) {
			dst.Set(i, j, float64(v))
		}
	}
}

// general returns m, rounded to binary32. It panics if m is empty.
func general(name string, m mat.Matrix) blas32.General {
	rows, cols := m.Dims()
	if rows < 1 || cols < 1 {
		panic(fmt.Sprintf("tcore: Mul: %s is %d × %d, want at least 1 × 1", name, rows, cols))
	}
	z := matrix.New(rows, cols)
	for i := range rows {
		for j := range cols {
			z.Data[i*cols+j] = float32(m.At(i, j))
		}
	}
	return z
}

// BLAS is gonum's BLAS with the Sgemm of the machine. After
//
//	blas32.Use(tcore.BLAS{Machine: m})
//
// blas32.Gemm multiplies as the machine does. All other routines are gonum's
// own.
type BLAS struct {
	gonum.Implementation
	Machine Machine
}

var _ blas.Float32 = BLAS{}

// Sgemm computes C = alpha op(A) op(B) + beta C, by [Machine.GEMM]. It panics
// if a shape does not fit or [Machine.Check] returns an error.
func (l BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if m == 0 || n == 0 || k == 0 || alpha == 0 { // nothing to multiply
		l.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	of := func(t blas.Transpose, rows, cols, stride int, data []float32) blas32.General {
		if t != blas.NoTrans {
			rows, cols = cols, rows
		}
		return blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: data}
	}
	if tA == blas.ConjTrans {
		tA = blas.Trans
	}
	if tB == blas.ConjTrans {
		tB = blas.Trans
	}
	z := of(blas.NoTrans, m, n, ldc, c)
	l.Machine.GEMM(tA, tB, alpha, of(tA, m, k, lda, a), of(tB, k, n, ldb, b), beta, z, z)
}
