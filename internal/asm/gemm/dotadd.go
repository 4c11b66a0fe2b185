package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the constants in dotAddConstants.
const (
	offQuads    = 4 * iota // terms of a block, divided by 4
	offLeast               // biased exponent of the least E* allowed, in all four bytes
	offScale               // sum of the exponent fields of 2^F and of 1
	offInverse             // sum of the exponent fields of 2^x and of 2^-x
	offInfinity            // mask of the exponent field
	offKeep                // mask of the bits of a result that are kept
	offTiny                // bits of the least magnitude of a c that is not 0
	offLimit               // bits of the least magnitude of a sum that may have overflowed
	offNormal              // bits of 2^Emin of the output; binary16 only
	offOne                 // the integer 1
	offMXCSR               // control word of rounding toward zero
	offBelow               // mask of the bits of binary64 that binary32 does not have, in 64 bits
)

// Offsets of the fields of dotAddState, for which dotAddTile sums are a tile of
// the greatest size.
const (
	dotAddTile = 128
	offRare    = 0                     // a word for each row: bit j is set if sum j is not to be used
	offOld     = 16                    // the sums before the call
	offMost    = offOld + 4*dotAddTile // the greatest magnitudes to be compared with the limit
)

// dotAddVectors is the number of vectors of columns in a panel: a byte of each
// word of exponents belongs to each.
const dotAddVectors = 4

// dotAdd is a kind of the truncated fused dot-product-add of blocks of terms,
// for rows × columns sums in place:
//
//	for each block:
//	  E = max over k of the exponents of a[k]b[k]       # bytes: VPSUBUSB, VPMAXUB
//	  E = max(E, exponent of c); scale = 2^(F-E)
//	  s = trunc(c × scale)
//	  for k: s += trunc(a[k] × b[k] × scale)            # VMULPS, VMULPS, VCVTTPS2DQ, VPADDD
//	  c = trunc(s) × 2^(E-F), in the precision of the result
//
// A product is exact in binary32, because its factors have 24 bits together,
// and so is its product with a power of two unless it falls below the range of
// binary32 and is truncated to zero anyway. Conversion to an integer is the
// truncation of a term. A sum is exact: it fits into 32 bits, or (wide) its two
// halves do, which are added in binary64, or (checked) its magnitude after
// overflow is at least the limit, which is looked for.
//
// The exponents of b are bytes, their distances below the greatest; those of a
// are biased so that the difference of the two is the biased exponent of the
// product, and 0 for a zero. Byte v of word l belongs to lane l of vector v:
// shifted to the place of an exponent it is a power of two whose other bits do
// not matter. The operands of a group of rows stream: for each k the elements
// of all rows and then their exponents, each four times in a word.
//
// Results are rounded to binary16 by way of rounding to odd. With split, sums
// of two blocks begin with zero, and c = c + sum is rounded to nearest even.
type dotAdd struct {
	width
	half    bool // results are rounded to binary16, to nearest even
	narrow  bool // results are truncated to fewer bits than binary32 has
	checked bool // sums that overflow 32 bits are looked for
	wide    bool // sums have more than 32 bits
	split   bool // sums of two blocks begin with zero and are added to c
	rows    int
	p       reg.Register      // the constants
	parts   [2]reg.VecVirtual // the halves of a vector that joinWide returns
}

// dotAdds are the kinds of dotAdd, by their names.
var dotAdds = []struct {
	name string
	dotAdd
}{
	{"DotAdd", dotAdd{}},
	{"DotAddNarrow", dotAdd{narrow: true}},
	{"DotAddChecked", dotAdd{checked: true}},
	{"DotAddWide", dotAdd{narrow: true, wide: true}},
	{"DotAddHalf", dotAdd{half: true}},
	{"DotAddHalfChecked", dotAdd{half: true, checked: true}},
	{"DotAddHalfWide", dotAdd{half: true, wide: true}},
	{"DotAddSplit", dotAdd{narrow: true, checked: true, split: true}},
	{"DotAddHalfSplit", dotAdd{half: true, checked: true, split: true}},
}

