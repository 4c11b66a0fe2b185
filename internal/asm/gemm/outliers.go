package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
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
func setApart() {
	TEXT("setApart", NOSPLIT, "func(dst, src *float32, n int, scale, limit float32, at *int32, values *float32) (found int)")
	Doc("dst = src where src × scale is an integer of at most limit in magnitude, otherwise 0. The indices of the",
		"others are stored in at and these in values, with room for n each; n is a positive multiple of 16, and",
		"dst may be src.")
	Pragma("noescape")
	dst, src, n, at, values := param("dst"), param("src"), param("n"), param("at"), param("values")
	scale, limit, index, sixteen := ZMM(), ZMM(), ZMM(), ZMM()
	VBROADCASTSS(NewParamAddr("scale", 24), scale)
	VBROADCASTSS(NewParamAddr("limit", 28), limit)
	first := GLOBL("sixteenIndices", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i))
	}
	VMOVDQU32(first, index)
	found, step, count := GP64(), GP32(), GP32()
	XORQ(found, found)
	MOVL(U32(16), step)
	VPBROADCASTD(step, sixteen)
	magnitude := ZMM()
	MOVL(U32(1<<31-1), step)
	VPBROADCASTD(step, magnitude)

	SHRQ(Imm(4), n)
	loop("next", n, func() {
		x, y, whole := ZMM(), ZMM(), ZMM()
		fraction, large := K(), K()
		VMOVUPS(Mem{Base: src}, x)
		VMULPS(scale, x, y)
		VRNDSCALEPS(Imm(0x0b), y, whole)
		VCMPPS(Imm(4), y, whole, fraction) // not equal
		VPANDD(magnitude, y, y)
		VCMPPS(Imm(14), limit, y, large) // greater
		KORW(fraction, large, large)
		KMOVW(large, count)
		TESTL(count, count)
		JZ(LabelRef("fits"))
		{
			VPCOMPRESSD(index, large, Mem{Base: at, Index: found, Scale: 4})
			VCOMPRESSPS(x, large, Mem{Base: values, Index: found, Scale: 4})
			POPCNTL(count, count)
			ADDQ(count.As64(), found)
			KNOTW(large, large)
			VMOVDQU32_Z(x, large, x)
		}
		Label("fits")
		VMOVUPS(x, Mem{Base: dst})
		VPADDD(sixteen, index, index)
		ADDQ(U32(64), src)
		ADDQ(U32(64), dst)
	})
	Store(found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
