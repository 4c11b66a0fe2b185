package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// roundHalf emits the rounding of binary32 numbers to binary16, by conversion
// and back.
func roundHalf() {
	TEXT("RoundHalf", NOSPLIT, "func(dst, src *float32, n int)")
	Doc("dst = fl16(src), to nearest even; n is a positive multiple of 8.")
	Pragma("noescape")
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
func (w width) roundNarrow() {
	TEXT(fmt.Sprintf("RoundNarrow%d", w), NOSPLIT, "func(dst, src *float32, n int, p *uint32)")
	Doc(fmt.Sprintf("dst = fl(src); n is a positive multiple of %d. The fields of narrowConstants are at p.", w.lanes()))
	Pragma("noescape")
	dst, src, n, p := param("dst"), param("src"), param("n"), param("p")
	field := func(i int) reg.VecVirtual {
		v := w.vector()
		VPBROADCASTD(Mem{Base: p}.Offset(4*i), v)
		return v
	}
	drop := XMM()
	VMOVD(Mem{Base: p}, drop)
	half, mask, normal, greatest := field(1), field(2), field(3), field(4)
	overflow, quanta, magnitude, infinity := field(5), field(6), field(7), field(8)
	one := w.vector()
	VPSRLD(Imm(30), magnitude, one)
	// where sets r to y in the lanes in which x is greater than limit.
	where := func(x, limit, y, r reg.VecVirtual) {
		if w == 256 {
			t := YMM()
			VPCMPGTD(limit, x, t)
			VBLENDVPS(t, y, r, r)
			return
		}
		k := K()
		VPCMPGTD(limit, x, k)
		VMOVDQA32(y, k, r)
	}
	SHRQ(Imm(uint64(bits.TrailingZeros(uint(w.lanes())))), n)
	loop("next", n, func() {
		x, m, r, t := w.vector(), w.vector(), w.vector(), w.vector()
		VMOVUPS(Mem{Base: src}, x)
		w.and(x, magnitude, m)
		VPSRLD(drop, m, r)
		w.and(one, r, r)
		VPADDD(half, r, r)
		VPADDD(m, r, r)
		w.and(mask, r, r)
		where(r, greatest, overflow, r)
		small := w.vector()
		VADDPS(quanta, m, small)
		VSUBPS(quanta, small, small)
		where(normal, m, small, r)
		where(m, infinity, m, r) // a NaN is not changed
		w.andNot(magnitude, x, t)
		w.or(t, r, r)
		VMOVUPS(r, Mem{Base: dst})
		ADDQ(U32(w.bytes()), src)
		ADDQ(U32(w.bytes()), dst)
	})
	VZEROUPPER()
	RET()
}