// constant returns a new register with a constant in all lanes.
func (d dotAdd) constant(offset int) reg.VecVirtual {
	v := d.vector()
	VPBROADCASTD(Mem{Base: d.p}.Offset(offset), v)
	return v
}

// shared returns a function that returns registers with constants: always the
// same for one constant if there are registers enough, else a new one each
// time.
func (d dotAdd) shared() func(offset int) reg.VecVirtual {
	if d.width == 256 || d.wide {
		return d.constant
	}
	constants := map[int]reg.VecVirtual{}
	return func(offset int) reg.VecVirtual {
		if constants[offset] == nil {
			constants[offset] = d.constant(offset)
		}
		return constants[offset]
	}
}

// dotAdd emits the routine of one kind.
func (w width) dotAdd(name string, d dotAdd) {
	d.width, d.rows = w, dotAddRows(w)
	columns := dotAddVectors * w.lanes()
	TEXT(fmt.Sprintf("%s%d", name, w), NOSPLIT, "func(c *float32, stride int, a *uint32, b *float32, blocks int, p *uint32, state *uint64)")
	Doc(fmt.Sprintf("%d rows × %d columns of blocks > 0 blocks, stride in bytes. A bit of the state is set for every", d.rows, columns),
		"sum that left the range of the routine and is not to be used.")
	c, stride := param("c"), param("stride")
	a, b, blocks := param("a"), param("b"), param("blocks")
	d.p = param("p")
	d.parts = [2]reg.VecVirtual{XMM(), XMM()}
	if w == 512 {
		d.parts = [2]reg.VecVirtual{YMM(), YMM()}
	}
	state := param("state")
	ea, eb := GP64(), GP64()
	MOVQ(a, ea)
	MOVQ(b, eb)
	results, _ := rowAddresses(c, stride, d.rows)

	// Instructions of 512 bits can specify truncation themselves.
	saved := Mem{}
	if w == 256 {
		saved = AllocLocal(8)
		STMXCSR(saved)
		LDMXCSR(Mem{Base: d.p}.Offset(offMXCSR))
	}

	// sum[r][v] is c, and within a block the sum of its terms.
	sum := make([][]reg.VecVirtual, d.rows)
	field := func(offset, r, v int) Mem {
		return Mem{Base: state}.Offset(offset + (r*dotAddVectors+v)*w.bytes())
	}
	d.eachVector(func(r, v int) {
		if v == 0 {
			sum[r] = w.vectors(dotAddVectors)
		}
		VMOVUPS(results[r].Offset(v*w.bytes()), sum[r][v])
		VMOVUPS(sum[r][v], field(offOld, r, v))
	})
	if !d.split { // which never aligns c
		d.flag(state, func(r, v int) reg.VecVirtual { return d.outOfRange(sum[r][v]) })
	}
	tracked := d.checked || d.half
	if tracked {
		zero := w.vector()
		w.zero(zero)
		d.eachVector(func(r, v int) { VMOVUPS(zero, field(offMost, r, v)) })
	}

	step, exponents := (dotAddVectors*w.bytes())*5/4, dotAddVectors*w.bytes()
	quads := func(divisor uint64) reg.Register {
		n := GP64()
		MOVL(Mem{Base: d.p}.Offset(offQuads), n.As32())
		if divisor == 2 {
			SHRQ(Imm(1), n)
		}
		return n
	}
	block := func() {
		// The greatest exponents of the products, in bytes.
		near := w.vectors(d.rows)
		for r := range near {
			VPBROADCASTD(Mem{Base: d.p}.Offset(offLeast), near[r])
		}
		loop("exponents", quads(1), func() {
			for k := range 4 {
				for r := range d.rows {
					x := w.vector()
					VPBROADCASTD(Mem{Base: ea}.Offset(4*(2*d.rows*k+d.rows+r)), x)
					VPSUBUSB(Mem{Base: eb}.Offset(k*step+exponents), x, x)
					VPMAXUB(x, near[r], near[r])
				}
			}
			ADDQ(U32(4*4*2*d.rows), ea)
			ADDQ(U32(4*step), eb)
		})

		// The greatest exponent of all terms, the power of two that scales a term to a
		// multiple of F bits below it, and c truncated there.
		scale := make([][]reg.VecVirtual, d.rows)
		infinity, bias := d.constant(offInfinity), d.constant(offScale)
		var high [][]reg.VecVirtual
		d.eachVector(func(r, v int) {
			if v == 0 {
				scale[r] = w.vectors(dotAddVectors)
			}
			e := scale[r][v]
			if v < 3 {
				VPSLLD(Imm(uint64(23-8*v)), near[r], e)
			} else {
				VPSRLD(Imm(1), near[r], e)
			}
			d.greatest(sum[r][v], infinity, e)
			VPSUBD(e, bias, e)
			VMULPS(e, sum[r][v], sum[r][v])
			VCVTTPS2DQ(sum[r][v], sum[r][v])
		})
		if d.wide {
			high = make([][]reg.VecVirtual, d.rows)
			d.eachVector(func(r, v int) {
				if v == 0 {
					high[r] = w.vectors(dotAddVectors)
				}
				w.zero(high[r][v])
			})
		}

		// The exact products, each truncated there, and their sum.
		products := func(name string, n reg.Register, part [][]reg.VecVirtual) {
			loop(name, n, func() {
				for k := range 4 {
					x := w.vectors(d.rows)
					for r := range x {
						VBROADCASTSS(Mem{Base: a}.Offset(4*(2*d.rows*k+r)), x[r])
					}
					for v := range dotAddVectors {
						for r := range x {
							y := w.vector()
							VMULPS(Mem{Base: b}.Offset(k*step+v*w.bytes()), x[r], y)
							VMULPS(scale[r][v], y, y)
							VCVTTPS2DQ(y, y)
							VPADDD(y, part[r][v], part[r][v])
						}
					}
				}
				ADDQ(U32(4*4*2*d.rows), a)
				ADDQ(U32(4*step), b)
			})
		}
		if d.wide {
			products("low", quads(2), sum)
			products("high", quads(2), high)
		} else {
			products("products", quads(1), sum)
		}

		// The sum in the precision of the result.
		use := d.shared()
		if d.wide {
			d.joinAll(sum, high)
		}
		d.eachVector(func(r, v int) {
			z := sum[r][v]
			if !d.wide {
				d.join(z, use)
			}
			if d.checked {
				d.track(z, field(offMost, r, v))
			}
			VPSUBD(scale[r][v], use(offInverse), scale[r][v])
			VMULPS(scale[r][v], z, z)
			if d.narrow {
				w.and(use(offKeep), z, z)
			}
			if d.half {
				d.roundHalf(z)
				d.track(z, field(offMost, r, v)) // an infinity
			}
		})
	}
	store := func(r, v int) { VMOVUPS(sum[r][v], results[r].Offset(v*w.bytes())) }
	if d.split {
		loop("next", blocks, func() {
			d.eachVector(func(r, v int) { w.zero(sum[r][v]) })
			two := GP64()
			MOVQ(U32(2), two)
			loop("block", two, block)
			if w == 256 {
				LDMXCSR(saved)
			}
			d.positive(sum)
			d.eachVector(func(r, v int) {
				VADDPS(results[r].Offset(v*w.bytes()), sum[r][v], sum[r][v])
				if d.half { // rounding twice equals rounding once (Figueroa 1995)
					d.roundHalf(sum[r][v])
				}
				store(r, v)
			})
			if w == 256 {
				LDMXCSR(Mem{Base: d.p}.Offset(offMXCSR))
			}
		})
	} else {
		loop("next", blocks, block)
	}

	if w == 256 {
		LDMXCSR(saved)
	}
	if !d.split {
		d.positive(sum)
		d.eachVector(store)
	}
	if tracked {
		limit := d.constant(offLimit)
		d.flag(state, func(r, v int) reg.VecVirtual {
			most := w.vector()
			VMOVUPS(field(offMost, r, v), most)
			VPSUBD(most, limit, most) // the sign is set above the limit
			return most
		})
	}
	VZEROUPPER()
	RET()
}

