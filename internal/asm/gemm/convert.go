package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// roundHalf emits the rounding of binary32 numbers to binary16, by conversion
// and back.
func roundHalf() {
	TEXT("RoundHalf", NOSPLIT, "func(dst, src *float32, n int)")
	Doc("dst = fl16(src), to nearest even; n is a positive multiple of 8.")
	dst, src, n := param("dst"), param("src"), param("n")
	SHRQ(Imm(3), n)
	half, x := XMM(), YMM()
	loop("next", n, func() {
		VMOVUPS(Mem{Base: src}, x)
		VCVTPS2PH(Imm(0), x, half)
		VCVTPH2PS(half, x)
		VMOVUPS(x, Mem{Base: dst})
		ADDQ(U32(32), src)
		ADDQ(U32(32), dst)
	})
	VZEROUPPER()
	RET()
}

// roundNarrow emits the rounding of binary32 numbers to a narrower format, to
// nearest even, with the steps of Format.roundNarrow.
func roundNarrow() {
	TEXT("RoundNarrow", NOSPLIT, "func(dst, src *float32, n int, p *uint32)")
	Doc("dst = fl(src); n is a positive multiple of 8. The fields of narrowConstants are at p.")
	dst, src, n, p := param("dst"), param("src"), param("n"), param("p")
	field := func(i int) reg.VecVirtual {
		v := YMM()
		VPBROADCASTD(Mem{Base: p}.Offset(4*i), v)
		return v
	}
	drop := XMM()
	VMOVD(Mem{Base: p}, drop)
	half, mask, normal, greatest := field(1), field(2), field(3), field(4)
	overflow, quanta, magnitude, infinity := field(5), field(6), field(7), field(8)
	one := YMM()
	VPSRLD(Imm(30), magnitude, one)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		x, m, r, t := YMM(), YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: src}, x)
		VPAND(x, magnitude, m)
		VPSRLD(drop, m, r)
		VPAND(one, r, r)
		VPADDD(half, r, r)
		VPADDD(m, r, r)
		VPAND(mask, r, r)
		VPCMPGTD(greatest, r, t)
		VBLENDVPS(t, overflow, r, r)
		small := YMM()
		VADDPS(quanta, m, small)
		VSUBPS(quanta, small, small)
		VPCMPGTD(m, normal, t)
		VBLENDVPS(t, small, r, r)
		VPCMPGTD(infinity, m, t)
		VBLENDVPS(t, m, r, r) // a NaN is not changed
		VPANDN(x, magnitude, t)
		VPOR(t, r, r)
		VMOVUPS(r, Mem{Base: dst})
		ADDQ(U32(32), src)
		ADDQ(U32(32), dst)
	})
	VZEROUPPER()
	RET()
}
