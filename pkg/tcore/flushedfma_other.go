//go:build !amd64

package tcore

// On arm64 a result is flushed if it is subnormal before it is rounded, which
// is another arithmetic.

func evenOddKernelFor(core EvenOdd, columns int) (k sumsKernel[float32, float32], ok bool) {
	return k, false
}

func oddFirstKernelFor(columns int) (k sumsKernel[float32, float32], ok bool) { return k, false }

// Pairs have no kernels of these roundings there yet.

func fusedPairsKernelFor(terms, columns int) (k sumsKernel[float32, float32], ok bool) {
	return k, false
}

func oddPairsKernelFor(terms int) (k sumsKernel[float32, float32], ok bool) { return k, false }
