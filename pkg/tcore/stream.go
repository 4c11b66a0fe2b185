package tcore

import "github.com/roundofflab/roundoff/internal/fma"

// StreamMAC computes d = fl(fl(ab) + c) elementwise in binary32:
// multiply-accumulate without FMA, two roundings. Per element it moves 16 bytes
// for 2 operations. It runs on the calling goroutine alone. d may be a, b or c.
// It panics if the lengths differ.
func StreamMAC(d, a, b, c []float32) {
	checkStream("StreamMAC", len(d), len(a), len(b), len(c))
	n := vectorMAC(d, a, b, c)
	pureMAC(d[n:], a[n:], b[n:], c[n:])
}

// StreamFMA computes d = fl(ab + c) elementwise in binary32: fused, one
// rounding. Per element it moves 16 bytes for 2 operations. Otherwise it is
// like [StreamMAC].
func StreamFMA(d, a, b, c []float32) {
	checkStream("StreamFMA", len(d), len(a), len(b), len(c))
	n := vectorFMA(d, a, b, c)
	pureFMA(d[n:], a[n:], b[n:], c[n:])
}

// StreamMPFMA computes d = fl(ab + c) elementwise, the sum in binary32, for
// binary16 codes a and b: the [MPFMA] of PaperF32. Per element it moves 12
// bytes for 2 operations. Otherwise it is like [StreamMAC], but of the operands
// d may only be c.
func StreamMPFMA(d []float32, a, b []uint16, c []float32) {
	checkStream("StreamMPFMA", len(d), len(a), len(b), len(c))
	n := vectorMPFMA(d, a, b, c)
	pureMPFMA(d[n:], a[n:], b[n:], c[n:])
}

func checkStream(call string, d, a, b, c int) {
	checkLengths(call, "a", a, d)
	checkLengths(call, "b", b, d)
	checkLengths(call, "c", c, d)
}

func pureMAC(d, a, b, c []float32) {
	for i := range d {
		d[i] = float32(a[i]*b[i]) + c[i]
	}
}

func pureFMA(d, a, b, c []float32) {
	for i := range d {
		d[i] = fma.Float32(a[i], b[i], c[i])
	}
}

// pureMPFMA rounds once: the product of two binary16 numbers is exact in
// binary32.
func pureMPFMA(d []float32, a, b []uint16, c []float32) {
	for i := range d {
		d[i] = float32(decode16(a[i])*decode16(b[i])) + c[i]
	}
}
