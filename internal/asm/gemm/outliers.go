package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// setApart emits the separation of binary32 numbers into those that digits
// hold, integers of a limited size in units of 1/scale, and the others:
//
//	for every index i:
//		x = src[i] × scale
//		fits = x toward zero == x and |x| <= limit
//		dst[i] = src[i] if it fits, otherwise 0
//		if not, i is stored in at and src[i] in values
//
// The product by the scale, a power of two, is exact unless it is subnormal or
// infinite. An infinite one does not fit.
//
// Where any does not fit, those are found by their mask: in 512 bits all at
// once, in 256 bits one by one, since they are few.
func (w width) setApart() {
	TEXT(fmt.Sprint("setApart", int(w)), NOSPLIT, "func(dst, src *float32, n int, scale, limit float32, at *int32, values *float32) (found int)")
	Doc("dst = src where src × scale is an integer of at most limit in magnitude, otherwise 0. The indices of the",
		"others are stored in at and these in values, with room for n each; n is a positive multiple of 16, and",
		"dst may be src.")
	Pragma("noescape")
	dst, src, n, at, values := param("dst"), param("src"), param("n"), param("at"), param("values")
	scale, limit, magnitude := w.vector(), w.vector(), w.vector()
	VBROADCASTSS(NewParamAddr("scale", 24), scale)
	VBROADCASTSS(NewParamAddr("limit", 28), limit)
	w.broadcast(1<<31-1, magnitude)
	found := GP64()
	XORQ(found, found)
	store, advance := w.storeApart(src, at, values, found)

	SHRQ(Imm(uint64(bits.TrailingZeros(uint(w.lanes())))), n)
	loop("next", n, func() {
		x, y, count := w.vector(), w.vector(), GP32()
		VMOVUPS(Mem{Base: src}, x)
		VMULPS(scale, x, y)
		mask := w.apart(y, limit, magnitude, count)
		TESTL(count, count)
		JZ(LabelRef("fits"))
		store(x, mask, count)
		Label("fits")
		VMOVUPS(x, Mem{Base: dst})
		advance()
		ADDQ(U32(w.bytes()), src)
		ADDQ(U32(w.bytes()), dst)
	})
	Store(found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// apart emits the mask of the lanes of y that are not integers or exceed the
// limit, and its bits. y is lost.
func (w width) apart(y, limit, magnitude reg.VecVirtual, bits reg.GPVirtual) (mask Op) {
	const towardZero, notEqual, greater = 0x0b, 4, 14
	whole := w.vector()
	if w == 512 {
		fraction, large := K(), K()
		VRNDSCALEPS(Imm(towardZero), y, whole)
		VCMPPS(Imm(notEqual), y, whole, fraction)
		VPANDD(magnitude, y, y)
		VCMPPS(Imm(greater), limit, y, large)
		KORW(fraction, large, large)
		KMOVW(large, bits)
		return large
	}
	large := w.vector()
	VROUNDPS(Imm(towardZero), y, whole)
	VCMPPS(Imm(notEqual), y, whole, whole)
	VPAND(magnitude, y, y)
	VCMPPS(Imm(greater), limit, y, large)
	VPOR(whole, large, large)
	VMOVMSKPS(large, bits)
	return large
}

// storeApart returns what emits that the elements in a mask are stored, and are
// zeros in x, and what emits the step to the next vector of src.
func (w width) storeApart(src, at, values, found reg.Register) (store func(x reg.VecVirtual, mask Op, bits reg.GPVirtual), advance func()) {
	if w == 512 {
		index, sixteen := w.vector(), w.vector()
		first := GLOBL("sixteenIndices", RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(i))
		}
		VMOVDQU32(first, index)
		w.broadcast(16, sixteen)
		store = func(x reg.VecVirtual, mask Op, bits reg.GPVirtual) {
			VPCOMPRESSD(index, mask, Mem{Base: at, Index: found, Scale: 4})
			VCOMPRESSPS(x, mask, Mem{Base: values, Index: found, Scale: 4})
			POPCNTL(bits, bits)
			ADDQ(bits.As64(), found)
			KNOTW(mask, mask)
			VMOVDQU32_Z(x, mask, x)
		}
		return store, func() { VPADDD(sixteen, index, index) }
	}
	first := GP64()
	XORQ(first, first)
	store = func(x reg.VecVirtual, mask Op, bits reg.GPVirtual) {
		VANDNPS(x, mask, x)
		lane, value, rest := GP32(), GP32(), GP32()
		Label("apart")
		BSFL(bits, lane)
		MOVL(Mem{Base: src, Index: lane.As64(), Scale: 4}, value)
		MOVL(value, Mem{Base: values, Index: found, Scale: 4})
		ADDL(first.As32(), lane)
		MOVL(lane, Mem{Base: at, Index: found, Scale: 4})
		INCQ(found)
		LEAL(Mem{Base: bits.As64()}.Offset(-1), rest)
		ANDL(rest, bits)
		JNZ(LabelRef("apart"))
	}
	return store, func() { ADDQ(U32(w.lanes()), first) }
}