// dotAddRows is the number of rows of a tile, whose sums and scales fit into
// the registers.
func dotAddRows(w width) int { return int(w) / 256 }

// eachVector calls emit for all rows and vectors of a tile.
func (d dotAdd) eachVector(emit func(r, v int)) {
	for r := range d.rows {
		for v := range dotAddVectors {
			emit(r, v)
		}
	}
}

// flag sets the bit of a sum in the state if the sign of a lane is set.
func (d dotAdd) flag(state reg.Register, signs func(r, v int) reg.VecVirtual) {
	for r := range d.rows {
		rare := GP64()
		XORQ(rare, rare)
		for v := dotAddVectors - 1; v >= 0; v-- {
			bits := GP32()
			if x := signs(r, v); d.width == 256 {
				VMOVMSKPS(x, bits)
			} else {
				mask := K()
				VPMOVD2M(x, mask)
				KMOVW(mask, bits)
			}
			SHLQ(Imm(uint64(d.lanes())), rare)
			ORQ(bits.As64(), rare)
		}
		ORQ(rare, Mem{Base: state}.Offset(offRare+8*r))
	}
}

// outOfRange returns a vector with the sign set where c is an infinity, a NaN,
// or a nonzero number that is less than the least.
func (d dotAdd) outOfRange(c reg.VecVirtual) reg.VecVirtual {
	m, t, u := d.vector(), d.vector(), d.vector()
	one, infinity := d.constant(offOne), d.constant(offInfinity)
	VPSLLD(Imm(1), c, m)
	VPSRLD(Imm(1), m, m)
	VPSUBD(d.constant(offTiny), m, t) // negative: tiny or zero
	VPSUBD(one, m, u)                 // negative: zero
	d.andNot(u, t, t)
	VPSUBD(m, infinity, u)
	VPSUBD(one, u, u) // negative: an infinity or a NaN
	d.or(u, t, t)
	return t
}

