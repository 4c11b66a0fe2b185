// Command round generates the routines of tcore's rounding of slices, in 256
// bits (AVX2) and in 512 bits.
//
//	go generate ./pkg/tcore
//
// Operands are in Go order, the destination last. Every row of the table of
// constants contains one value four times; the rows are those of type
// roundTable in pkg/tcore/vector.go.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows of the table, in the order of newRoundTable.
const (
	rowInfinity    = iota
	rowMagnitude   // all bits but the sign
	rowExponent    // the exponent field
	rowMinNormal   // 2^Emin
	rowQuantum     // difference of the exponents of 2^e and 2^q, in the exponent field
	rowAdder       // difference of the bits of 2^(q+52) and 2^e
	rowNext        // difference of the bits of 2^(q+52) + 2^q and 2^e
	rowThreshold   // the least magnitude that overflows to nearest even
	rowClamp       // 2^(Emax+1)
	rowMax         // the greatest finite number
	rowOverflow    // the result of an overflow
	rowLeast       // smaller magnitudes become zero
	rowZero        // 0 if -0 becomes 0, otherwise -0
	rowRandomBits  // the places of the random bits in a significand
	rowMultiplier0 // multipliers of Philox
	rowMultiplier1
	rowKeys // 20 rows: k0 and k1 of each round
	rows    = rowKeys + 20
)

// Predicates of VCMPPD.
const (
	orderedGE   = U8(29) // GE_OQ
	orderedGT   = U8(30) // GT_OQ
	unorderedGE = U8(21) // NLT_UQ
)

// A variant is a routine for some of the formats; each omits steps that its
// formats do not need.
type variant struct {
	suffix string
	zeros  bool // formats whose subnormals are flushed or that have no -0
	finite bool // formats without NaN: a NaN is treated as +∞
}

var variants = []variant{{}, {suffix: "Zeros", zeros: true}, {suffix: "Finite", zeros: true, finite: true}}

func main() {
	ConstraintExpr("amd64")
	for _, v := range variants {
		nearest(v)
		stochastic(v)
		nearestWide(v)
		stochasticWide(v)
	}
	Generate()
}

// A kernel is the routine that rounds n elements of src to dst.
type kernel struct {
	variant
	dst, src, n, table, i reg.GPVirtual
}

func begin(name string, v variant, parameters string) kernel {
	TEXT(name+v.suffix, NOSPLIT, fmt.Sprintf("func(dst, src *float64, n int, table *[%d][4]uint64%s)", rows, parameters))
	Pragma("noescape")
	k := kernel{variant: v, dst: GP64(), src: GP64(), n: GP64(), table: GP64(), i: GP64()}
	Load(Param("dst"), k.dst)
	Load(Param("src"), k.src)
	Load(Param("n"), k.n)
	Load(Param("table"), k.table)
	XORQ(k.i, k.i)
	return k
}

