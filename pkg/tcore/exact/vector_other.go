//go:build !amd64

package exact

import "gonum.org/v1/gonum/blas/blas32"

func kernelFor() (k kernel, ok bool) { return k, false }

func vectorIntegers(dst []int32, src []float32, scale float32, abs bool) int { return 0 }

func vectorGrid(x []float32) (g grid, n int) { return g, 0 }

var (
	vectorBits = 0
	hasDigits  = false
)

func digitProducts(e [kinds]Matrix, a, b blas32.General, ga, gb grid, list []kind) bool { return false }
