package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the constants of type exponents.
const (
	offEmin     = 4 * iota // bits of 2^Emin of the format
	offGreatest            // bits of 2^E for distance 0
	offFarthest            // the greatest distance, in the exponent field
)

// exponents contains the constants of the conversions to distances.
type exponents struct {
	magnitude, exponent, emin, greatest, farthest reg.VecVirtual
}

func newExponents(p reg.Register) exponents {
	var e exponents
	e.magnitude, e.exponent = YMM(), YMM()
	VPCMPEQD(e.magnitude, e.magnitude, e.magnitude)
	VPSRLD(Imm(1), e.magnitude, e.magnitude)
	e.emin, e.greatest, e.farthest = YMM(), YMM(), YMM()
	VPBROADCASTD(Mem{Base: p}.Offset(offEmin), e.emin)
	VPBROADCASTD(Mem{Base: p}.Offset(offGreatest), e.greatest)
	VPBROADCASTD(Mem{Base: p}.Offset(offFarthest), e.farthest)
	VPSRLD(Imm(23), e.magnitude, e.exponent)
	VPSLLD(Imm(23), e.exponent, e.exponent)
	return e
}

// distance returns the distance of the exponent of x below the greatest
// exponent, in the exponent field of a binary32 number; all bits are ones if x
// is zero. It sets the sign of rare if x is out of range.
func (e exponents) distance(x, rare reg.VecVirtual) reg.VecVirtual {
	d, isZero, far := YMM(), YMM(), YMM()
	VPAND(x, e.magnitude, d)
	VPXOR(isZero, isZero, isZero)
	VPCMPEQD(d, isZero, isZero)
	VPMAXSD(e.emin, d, d)
	VPAND(e.exponent, d, d)
	VPSUBD(d, e.greatest, d)
	VPSUBD(d, e.farthest, far)
	VPOR(d, far, far)
	VPANDN(far, isZero, far)
	VPOR(far, rare, rare)
	VPOR(isZero, d, d)
	return d
}

// pair packs the distances low and high into the halves of the words of z.
func pair(low, high, z reg.VecVirtual) {
	l, h := YMM(), YMM()
	VPSRLD(Imm(16), low, l)
	VPSRLD(Imm(16), high, h)
	VPSLLD(Imm(16), h, h)
	VPOR(h, l, z)
}

// packExponents emits the packing of two vectors of columns, with their
// exponents, for dotAdd.
func (w width) packExponents() {
	TEXT(fmt.Sprintf("PackExponents%d", w), NOSPLIT,
		"func(bv *float32, be *uint16, src *float32, stride int, k int, p *uint32) uint64")
	Doc(fmt.Sprintf("Copies k > 0 rows of %d columns, stride bytes apart, to bv, and their exponents to be.", 2*w.lanes()),
		"A bit of the result is set for every column with an element out of range.")
	bv, be, src, stride, k := param("bv"), param("be"), param("src"), param("stride"), param("k")
	e := newExponents(param("p"))
	rare := make([]reg.VecVirtual, 2*w.lanes()/8)
	for i := range rare {
		rare[i] = YMM()
		VPXOR(rare[i], rare[i], rare[i])
	}
	loop("next", k, func() {
		half := w.lanes() / 8
		for i := range half {
			var d [2]reg.VecVirtual
			for v := range d {
				part := v*half + i
				x := YMM()
				VMOVUPS(Mem{Base: src}.Offset(32*part), x)
				VMOVUPS(x, Mem{Base: bv}.Offset(32*part))
				d[v] = e.distance(x, rare[part])
			}
			pair(d[0], d[1], d[0])
			VMOVDQU(d[0], Mem{Base: be}.Offset(32*i))
		}
		ADDQ(stride, src)
		ADDQ(U32(2*w.bytes()), bv)
		ADDQ(U32(w.bytes()), be)
	})
	result := GP64()
	XORQ(result, result)
	for i := len(rare) - 1; i >= 0; i-- {
		bits := GP32()
		VMOVMSKPS(rare[i], bits)
		SHLQ(Imm(8), result)
		ORQ(bits.As64(), result)
	}
	Store(result, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// rowExponents emits the computation of the exponents of a row, each stored
// twice in a word.
func rowExponents() {
	TEXT("RowExponents", NOSPLIT, "func(ae *uint32, src *float32, n int, p *uint32) uint64")
	Doc("Stores the exponents of src in ae, n a positive multiple of 8. The result is not 0 if one is out of range.")
	ae, src, n := param("ae"), param("src"), param("n")
	e := newExponents(param("p"))
	rare := YMM()
	VPXOR(rare, rare, rare)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		x := YMM()
		VMOVUPS(Mem{Base: src}, x)
		d := e.distance(x, rare)
		pair(d, d, d)
		VMOVDQU(d, Mem{Base: ae})
		ADDQ(U32(32), src)
		ADDQ(U32(32), ae)
	})
	bits := GP32()
	VMOVMSKPS(rare, bits)
	Store(bits.As64(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}
