package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// floorCountDepth is the number of terms in the block of memory that contains a
// group of rows.
const floorCountDepth = 64

// Offsets of the constants in floorCountConstants. Bytes are stored four times.
const (
	offBytes       = 4 * iota // masks of byte 0 to 3 of a word
	_                         //
	_                         //
	_                         //
	offUp                     // byte: 23-F
	offOffset                 // byte: the exponent E, with bias, of which the place E-F has number 0
	offPlaces                 // byte: 63
	offSigns                  // byte: 128
	offField                  // mask of the exponent field
	offQuarter                // 1.5 × 2^E is this bit beside the bits of 2^E
	offBinade                 // mask of sign and exponent field
	offSign                   // mask of the sign
	offKept                   // mask of the bits of a result that are kept
	offLeastNormal            // byte: exponent of the least normal number; binary16 only
	offZeroC                  // byte: exponent of a zero c; binary16 only
	offInfinite               // bits of infinity; binary16 only
	offNone                   // 0
	offDown                   // MXCSR control word for rounding down
)

// floorCount emits the truncated fused dot-product-add of blocks of an even
// number of terms, for a tile of rows by four vectors of columns. A sum of
// truncated products is the sum of the products rounded down, plus the number
// of those that are negative and not multiples of the unit 2^(E*-F):
//
//	E = max(greatest eA[k] + eB[k], exponent of c)             in bytes, for all columns at once
//	M = 1.5 × 2^(E+23-F)                                       binary32 numbers from 2^(E+23-F) on have the unit
//	x = M + c, toward zero for c
//	n = 0
//	for every term k:
//		x = fma(a[k], b[k], x), rounded down                   16 or 8 columns
//		n = n + (lA[k] + lB[k] < place of the unit)            64 or 32 columns, in bytes
//	c = (x + n units - M), truncated, or rounded to binary16
//
// It is exact. Every product a[k]b[k] is a number of binary32 and less than
// 2^(E+2) in magnitude, so that x stays between 2^(E+23-F) and twice as much:
// its last place is the unit, and each FMA rounds the product down to a
// multiple of it. l is the place of the last one bit of a factor, counted from
// that of the least number of the format, so that lA + lB is the place of the
// last one bit of the product. The sign of a factor is the high bit of the
// byte, and their sum is the sign of the product. Hence the byte lA + lB, as a
// signed number, is less than the place of the unit, minus 128, if and only if
// the product is negative and has ones below the unit. l of a zero is 63, and
// the place of the unit is not greater.
//
// Exponents in bytes have a bias of 127 for c, and 63 and 64 for the factors;
// that of a zero is 0. Byte v of word i belongs to column i of vector v.
//
// With 512 bits the instructions specify the rounding, otherwise the control
// word does.
func (w width) floorCount(half bool) {
	rows := 4
	if w == 256 {
		rows = 2
	}
	name, result := fmt.Sprintf("FloorCount%dx%d", rows, 4*w.lanes()), ""
	doc := []string{fmt.Sprintf("%d rows × %d columns: adds blocks > 0 blocks of terms products to c; ldc is in bytes, terms even.", rows, 4*w.lanes())}
	if half {
		name, result = fmt.Sprintf("FloorCountHalf%dx%d", rows, 4*w.lanes()), " uint64"
		doc = append(doc, "Sums are rounded to binary16. The result is not 0 if one is not finite.")
	}
	TEXT(name, NOSPLIT, "func(c *float32, ldc int, a *uint32, b *uint8, blocks, terms int, p *uint32)"+result)
	Doc(doc...)
	c, ldc, a, b := param("c"), param("ldc"), param("a"), param("b")
	blocks, terms, p := param("blocks"), param("terms"), param("p")
	f := floorCounter{width: w, p: p, half: half}
	results, _ := rowAddresses(c, ldc, rows)

	saved := Mem{}
	if w == 256 {
		saved = AllocLocal(8)
		STMXCSR(saved)
		LDMXCSR(f.constant(offDown))
	}
	ones := reg.VecVirtual(nil)
	if w == 512 {
		ones = w.vector()
		VPTERNLOGD(Imm(0xff), ones, ones, ones)
	}
	x := make([][]reg.VecVirtual, rows)
	for r, row := range results {
		x[r] = w.vectors(4)
		for v := range x[r] {
			VMOVUPS(row.Offset(v*w.bytes()), x[r][v])
		}
	}
	// The sums of the next group.
	next := GP64()
	LEAQ(Mem{Base: c, Index: ldc, Scale: uint8(rows)}, next)
	ahead, _ := rowAddresses(next, ldc, rows)
	for _, row := range ahead {
		for line := 0; line < 4*w.bytes(); line += 64 {
			PREFETCHT0(row.Offset(line))
		}
	}

	// A term of b is its numbers, exponents and places. Those of a row are in
	// three planes.
	const unrolled = 2
	exponents, places, term := 4*w.bytes(), 5*w.bytes(), 6*w.bytes()
	plane := 4 * rows * floorCountDepth
	of := func(plane, r, k int) Mem { return Mem{Base: a}.Offset(plane + 4*(r*floorCountDepth+k)) }

	// The rows of the next group follow those of this one.
	following := GP64()
	LEAQ(of(3*plane, 0, 0), following)

	loop("next", blocks, func() {
		e, unit, n := w.vectors(rows), w.vectors(rows), w.vectors(rows)

		// The greatest exponents of the products. A zero is read from memory, because
		// avo takes the operands of VPXORD for used before, and so for live.
		for r := range e {
			VPBROADCASTD(f.constant(offNone), e[r])
		}
		k, ea, eb := GP64(), GP64(), GP64()
		MOVQ(terms, k)
		SHRQ(Imm(1), k)
		MOVQ(a, ea)
		MOVQ(b, eb)
		loop("exponents", k, func() {
			for i := range unrolled {
				y := w.vector()
				VMOVUPS(Mem{Base: eb}.Offset(i*term+exponents), y)
				PREFETCHT0(Mem{Base: following}.Offset(i * 3 * 4 * rows))
				for r := range rows {
					s := w.vector()
					at := of(plane, r, i)
					at.Base = ea
					if w == 512 {
						VPADDD_BCST(at, y, s)
					} else {
						VPBROADCASTD(at, s)
						VPADDB(y, s, s)
					}
					VPMAXUB(s, e[r], e[r])
				}
			}
			ADDQ(U32(4*unrolled), ea)
			ADDQ(U32(unrolled*3*4*rows), following)
			ADDQ(U32(term*unrolled), eb)
		})

		for r := range rows {
			f.start(x[r], e[r], unit[r])
		}
		for r := range n {
			VPBROADCASTD(f.constant(offNone), n[r])
		}

		MOVQ(terms, k)
		SHRQ(Imm(1), k)
		loop("terms", k, func() {
			for i := range unrolled {
				f.multiply(x, Mem{Base: b}.Offset(i*term), func(r int) Mem { return of(0, r, i) })
				for r := range rows {
					s := w.vector()
					VPBROADCASTD(of(2*plane, r, i), s)
					VPADDB(Mem{Base: b}.Offset(i*term+places), s, s)
					if w == 512 {
						negative := K()
						VPCMPGTB(s, unit[r], negative)
						VPSUBB(ones, n[r], negative, n[r])
					} else {
						VPCMPGTB(s, unit[r], s)
						VPSUBB(s, n[r], n[r])
					}
				}
			}
			ADDQ(U32(4*unrolled), a)
			ADDQ(U32(term*unrolled), b)
		})
		for r := range rows {
			f.finish(x[r], n[r])
		}
	})

	if w == 256 {
		LDMXCSR(saved)
	}
	if half { // +0 for sums that were rounded to -0
		zero := w.vector()
		w.zero(zero)
		for r := range x {
			for v := range x[r] {
				VADDPS(zero, x[r][v], x[r][v])
			}
		}
	}
	for r, row := range results {
		for v := range x[r] {
			VMOVUPS(x[r][v], row.Offset(v*w.bytes()))
		}
	}
	if half {
		Store(f.infinite(x), ReturnIndex(0))
	}
	VZEROUPPER()
	RET()
}

