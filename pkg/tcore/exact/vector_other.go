//go:build !amd64

package exact

func kernelFor() (k kernel, ok bool) { return k, false }

func vectorIntegers(dst []int32, src []float32, scale float32, abs bool) int { return 0 }

func vectorGrid(x []float32) (g grid, n int) { return g, 0 }

var vectorBits = 0
