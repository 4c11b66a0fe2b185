package tcore

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// A GEMMer multiplies matrices as [Machine.GEMM] does, D = alpha op(A) op(B) +
// beta C: an emulated device, or one of silicon.
type GEMMer interface {
	GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General)
}

var _ GEMMer = Machine{}