// floorCounter contains what the steps of a floorCount share.
type floorCounter struct {
	width
	p    reg.Register
	half bool
}

func (f floorCounter) constant(offset int) Mem { return Mem{Base: f.p}.Offset(offset) }

func (f floorCounter) broadcast(offset int) reg.VecVirtual {
	v := f.vector()
	VPBROADCASTD(f.constant(offset), v)
	return v
}

// keep emits x &= constant.
func (f floorCounter) keep(offset int, x reg.VecVirtual) {
	if f.width == 256 {
		VPAND(f.broadcast(offset), x, x)
	} else {
		VPANDD_BCST(f.constant(offset), x, x)
	}
}

// keepOr emits x = x & constant | y.
func (f floorCounter) keepOr(offset int, y, x reg.VecVirtual) {
	if f.width == 256 {
		VPAND(f.broadcast(offset), x, x)
		VPOR(y, x, x)
	} else {
		VPTERNLOGD_BCST(Imm(0xec), f.constant(offset), y, x)
	}
}

// place moves byte 0 of each word up by the given number of bits, or down.
func place(up int, x, z reg.VecVirtual) {
	if up > 0 {
		VPSLLD(Imm(uint64(up)), x, z)
	} else {
		VPSRLD(Imm(uint64(-up)), x, z)
	}
}

