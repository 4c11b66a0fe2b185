package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Sums of blocks of products in two stages, as CDNA3 computes them (Xie et al.
// 2025): the products are truncated to 24 bits below the greatest exponent and
// added; this sum and c are rounded down to 32 and 24 bits below the greater
// exponent and added; the result is cut to 31 bits below its leading bit and
// rounded.
//
// The exponent of a factor is given as its distance below 2^31, a byte. It is
// at most stageReach; zeros have the distance 255. The product with the
// greatest exponent is the one with the least sum of distances.
const (
	stageTop   = 31  // the greatest exponent of a factor
	stageReach = 63  // the greatest distance of a factor that is not zero
	stageZero  = 255 // the distance of zero
	stageFar   = 152 // the distance of a sum of products that are all zeros

	// The range of magnitudes of a c that is not zero, 2^-70 to 2^70. In it no sum
	// of a chunk overflows, and no number here leaves the range of binary32.
	stageLeast = (127 - 70) << 23
	stageMost  = (127 + 70) << 23
)

// stageSums emits the sums of one row and four vectors of columns. For every
// block:
//
//	bytes of all columns:
//	m = least sum of two distances
//	for each vector, 32-bit lanes:
//	top = 2^(62-m)
//	P = sum of the integers truncated(ab 2^24/top)
//	e = max(top, the power of two of c)
//	C = floor(c 2^24/e)
//	s = log2(e/top)
//	T = P>>s + C                     # in units of e/2^24, at most 31 bits
//	low = last 8 bits of P<<8 >> s   # T 2^8 + low is the sum
//	drop = the bits of low that are more than 31 below the leading bit
//	A = T without its last 12 bits, B = these bits and those of low not in drop
//	c = fma(A, 2^8, B) e/2^32        # one rounding
//
// With two parts, P are the sums of products of even and of odd index, each
// with a top of its own, which are then shifted to the greater; and a c whose
// exponent is more than 25 below e is discarded.
//
// The product ab and its multiple are exact. P has at most 30 bits, and 31 with
// two parts. A and B have at most 20 bits, so that their conversions are exact.
// The leading bit of the sum is known from T: for T < 0 it is that of -1-T,
// unless low is zero, where nothing can be dropped. A c that is not zero is at
// least 2^-96, the last bit of a sum, so that its multiple is not rounded to
// zero.
func (w width) stageSums(terms, parts int) {
	const vectors = 4
	columns := vectors * w.lanes()
	TEXT(fmt.Sprintf("StageSums%dx%d_%d", terms, parts, w), NOSPLIT,
		"func(d, c, av *float32, ae *uint32, bv *float32, be *uint8, blocks int) uint64")
	Doc(fmt.Sprintf("%d columns of blocks > 0 blocks of %d × %d terms. A bit of the result is set for every", columns, parts, terms/parts),
		"column whose c is out of range, and whose sum is not to be used.")
	d, c := param("d"), param("c")
	av, ae, bv, be, blocks := param("av"), param("ae"), param("bv"), param("be"), param("blocks")
	least := AllocLocal(w.bytes() * parts)
	k := w.newStage()

	rare := GP64()
	XORQ(rare, rare)
	for v := vectors - 1; v >= 0; v-- {
		x, mask := w.vector(), GP32()
		VMOVUPS(Mem{Base: c}.Offset(v*w.bytes()), x)
		VMOVUPS(x, Mem{Base: d}.Offset(v*w.bytes()))
		k.outOfRange(x, mask)
		SHLQ(Imm(uint64(w.lanes())), rare)
		ORQ(mask.As64(), rare)
	}
	Store(rare, ReturnIndex(0))

	loop("next", blocks, func() {
		for part := range parts {
			m, t := w.vector(), w.vector()
			VMOVUPS(k.far, m)
			for i := part; i < terms; i += parts {
				VPBROADCASTD(Mem{Base: ae}.Offset(4*i), t)
				VPADDUSB(Mem{Base: be}.Offset(columns*i), t, t)
				VPMINUB(t, m, m)
			}
			VMOVUPS(m, least.Offset(w.bytes()*part))
		}
		for v := range vectors {
			var p, top []reg.VecVirtual
			for part := range parts {
				m, s, sum, x, y := w.vector(), w.vector(), w.vector(), w.vector(), w.vector()
				VPMOVZXBD(least.Offset(w.bytes()*part+w.lanes()*v), m)
				VPSLLD(Imm(23), m, m)
				VPSUBD(m, k.load(k.toTop), m)
				VPSUBD(m, k.load(k.scale), s)
				for i := part; i < terms; i += parts {
					VBROADCASTSS(Mem{Base: av}.Offset(4*i), x)
					VMULPS(Mem{Base: bv}.Offset(w.bytes()*(vectors*i+v)), x, x)
					VMULPS(s, x, x)
					if i == part {
						VCVTTPS2DQ(x, sum)
						continue
					}
					VCVTTPS2DQ(x, y)
					VPADDD(y, sum, sum)
				}
				p, top = append(p, sum), append(top, m)
			}
			if parts == 2 {
				k.join(p, top)
			}
			k.add(p[0], top[0], Mem{Base: d}.Offset(v*w.bytes()), parts == 2)
		}
		ADDQ(U32(4*terms), av)
		ADDQ(U32(4*terms), ae)
		ADDQ(U32(4*columns*terms), bv)
		ADDQ(U32(columns*terms), be)
	})
	VZEROUPPER()
	RET()
}

// stage contains the constants of stageSums, in memory if there are only 16
// registers.
type stage struct {
	width
	exponent, toTop, scale, down, bits24, bits8, byte, lower, upper, ones, lead, two8, far, near, least, span Op
}

func (w width) newStage() *stage {
	constant := func(name string, bits uint32) Op {
		m := w.constant("stage"+name, bits)
		if w == 256 {
			return m
		}
		v := w.vector()
		VMOVUPS(m, v)
		return v
	}
	return &stage{
		width:    w,
		exponent: constant("Exponent", 0x7f800000),
		toTop:    constant("ToTop", (127+2*stageTop)<<23),
		scale:    constant("Scale", (127+24+127)<<23),
		down:     constant("Down", 32<<23),
		bits24:   constant("Bits24", 24),
		bits8:    constant("Bits8", 8),
		byte:     constant("Byte", 0xff),
		lower:    constant("Lower", 0xfff00),
		upper:    constant("Upper", 1<<32-1<<12),
		ones:     constant("Ones", 1<<32-1),
		lead:     constant("Lead", 127+23+32),
		two8:     constant("Two8", (127+8)<<23),
		far:      constant("Far", stageFar*0x01010101),
		near:     constant("Near", 25<<23),
		least:    constant("Least", stageLeast),
		span:     constant("Range", stageMost-stageLeast),
	}
}

// load returns a constant in a register.
func (k *stage) load(constant Op) reg.VecVirtual {
	if v, ok := constant.(reg.VecVirtual); ok {
		return v
	}
	v := k.vector()
	VMOVUPS(constant, v)
	return v
}

// outOfRange sets the bits of mask where c is neither zero nor of a magnitude
// in [2^-70, 2^70].
func (k *stage) outOfRange(c reg.VecVirtual, mask reg.GPVirtual) {
	magnitude, isZero, isLess := k.vector(), k.vector(), k.vector()
	VPADDD(c, c, magnitude)
	VPSRLD(Imm(1), magnitude, magnitude)
	if k.width == 512 {
		const greater = 6
		nonzero, outside := K(), K()
		VPTESTMD(magnitude, magnitude, nonzero)
		VPSUBD(k.least, magnitude, magnitude)
		VPCMPUD(Imm(greater), k.span, magnitude, nonzero, outside) // without signs
		KMOVW(outside, mask)
		return
	}
	k.zero(isZero)
	VPCMPEQD(magnitude, isZero, isZero)
	VPSUBD(k.least, magnitude, magnitude)
	VMOVUPS(magnitude, isLess)
	VPCMPGTD(k.span, magnitude, magnitude)
	VPOR(isLess, magnitude, magnitude)
	VPANDN(magnitude, isZero, magnitude)
	VMOVMSKPS(magnitude, mask)
}

// join sets p[0] and top[0] to the sum of two parts and the greater of their
// tops.
func (k *stage) join(p, top []reg.VecVirtual) {
	greater, shift := k.vector(), k.vector()
	VPMAXSD(top[0], top[1], greater)
	for i := range p {
		VPSUBD(top[i], greater, shift)
		VPSRLD(Imm(23), shift, shift)
		VPSRAVD(shift, p[i], p[i])
	}
	VPADDD(p[1], p[0], p[0])
	VMOVUPS(greater, top[0])
}

// add adds the sum p of products to the sums at c. discard says that it
// discards a c that is far below e.
func (k *stage) add(p, top reg.VecVirtual, c Mem, discard bool) {
	x, e, t, kept, shift := k.vector(), k.vector(), k.vector(), k.vector(), k.vector()
	VMOVUPS(c, x)
	k.and(k.exponent, x, t)
	VPMAXSD(t, top, e)
	VPSUBD(e, k.load(k.scale), kept)
	VMULPS(kept, x, kept)
	VPSUBD(t, e, t)
	k.floor(kept)
	if discard {
		k.clearIfGreater(t, k.near, kept)
	}
	VPSUBD(top, e, shift)
	VPSRLD(Imm(23), shift, shift)
	sum := k.vector()
	VPSRAVD(shift, p, sum)
	VPADDD(kept, sum, sum)

	low, drop, part := k.shifted(p, shift), k.vector(), k.vector()
	VPSRAD(Imm(31), sum, drop)
	k.xor(sum, drop, drop)
	k.and(k.upper, drop, drop) // exact in binary32
	VCVTDQ2PS(drop, drop)
	VPSRLD(Imm(23), drop, drop)
	VPSUBD(drop, k.load(k.lead), drop)
	VPSRLVD(drop, k.load(k.ones), drop)

	VPSLLD(Imm(8), sum, part)
	if k.width == 512 {
		const andNot, andOr = 0x40, 0xea
		VPTERNLOGD(Imm(andNot), drop, k.byte, low) // low & byte & ^drop
		VPTERNLOGD(Imm(andOr), low, k.lower, part) // part & lower | low
	} else {
		VPANDN(low, drop, low)
		VPAND(k.byte, low, low)
		VPAND(k.lower, part, part)
		VPOR(low, part, part)
	}
	VCVTDQ2PS(part, part)
	k.and(k.upper, sum, sum)
	VCVTDQ2PS(sum, sum)
	VFMADD132PS(k.two8, part, sum)
	VPSUBD(k.down, e, e)
	VMULPS(e, sum, sum)
	VMOVUPS(sum, c)
}

// floor replaces numbers by integers, rounded down.
func (k *stage) floor(x reg.VecVirtual) {
	if k.width == 512 {
		VCVTPS2DQ_RD_SAE(x, x)
		return
	}
	const down = 9
	VROUNDPS(Imm(down), x, x)
	VCVTTPS2DQ(x, x)
}

// clearIfGreater sets z to zero where x is greater than a limit.
func (k *stage) clearIfGreater(x reg.VecVirtual, limit Op, z reg.VecVirtual) {
	if k.width == 512 {
		const notGreater = 2
		mask := K()
		VPCMPD(Imm(notGreater), limit, x, mask)
		VMOVDQA32_Z(z, mask, z)
		return
	}
	t := k.vector()
	VPCMPGTD(limit, x, t)
	VPANDN(z, t, z)
}

// shifted returns integers whose last 8 bits are those of P<<8 >> s. For s > 24
// it computes P >> (s-8), because P<<8 has lost bits that count.
func (k *stage) shifted(p, shift reg.VecVirtual) reg.VecVirtual {
	low := k.vector()
	VPSLLD(Imm(8), p, low)
	if k.width == 512 {
		isFar := K()
		VPCMPGTD(k.bits24, shift, isFar)
		VMOVDQA32(p, isFar, low)
		VPSUBD(k.bits8, shift, isFar, shift)
	} else {
		isFar := k.vector()
		VPCMPGTD(k.bits24, shift, isFar)
		VBLENDVPS(isFar, p, low, low)
		VPAND(k.bits8, isFar, isFar)
		VPSUBD(isFar, shift, shift)
	}
	VPSRAVD(shift, low, low)
	return low
}

// stagePacks emits the packing of rows and of columns.
func stagePacks() {
	TEXT("StageRow", NOSPLIT, "func(ae *uint32, src *float32, n int, emin int) uint64")
	Doc("Stores the distances of src in all bytes of ae, n a positive multiple of 16, for a format of the exponent emin.",
		"The result is not 0 if one is out of range.")
	ae, src, n := param("ae"), param("src"), param("n")
	s := newDistances(param("emin"))
	spread := GLOBL("stageSpread", attr.RODATA|attr.NOPTR)
	for i := range 16 {
		DATA(4*i, U32(0x01010101*uint32(4*(i%4))))
	}
	bytes, rare := ZMM(), GP64()
	VMOVDQU64(spread, bytes)
	XORQ(rare, rare)
	SHRQ(Imm(4), n)
	loop("next", n, func() {
		x, mask := ZMM(), GP32()
		VMOVUPS(Mem{Base: src}, x)
		s.of(x, mask)
		ORQ(mask.As64(), rare)
		VPSHUFB(bytes, x, x)
		VMOVDQU32(x, Mem{Base: ae})
		ADDQ(U32(64), src)
		ADDQ(U32(64), ae)
	})
	Store(rare, ReturnIndex(0))
	VZEROUPPER()
	RET()

	TEXT("StagePanel", NOSPLIT, "func(bv *float32, be *uint8, src *float32, stride int, k int, emin int) uint64")
	Doc("Copies k > 0 rows of 64 columns, stride bytes apart, to bv, and their distances to be, for a format of the exponent emin.",
		"A bit of the result is set for every column with an element out of range.")
	bv, be, src, stride, k := param("bv"), param("be"), param("src"), param("stride"), param("k")
	s = newDistances(param("emin"))
	rare = GP64()
	XORQ(rare, rare)
	loop("next", k, func() {
		for v := 3; v >= 0; v-- {
			x, mask := ZMM(), GP32()
			VMOVUPS(Mem{Base: src}.Offset(64*v), x)
			VMOVUPS(x, Mem{Base: bv}.Offset(64*v))
			s.of(x, mask)
			VPMOVDB(x, Mem{Base: be}.Offset(16*v))
			if v > 0 {
				SHLQ(Imm(uint64(16*v)), mask.As64())
			}
			ORQ(mask.As64(), rare)
		}
		ADDQ(stride, src)
		ADDQ(U32(256), bv)
		ADDQ(U32(64), be)
	})
	Store(rare, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// distances contains the constants of the conversion of numbers to the
// distances of their exponents.
type distances struct{ emin, top, reach, zero reg.VecVirtual }

func newDistances(emin reg.Register) distances {
	s := distances{ZMM(), ZMM(), ZMM(), ZMM()}
	VPBROADCASTQ(emin, s.emin)
	VPBROADCASTD(s.emin.AsX(), s.emin)
	bits := GP32()
	for _, x := range []struct {
		v reg.VecVirtual
		n uint32
	}{{s.top, 127 + stageTop}, {s.reach, stageReach}, {s.zero, stageZero}} {
		MOVL(U32(x.n), bits)
		VPBROADCASTD(bits, x.v)
	}
	one := ZMM()
	MOVL(U32(127), bits)
	VPBROADCASTD(bits, one)
	VPADDD(one, s.emin, s.emin) // the exponent field of 2^emin
	return s
}

// of replaces the numbers x by their distances and sets the bits of mask where
// one is out of range.
func (s distances) of(x reg.VecVirtual, mask reg.GPVirtual) {
	const greater = 6
	nonzero, outside, e := K(), K(), ZMM()
	VPADDD(x, x, e)
	VPTESTMD(e, e, nonzero)
	VPSRLD(Imm(24), e, e)
	VPMAXSD(s.emin, e, e)
	VMOVDQA32(s.zero, x)
	VPSUBD(e, s.top, nonzero, x)
	VPCMPUD(Imm(greater), s.reach, x, nonzero, outside)
	KMOVW(outside, mask)
}