// greatest sets e to the power of two of the greater of e and c. For binary16,
// the power of two of a subnormal c is 2^Emin.
func (d dotAdd) greatest(c, infinity, e reg.VecVirtual) {
	t := d.vector()
	if d.width == 256 {
		VPAND(infinity, e, e)
		VPAND(infinity, c, t)
		if d.half {
			zero, normal := d.vector(), d.vector()
			VPXOR(zero, zero, zero)
			VPCMPGTD(zero, t, zero)
			VPAND(d.constant(offNormal), zero, normal)
			VPMAXSD(normal, e, e)
		}
		VPMAXSD(t, e, e)
		return
	}
	VRANGEPS(Imm(absMax), c, e, e)
	if d.half {
		k := K()
		VPTESTMD(infinity, c, k)
		VRANGEPS(Imm(absMax), d.constant(offNormal), e, k, e)
	}
	VPANDD(infinity, e, e)
}

// absMax has VRANGEPS return the greater magnitude.
const absMax = 0xb

// track replaces the magnitudes at most by those of x that are greater.
func (d dotAdd) track(x reg.VecVirtual, most Mem) {
	t := d.vector()
	if d.width == 256 {
		VPSLLD(Imm(1), x, t)
		VPSRLD(Imm(1), t, t)
		VPMAXSD(most, t, t)
	} else {
		VRANGEPS(Imm(absMax), most, x, t)
	}
	VMOVUPS(t, most)
}

// join converts the integers s to binary32, truncated, or rounded to odd for
// results that are rounded again.
func (d dotAdd) join(s reg.VecVirtual, use func(offset int) reg.VecVirtual) {
	if !d.half {
		d.truncate(s, s)
		return
	}
	x := d.vector()
	d.truncate(s, x)
	d.roundToOdd(s, x, use(offOne))
	VMOVAPS(x, s)
}

// truncate converts the integers s to binary32.
func (d dotAdd) truncate(s, x reg.VecVirtual) {
	if d.width == 256 {
		VCVTDQ2PS(s, x)
	} else {
		VCVTDQ2PS_RZ_SAE(s, x)
	}
}

// roundToOdd rounds the integers s to odd: x contains them truncated to
// binary32, and its last bit is set if x differs from s.
func (d dotAdd) roundToOdd(s, x, one reg.VecVirtual) {
	back := d.vector()
	VCVTTPS2DQ(x, back)
	if d.width == 256 {
		VPCMPEQD(s, back, back)
		VPANDN(one, back, back)
		VPOR(back, x, x)
	} else {
		k := K()
		VPCMPD(Imm(4), s, back, k)
		VPORD(one, x, k, x)
	}
}