// start turns c into x, given the greatest exponents e of the products, and
// sets the place of the unit, minus 128.
func (f floorCounter) start(x []reg.VecVirtual, e, unit reg.VecVirtual) {
	// The exponents of c.
	ec := f.vector()
	for v := range x {
		t := f.vector()
		place(8*v-23, x[v], t)
		if v == 0 {
			f.keep(offBytes, t)
		} else {
			f.keepOr(offBytes+4*v, ec, t)
		}
		ec = t
	}
	if f.half {
		f.subnormal(ec)
	}
	VPMAXUB(ec, e, e)

	VPSUBUSB(f.broadcast(offOffset), e, unit)
	VPMINUB(f.broadcast(offPlaces), unit, unit)
	f.or(f.broadcast(offSigns), unit, unit)

	VPADDB(f.broadcast(offUp), e, e)
	for v, c := range x {
		quarter, m := f.broadcast(offQuarter), f.vector()
		place(23-8*v, e, m)
		f.keepOr(offField, quarter, m)
		if f.width == 512 {
			sum, negative := f.vector(), K()
			VPMOVD2M(c, negative)
			VADDPS_RD_SAE(c, m, sum)
			VADDPS_RU_SAE(c, m, negative, sum)
			VMOVAPS(sum, c)
		} else {
			// |c| rounded down, with the sign of c
			sum, sign := f.vector(), f.broadcast(offSign)
			VPANDN(c, sign, sum)
			VPAND(c, sign, c)
			VADDPS(sum, m, sum)
			VSUBPS(m, sum, sum)
			VPOR(sum, c, c)
			VADDPS(m, c, c)
		}
	}
}

// subnormal sets the exponents of binary16 numbers that are not normal.
func (f floorCounter) subnormal(e reg.VecVirtual) {
	if f.width == 256 {
		isZero := f.vector()
		f.zero(isZero)
		VPCMPEQB(isZero, e, isZero)
		VPMAXUB(f.broadcast(offLeastNormal), e, e)
		VPBLENDVB(isZero, f.broadcast(offZeroC), e, e)
		return
	}
	isZero := K()
	VPTESTNMB(e, e, isZero)
	VPMAXUB(f.broadcast(offLeastNormal), e, e)
	VMOVDQU8(f.broadcast(offZeroC), isZero, e)
}

// multiply emits x = fma(a, b, x), rounded down, for all rows and columns.
func (f floorCounter) multiply(x [][]reg.VecVirtual, b Mem, a func(r int) Mem) {
	if f.width == 256 {
		factors := f.vectors(len(x))
		for r := range x {
			VBROADCASTSS(a(r), factors[r])
		}
		for v := range 4 {
			y := f.vector()
			VMOVUPS(b.Offset(v*f.bytes()), y)
			for r := range x {
				VFMADD231PS(factors[r], y, x[r][v])
			}
		}
		return
	}
	y := f.vectors(4)
	for v := range y {
		VMOVUPS(b.Offset(v*f.bytes()), y[v])
	}
	for r := range x {
		factor := f.vector()
		VBROADCASTSS(a(r), factor)
		for v := range y {
			VFMADD231PS_RD_SAE(factor, y[v], x[r][v])
		}
	}
}

