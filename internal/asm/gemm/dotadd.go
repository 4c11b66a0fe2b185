package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the constants in dotAddConstants.
const (
	offLeast    = 4 * iota // distance of the least exponent, stored twice, in 16 bits each
	offTop                 // bits of 2^E for distance 0
	offScale               // bits of 2^F plus those of 1
	offF                   // F in the exponent field
	offKeep                // mask of the bits of a result that are kept
	offMost                // bits of 2^E for the greatest exponent allowed
	offNormal              // bits of 2^Emin of the output; binary16 only
	offZero                // bits of 2^E for a zero c; binary16 only
	offInfinity            // mask of the exponent field
	offHigh                // mask of the upper half of a word
	offOne                 // the integer 1
	offMXCSR               // control word of rounding toward zero
)

// dotAdd emits the truncated fused dot-product-add of blocks of the given
// number of terms, for one row by two vectors of columns. Each exponent is
// given as its distance below the greatest possible exponent, in the exponent
// field of a binary32 number in the upper half of a word. The product with the
// greatest exponent is therefore the one with the least sum of distances.
//
// If half is true, results are rounded to binary16, to nearest even; otherwise
// they are truncated.
func (w width) dotAdd(terms int, half bool) {
	name := fmt.Sprintf("DotAdd%d_%d", terms, w)
	if half {
		name = fmt.Sprintf("DotAddHalf%d_%d", terms, w)
	}
	TEXT(name, NOSPLIT, "func(d, c, av *float32, ae *uint32, bv *float32, be *uint16, blocks int, p *uint32) uint64")
	Doc(fmt.Sprintf("%d columns of blocks > 0 blocks of %d terms. A bit of the result is set for every column", 2*w.lanes(), terms),
		"that left the range of the kernel and is not to be used.")
	d, c := param("d"), param("c")
	av, ae, bv, be := param("av"), param("ae"), param("bv"), param("be")
	blocks, p := param("blocks"), param("p")
	constant := func(offset int) Mem { return Mem{Base: p}.Offset(offset) }
	broadcast := func(offset int) reg.VecVirtual {
		v := w.vector()
		VPBROADCASTD(constant(offset), v)
		return v
	}

	// Instructions of 512 bits can specify truncation themselves.
	saved := Mem{}
	if w == 256 {
		saved = AllocLocal(8)
		STMXCSR(saved)
		LDMXCSR(constant(offMXCSR))
	}

	m := machine{width: w, terms: terms, half: half, constant: constant}
	if w == 512 {
		m.constants = map[int]reg.VecVirtual{}
		for _, offset := range []int{offTop, offScale, offF, offKeep, offNormal, offZero, offInfinity, offHigh, offOne} {
			m.constants[offset] = broadcast(offset)
		}
	}
	// For each of the two vectors: the results, the greatest exponents so far and,
	// in the sign, whether a 32-bit sum has overflowed.
	var sum, most, over [2]reg.VecVirtual
	for v := range sum {
		sum[v], most[v] = w.vector(), w.vector()
		VMOVUPS(Mem{Base: c}.Offset(v*w.bytes()), sum[v])
		w.zero(most[v])
		if terms == 16 {
			over[v] = w.vector()
			w.zero(over[v])
		}
	}

	loop("next", blocks, func() {
		// The greatest exponent of the products, for two columns in each word.
		near, distance := w.vector(), w.vector()
		VPBROADCASTD(constant(offLeast), near)
		for k := range terms {
			VPBROADCASTD(Mem{Base: ae}.Offset(4*k), distance)
			VPADDUSW(Mem{Base: be}.Offset(k*w.bytes()), distance, distance)
			VPMINUW(distance, near, near)
		}

		// The greatest exponent of all terms, the power of two that scales a term to a
		// multiple of F bits below it, and c truncated there.
		var scale, greatest [2]reg.VecVirtual
		for v := range 2 {
			greatest[v], scale[v] = w.vector(), w.vector()
			if v == 0 {
				VPSLLD(Imm(16), near, greatest[v])
			} else {
				w.and(near, m.load(offHigh), greatest[v])
			}
			m.sub(greatest[v], offTop, greatest[v])
			m.exponentOf(sum[v], greatest[v])
			VPMAXSD(greatest[v], most[v], most[v])
			m.sub(greatest[v], offScale, scale[v])
			VMULPS(scale[v], sum[v], sum[v])
			VCVTTPS2DQ(sum[v], sum[v])
		}

		// The exact products, each truncated there, and their sum.
		var s [2][]reg.VecVirtual
		for v := range 2 {
			s[v] = w.vectors(1 + terms/32)
		}
		x, y := w.vector(), w.vector()
		for k := range terms {
			VBROADCASTSS(Mem{Base: av}.Offset(4*k), x)
			for v := range 2 {
				part, first := s[v][k/16], k%16 == 0
				if first {
					y = part
				} else {
					y = w.vector()
				}
				VMULPS(Mem{Base: bv}.Offset((2*k+v)*w.bytes()), x, y)
				VMULPS(scale[v], y, y)
				VCVTTPS2DQ(y, y)
				if !first {
					VPADDD(y, part, part)
				}
			}
		}

		for v := range 2 {
			if terms > 16 {
				m.joinWide(s[v][0], s[v][1], sum[v])
			} else {
				m.join(s[v][0], sum[v], over[v])
			}
			m.subReg(offF, greatest[v])
			VMULPS(greatest[v], sum[v], sum[v])
			m.finish(sum[v])
		}

		ADDQ(U32(4*terms), av)
		ADDQ(U32(4*terms), ae)
		ADDQ(U32(2*terms*w.bytes()), bv)
		ADDQ(U32(terms*w.bytes()), be)
	})

	if w == 256 {
		LDMXCSR(saved)
	}
	rare := GP64()
	XORQ(rare, rare)
	limit := broadcast(offMost)
	for v := 1; v >= 0; v-- {
		VMOVUPS(sum[v], Mem{Base: d}.Offset(v*w.bytes()))
		VPSUBD(most[v], limit, most[v]) // the sign of limit - most
		if terms == 16 {
			w.or(over[v], most[v], most[v])
		}
		bits := GP32()
		if w == 256 {
			VMOVMSKPS(most[v], bits)
		} else {
			mask := K()
			VPMOVD2M(most[v], mask)
			KMOVW(mask, bits)
		}
		SHLQ(Imm(uint64(w.lanes())), rare)
		ORQ(bits.As64(), rare)
	}
	Store(rare, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// machine contains the parameters that the steps of a dotAdd share. With only
// 16 registers the constants are read from memory.
type machine struct {
	width
	terms     int
	half      bool
	constants map[int]reg.VecVirtual
	constant  func(offset int) Mem
}

func (m machine) load(offset int) reg.VecVirtual {
	if v, ok := m.constants[offset]; ok {
		return v
	}
	v := m.vector()
	VPBROADCASTD(m.constant(offset), v)
	return v
}

// sub sets z to constant - x.
func (m machine) sub(x reg.VecVirtual, offset int, z reg.VecVirtual) {
	VPSUBD(x, m.load(offset), z)
}

// subReg sets x to x - constant.
func (m machine) subReg(offset int, x reg.VecVirtual) {
	VPSUBD(m.load(offset), x, x)
}

// exponentOf sets e to the greater of e and the power of two of c. For
// binary16, the power of two of a subnormal c is 2^Emin, and that of zero
// depends on the device.
func (m machine) exponentOf(c, e reg.VecVirtual) {
	t := m.vector()
	m.and(m.load(offInfinity), c, t)
	if m.half {
		least := m.vector()
		if m.width == 256 {
			zero, isZero := m.vector(), m.vector()
			m.zero(zero)
			VCMPPS(Imm(0), zero, c, isZero)
			VBLENDVPS(isZero, m.load(offZero), m.load(offNormal), least)
		} else {
			zero, isZero := m.vector(), K()
			m.zero(zero)
			VCMPPS(Imm(0), zero, c, isZero)
			VPBLENDMD(m.load(offZero), m.load(offNormal), isZero, least)
		}
		VPMAXSD(least, t, t)
	}
	VPMAXSD(t, e, e)
}

// join adds the integers of c and of the products and converts the sum to
// binary32, truncated. If the sum does not fit into 32 bits, it sets the sign
// of over.
func (m machine) join(products, sum, over reg.VecVirtual) {
	s := m.vector()
	VPADDD(products, sum, s)
	if m.terms == 16 {
		// (products ^ s) & (sum ^ s)
		if m.width == 256 {
			m.xor(s, sum, sum)
			m.xor(s, products, products)
			m.and(products, sum, sum)
			m.or(sum, over, over)
		} else {
			VPTERNLOGD(Imm(0x24), products, s, sum)
			m.or(sum, over, over)
		}
	}
	if m.width == 256 {
		VCVTDQ2PS(s, sum)
	} else {
		VCVTDQ2PS_RZ_SAE(s, sum)
	}
	if m.half {
		m.roundToOdd(s, sum)
	}
}

// roundToOdd rounds the integers s to odd: x contains them truncated to
// binary32, and its last bit is set if x differs from s.
func (m machine) roundToOdd(s, x reg.VecVirtual) {
	back, one := m.vector(), m.load(offOne)
	VCVTTPS2DQ(x, back)
	if m.width == 256 {
		VPCMPEQD(s, back, back)
		VPANDN(one, back, back)
		VPOR(back, x, x)
	} else {
		k := K()
		VPCMPD(Imm(4), s, back, k)
		VPORD(one, x, k, x)
	}
}

// joinWide is join for sums of more than 32 bits, computed in binary64.
func (m machine) joinWide(low, high, sum reg.VecVirtual) {
	VPADDD(low, sum, low)
	if m.width == 256 {
		h := [2]reg.VecVirtual{XMM(), XMM()}
		for i := range h {
			l, u := YMM(), YMM()
			part := XMM()
			VEXTRACTI128(Imm(uint64(i)), low, part)
			VCVTDQ2PD(part, l)
			VEXTRACTI128(Imm(uint64(i)), high, part)
			VCVTDQ2PD(part, u)
			VADDPD(u, l, l)
			m.jam(l)
			VCVTPD2PSY(l, h[i])
		}
		VINSERTF128(Imm(1), h[1], h[0].AsY(), sum)
		return
	}
	h := [2]reg.VecVirtual{YMM(), YMM()}
	for i := range h {
		l, u := ZMM(), ZMM()
		part := YMM()
		VEXTRACTI64X4(Imm(uint64(i)), low, part)
		VCVTDQ2PD(part, l)
		VEXTRACTI64X4(Imm(uint64(i)), high, part)
		VCVTDQ2PD(part, u)
		VADDPD(u, l, l)
		m.jam(l)
		VCVTPD2PS_RZ_SAE(l, h[i])
	}
	VINSERTF64X4(Imm(1), h[1], h[0].AsZ(), sum)
}

// jam rounds x from binary64 to odd in binary32 precision, for results that are
// rounded again: if any of the 29 bits that binary32 does not have is set, it
// sets the last bit that binary32 has. Without half it does nothing.
func (m machine) jam(x reg.VecVirtual) {
	if !m.half {
		return
	}
	below, t := m.vector(), m.vector()
	s := GP64()
	MOVQ(U32(1<<29-1), s)
	VMOVQ(s, below.AsX())
	VPBROADCASTQ(below.AsX(), below)
	m.and64(x, below, t)
	VPADDQ(below, t, t)
	m.or64(t, x, t) // bit 29 is correct; the bits below it are cleared next
	m.andNot64(below, t, x)
}

func (m machine) and64(x, y, z Op) {
	if m.width == 256 {
		VPAND(x, y, z)
	} else {
		VPANDQ(x, y, z)
	}
}

func (m machine) or64(x, y, z Op) {
	if m.width == 256 {
		VPOR(x, y, z)
	} else {
		VPORQ(x, y, z)
	}
}

// andNot64 sets z to y & ^mask.
func (m machine) andNot64(mask, y, z Op) {
	if m.width == 256 {
		VPANDN(y, mask, z)
	} else {
		VPANDNQ(y, mask, z)
	}
}

// finish rounds the result to the format of the output.
func (m machine) finish(x reg.VecVirtual) {
	if !m.half {
		m.and(m.load(offKeep), x, x)
		return
	}
	if m.width == 256 {
		h := XMM()
		VCVTPS2PH(Imm(0), x, h)
		VCVTPH2PS(h, x)
		return
	}
	h := YMM()
	VCVTPS2PH(Imm(0), x, h)
	VCVTPH2PS(h, x)
}
