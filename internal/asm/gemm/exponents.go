package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the constants in exponentConstants.
const (
	offGreatest = 4 * iota // bits of 2^E for distance 0
	offFarthest            // the greatest distance, in the exponent field
)

// exponents finds the exponents of the operands of dotAdd. A vector has as many
// lanes as in width.
type exponents struct {
	width
	magnitude, field, greatest, farthest reg.VecVirtual
}

func newExponents(w width, p reg.Register) exponents {
	e := exponents{width: w}
	constant := func(offset int) reg.VecVirtual {
		v := w.vector()
		VPBROADCASTD(Mem{Base: p}.Offset(offset), v)
		return v
	}
	e.magnitude, e.field = w.vector(), w.vector()
	w.ones(e.magnitude)
	VPSRLD(Imm(1), e.magnitude, e.magnitude)
	VPSRLD(Imm(23), e.magnitude, e.field)
	VPSLLD(Imm(23), e.field, e.field)
	e.greatest, e.farthest = constant(offGreatest), constant(offFarthest)
	return e
}

// distance returns the distance of the exponent of x below the greatest
// exponent, in the exponent field of a binary32 number; its bits are ones if x
// is zero. emin are the bits of 2^Emin of the format of x. It sets the sign of
// rare if x is out of range.
func (e exponents) distance(x reg.VecVirtual, emin Op, rare reg.VecVirtual) reg.VecVirtual {
	d, isZero, far := e.vector(), e.vector(), e.vector()
	e.and(x, e.magnitude, d)
	e.whereZero(d, isZero)
	VPMAXSD(emin, d, d)
	e.and(e.field, d, d)
	VPSUBD(d, e.greatest, d)
	VPSUBD(d, e.farthest, far)
	e.or(d, far, far)
	e.andNot(isZero, far, far)
	e.or(far, rare, rare)
	e.or(isZero, d, d)
	e.and(e.field, d, d)
	return d
}

// whereZero sets all bits of the lanes of z in which those of x are zero.
func (w width) whereZero(x, z Op) {
	if w == 256 {
		VPXOR(z, z, z)
		VPCMPEQD(x, z, z)
		return
	}
	k := K()
	VPTESTNMD(x, x, k)
	VPMOVM2D(k, z)
}

// ones sets all bits of v.
func (w width) ones(v Op) {
	if w == 256 {
		VPCMPEQD(v, v, v)
	} else {
		VPTERNLOGD(Imm(0xff), v, v, v)
	}
}