// finish turns x into the sums of the block, given the numbers n.
func (f floorCounter) finish(x []reg.VecVirtual, n reg.VecVirtual) {
	for v, sum := range x {
		count, quarter, m := n, f.broadcast(offQuarter), f.vector()
		if v > 0 {
			count = f.vector()
			VPSRLD(Imm(uint64(8*v)), n, count)
		}
		if v < 3 {
			last := f.vector()
			f.and(f.broadcast(offBytes), count, last)
			count = last
		}
		VPADDD(count, sum, sum)
		if f.width == 512 {
			VMOVDQA32(sum, m)
			f.keepOr(offBinade, quarter, m)
			VSUBPS(m, sum, sum)
		} else {
			VPAND(f.broadcast(offBinade), sum, m)
			VPOR(quarter, m, m)
			zero := f.vector()
			VCMPPS(Imm(0), m, sum, zero)
			VSUBPS(m, sum, sum)
			VPANDN(sum, zero, sum) // x - x rounded down is -0
		}
		if !f.half {
			f.keep(offKept, sum)
			continue
		}
		h := reg.VecVirtual(YMM())
		if f.width == 256 {
			h = XMM()
		}
		VCVTPS2PH(Imm(0), sum, h)
		VCVTPH2PS(h, sum)
	}
}

// infinite returns 0 if all of x are finite.
func (f floorCounter) infinite(x [][]reg.VecVirtual) reg.Register {
	most, infinity := f.vector(), f.broadcast(offInfinite)
	f.zero(most)
	for _, row := range x {
		for _, z := range row {
			f.and(infinity, z, z)
			VPMAXSD(z, most, most)
		}
	}
	bits := GP32()
	if f.width == 256 {
		VPCMPEQD(infinity, most, most)
		VMOVMSKPS(most, bits)
	} else {
		k := K()
		VPCMPEQD(infinity, most, k)
		KMOVW(k, bits)
	}
	return bits.As64()
}

// Offsets of the constants in floorCountFormat.
const (
	offFormatEmin = 4 * iota // exponent of the least normal number, with bias
	offBias                  // the bias 127 less that of the exponents in bytes
	offLeastPlace            // the exponents with bias of x and of its last one bit times 2^(23-exponent), added, in place 0
	offMagnitude             // mask of all bits but the sign
	offMantissa              // mask of the bits of the significand but the first
	offFirst                 // the bit after those
	offZeroPlace             // the place of a zero, 63
	offHighBit               // the integer 128
	offFinite                // bits of the greatest finite number
	offCopies                // indices of the low byte of four words, each four times
)

// floorCountFormat packs factors.
type floorCountFormat struct {
	p    reg.Register
	most reg.VecVirtual // the greatest magnitude so far
}

func newFloorCountFormat(p reg.Register) floorCountFormat {
	f := floorCountFormat{p, YMM()}
	VPXOR(f.most, f.most, f.most)
	return f
}

func (f floorCountFormat) constant(offset int) reg.VecVirtual {
	v := YMM()
	VPBROADCASTD(Mem{Base: f.p}.Offset(offset), v)
	return v
}

