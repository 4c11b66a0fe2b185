package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// integerSums emits the routine for a tile of integer sums, 8 columns wide.
// Each factor of b is in the low half of a 64-bit word.
func (w width) integerSums() {
	lanes := int(w) / 64
	vectors := 8 / lanes
	rows := 12 / vectors
	TEXT(fmt.Sprintf("integerSums%d", w), NOSPLIT, "func(c *int64, a *int32, lda int, b *int64, k int)")
	Doc(fmt.Sprintf("%d rows × 8 columns: c = ab summed over k > 0 terms, lda in bytes.", rows))
	c, a, lda, b, k := param("c"), param("a"), param("lda"), param("b"), param("k")
	factors, pointers := rowAddresses(a, lda, rows)

	s, one := w.vectors(rows*vectors), w.vectors(2)
	x, product := one[0], one[1]
	for _, v := range s {
		w.zero(v)
	}
	loop("next", k, func() {
		for i, row := range factors {
			VPBROADCASTD(row, x)
			for v := range vectors {
				sum := s[i*vectors+v]
				VPMULDQ(Mem{Base: b}.Offset(v*w.bytes()), x, product)
				VPADDQ(product, sum, sum)
			}
		}
		for _, p := range pointers {
			ADDQ(U32(4), p)
		}
		ADDQ(U32(64), b)
	})
	for i, v := range s {
		VMOVUPS(v, Mem{Base: c}.Offset(i*w.bytes()))
	}
	VZEROUPPER()
	RET()
}

// integers emits the conversion of binary32 numbers to integers, as multiples
// of a power of two.
func integers() {
	TEXT("integers", NOSPLIT, "func(dst *int32, src *float32, n int, scale float32, mask uint32)")
	Doc("dst = (src & mask) × scale, which must be an integer; n is a positive multiple of 8.")
	dst, src, n := param("dst"), param("src"), param("n")
	scale, mask, x := YMM(), YMM(), YMM()
	VBROADCASTSS(NewParamAddr("scale", 24), scale)
	VBROADCASTSS(NewParamAddr("mask", 28), mask)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		VANDPS(Mem{Base: src}, mask, x)
		VMULPS(scale, x, x)
		VCVTTPS2DQ(x, x)
		VMOVDQU(x, Mem{Base: dst})
		ADDQ(U32(32), src)
		ADDQ(U32(32), dst)
	})
	VZEROUPPER()
	RET()
}

// gridBits emits the search for the coarsest grid, the multiples of a power of
// two, that contains all elements.
func gridBits() {
	TEXT("gridBits", NOSPLIT, "func(src *float32, n int) (greatest, least uint32)")
	Doc("The greatest bits of a magnitude, and of the last bits set the least exponent field, that of 1 being 277;",
		"n is a positive multiple of 8.")
	src, n := param("src"), param("n")
	greatest, least := YMM(), YMM()
	magnitude, one := YMM(), YMM()
	VPXOR(greatest, greatest, greatest)
	VPCMPEQD(least, least, least)
	VPSRLD(Imm(1), least, least)
	VMOVDQA(least, magnitude)
	VPSRLD(Imm(30), least, one)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		x, e, sig, isZero, last := YMM(), YMM(), YMM(), YMM(), YMM()
		VPAND(Mem{Base: src}, magnitude, x)
		VPMAXUD(x, greatest, greatest)
		VPXOR(isZero, isZero, isZero)
		VPCMPEQD(x, isZero, isZero)
		VPSRLD(Imm(23), x, e)
		VPSLLD(Imm(23), e, sig)
		VPXOR(sig, x, sig)
		// A subnormal number has no hidden bit and counts as exponent 1.
		normal := YMM()
		VPMINUD(one, e, normal)
		VPMAXUD(one, e, e)
		VPSLLD(Imm(23), normal, normal)
		VPOR(normal, sig, sig)
		// sig & -sig is a power of two.
		VPXOR(last, last, last)
		VPSUBD(sig, last, last)
		VPAND(sig, last, last)
		VCVTDQ2PS(last, last)
		VPSRLD(Imm(23), last, last)
		VPADDD(e, last, last)
		VPSRLD(Imm(1), isZero, isZero)
		VPOR(isZero, last, last)
		VPMINUD(last, least, least)
		ADDQ(U32(32), src)
	})
	reduce(greatest, func(x, y, z Op) { VPMAXUD(x, y, z) })
	reduce(least, func(x, y, z Op) { VPMINUD(x, y, z) })
	for i, v := range []reg.VecVirtual{greatest, least} {
		r := GP32()
		VMOVD(v.AsX(), r)
		Store(r, ReturnIndex(i))
	}
	VZEROUPPER()
	RET()
}

// reduce emits the combination, by the operation of, of all eight lanes of v.
// The result is in the first lane.
func reduce(v reg.VecVirtual, of func(x, y, z Op)) {
	t := YMM()
	VEXTRACTI128(Imm(1), v, t.AsX())
	of(t.AsX(), v.AsX(), v.AsX())
	VPSHUFD(Imm(0x4e), v.AsX(), t.AsX())
	of(t.AsX(), v.AsX(), v.AsX())
	VPSHUFD(Imm(0xb1), v.AsX(), t.AsX())
	of(t.AsX(), v.AsX(), v.AsX())
}
