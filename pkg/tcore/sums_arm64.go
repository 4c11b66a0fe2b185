package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/vector"
)

// sumsKernelFor returns the kernel of sums in binary32 for products of the
// given number of columns. exact reports whether the products of elements are
// exact in binary32.
func sumsKernelFor(exact bool, columns int) (k sumsKernel[float32, float32], ok bool) {
	switch thin := columns <= 4; {
	case exact && thin:
		k = newSumsKernel(16, 4, 1, vector.SumsFMA16x4)
	case exact:
		k = newSumsKernel(12, 8, 1, vector.SumsFMA12x8)
	case thin:
		k = newSumsKernel(16, 4, 1, vector.SumsMAC16x4)
	default:
		k = newSumsKernel(12, 8, 1, vector.SumsMAC12x8)
	}
	return k, features.ASIMD
}

// chain64KernelFor returns the kernel of FMAs in binary64.
func chain64KernelFor(columns int) (k sumsKernel[float64, float64], ok bool) {
	if columns <= 2 {
		return newSumsKernel(16, 2, 1, vector.Chain64_16x2), features.ASIMD
	}
	return newSumsKernel(12, 4, 1, vector.Chain64_12x4), features.ASIMD
}

// pairsKernelFor returns the kernel of sums of products in pairs, in blocks of
// the given number of terms. normal reports whether products are normal, zero
// or not finite.
func pairsKernelFor(terms int, normal bool, columns int) (k sumsKernel[float32, float32], ok bool) {
	type kind struct {
		terms  int
		normal bool
	}
	k, ok = map[kind]sumsKernel[float32, float32]{
		{2, true}: newSumsKernel(8, 8, 2, vector.PairsFMA2_8x8), {2, false}: newSumsKernel(8, 8, 2, vector.PairsMAC2_8x8),
		{4, true}: newSumsKernel(8, 8, 4, vector.PairsFMA4_8x8), {4, false}: newSumsKernel(8, 8, 4, vector.PairsMAC4_8x8),
	}[kind{terms, normal}]
	return k, ok && features.ASIMD
}

// vectorFlush does what flushRow does for leading elements of x and returns
// their number.
func vectorFlush(x []float32, normal float32) int {
	n := asimdLength(len(x))
	if n > 0 {
		vector.Flush(&x[0], n, math.Float32bits(normal))
	}
	return n
}

// vectorMagnitudes does what magnitudes.add does for leading elements of x, and
// returns their number.
func vectorMagnitudes(m *magnitudes, x []float32) int {
	n := asimdLength(len(x))
	if n > 0 {
		vector.Magnitudes(&x[0], n, &m.least[0])
	}
	return n
}

// vectorWiden stores leading elements of src in dst and returns their number.
func vectorWiden(dst []float64, src []float32) int {
	n := asimdLength(len(src))
	if n > 0 {
		vector.Widen(&dst[0], &src[0], n)
	}
	return n
}

func vectorNarrow(dst []float32, src []float64) int { return 0 }

// vectorRound32 stores fl(x), to nearest even, in dst for the leading elements
// x of src and returns their number.
func vectorRound32(f Format, dst, src []float32) int {
	n := asimdLength(len(src))
	if n == 0 || !f.Equal(Binary16) {
		return 0
	}
	vector.RoundHalf(&dst[0], &src[0], n)
	return n
}

// asimdLength returns how many of n elements the routines compute.
func asimdLength(n int) int {
	if !features.ASIMD {
		return 0
	}
	return n &^ 7
}
