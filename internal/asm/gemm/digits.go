package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// digitSums emits the routine for a tile of 12 rows × panels of 8 columns of
// sums of products of digits, integers of at most 2^12 in magnitude:
//
//	for every quad of four terms k:
//		s[row][column] += (a[k] b[k] + a[k+1] b[k+1], a[k+2] b[k+2] + a[k+3] b[k+3])
//	c[row][column] += weight × (s[row][column][0] + s[row][column][1])
//
// A vector of 32-bit lanes contains two partial sums of each of 8 columns. A
// lane adds two products of a quad, and up to 63 quads: 126 products of at most
// 2^24 are less than 2^31, so that nothing overflows. A multiplication by the
// weight extends the sign of a lane to 64 bits.
func digitSums(panels int) {
	const rows = 12
	w := width(512)
	TEXT(fmt.Sprintf("digitSums%d", 8*panels), NOSPLIT, "func(c *int64, a *int16, lda int, b *int16, ldb int, quads int, weight int64)")
	Doc(fmt.Sprintf("%d rows × %d columns: c += weight × ab, summed over 4 quads terms; 0 < quads <= 63,", rows, 8*panels),
		"|weight| < 2^31, lda and ldb in bytes. Panels of 8 columns are ldb apart in b.")
	Pragma("noescape")
	c, a, lda, b, ldb, quads := param("c"), param("a"), param("lda"), param("b"), param("ldb"), param("quads")
	factors, pointers := rowAddresses(a, lda, rows)
	of := []Mem{{Base: b}, {Base: b, Index: ldb, Scale: 1}}

	s, y, x := w.vectors(rows*panels), w.vectors(panels), w.vectors(1)[0]
	for _, v := range s {
		w.zero(v)
	}
	loop("next", quads, func() {
		for p, v := range y {
			VMOVDQU32(of[p], v)
		}
		for i, row := range factors {
			VPBROADCASTQ(row, x)
			for p, v := range y {
				VPDPWSSD(v, x, s[p*rows+i])
			}
		}
		for _, p := range pointers {
			ADDQ(U32(8), p)
		}
		ADDQ(U32(64), b)
	})
	weight, odd := w.vectors(1)[0], w.vectors(1)[0]
	VPBROADCASTQ(NewParamAddr("weight", 48), weight)
	for i, even := range s {
		at := Mem{Base: c}.Offset(64 * i)
		VPSRLQ(Imm(32), even, odd)
		VPMULDQ(weight, even, even)
		VPMULDQ(weight, odd, odd)
		VPADDQ(at, even, even)
		VPADDQ(odd, even, even)
		VMOVDQU64(even, at)
	}
	VZEROUPPER()
	RET()
}

// base is 2^12, the base of the digits, in binary32.
const base = 0x45800000

// rowDigits emits the conversion of binary32 numbers to digits in base 2^12:
//
//	x *= scale
//	for every digit, the leading one first:
//		digit = x toward zero
//		x = (x - digit) × 2^12
//
// A digit has the sign of x. The rest x - digit consists of trailing bits of x
// and is exact; so is its product by a power of two, as long as it is not
// subnormal.
func rowDigits() {
	TEXT("rowDigits", NOSPLIT, "func(dst *int16, stride int, src *float32, n int, scale float32, mask uint32, count int)")
	Doc("The count > 0 leading digits in base 2^12 of (src & mask) × scale, at most 2^12 in magnitude,",
		"the digits of a place stride bytes after those of the one before; n is a positive multiple of 16.")
	Pragma("noescape")
	dst, stride, src, n, count := param("dst"), param("stride"), param("src"), param("n"), param("count")
	scale, mask, next, x, digit := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VBROADCASTSS(NewParamAddr("scale", 32), scale)
	VBROADCASTSS(NewParamAddr("mask", 36), mask)
	bits, place, left := GP32(), GP64(), GP64()
	MOVL(U32(base), bits)
	VPBROADCASTD(bits, next)
	SHRQ(Imm(4), n)
	loop("next", n, func() {
		VPANDD(Mem{Base: src}, mask, x)
		VMULPS(scale, x, x)
		MOVQ(dst, place)
		MOVQ(count, left)
		loop("digit", left, func() {
			VCVTTPS2DQ(x, digit)
			VPMOVDW(digit, Mem{Base: place})
			VCVTDQ2PS(digit, digit)
			VSUBPS(digit, x, x)
			VMULPS(next, x, x)
			ADDQ(stride, place)
		})
		ADDQ(U32(64), src)
		ADDQ(U32(32), dst)
	})
	VZEROUPPER()
	RET()
}

// panelDigits emits the conversion of rowDigits for a panel of 8 columns, with
// the four digits of a quad of rows in adjacent words. Two registers contain
// the rows 0, 1 and 2, 3 of a quad; their digits are packed into one and
// permuted.
func panelDigits() {
	// In a lane of 128 bits VPACKSSDW puts four columns of row 0 or 1 before
	// those of row 2 or 3.
	order := GLOBL("quadOrder", RODATA|NOPTR)
	for column := range 8 {
		for row := range 4 {
			lane := row%2*2 + column/4
			DATA(2*(4*column+row), U16(8*lane+row/2*4+column%4))
		}
	}

	TEXT("panelDigits", NOSPLIT, "func(dst *int16, stride int, src *float32, ld int, quads int, scale float32, mask uint32, count int)")
	Doc("rowDigits of 4 quads rows of 8 numbers, ld bytes apart: the four digits of each column of a quad are",
		"adjacent in dst; count and quads > 0.")
	Pragma("noescape")
	dst, stride, src, ld, quads, count := param("dst"), param("stride"), param("src"), param("ld"), param("quads"), param("count")
	scale, mask, next, permutation, packed := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VBROADCASTSS(NewParamAddr("scale", 40), scale)
	VBROADCASTSS(NewParamAddr("mask", 44), mask)
	bits, place, left := GP32(), GP64(), GP64()
	MOVL(U32(base), bits)
	VPBROADCASTD(bits, next)
	VMOVDQU16(order, permutation)
	rows, pointers := rowAddresses(src, ld, 4)
	step := GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 1}, step)
	SHLQ(Imm(1), step)
	loop("next", quads, func() {
		x, digit := width(512).vectors(2), width(512).vectors(2)
		for i, v := range x {
			VMOVUPS(rows[2*i], v.AsY())
			VINSERTF32X8(Imm(1), rows[2*i+1], v, v)
			VPANDD(mask, v, v)
			VMULPS(scale, v, v)
		}
		MOVQ(dst, place)
		MOVQ(count, left)
		loop("digit", left, func() {
			for i, v := range x {
				VCVTTPS2DQ(v, digit[i])
			}
			VPACKSSDW(digit[1], digit[0], packed)
			VPERMW(packed, permutation, packed)
			VMOVDQU16(packed, Mem{Base: place})
			for i, v := range x {
				VCVTDQ2PS(digit[i], digit[i])
				VSUBPS(digit[i], v, v)
				VMULPS(next, v, v)
			}
			ADDQ(stride, place)
		})
		for _, p := range pointers {
			ADDQ(step, p)
		}
		ADDQ(U32(64), dst)
	})
	VZEROUPPER()
	RET()
}