// end closes the loop over the elements.
func (k kernel) end(step uint64) {
	ADDQ(Imm(step), k.i)
	CMPQ(k.i, k.n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
}

func (k kernel) row(r int) Mem { return Mem{Base: k.table, Disp: 32 * r} }

func (k kernel) at(base reg.GPVirtual, offset int) Mem {
	return Mem{Base: base, Index: k.i, Scale: 8, Disp: 8 * offset}
}

// constant returns a register that contains a row of the table.
func (k kernel) constant(r int) reg.VecVirtual {
	c := YMM()
	VMOVUPD(k.row(r), c)
	return c
}

// load returns four elements and their magnitudes. VMINPD returns its second
// source if either is NaN.
func (k kernel) load(offset int) (x, a reg.VecVirtual) {
	x, a = YMM(), YMM()
	VMOVUPD(k.at(k.src, offset), x)
	if k.finite {
		VMINPD(k.row(rowInfinity), x, x)
	}
	VANDPD(k.row(rowMagnitude), x, a)
	return x, a
}

// power returns 2^e, where e is the exponent of max(a, 2^Emin). For a NaN it
// returns 2^Emin.
func (k kernel) power(a reg.VecVirtual) reg.VecVirtual {
	e := YMM()
	VMAXPD(k.row(rowMinNormal), a, e)
	VANDPD(k.row(rowExponent), e, e)
	return e
}

// store stores the magnitudes r with the signs of x.
func (k kernel) store(offset int, r, x reg.VecVirtual) {
	if k.zeros {
		keep := YMM()
		VCMPPD(unorderedGE, k.row(rowLeast), r, keep)
		VANDPD(keep, r, r)
	}
	sign := k.constant(rowMagnitude)
	VANDNPD(x, sign, sign)
	VORPD(sign, r, r)
	if k.zeros {
		VADDPD(k.row(rowZero), r, r)
	}
	VMOVUPD(r, k.at(k.dst, offset))
}

// nearest emits the rounding of n elements, a positive multiple of 8, to
// nearest even. Adding 2^(q+52) to a magnitude rounds it to a multiple of the
// quantum 2^q; subtracting 2^(q+52) is exact.
func nearest(v variant) {
	k := begin("roundNearest", v, "")
	overflow := k.constant(rowOverflow)

	Label("loop")
	for offset := 0; offset < 8; offset += 4 {
		x, a := k.load(offset)
		m := k.power(a)
		VPADDQ(k.row(rowAdder), m, m)
		r, over := YMM(), YMM()
		VADDPD(m, a, r)
		VSUBPD(m, r, r)
		VCMPPD(orderedGE, k.row(rowThreshold), a, over)
		VBLENDVPD(over, overflow, r, r)
		k.store(offset, r, x)
	}
	k.end(8)
	RET()
}

// stochastic emits the stochastic rounding of n elements, a positive multiple
// of 16. It uses the random words of four Philox blocks for every 16 elements:
// element 4j + l uses word j of block l. All arithmetic is rounded toward zero.
func stochastic(v variant) {
	k := begin("roundStochastic", v, ", counters *[4]uint64")
	p, control := GP64(), GP32()
	Load(Param("counters"), p)
	counter, overflow, four := YMM(), k.constant(rowOverflow), YMM()
	VMOVDQU(Mem{Base: p}, counter)
	m0, m1 := k.constant(rowMultiplier0), k.constant(rowMultiplier1)
	VPCMPEQQ(four, four, four)
	VPSRLQ(Imm(63), four, four)
	VPSLLQ(Imm(2), four, four)

	Comment("Round toward zero: bits 13 and 14 of the control register.")
	saved := AllocLocal(8)
	local := saved.Offset(4)
	STMXCSR(saved)
	MOVL(saved, control)
	ORL(U32(3<<13), control)
	MOVL(control, local)
	LDMXCSR(local)

	Label("loop")
	for j, word := range k.philox(counter, m0, m1) {
		k.roundBy(4*j, word, overflow)
	}
	VPADDQ(four, counter, counter)
	k.end(16)
	LDMXCSR(saved)
	RET()
}

// philox returns the four words of the blocks of four counters, in the low
// halves of 64-bit lanes. The contents of the high halves have no meaning.
func (k kernel) philox(counter, m0, m1 reg.VecVirtual) [4]reg.VecVirtual {
	c := [4]reg.VecVirtual{YMM(), YMM(), YMM(), YMM()}
	VMOVDQA(counter, c[0])
	VPSRLQ(Imm(32), counter, c[1])
	VPXOR(c[2], c[2], c[2])
	VPXOR(c[3], c[3], c[3])
	for i := range 10 {
		Comment(fmt.Sprintf("Philox round %d.", i))
		p0, p1, next0, next2 := YMM(), YMM(), YMM(), YMM()
		VPMULUDQ(m0, c[0], p0)
		VPMULUDQ(m1, c[2], p1)
		VPSRLQ(Imm(32), p1, next0)
		VPXOR(k.row(rowKeys+2*i), c[1], c[1])
		VPXOR(c[1], next0, next0)
		VPSRLQ(Imm(32), p0, next2)
		VPXOR(k.row(rowKeys+2*i+1), c[3], c[3])
		VPXOR(c[3], next2, next2)
		c = [4]reg.VecVirtual{next0, p1, next2, p0}
	}
	return c
}

// roundBy emits the rounding of four elements. With a random fraction R of the
// quantum 2^q, the result is the greatest multiple of 2^q that is at most a + R
// 2^q. A truncated sum does not fall below a multiple of 2^q that the exact sum
// reaches, so that the result may be computed as
//
//	((a + (1 + R) 2^q) + 2^(q+52)) - (2^(q+52) + 2^q).
func (k kernel) roundBy(offset int, word, overflow reg.VecVirtual) {
	Comment(fmt.Sprintf("Elements %d to %d.", offset, offset+3))
	x, a := k.load(offset)
	VMINPD(a, k.constant(rowClamp), a) // a NaN is not changed
	m := k.power(a)

	r, quantum := YMM(), YMM()
	VPSLLQ(Imm(32), word, word)
	VPSRLQ(Imm(12), word, word)
	VPAND(k.row(rowRandomBits), word, word)
	VPSUBQ(k.row(rowQuantum), m, quantum)
	VPOR(word, quantum, quantum) // (1 + R) 2^q
	VADDPD(quantum, a, r)
	VPADDQ(k.row(rowAdder), m, quantum)
	VADDPD(quantum, r, r)
	VPADDQ(k.row(rowNext), m, m)
	VSUBPD(m, r, r)

	over := YMM()
	VCMPPD(orderedGT, k.row(rowMax), r, over)
	VBLENDVPD(over, overflow, r, r)
	k.store(offset, r, x)
}
