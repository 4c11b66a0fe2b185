package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Sums of binary16 products that are rounded to binary16 after every addition:
// s = fl16(s + xy) for k = 0, 1, …, to nearest even. The product of two numbers
// of binary16 is not rounded.

// halfFMA emits these sums with the fused multiply-add of AVX512-FP16, which is
// this operation:
//
//	for every k:
//	  load two vectors of 32 columns of b
//	  for every row: broadcast a; s = fma16(a, b, s), twice
//
// A code of a stands twice in a word, since words are broadcast by the load
// itself and halves of words are not. All vector registers have fixed numbers,
// because [fma16] needs them.
func halfFMA() {
	const rows, lanes = 14, 32
	TEXT("HalfFMA14x64", NOSPLIT, "func(c *float32, ldc int, a *uint32, lda int, b *uint32, k int) bool")
	Doc("14 rows × 64 columns: c = fl16(c + ab) for k > 0 terms in order, strides in bytes.",
		"c contains numbers of binary16, a their codes twice in every word, b two codes in a word.",
		"It returns true.")
	c, ldc, a, lda, b, k := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("k")
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)

	z := [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10,
		reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22,
		reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}
	const y, x, t = 2 * rows, 2*rows + 2, 2*rows + 3 // the registers after those of the sums
	for i, row := range results {
		for v := range 2 {
			s := z[2*i+v]
			VMOVUPS(row.Offset(128*v), s)
			VMOVUPS(row.Offset(128*v+64), z[t])
			VCVTPS2PH(Imm(0), s, s.AsY())
			VCVTPS2PH(Imm(0), z[t], z[t].AsY())
			VINSERTI64X4(Imm(1), z[t].AsY(), s, s)
		}
	}
	loop("next", k, func() {
		for v := range 2 {
			VMOVDQU16(Mem{Base: b}.Offset(2*lanes*v), z[y+v])
		}
		for i, row := range factors {
			VPBROADCASTD(row, z[x])
			for v := range 2 {
				fma16(x, y+v, 2*i+v)
			}
		}
		for _, p := range pointers {
			ADDQ(U32(4), p)
		}
		ADDQ(U32(4*lanes), b)
	})
	for i, row := range results {
		for v := range 2 {
			s := z[2*i+v]
			VCVTPH2PS(s.AsY(), z[x])
			VEXTRACTI64X4(Imm(1), s, z[t].AsY())
			VCVTPH2PS(z[t].AsY(), z[t])
			VMOVUPS(z[x], row.Offset(128*v))
			VMOVUPS(z[t], row.Offset(128*v+64))
		}
	}
	ok := GP32()
	MOVL(U32(1), ok)
	Store(ok.As8(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// fma16 emits VFMADD231PH Zx, Zy, Zs, which sets s to fl16(s + xy) in 32 lanes.
// It writes the bytes of the instruction, for which the assembler has no name:
// EVEX.512.66.MAP6.W0 B8 /r (Intel 2024).
func fma16(x, y, s int) {
	Commentf("VFMADD231PH Z%d, Z%d, Z%d", x, y, s)
	inverted := func(n, bit int) uint32 { return uint32(^n >> bit & 1) }
	const evex, map6, is66, opcode, bits512 = 0x62, 6, 1, 0xb8, 2
	p0 := inverted(s, 3)<<7 | inverted(x, 4)<<6 | inverted(x, 3)<<5 | inverted(s, 4)<<4 | map6
	p1 := uint32(^y&15)<<3 | 1<<2 | is66
	p2 := uint32(bits512)<<5 | inverted(y, 4)<<3
	Instruction(&ir.Instruction{Opcode: "LONG", Operands: []Op{U32(evex | p0<<8 | p1<<16 | p2<<24)}})
	Instruction(&ir.Instruction{Opcode: "WORD", Operands: []Op{U16(opcode | (3<<6|s&7<<3|x&7)<<8)}})
}

// halfCodes emits the conversion of rows to codes of binary16 for halfFMA.
func halfCodes() {
	TEXT("HalfWords", NOSPLIT, "func(dst *uint32, src *float32, n int)")
	Doc("Stores the code of fl16(src), to nearest even, in both halves of the words dst; n is a positive multiple of 16.")
	dst, src, n := param("dst"), param("src"), param("n")
	SHRQ(Imm(4), n)
	loop("next", n, func() {
		codes, words, high := YMM(), ZMM(), ZMM()
		VMOVUPS(Mem{Base: src}, words)
		VCVTPS2PH(Imm(0), words, codes)
		VPMOVZXWD(codes, words)
		VPSLLD(Imm(16), words, high)
		VPORD(high, words, words)
		VMOVUPS(words, Mem{Base: dst})
		ADDQ(U32(64), src)
		ADDQ(U32(64), dst)
	})
	VZEROUPPER()
	RET()

	TEXT("HalfCodes64", NOSPLIT, "func(dst *uint32, src *float32, stride int, k int)")
	Doc("Stores the codes of fl16(src), to nearest even, for k > 0 rows of 64 columns, stride bytes apart.")
	dst, src, stride, k := param("dst"), param("src"), param("stride"), param("k")
	loop("next", k, func() {
		for v := range 4 {
			x := ZMM()
			VMOVUPS(Mem{Base: src}.Offset(64*v), x)
			VCVTPS2PH(Imm(0), x, Mem{Base: dst}.Offset(32*v))
		}
		ADDQ(stride, src)
		ADDQ(U32(128), dst)
	})
	VZEROUPPER()
	RET()
}

// halfScaled emits the conversion of rows for halfSums.
func (w width) halfScaled(vectors int) {
	columns := vectors * w.lanes()
	TEXT(fmt.Sprintf("HalfScaled%d", columns), NOSPLIT, "func(dst *uint32, src *float32, stride int, k int)")
	Doc(fmt.Sprintf("Stores the bits of 2^-56 fl16(src), to nearest even, for k > 0 rows of %d columns, stride bytes apart.", columns))
	dst, src, stride, k := param("dst"), param("src"), param("stride"), param("k")
	bits, scale := GP32(), w.vector()
	MOVL(U32((127-56)<<23), bits)
	VMOVD(bits, scale.AsX())
	VBROADCASTSS(scale.AsX(), scale)
	loop("next", k, func() {
		for v := range vectors {
			x := w.vector()
			VMOVUPS(Mem{Base: src}.Offset(v*w.bytes()), x)
			if w == 256 {
				VCVTPS2PH(Imm(0), x, x.AsX())
				VCVTPH2PS(x.AsX(), x)
			} else {
				VCVTPS2PH(Imm(0), x, x.AsY())
				VCVTPH2PS(x.AsY(), x)
			}
			VMULPS(scale, x, x)
			VMOVUPS(x, Mem{Base: dst}.Offset(v*w.bytes()))
		}
		ADDQ(stride, src)
		ADDQ(U32(vectors*w.bytes()), dst)
	})
	VZEROUPPER()
	RET()
}

// The numbers of halfSums are those of binary16 times 2^-112, so that the least
// exponents of normal numbers in binary16 and binary32 are the same, and a
// number of binary16 is one of binary32 whose last 13 bits are zeros, subnormal
// or not.
const (
	halfUlp       = 1 << 12                // half a unit in the last place of binary16
	halfLast      = 1 << 13                // the last bit that binary16 has
	halfBelow     = halfLast - 1           // the bits that binary16 does not have
	halfKeep      = 1<<32 - halfLast       // those that it has
	halfOverflow  = (127 + 16 - 112) << 23 // 2^16 times 2^-112
	halfMagnitude = 1<<31 - 1
	halfUp        = (127 + 112) << 23 // 2^112
	halfDown      = (127 - 112) << 23 // 2^-112
)

// halfSums emits the sums for processors without AVX512-FP16:
//
//	z = fma32(a, b, s)
//	r = z + half an ulp of binary16, as integers
//	s = r without its last 13 bits
//	if these are zeros in any lane: half.tie
//	most = max(most, |s|)
//
// Adding half an ulp and cutting rounds z to nearest, ties away from zero. This
// is fl16 of the exact sum unless z is a midpoint of two numbers of binary16:
// midpoints are numbers of binary32, so that rounding to binary32 may reach
// them and does not cross them. r shows a midpoint by its last bits.
//
// A sum that overflows is seen in most at the end.
func (w width) halfSums(rows, vectors int) {
	TEXT(fmt.Sprintf("HalfSums%dx%d", rows, vectors*w.lanes()), NOSPLIT,
		"func(c *float32, ldc int, a *uint32, lda int, b *uint32, k int) bool")
	Doc(fmt.Sprintf("%d rows × %d columns: c = fl16(c + ab) for k > 0 terms in order, strides in bytes.", rows, vectors*w.lanes()),
		"c contains numbers of binary16, a and b the bits of such numbers times 2^-56. It returns",
		"false and leaves c as it is if a sum overflowed or was infinite.")
	c, ldc, a, lda, b, k := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("k")
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)
	h := w.newHalf()

	s, most := w.vectors(rows*vectors), w.vectors(3) // several greatest ones, for they wait for each other
	for i := range s {
		VMOVUPS(results[i/vectors].Offset(i%vectors*w.bytes()), s[i])
		VMULPS(h.down, s[i], s[i])
	}
	for _, m := range most {
		w.zero(m)
	}
	column := func(i int) Mem { return Mem{Base: b}.Offset(i % vectors * w.bytes()) }

	group := 3 // sums at a time
	if w == 512 {
		group = 2
	}
	Label("next")
	for lo := 0; lo < len(s); lo += group {
		part := s[lo:min(lo+group, len(s))]
		r := w.vectors(len(part))
		for i := range r {
			VBROADCASTSS(factors[(lo+i)/vectors], r[i])
			VFMADD132PS(column(lo+i), part[i], r[i])
			VPADDD(h.ulp, r[i], r[i])
		}
		h.jumpIfTie(r, fmt.Sprintf("tie%d", lo))
		for i := range r {
			w.and(h.keep, r[i], part[i])
		}
		Label(fmt.Sprintf("done%d", lo))
		for i := range r {
			h.watch(part[i], most[(lo+i)%len(most)])
		}
	}
	for _, p := range pointers {
		ADDQ(U32(4), p)
	}
	ADDQ(U32(vectors*w.bytes()), b)
	DECQ(k)
	JNZ(LabelRef("next"))

	ok, over := GP32(), GP32()
	XORL(ok, ok)
	for _, m := range most[1:] {
		VMAXPS(m, most[0], most[0])
	}
	const notLess = 13
	if w == 512 {
		mask := K()
		VCMPPS(Imm(notLess), h.overflow, most[0], mask)
		KMOVW(mask, over)
	} else {
		VCMPPS(Imm(notLess), h.overflow, most[0], most[0])
		VMOVMSKPS(most[0], over)
	}
	TESTL(over, over)
	JNZ(LabelRef("end"))
	MOVL(U32(1), ok)
	for i := range s {
		VMULPS(h.up, s[i], s[i])
		VMOVUPS(s[i], results[i/vectors].Offset(i%vectors*w.bytes()))
	}
	Label("end")
	Store(ok.As8(), ReturnIndex(0))
	VZEROUPPER()
	RET()

	for lo := 0; lo < len(s); lo += group {
		Label(fmt.Sprintf("tie%d", lo))
		for i := lo; i < min(lo+group, len(s)); i++ {
			h.tie(factors[i/vectors], column(i), s[i])
		}
		JMP(LabelRef(fmt.Sprintf("done%d", lo)))
	}
}

// half contains the constants of halfSums, in memory where registers are
// lacking.
type half struct {
	width
	ulp, below, keep, last, magnitude, overflow, up, down Op
}

func (w width) newHalf() half {
	memory := func(name string, bits uint32) Op { return w.constant("half"+name, bits) }
	register := func(name string, bits uint32) Op {
		v := w.vector()
		VMOVUPS(memory(name, bits), v)
		return v
	}
	keep := memory
	if w == 512 {
		keep = register
	}
	return half{w, register("Ulp", halfUlp), register("Below", halfBelow), keep("Keep", halfKeep),
		memory("Last", halfLast), memory("Magnitude", halfMagnitude), memory("Overflow", halfOverflow), memory("Up", halfUp), memory("Down", halfDown)}
}

// watch sets most to the greater of most and the magnitude of s, if s is not a
// NaN.
func (h half) watch(s, most reg.VecVirtual) {
	if h.width == 512 {
		const greaterMagnitude = 0b1011
		VRANGEPS(Imm(greaterMagnitude), most, s, most)
		return
	}
	t := h.vector()
	VPAND(h.magnitude, s, t)
	VMAXPS(most, t, most)
}

// jumpIfTie jumps to the label if the last 13 bits of any lane of r are zeros.
func (h half) jumpIfTie(r []reg.VecVirtual, label string) {
	if h.width == 512 {
		some := K()
		VPTESTMD(h.below, r[0], some)
		for _, x := range r[1:] {
			VPTESTMD(h.below, x, some, some)
		}
		KORTESTW(some, some)
		JCC(LabelRef(label)) // unless all bits are set
		return
	}
	least, x, any := h.vector(), h.vector(), GP32()
	VPAND(h.below, r[0], least)
	for i := range r[1:] {
		VPAND(h.below, r[1+i], x)
		VPMINUD(x, least, least)
	}
	h.zero(x)
	VPCMPEQD(x, least, least)
	VPMOVMSKB(least, any)
	TESTL(any, any)
	JNZ(LabelRef(label))
}

// tie emits the sum s = fl16(s + xy) whatever its last bits are. With g, the
// exact sum minus z, which is no multiple of the last bit of r:
//
//	p = ab, s = 2^112 s, t = s + p and its error e (Knuth 1969, TwoSum)
//	g = (t - 2^112 z) + e
//	if the last 13 bits of r are zeros, and g has the other sign than z,
//	or g = 0 and r is odd: r -= one unit in the last place of binary16
//
// The rounding of g leaves its sign as it is.
func (h half) tie(x, y Mem, s reg.VecVirtual) {
	z, p, sum, t, u := h.vector(), h.vector(), h.vector(), h.vector(), h.vector()
	VBROADCASTSS(x, z)
	VMULPS(h.up, z, p)
	VMULPS(y, p, p)
	VFMADD132PS(y, s, z)
	VMULPS(h.up, s, s)
	VADDPS(p, s, sum)
	VSUBPS(s, sum, t)
	VSUBPS(t, p, p)
	VSUBPS(t, sum, t)
	VSUBPS(t, s, t)
	VADDPS(t, p, p)
	VMULPS(h.up, z, t)
	VSUBPS(t, sum, t)
	VADDPS(t, p, p)

	h.xor(p, z, u) // its sign tells that those of g and z differ
	VPADDD(h.ulp, z, z)
	VPSLLD(Imm(18), z, t) // the sign is the last bit of r
	h.zero(sum)
	if h.width == 512 {
		exact, away, tie := K(), K(), K()
		VCMPPS(Imm(0), sum, p, exact)
		VMOVDQA32(t, exact, u)
		VPMOVD2M(u, away)
		VPTESTNMD(h.below, z, tie)
		KANDW(away, tie, tie)
		VPSUBD(h.last, z, tie, z)
	} else {
		exact := p
		VCMPPS(Imm(0), sum, p, exact)
		VBLENDVPS(exact, t, u, u)
		VPSRAD(Imm(31), u, u)
		VPAND(h.below, z, t)
		VPCMPEQD(sum, t, t)
		VPAND(t, u, u)
		VPAND(h.last, u, u)
		VPSUBD(u, z, z)
	}
	h.and(h.keep, z, s)
}
