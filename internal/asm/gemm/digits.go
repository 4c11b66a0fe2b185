package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// digitSums emits the routine for a tile of rows × panels of 8 columns of sums
// of products of digits, integers of at most 2^12 in magnitude:
//
//	for every quad of four terms k:
//		s[row][column] += (a[k] b[k] + a[k+1] b[k+1], a[k+2] b[k+2] + a[k+3] b[k+3])
//	c[row][column] += weight × (s[row][column][0] + s[row][column][1])
//
// A vector of 32-bit lanes contains two partial sums of each of 8 columns, or,
// in 256 bits, of 4. A lane adds two products of a quad, and up to 63 quads:
// 126 products of at most 2^24 are less than 2^31, so that nothing overflows.
// In 512 bits one instruction of VNNI multiplies and adds, in 256 bits two of
// AVX2 do. A multiplication by the weight extends the sign of a lane to 64
// bits.
func (w width) digitSums(rows, panels int) {
	TEXT(fmt.Sprintf("digitSums%d_%dx%d", w, rows, 8*panels), NOSPLIT,
		"func(c *int64, a *int16, lda int, b *int16, ldb int, quads int, weight int64)")
	Doc(fmt.Sprintf("%d rows × %d columns: c += weight × ab, summed over 4 quads terms; 0 < quads <= 63,", rows, 8*panels),
		"|weight| < 2^31, lda and ldb in bytes. Panels of 8 columns are ldb apart in b.")
	Pragma("noescape")
	c, a, lda, b, ldb, quads := param("c"), param("a"), param("lda"), param("b"), param("ldb"), param("quads")
	factors, pointers := rowAddresses(a, lda, rows)
	var of []Mem // the vectors of a quad of rows of the panels
	for _, panel := range []Mem{{Base: b}, {Base: b, Index: ldb, Scale: 1}}[:panels] {
		for v := range 512 / int(w) {
			of = append(of, panel.Offset(v*w.bytes()))
		}
	}

	s, y, x := w.vectors(rows*len(of)), w.vectors(len(of)), w.vector()
	for _, v := range s {
		w.zero(v)
	}
	loop("next", quads, func() {
		for p, v := range y {
			w.load(of[p], v)
		}
		for i, row := range factors {
			VPBROADCASTQ(row, x)
			for p, v := range y {
				w.addPairs(v, x, s[p*rows+i])
			}
		}
		for _, p := range pointers {
			ADDQ(U32(8), p)
		}
		ADDQ(U32(64), b)
	})
	weight, odd := w.vector(), w.vector()
	VPBROADCASTQ(NewParamAddr("weight", 48), weight)
	for i, even := range s {
		p, row := i/rows, i%rows // the vector of columns, of which a panel has 512/w, and the row
		at := Mem{Base: c}.Offset(64*(p*int(w)/512*rows+row) + p*w.bytes()%64)
		VPSRLQ(Imm(32), even, odd)
		VPMULDQ(weight, even, even)
		VPMULDQ(weight, odd, odd)
		VPADDQ(at, even, even)
		VPADDQ(odd, even, even)
		w.store(even, at)
	}
	VZEROUPPER()
	RET()
}

// addPairs emits s += xy of 16-bit integers, summed by pairs.
func (w width) addPairs(x, y, s reg.VecVirtual) {
	if w == 512 {
		VPDPWSSD(x, y, s)
		return
	}
	product := w.vector()
	VPMADDWD(x, y, product)
	VPADDD(product, s, s)
}

// load emits v = m, and store m = v.

func (w width) load(m Mem, v Op) {
	if w == 512 {
		VMOVDQU32(m, v)
	} else {
		VMOVDQU(m, v)
	}
}

