// Command round writes the AVX2 kernels of tcore's slice rounding.
//
//	go generate ./pkg/tcore
//
// Operands are in Go order, the
// destination last. Every row of the table of constants is one value, four
// times; the rows are those of type roundTable in pkg/tcore/vector.go.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows of the table, in the order of type roundTable.
const (
	rowInfinity    = iota
	rowMagnitude   // all bits but the sign
	rowExponent    // the exponent field
	rowMinNormal   // 2^Emin
	rowAdder       // what makes 2^e of exponent field 2^(e+53-p)
	rowThreshold   // the least magnitude that overflows to nearest even
	rowOverflow    // what stands for +∞
	rowLeast       // magnitudes below are zero
	rowZero        // 0 if -0 becomes 0, or else -0
	rowDown        // minus 2^e, as exponent fields: 2^-q
	rowUp          // subtracted from 2^e: 2^q
	rowClamp       // 2^(Emax+1)
	rowMax         // the greatest number
	rowOne         // 1
	rowTwo         // 2
	rowRandomBits  // the places of the random bits in the significand of 1 + R
	rowMultiplier0 // Philox
	rowMultiplier1
	rowKeys // 20 rows: k0 and k1 of each round
)

// Predicates of VCMPPD and the rounding of VROUNDPD.
const (
	orderedGE   = U8(29) // GE_OQ
	orderedGT   = U8(30) // GT_OQ
	unorderedGE = U8(21) // NLT_UQ
	floor       = U8(9)  // and no exception
)

func main() {
	ConstraintExpr("amd64")
	for _, finite := range []bool{false, true} {
		nearest(finite)
		stochastic(finite)
	}
	Generate()
}

// A kernel rounds n elements of src to dst.
type kernel struct {
	dst, src, n, table, i reg.GPVirtual
}

func begin(name string, finite bool, parameters string) kernel {
	if finite {
		name += "Finite"
	}
	TEXT(name, NOSPLIT, "func(dst, src *float64, n int, table *[38][4]uint64"+parameters+")")
	Pragma("noescape")
	k := kernel{dst: GP64(), src: GP64(), n: GP64(), table: GP64(), i: GP64()}
	Load(Param("dst"), k.dst)
	Load(Param("src"), k.src)
	Load(Param("n"), k.n)
	Load(Param("table"), k.table)
	XORQ(k.i, k.i)
	return k
}

func (k kernel) row(r int) Mem { return Mem{Base: k.table, Disp: 32 * r} }

func (k kernel) at(base reg.GPVirtual, offset int) Mem {
	return Mem{Base: base, Index: k.i, Scale: 8, Disp: 8 * offset}
}

// load returns four elements and their magnitudes. In a format without NaN, a
// NaN counts as +∞: VMINPD returns its second source if either is NaN.
func (k kernel) load(offset int, finite bool) (x, a reg.VecVirtual) {
	x, a = YMM(), YMM()
	VMOVUPD(k.at(k.src, offset), x)
	if finite {
		VMINPD(k.row(rowInfinity), x, x)
	}
	VANDPD(k.row(rowMagnitude), x, a)
	return x, a
}

// power returns 2^e, as exponent fields, for max(a, 2^Emin) of exponent e. A
// NaN gives 2^Emin.
func (k kernel) power(a reg.VecVirtual) reg.VecVirtual {
	e := YMM()
	VMAXPD(k.row(rowMinNormal), a, e)
	VANDPD(k.row(rowExponent), e, e)
	return e
}

// store stores the magnitudes r with the signs of x, small ones as zeros.
func (k kernel) store(offset int, r, x reg.VecVirtual) {
	keep, sign := YMM(), YMM()
	VCMPPD(unorderedGE, k.row(rowLeast), r, keep)
	VANDPD(keep, r, r)
	VMOVUPD(k.row(rowMagnitude), sign)
	VANDNPD(x, sign, sign)
	VORPD(sign, r, r)
	VADDPD(k.row(rowZero), r, r)
	VMOVUPD(r, k.at(k.dst, offset))
}

// nearest rounds n elements, a positive multiple of 8, to nearest even: adding 2^(e+53-p) to a magnitude of exponent
// e leaves p bits of it, rounded, and subtracting gives them back.
func nearest(finite bool) {
	k := begin("roundNearest", finite, "")
	overflow := YMM()
	VMOVUPD(k.row(rowOverflow), overflow)

	Label("loop")
	for offset := 0; offset < 8; offset += 4 {
		x, a := k.load(offset, finite)
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
}

func (k kernel) end(step int) {
	ADDQ(Imm(uint64(step)), k.i)
	CMPQ(k.i, k.n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// stochastic rounds n elements, a positive multiple of 16, with the random words
// of four Philox blocks for each 16: element 4j + l takes word j of block l.
func stochastic(finite bool) {
	k := begin("roundStochastic", finite, ", counters *[4]uint64")
	p, counter, overflow := GP64(), YMM(), YMM()
	Load(Param("counters"), p)
	VMOVDQU(Mem{Base: p}, counter)
	VMOVUPD(k.row(rowOverflow), overflow)
	m0, m1, four := YMM(), YMM(), YMM()
	VMOVDQU(k.row(rowMultiplier0), m0)
	VMOVDQU(k.row(rowMultiplier1), m1)
	VPCMPEQQ(four, four, four)
	VPSRLQ(Imm(63), four, four)
	VPSLLQ(Imm(2), four, four)

	Label("loop")
	for j, word := range k.philox(counter, m0, m1) {
		k.roundBy(4*j, word, overflow, finite)
	}
	VPADDQ(four, counter, counter)
	k.end(16)
}

// philox returns the four words of the blocks of four counters, in the low
// halves of 64-bit lanes; what is in the high halves has no meaning.
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

// roundBy rounds four elements. In units of the quantum 2^q a magnitude is
// y = n + f, and it is rounded to n + 1 if f >= 1 - R.
func (k kernel) roundBy(offset int, word, overflow reg.VecVirtual, finite bool) {
	Comment(fmt.Sprintf("Elements %d to %d.", offset, offset+3))
	x, a := k.load(offset, finite)
	clamp := YMM()
	VMOVUPD(k.row(rowClamp), clamp)
	VMINPD(a, clamp, a) // a NaN stays
	quantum := k.power(a)
	scale, y, n, f := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(k.row(rowDown), scale)
	VPSUBQ(quantum, scale, scale)
	VPSUBQ(k.row(rowUp), quantum, quantum)
	VMULPD(scale, a, y)
	VROUNDPD(floor, y, n)
	VSUBPD(n, y, f)

	VPSLLQ(Imm(32), word, word)
	VPSRLQ(Imm(12), word, word)
	VPAND(k.row(rowRandomBits), word, word)
	VPOR(k.row(rowOne), word, word) // 1 + R
	threshold := YMM()
	VMOVUPD(k.row(rowTwo), threshold)
	VSUBPD(word, threshold, threshold)

	up, r, over := YMM(), YMM(), YMM()
	VCMPPD(orderedGE, threshold, f, up)
	VANDPD(k.row(rowOne), up, up)
	VADDPD(up, n, n)
	VMULPD(quantum, n, r)
	VCMPPD(orderedGT, k.row(rowMax), r, over)
	VBLENDVPD(over, overflow, r, r)
	k.store(offset, r, x)
}
