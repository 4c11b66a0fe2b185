package tcore

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A GEMMer multiplies matrices as [Machine.GEMM] does, D = alpha op(A) op(B) +
// beta C. It is an emulated device or a real one.
type GEMMer interface {
	GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General)
}

var _ GEMMer = Machine{}
