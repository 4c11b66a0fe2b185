//go:build !amd64

package tcore

// vectorBits is the vector width of the matrix products: 0, since they are pure
// Go here.
var vectorBits = 0

func sumsKernelFor(exact bool, columns int) (k sumsKernel, ok bool) { return k, false }

func vectorRound32(f Format, dst, src []float32) int { return 0 }