func (w width) store(v Op, m Mem) {
	if w == 512 {
		VMOVDQU64(v, m)
	} else {
		VMOVDQU(v, m)
	}
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
func (w width) rowDigits() {
	TEXT(fmt.Sprint("rowDigits", int(w)), NOSPLIT, "func(dst *int16, stride int, src *float32, n int, scale float32, mask uint32, count int)")
	Doc("The count > 0 leading digits in base 2^12 of (src & mask) × scale, at most 2^12 in magnitude,",
		"the digits of a place stride bytes after those of the one before; n is a positive multiple of 16.")
	Pragma("noescape")
	dst, stride, src, n, count := param("dst"), param("stride"), param("src"), param("n"), param("count")
	scale, mask, next := w.vector(), w.vector(), w.vector()
	x, digit := w.vectors(512/int(w)), w.vectors(512/int(w)) // 16 numbers
	VBROADCASTSS(NewParamAddr("scale", 32), scale)
	VBROADCASTSS(NewParamAddr("mask", 36), mask)
	place, left := GP64(), GP64()
	w.broadcast(base, next)
	SHRQ(Imm(4), n)
	loop("next", n, func() {
		for i, x := range x {
			w.and(Mem{Base: src}.Offset(i*w.bytes()), mask, x)
			VMULPS(scale, x, x)
		}
		MOVQ(dst, place)
		MOVQ(count, left)
		loop("digit", left, func() {
			for i, x := range x {
				VCVTTPS2DQ(x, digit[i])
			}
			if w == 512 {
				VPMOVDW(digit[0], Mem{Base: place})
			} else {
				words := w.vector()
				VPACKSSDW(digit[1], digit[0], words)
				VPERMQ(Imm(0xd8), words, words)
				VMOVDQU(words, Mem{Base: place})
			}
			nextDigit(x, digit, next)
			ADDQ(stride, place)
		})
		ADDQ(U32(64), src)
		ADDQ(U32(32), dst)
	})
	VZEROUPPER()
	RET()
}

// broadcast emits v = bits in all lanes.
func (w width) broadcast(bits uint32, v reg.VecVirtual) {
	r := GP32()
	MOVL(U32(bits), r)
	if w == 512 {
		VPBROADCASTD(r, v)
	} else {
		VMOVD(r, v.AsX())
		VPBROADCASTD(v.AsX(), v)
	}
}

// nextDigit emits x = (x - digit) × base for vectors x. Digits, 32-bit
// integers, are lost.
func nextDigit(x, digit []reg.VecVirtual, base reg.VecVirtual) {
	for i, x := range x {
		VCVTDQ2PS(digit[i], digit[i])
		VSUBPS(digit[i], x, x)
		VMULPS(base, x, x)
	}
}

// panelDigits emits the conversion of rowDigits for a panel of 8 columns, with
// the four digits of a quad of rows in adjacent words.
func (w width) panelDigits() {
	order := w.quadOrder()
	TEXT(fmt.Sprint("panelDigits", int(w)), NOSPLIT, "func(dst *int16, stride int, src *float32, ld int, quads int, scale float32, mask uint32, count int)")
	Doc("The digits of 4 quads rows of 8 numbers, ld bytes apart, as in a row: the four digits of each column of a",
		"quad are adjacent in dst; count and quads > 0.")
	Pragma("noescape")
	dst, stride, src, ld, quads, count := param("dst"), param("stride"), param("src"), param("ld"), param("quads"), param("count")
	scale, mask, next := w.vector(), w.vector(), w.vector()
	VBROADCASTSS(NewParamAddr("scale", 40), scale)
	VBROADCASTSS(NewParamAddr("mask", 44), mask)
	place, left := GP64(), GP64()
	w.broadcast(base, next)
	pack := w.packQuad(order)
	rows, pointers := rowAddresses(src, ld, 4)
	step := GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 1}, step)
	SHLQ(Imm(1), step)
	loop("next", quads, func() {
		x, digit := w.vectors(4*256/int(w)), w.vectors(4*256/int(w))
		for i, v := range x {
			if w == 512 {
				VMOVUPS(rows[2*i], v.AsY())
				VINSERTF32X8(Imm(1), rows[2*i+1], v, v)
				VPANDD(mask, v, v)
			} else {
				VPAND(rows[i], mask, v)
			}
			VMULPS(scale, v, v)
		}
		MOVQ(dst, place)
		MOVQ(count, left)
		loop("digit", left, func() {
			for i, v := range x {
				VCVTTPS2DQ(v, digit[i])
			}
			pack(digit, Mem{Base: place})
			nextDigit(x, digit, next)
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

// quadOrder returns the memory of the permutation of packQuad in 512 bits:
// VPACKSSDW puts, in a lane of 128 bits, four columns of row 0 or 1 before
// those of row 2 or 3.
func (w width) quadOrder() (order Mem) {
	if w == 512 {
		order = GLOBL("quadOrder", RODATA|NOPTR)
		for column := range 8 {
			for row := range 4 {
				lane := row%2*2 + column/4
				DATA(2*(4*column+row), U16(8*lane+row/2*4+column%4))
			}
		}
	}
	return order
}

// packQuad returns what emits the storage of the digits of a quad of rows, 8
// columns of 32-bit integers each, column by column. In 512 bits two registers
// contain the rows 0, 1 and 2, 3; their digits are packed into one and
// permuted. In 256 bits each row has a register; the low words of two rows
// become one, two of these are interleaved, and their halves are put in order.
func (w width) packQuad(order Mem) func(digit []reg.VecVirtual, dst Mem) {
	if w == 512 {
		permutation, packed := w.vector(), w.vector()
		VMOVDQU16(order, permutation)
		return func(digit []reg.VecVirtual, dst Mem) {
			VPACKSSDW(digit[1], digit[0], packed)
			VPERMW(packed, permutation, packed)
			VMOVDQU16(packed, dst)
		}
	}
	return func(digit []reg.VecVirtual, dst Mem) {
		pairs := w.vectors(2) // of rows 0 and 1, and of rows 2 and 3
		for i, v := range pairs {
			VPSLLD(Imm(16), digit[2*i+1], v)
			VPBLENDW(Imm(0x55), digit[2*i], v, v)
		}
		low, high := w.vector(), w.vector() // columns 0, 1, 4, 5 and 2, 3, 6, 7
		VPUNPCKLDQ(pairs[1], pairs[0], low)
		VPUNPCKHDQ(pairs[1], pairs[0], high)
		for i, halves := range []uint8{0x20, 0x31} {
			VPERM2I128(Imm(uint64(halves)), high, low, pairs[i])
			VMOVDQU(pairs[i], dst.Offset(i*w.bytes()))
		}
	}
}
