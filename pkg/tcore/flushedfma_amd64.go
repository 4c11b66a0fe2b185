package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// evenOddKernelFor returns the kernel of an [EvenOdd] core for products of the
// given number of columns. It returns false if there is none.
func evenOddKernelFor(core EvenOdd, columns int) (k sumsKernel[float32, float32], ok bool) {
	kernel := func(rows, columns int, routine func(c *float32, ldc int, a *float32, lda int, b *float32, blocks, pairs int)) sumsKernel[float32, float32] {
		return newSumsKernel(rows, columns, core.Terms, func(c *float32, ldc int, a *float32, lda int, b *float32, k int) {
			routine(c, ldc, a, lda, b, k/core.Terms, core.Terms/2)
		})
	}
	k, ok = map[int]sumsKernel[float32, float32]{
		256: kernel(3, 16, vector.EvenOdd3x16), 512: kernel(7, 32, vector.EvenOdd7x32),
	}[newTileShape(columns, 8).bits]
	return k, ok
}

// oddFirstKernelFor returns the kernel of an [OddFirst] core for products of
// the given number of columns. It returns false if there is none.
func oddFirstKernelFor(columns int) (k sumsKernel[float32, float32], ok bool) {
	kernel := func(rows, columns int, routine func(c *float32, ldc int, a *float32, lda int, b *float32, pairs int)) sumsKernel[float32, float32] {
		return newSumsKernel(rows, columns, 2, func(c *float32, ldc int, a *float32, lda int, b *float32, k int) {
			routine(c, ldc, a, lda, b, k/2)
		})
	}
	k, ok = map[int]sumsKernel[float32, float32]{
		256: kernel(6, 16, vector.OddFirst6x16), 512: kernel(14, 32, vector.OddFirst14x32),
	}[newTileShape(columns, 8).bits]
	return k, ok
}