// encode returns the exponents and the signed places of x.
func (f floorCountFormat) encode(x reg.VecVirtual) (exponent, place reg.VecVirtual) {
	size, e, isZero := YMM(), YMM(), YMM()
	exponent, place = YMM(), YMM()
	VPAND(f.constant(offMagnitude), x, size)
	VPMAXUD(size, f.most, f.most)
	VPSRLD(Imm(23), size, e)
	VPXOR(isZero, isZero, isZero)
	VPCMPEQD(size, isZero, isZero)
	VPMAXSD(f.constant(offFormatEmin), e, exponent)
	VPSUBD(f.constant(offBias), exponent, exponent)
	VPANDN(exponent, isZero, exponent)

	// The last one bit of the significand, converted to binary32, tells its place
	// by its exponent. The place of a zero is negative, a great unsigned number.
	VPAND(f.constant(offMantissa), size, size)
	VPOR(f.constant(offFirst), size, size)
	VPXOR(place, place, place)
	VPSUBD(size, place, place)
	VPAND(size, place, place)
	VCVTDQ2PS(place, place)
	VPSRLD(Imm(23), place, place)
	VPADDD(e, place, place)
	VPSUBD(f.constant(offLeastPlace), place, place)
	VPMINUD(f.constant(offZeroPlace), place, place)

	sign := YMM()
	VPSRLD(Imm(24), x, sign)
	VPAND(f.constant(offHighBit), sign, sign)
	VPOR(sign, place, place)
	return exponent, place
}

// result stores 0 as the result if all numbers were finite.
func (f floorCountFormat) result() {
	bits := GP32()
	VPCMPGTD(f.constant(offFinite), f.most, f.most)
	VMOVMSKPS(f.most, bits)
	Store(bits.As64(), ReturnIndex(0))
}

// floorCountRow emits the packing of a row of a group. The three planes of a
// group are planes bytes apart.
func floorCountRow() {
	TEXT("FloorCountRow", NOSPLIT, "func(dst *uint32, planes int, src *float32, n int, p *uint32) uint64")
	Doc("Packs n numbers of a row, n a positive multiple of 8. The result is not 0 if one is not finite.")
	dst, planes, src, n, p := param("dst"), param("planes"), param("src"), param("n"), param("p")
	f := newFloorCountFormat(p)
	copies := YMM()
	VBROADCASTI128(Mem{Base: p}.Offset(offCopies), copies)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		x := YMM()
		VMOVUPS(Mem{Base: src}, x)
		VMOVUPS(x, Mem{Base: dst})
		exponent, place := f.encode(x)
		VPSHUFB(copies, exponent, exponent)
		VPSHUFB(copies, place, place)
		VMOVDQU(exponent, Mem{Base: dst, Index: planes, Scale: 1})
		VMOVDQU(place, Mem{Base: dst, Index: planes, Scale: 2})
		ADDQ(U32(32), src)
		ADDQ(U32(32), dst)
	})
	f.result()
	VZEROUPPER()
	RET()
}

// floorCountColumns emits the packing of four vectors of columns.
func (w width) floorCountColumns() {
	TEXT(fmt.Sprintf("FloorCountColumns%d", 4*w.lanes()), NOSPLIT,
		"func(dst *uint8, src *float32, stride int, k int, p *uint32) uint64")
	Doc(fmt.Sprintf("Packs k > 0 rows of %d columns, stride bytes apart. The result is not 0 if a number is not finite.", 4*w.lanes()))
	dst, src, stride, k, p := param("dst"), param("src"), param("stride"), param("k"), param("p")
	f := newFloorCountFormat(p)
	loop("next", k, func() {
		for part := 0; part < w.bytes(); part += 32 {
			var exponents, places reg.VecVirtual
			for v := range 4 {
				x := YMM()
				VMOVUPS(Mem{Base: src}.Offset(v*w.bytes()+part), x)
				VMOVUPS(x, Mem{Base: dst}.Offset(v*w.bytes()+part))
				exponent, place := f.encode(x)
				if v == 0 {
					exponents, places = exponent, place
					continue
				}
				VPSLLD(Imm(uint64(8*v)), exponent, exponent)
				VPOR(exponent, exponents, exponents)
				VPSLLD(Imm(uint64(8*v)), place, place)
				VPOR(place, places, places)
			}
			VMOVDQU(exponents, Mem{Base: dst}.Offset(4*w.bytes()+part))
			VMOVDQU(places, Mem{Base: dst}.Offset(5*w.bytes()+part))
		}
		ADDQ(stride, src)
		ADDQ(U32(6*w.bytes()), dst)
	})
	f.result()
	VZEROUPPER()
	RET()
}
