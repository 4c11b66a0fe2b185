//go:build !amd64

package exact

import "gonum.org/v1/gonum/blas/blas32"

func kernelFor() (k kernel) { return k }

func vectorIntegers(dst []int32, src []float32, scale float32, abs bool) int { return 0 }

func vectorGrid(x []float32) (g grid, n int) { return g, 0 }

var (
	vectorBits   = 0
	vectorDigits = 0
)

func takeDigits(a factor, b blas32.General, g grid, list []kind) bool { return false }

type digitProduct struct{}

func newDigitProduct(b blas32.General, g grid, sumBits func(a grid) int, list []kind) digitProduct {
	return digitProduct{}
}

func (p digitProduct) inOnePass(a factor) (e [kinds]Matrix, ok bool) { return e, false }

func (p digitProduct) onGrid(e [kinds]Matrix, a factor, g grid) bool { return false }