// joinAll joins the sums low and high in low. They rarely need more than 32
// bits, and only then are they added in binary64.
func (d dotAdd) joinAll(low, high [][]reg.VecVirtual) {
	over := d.vector()
	d.zero(over)
	d.eachVector(func(r, v int) {
		// (sum ^ low) & (sum ^ high)
		l, h, t := low[r][v], high[r][v], d.vector()
		if d.width == 256 {
			u := d.vector()
			VMOVDQA(l, t)
			VPADDD(h, l, l)
			VPXOR(l, t, t)
			VPXOR(l, h, u)
			VPAND(u, t, t)
		} else {
			VMOVDQA32(l, t)
			VPADDD(h, l, l)
			VPTERNLOGD(Imm(0x24), h, l, t)
		}
		d.or(t, over, over)
	})
	if d.width == 256 {
		bits := GP32()
		VMOVMSKPS(over, bits)
		TESTL(bits, bits)
	} else {
		mask := K()
		VPMOVD2M(over, mask)
		KORTESTW(mask, mask)
	}
	JZ(LabelRef("fit"))
	d.eachVector(func(r, v int) {
		l, h := low[r][v], high[r][v]
		VPSUBD(h, l, l)
		d.joinWide(l, h, l)
	})
	JMP(LabelRef("joined"))
	Label("fit")
	d.eachVector(func(r, v int) { d.join(low[r][v], d.constant) })
	Label("joined")
}

// joinWide is join for sums of more than 32 bits, computed in binary64.
func (d dotAdd) joinWide(low, high, sum reg.VecVirtual) {
	extract := func(i int, x reg.VecVirtual) reg.VecVirtual {
		if d.width == 256 {
			part := XMM()
			VEXTRACTI128(Imm(uint64(i)), x, part)
			return part
		}
		part := YMM()
		VEXTRACTI64X4(Imm(uint64(i)), x, part)
		return part
	}
	h := d.parts
	for i := range h {
		l, u := d.vector(), d.vector()
		VCVTDQ2PD(extract(i, low), l)
		VCVTDQ2PD(extract(i, high), u)
		VADDPD(u, l, l)
		d.jam(l)
		if d.width == 256 {
			VCVTPD2PSY(l, h[i])
		} else {
			VCVTPD2PS_RZ_SAE(l, h[i])
		}
	}
	if d.width == 256 {
		VINSERTF128(Imm(1), h[1], h[0].AsY(), sum)
	} else {
		VINSERTF64X4(Imm(1), h[1], h[0].AsZ(), sum)
	}
}

// jam rounds x from binary64 to odd in binary32 precision, for results that are
// rounded again: if any of the 29 bits that binary32 does not have is set, it
// sets the last bit that binary32 has. Without half it does nothing.
func (d dotAdd) jam(x reg.VecVirtual) {
	if !d.half {
		return
	}
	below, t := d.vector(), d.vector()
	VPBROADCASTQ(Mem{Base: d.p}.Offset(offBelow), below)
	d.and(x, below, t)
	VPADDQ(below, t, t)
	d.or(t, x, t) // bit 29 is correct; the bits below it are cleared next
	d.andNot(below, t, x)
}

// positive makes +0 of sums that were rounded to -0, which only those in
// binary16 are. Without half it does nothing.
func (d dotAdd) positive(sum [][]reg.VecVirtual) {
	if !d.half {
		return
	}
	zero := d.vector()
	d.zero(zero)
	d.eachVector(func(r, v int) { VADDPS(zero, sum[r][v], sum[r][v]) })
}

// roundHalf rounds x to binary16, to nearest even.
func (d dotAdd) roundHalf(x reg.VecVirtual) {
	var h reg.VecVirtual = XMM()
	if d.width == 512 {
		h = YMM()
	}
	VCVTPS2PH(Imm(0), x, h)
	VCVTPH2PS(h, x)
}
