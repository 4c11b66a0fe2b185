//go:build !amd64 && !arm64

package tcore

func sumsKernelFor(exact bool, columns int) (k sumsKernel[float32, float32], ok bool) {
	return k, false
}

func chain64KernelFor(columns int) (k sumsKernel[float64, float64], ok bool) { return k, false }

func pairsKernelFor(terms int, normal bool, columns int) (k sumsKernel[float32, float32], ok bool) {
	return k, false
}

func vectorFlush(x []float32, normal float32) int { return 0 }

func vectorMagnitudes(m *magnitudes, x []float32) int { return 0 }

func vectorWiden(dst []float64, src []float32) int { return 0 }

func vectorNarrow(dst []float32, src []float64) int { return 0 }

func vectorRound32(f Format, dst, src []float32) int { return 0 }