// packColumns emits the packing of the columns of a panel, with their
// exponents, for dotAdd.
func (w width) packColumns() {
	columns := dotAddVectors * w.lanes()
	TEXT(fmt.Sprintf("PackColumns%d", w), NOSPLIT,
		"func(dst *float32, src *float32, stride int, k int, emin *uint32, p *uint32) uint64")
	Doc(fmt.Sprintf("Copies k > 0 rows of %d columns, stride bytes apart, to dst, each followed by its exponents.", columns),
		"The exponents of a column are at least that of its emin. A bit of the result is set for every column with an element out of range.")
	dst, src, stride, k, emin := param("dst"), param("src"), param("stride"), param("k"), param("emin")
	e := newExponents(w, param("p"))
	rare := w.vectors(dotAddVectors)
	for _, v := range rare {
		w.zero(v)
	}
	loop("next", k, func() {
		word := w.vector()
		for v := range rare {
			x := w.vector()
			VMOVUPS(Mem{Base: src}.Offset(v*w.bytes()), x)
			VMOVUPS(x, Mem{Base: dst}.Offset(v*w.bytes()))
			d := e.distance(x, Mem{Base: emin}.Offset(v*w.bytes()), rare[v])
			switch v {
			case 0:
				VPSRLD(Imm(23), d, word)
				continue
			case 3:
				VPSLLD(Imm(1), d, d)
			default:
				VPSRLD(Imm(uint64(23-8*v)), d, d)
			}
			w.or(d, word, word)
		}
		VMOVUPS(word, Mem{Base: dst}.Offset(dotAddVectors*w.bytes()))
		ADDQ(stride, src)
		ADDQ(U32((dotAddVectors+1)*w.bytes()), dst)
	})
	result := GP64()
	XORQ(result, result)
	for i := len(rare) - 1; i >= 0; i-- {
		bits := GP32()
		if w == 256 {
			VMOVMSKPS(rare[i], bits)
		} else {
			mask := K()
			VPMOVD2M(rare[i], mask)
			KMOVW(mask, bits)
		}
		SHLQ(Imm(uint64(w.lanes())), result)
		ORQ(bits.As64(), result)
	}
	Store(result, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// packRows emits the packing of a group of rows, with their exponents, for the
// dotAdd of width w.
func (w width) packRows() {
	rows := dotAddRows(w)
	TEXT(fmt.Sprintf("PackRows%d", w), NOSPLIT,
		"func(dst *uint32, src *float32, stride int, n int, emin *uint32, step int, p *uint32) uint64")
	Doc(fmt.Sprintf("Stores %d rows of n elements, stride bytes apart, in dst: for each of n the elements of all rows and", rows),
		"then their biased exponents, four times in a word. n is a positive multiple of 8. Exponents are",
		"at least those of emin, one for each row, step bytes apart for every 8 elements. Bit r of the result is set",
		"if row r has an element out of range, bit 8+r if it has 8k to 8k+7 all with significands >= 1.5.")
	dst, src, stride, n := param("dst"), param("src"), param("stride"), param("n")
	emin, step := param("emin"), param("step")
	e := newExponents(256, param("p"))
	sources, _ := rowAddresses(src, stride, rows)
	rare, great, bias := make([]reg.VecVirtual, rows), make([]reg.GPVirtual, rows), YMM()
	for r := range rare {
		rare[r], great[r] = YMM(), GP64()
		XORQ(great[r], great[r])
		VPXOR(rare[r], rare[r], rare[r])
	}
	VPSRLD(Imm(23), e.greatest, bias)
	VPADDD(bias, bias, bias)
	offset := YMM() // of the bias of binary32
	VPSRLD(Imm(24), e.magnitude, offset)
	VPSUBD(offset, bias, bias)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		x, y := make([]reg.VecVirtual, rows), make([]reg.VecVirtual, rows)
		for r := range rows {
			x[r], y[r] = YMM(), YMM()
			VMOVUPS(sources[r], x[r])
			least := YMM()
			VPBROADCASTD(Mem{Base: emin}.Offset(4*r), least)
			d := e.distance(x[r], least, rare[r])
			// Bit 8 of the mask of the first bits of the fractions, plus 1.
			first, mask := YMM(), GP32()
			VPSLLD(Imm(9), x[r], first)
			VMOVMSKPS(first, mask)
			INCL(mask)
			ORQ(mask.As64(), great[r])
			// The biased exponent of x plus the greatest, or 0.
			isZero := YMM()
			VPSRLD(Imm(23), d, d)
			VPCMPEQD(isZero, isZero, isZero)
			VPSRLD(Imm(24), isZero, isZero)
			VPCMPEQD(d, isZero, isZero)
			VPSUBD(d, bias, d)
			VPANDN(d, isZero, d)
			VPSLLD(Imm(8), d, y[r])
			VPOR(d, y[r], y[r])
			VPSLLD(Imm(16), y[r], d)
			VPOR(d, y[r], y[r])
		}
		// Two rows: x0 x1 y0 y1 for each k. One row: x y.
		lo, hi := YMM(), YMM()
		if rows == 1 {
			VUNPCKLPS(y[0], x[0], lo)
			VUNPCKHPS(y[0], x[0], hi)
			VMOVUPS(lo.AsX(), Mem{Base: dst})
			VMOVUPS(hi.AsX(), Mem{Base: dst}.Offset(16))
			VEXTRACTF128(Imm(1), lo, Mem{Base: dst}.Offset(32))
			VEXTRACTF128(Imm(1), hi, Mem{Base: dst}.Offset(48))
		} else {
			for half, unpack := range []func(...Op){VUNPCKLPS, VUNPCKHPS} {
				values, exps := YMM(), YMM()
				unpack(x[1], x[0], values)
				unpack(y[1], y[0], exps)
				VUNPCKLPD(exps, values, lo)
				VUNPCKHPD(exps, values, hi)
				VMOVUPS(lo.AsX(), Mem{Base: dst}.Offset(32*half))
				VMOVUPS(hi.AsX(), Mem{Base: dst}.Offset(32*half+16))
				VEXTRACTF128(Imm(1), lo, Mem{Base: dst}.Offset(64+32*half))
				VEXTRACTF128(Imm(1), hi, Mem{Base: dst}.Offset(64+32*half+16))
			}
		}
		ADDQ(U32(32), src)
		ADDQ(U32(8*2*4*rows), dst)
		ADDQ(step, emin)
	})
	result := GP64()
	XORQ(result, result)
	for r := rows - 1; r >= 0; r-- {
		bits := GP32()
		VMOVMSKPS(rare[r], bits)
		NEGL(bits)
		SBBL(bits, bits) // -1 if any sign is set
		ANDL(Imm(1), bits)
		SHLQ(Imm(1), result)
		ORQ(bits.As64(), result)
	}
	for r := range rows {
		ANDQ(U32(1<<8), great[r])
		SHLQ(Imm(uint64(r)), great[r])
		ORQ(great[r], result)
	}
	Store(result, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
