package tcore

import (
	"unsafe"

	"github.com/roundofflab/roundoff/internal/vector"
)

// roundBits is the width of the vector instructions of the rounding: 512 or 256
// bits, or 0 for pure Go.
var roundBits = vector.Bits()

// pastCaches is the least number of elements that the 512-bit code stores past
// the caches. They would drive everything else out of them, and memory would be
// read before it is written.
const pastCaches = 1 << 19

// vectorNearest rounds the leading elements of src to nearest even, a multiple
// of 8 of them, and returns their number.
func vectorNearest(f Format, dst, src []float64) int {
	n := vectorRoundLength(f, len(src))
	if n == 0 {
		return 0
	}
	t := f.newRoundTable(Stochastic{})
	wide, narrow := roundNearest512, roundNearest
	switch {
	case f.Specials == FiniteOnly:
		wide, narrow = roundNearest512Finite, roundNearestFinite
	case f.Specials == FNUZ || f.Subnormals == Flushed:
		wide, narrow = roundNearest512Zeros, roundNearestZeros
	}
	if roundBits < 512 {
		narrow(&dst[0], &src[0], n, t)
		return n
	}
	n &^= 15
	wide(&dst[0], &src[0], n, t, streams(dst, src))
	return n
}

// vectorStochastic is Stochastic.RoundSlice for the leading elements of src, a
// multiple of 16 of them, and returns their number. The index is a multiple of
// 16.
func vectorStochastic(f Format, s Stochastic, dst, src []float64, index uint64) int {
	n := vectorRoundLength(f, len(src)) &^ 15
	if n == 0 {
		return 0
	}
	t := f.newRoundTable(s)
	c := index / 4
	counters := [4]uint64{c, c + 1, c + 2, c + 3}
	wide, narrow := roundStochastic512, roundStochastic
	switch {
	case f.Specials == FiniteOnly:
		wide, narrow = roundStochastic512Finite, roundStochasticFinite
	case f.Specials == FNUZ || f.Subnormals == Flushed:
		wide, narrow = roundStochastic512Zeros, roundStochasticZeros
	}
	if roundBits < 512 {
		narrow(&dst[0], &src[0], n, t, &counters)
		return n
	}
	n &^= 31
	wide(&dst[0], &src[0], n, t, &counters, streams(dst, src))
	return n
}

// streams returns 1 if results are stored past the caches: many of them, from a
// multiple of 64 bytes on, and not over src, which is in the caches.
func streams(dst, src []float64) int {
	address := uintptr(unsafe.Pointer(&dst[0]))
	if len(dst) < pastCaches || address%64 != 0 || &dst[0] == &src[0] {
		return 0
	}
	return 1
}

// vectorRoundLength returns how many of n elements vector code rounds to f, a
// multiple of 8.
func vectorRoundLength(f Format, n int) int {
	if roundBits == 0 || n < shortestVector || !f.vectorizable() {
		return 0
	}
	return n &^ 7
}
