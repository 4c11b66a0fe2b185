package tcore

import (
	"math"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/vector"
)

// dotAddKernelFor returns the kernel of a kind. It returns false if there is
// none. The routines add in 64 bits, so that no sum overflows.
func dotAddKernelFor(kind dotAddKind) (k dotAddKernel, ok bool) {
	run := vector.DotAdd
	switch {
	case kind.half && kind.split:
		run = vector.DotAddHalfSplit
	case kind.half:
		run = vector.DotAddHalf
	case kind.split:
		run = vector.DotAddSplit
	}
	return dotAddKernel{1, dotAddColumns, run, run, packDotAddRow, packDotAddColumns}, features.ASIMD
}

// dotAddColumns is the number of columns of a panel: four vectors, of which
// byte v of each word of exponents belongs to vector v.
const dotAddColumns = 16

// packDotAddRow is the packRows of a dotAddKernel of one row. Bit 8 of the
// result is not set: there is no routine for mild significands alone.
func packDotAddRow(dst *uint32, src *float32, _, n int, emin *uint32, step int, _ *uint32) (rare uint64) {
	const bias = 2*(127+dotAddReach) - 127
	step /= 4
	z, x, least := unsafe.Slice(dst, 2*n), unsafe.Slice(src, n), unsafe.Slice(emin, (n/8-1)*step+1)
	for i, v := range x {
		d, out := dotAddDistance(v, least[i/8*step])
		rare |= out
		e := uint32(0)
		if d != dotAddZero {
			e = (bias - d) & 0xff
		}
		z[2*i], z[2*i+1] = math.Float32bits(v), e*0x01010101
	}
	return rare
}

// packDotAddColumns is the packColumns of a dotAddKernel.
func packDotAddColumns(dst, src *float32, stride, k int, emin, _ *uint32) (rare uint64) {
	const row = dotAddColumns * 5 / 4
	least := (*[dotAddColumns]uint32)(unsafe.Pointer(emin))
	for l := range k {
		x := (*[dotAddColumns]float32)(unsafe.Add(unsafe.Pointer(src), l*stride))
		z := (*[row]float32)(unsafe.Add(unsafe.Pointer(dst), l*4*row))
		copy(z[:], x[:])
		for lane := range 4 {
			word := uint32(0)
			for v := range 4 {
				j := 4*v + lane
				d, out := dotAddDistance(x[j], least[j])
				rare |= out << j
				word |= d & 0xff << (8 * v)
			}
			z[dotAddColumns+lane] = math.Float32frombits(word)
		}
	}
	return rare
}

// dotAddZero is the distance of a zero.
const dotAddZero = 0xff

// dotAddDistance returns the distance of the exponent of x below the greatest,
// dotAddReach, where exponents are at least that of the number of bits least,
// and 1 if x is out of range, else 0.
func dotAddDistance(x float32, least uint32) (d uint32, out uint64) {
	m := math.Float32bits(x) &^ signBit32
	if m == 0 {
		return dotAddZero, 0
	}
	d = (127 + dotAddReach) - max(m, least)>>23
	if d > 2*dotAddReach { // also if it is negative
		out = 1
	}
	return d, out
}
