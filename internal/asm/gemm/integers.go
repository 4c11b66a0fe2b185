package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A narrow format has few significant bits and few exponents, so that its
// numbers are small integers in units of a power of two. Their products are
// added without rounding as integers are: four bytes or two words a lane.

// integerTerms is the number of terms in a block of words.
const integerTerms = 32

// tile is the shape of a tile of sums of integers and the way to multiply them.
type tile struct {
	width
	rows int
	vnni bool // multiply and add in one instruction
}

// tiles are all tiles. Two vectors of columns by these rows fill the registers.
var tiles = []tile{{256, 4, false}, {512, 12, false}, {512, 12, true}}

func (t tile) String() string {
	name := fmt.Sprintf("%dx%d", t.rows, 2*t.lanes())
	if t.vnni {
		name += "VNNI"
	}
	return name
}

// narrowIntegers emits all routines of products of integers.
func narrowIntegers() {
	for _, t := range tiles {
		t.sumBytes()
		t.addBlocks()
	}
	for _, w := range []width{256, 512} {
		w.rowBytes()
		w.panelBytes()
		w.rowWords()
		w.panelWords()
	}
}

// sumBytes emits the sums of products of bytes, those of a without a sign: a
// row of a has four consecutive terms in a word, a panel of b those of a column
// side by side.
//
//	s = start
//	for every four terms: s += a₀b₀ + a₁b₁ + a₂b₂ + a₃b₃
//	z = float(s) unit
//
// The arithmetic is that of integers modulo 2^32, so that only the last sum
// must be less than 2^24, for its conversion to be exact. Without VNNI the
// pairs a₀b₀ + a₁b₁ saturate at 2^15: |ab| must be less than 2^14.
func (t tile) sumBytes() {
	TEXT("SumBytes"+t.String(), NOSPLIT, "func(z *float32, ldz int, a *uint8, lda int, b *int8, start *int32, quads int, unit *float32)")
	Doc(fmt.Sprintf("%d rows × %d columns: z = (start + ab)unit for quads > 0 times 4 terms, strides in bytes,", t.rows, 2*t.lanes()),
		"start of each column.")
	z, ldz, a, lda, b := param("z"), param("ldz"), param("a"), param("lda"), param("b")
	start, quads, unit := param("start"), param("quads"), param("unit")
	factors, pointers := rowAddresses(a, lda, t.rows)

	s, y, x := t.vectors(2*t.rows), t.vectors(2), t.vector()
	ones, product := x, x
	if !t.vnni {
		ones, product = t.vector(), t.vector()
		if t.width == 512 {
			VPTERNLOGD(Imm(0xff), ones, ones, ones)
		} else {
			VPCMPEQW(ones, ones, ones)
		}
		VPSRLW(Imm(15), ones, ones)
	}
	for i := range s {
		t.move(Mem{Base: start}.Offset(i%2*t.bytes()), s[i])
	}
	loop("next", quads, func() {
		for v := range y {
			t.move(Mem{Base: b}.Offset(v*t.bytes()), y[v])
		}
		for i, row := range factors {
			VPBROADCASTD(row, x)
			for v := range y {
				sum := s[2*i+v]
				if t.vnni {
					VPDPBUSD(y[v], x, sum)
					continue
				}
				VPMADDUBSW(y[v], x, product)
				VPMADDWD(ones, product, product)
				VPADDD(product, sum, sum)
			}
		}
		for _, p := range pointers {
			ADDQ(U32(4), p)
		}
		ADDQ(U32(2*t.bytes()), b)
	})
	VBROADCASTSS(Mem{Base: unit}, x)
	for i := range t.rows {
		for v := range y {
			sum := s[2*i+v]
			VCVTDQ2PS(sum, sum)
			VMULPS(x, sum, sum)
			VMOVUPS(sum, Mem{Base: z}.Offset(v*t.bytes()))
		}
		ADDQ(ldz, z)
	}
	VZEROUPPER()
	RET()
}

// Offsets of the constants of addBlocks.
const (
	offWide         = 4 * iota // bits of 2^24
	offIntegerSigns            // mask of all bits but the sign
	offToZero                  // MXCSR control word of rounding toward zero
)

// addBlocks emits the sums of blocks of products of words, each block rounded
// once, toward zero. A block of a column is followed by its unit, and a block
// of rows has its units side by side in ta.
//
//	for every block:
//	  s = 0
//	  for every two terms: s += a₀b₀ + a₁b₁
//	  stop if |c| >= limit or |s| >= 2^24
//	  c = c + s ta tb, rounded toward zero
//
// The caller proves that |s| < 2^31. Below 2^24 its conversion is exact,
// products with powers of two are exact, and the fused multiply-add rounds
// once. The caller's limits prove that the device cuts no product.
func (t tile) addBlocks() {
	TEXT("AddBlocks"+t.String(), NOSPLIT, "func(c *float32, a *int16, lda int, ta *float32, b *int16, limit *float32, blocks int, p *uint32) int")
	Doc(fmt.Sprintf("%d rows × %d columns of c, side by side: c += ab for blocks > 0 blocks of %d terms, the stride", t.rows, 2*t.lanes(), integerTerms),
		"in bytes. It stops where a limit is exceeded, and returns how many blocks are left; then c is invalid.")
	c, a, lda, ta, b := param("c"), param("a"), param("lda"), param("ta"), param("b")
	limit, blocks, p := param("limit"), param("blocks"), param("p")
	factors, pointers := rowAddresses(a, lda, t.rows)
	saved := Mem{}
	signs := reg.VecVirtual(nil)
	if t.width == 256 {
		saved = AllocLocal(8)
		STMXCSR(saved)
		LDMXCSR(Mem{Base: p}.Offset(offToZero))
		signs = t.vector()
		VBROADCASTSS(Mem{Base: p}.Offset(offIntegerSigns), signs)
	}
	// greatest replaces most by the magnitude of x where that is greater.
	greatest := func(x, most reg.VecVirtual) {
		if t.width == 512 {
			VRANGEPS(Imm(0b1011), x, most, most)
			return
		}
		magnitude := t.vector()
		VANDPS(x, signs, magnitude)
		VMAXPS(magnitude, most, most)
	}

	s := t.vectors(2 * t.rows)
	Label("block")
	for i := range s {
		t.zero(s[i])
	}
	const unroll = 4
	pairs := GP64()
	MOVQ(U32(integerTerms/2/unroll), pairs)
	y, x, product := t.vectors(2), t.vector(), t.vector()
	loop("pairs", pairs, func() {
		for q := range unroll {
			for v := range y {
				t.move(Mem{Base: b}.Offset((2*q+v)*t.bytes()), y[v])
			}
			for i, row := range factors {
				VPBROADCASTD(row.Offset(4*q), x)
				for v := range y {
					sum := s[2*i+v]
					if t.vnni {
						VPDPWSSD(y[v], x, sum)
						continue
					}
					VPMADDWD(y[v], x, product)
					VPADDD(product, sum, sum)
				}
			}
		}
		for _, pointer := range pointers {
			ADDQ(U32(4*unroll), pointer)
		}
		ADDQ(U32(2*unroll*t.bytes()), b)
	})
	most, wide, old, unit := t.vector(), t.vector(), t.vector(), t.vector()
	t.zero(most)
	t.zero(wide)
	for i := range t.rows {
		for v := range y {
			sum, at := s[2*i+v], Mem{Base: c}.Offset((2*i+v)*t.bytes())
			VCVTDQ2PS(sum, sum)
			VMOVUPS(at, old)
			greatest(sum, wide)
			greatest(old, most)
			if t.width == 512 {
				VMOVUPS(Mem{Base: b}.Offset(v*t.bytes()), unit)
				VMULPS_BCST(Mem{Base: ta}.Offset(4*i), unit, unit)
				VFMADD231PS_RZ_SAE(unit, sum, old)
			} else {
				VBROADCASTSS(Mem{Base: ta}.Offset(4*i), unit)
				VMULPS(Mem{Base: b}.Offset(v*t.bytes()), unit, unit)
				VFMADD231PS(unit, sum, old)
			}
			VMOVUPS(old, at)
		}
	}
	ADDQ(U32(4*t.rows), ta)
	ADDQ(U32(2*t.bytes()), b)
	const notLess = 5
	bound := t.vector()
	if t.width == 512 {
		far, long := K(), K()
		VBROADCASTSS(Mem{Base: limit}, bound)
		VCMPPS(Imm(notLess), bound, most, far)
		VBROADCASTSS(Mem{Base: p}.Offset(offWide), bound)
		VCMPPS(Imm(notLess), bound, wide, long)
		KORTESTW(far, long)
	} else {
		far := t.vector()
		VBROADCASTSS(Mem{Base: limit}, bound)
		VCMPPS(Imm(notLess), bound, most, far)
		VBROADCASTSS(Mem{Base: p}.Offset(offWide), bound)
		VCMPPS(Imm(notLess), bound, wide, bound)
		VPOR(far, bound, bound)
		VPTEST(bound, bound)
	}
	JNZ(LabelRef("done"))
	ADDQ(U32(4), limit)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	Label("done")
	if t.width == 256 {
		LDMXCSR(saved)
	}
	Store(blocks, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// move emits the unaligned move of a vector of integers.
func (w width) move(from, to Op) {
	if w == 256 {
		VMOVDQU(from, to)
	} else {
		VMOVDQU32(from, to)
	}
}

// Offsets of the constants of the packing of narrow numbers: bits of binary32,
// and integers.
const (
	offIntegerField = 4 * iota // mask of the exponent field
	offEmin2                   // bits of 2^Emin
	offMagic                   // bits of 1.5 × 2^(24-p), as a factor
	offMax                     // the greatest number after rounding: Max, or infinity
	offMin                     // minus that
	offUnits                   // 2^-u, by which numbers become integers of bytes
	offIntegerSize             // mask of all bits but the sign
	offDigits                  // p-1 in the exponent field
	offNothing                 // what is less by 1 than the bits of 2^60 × 2^(p-1)
	offTwice                   // the exponent field of 1, twice
	offIntegerBias             // the integer added to the bytes of a row
	offByte                    // 2^8 - 1
	offWord                    // 2^16 - 1
	offOnes                    // the integer -1
)

// narrow contains the constants of the rounding to a narrow format.
type narrow struct {
	width
	p                               reg.Register
	field, emin, magic, most, least reg.VecVirtual
}

func (w width) newNarrow(p reg.Register) narrow {
	n := narrow{width: w, p: p}
	n.field, n.emin, n.magic = n.constant(offIntegerField), n.constant(offEmin2), n.constant(offMagic)
	n.most, n.least = n.constant(offMax), n.constant(offMin)
	return n
}

func (n narrow) constant(offset int) reg.VecVirtual {
	v := n.vector()
	VPBROADCASTD(Mem{Base: n.p}.Offset(offset), v)
	return v
}

// load emits x = fl(x) for numbers in memory, to nearest even. With e the
// exponent of x, at least Emin, adding 1.5 × 2^(e+24-p) leaves as many bits as
// the format has. Numbers beyond Max become ±Max and NaNs Max, or they remain
// beyond Max, as the constants say.
func (n narrow) load(at Mem) reg.VecVirtual {
	x, magic := n.vector(), n.vector()
	VMOVUPS(at, x)
	VMINPS(n.most, x, x) // the greatest number if x is a NaN
	VMAXPS(n.least, x, x)
	n.and(x, n.field, magic)
	VPMAXSD(n.emin, magic, magic)
	VPADDD(n.magic, magic, magic)
	VADDPS(magic, x, x)
	VSUBPS(magic, x, x)
	return x
}

// rowBytes emits the packing of a row as bytes, to which the bias is added.
func (w width) rowBytes() {
	TEXT(fmt.Sprintf("RowBytes%d", w), NOSPLIT, "func(dst *uint8, most, src *float32, n int, p *uint32)")
	Doc("Stores n numbers, a positive multiple of 16, rounded, as integers plus the bias. A number of most, as many",
		"as a vector has lanes, becomes the magnitude of an integer where that is greater.")
	dst, most, src, left := param("dst"), param("most"), param("src"), param("n")
	n := w.newNarrow(param("p"))
	units, bias := n.constant(offUnits), n.constant(offIntegerBias)
	size, greatest, magnitude := n.constant(offIntegerSize), w.vector(), w.vector()
	VMOVUPS(Mem{Base: most}, greatest)
	loop("next", left, func() {
		x := n.load(Mem{Base: src})
		VMULPS(units, x, x)
		w.and(size, x, magnitude)
		VMAXPS(magnitude, greatest, greatest)
		VCVTPS2DQ(x, x)
		VPADDD(bias, x, x)
		if w == 512 {
			VPMOVDB(x, Mem{Base: dst})
		} else {
			VPACKUSDW(x, x, x)
			VPACKUSWB(x, x, x) // each half has its four bytes in each word
			VMOVD(x.AsX(), Mem{Base: dst})
			VEXTRACTI128(Imm(1), x, x.AsX())
			VMOVD(x.AsX(), Mem{Base: dst}.Offset(4))
		}
		ADDQ(U32(w.bytes()), src)
		ADDQ(U32(w.lanes()), dst)
		SUBQ(U32(w.lanes()-1), left)
	})
	VMOVUPS(greatest, Mem{Base: most})
	VZEROUPPER()
	RET()
}

// panelBytes emits the packing of two vectors of columns as bytes, four terms
// of a column in a word.
func (w width) panelBytes() {
	TEXT(fmt.Sprintf("PanelBytes%d", w), NOSPLIT, "func(dst *int8, sum *int32, most, src *float32, stride int, quads int, p *uint32)")
	Doc(fmt.Sprintf("Stores quads > 0 times 4 rows of %d numbers, stride bytes apart, rounded, as integers, and", 2*w.lanes()),
		"adds them to the sum of their column. most is that of RowBytes.")
	dst, sum, most, src, stride, quads := param("dst"), param("sum"), param("most"), param("src"), param("stride"), param("quads")
	n := w.newNarrow(param("p"))
	units, low := n.constant(offUnits), n.constant(offByte)
	size, greatest, magnitude := n.constant(offIntegerSize), w.vector(), w.vector()
	VMOVUPS(Mem{Base: most}, greatest)
	totals := w.vectors(2)
	for v := range totals {
		w.move(Mem{Base: sum}.Offset(v*w.bytes()), totals[v])
	}
	rows, _ := rowAddresses(src, stride, 4)
	loop("next", quads, func() {
		for v := range totals {
			word := w.vector()
			for i, row := range rows {
				x := n.load(row.Offset(v * w.bytes()))
				VMULPS(units, x, x)
				w.and(size, x, magnitude)
				VMAXPS(magnitude, greatest, greatest)
				VCVTPS2DQ(x, x)
				VPADDD(x, totals[v], totals[v])
				if i < 3 {
					w.and(low, x, x)
				}
				if i > 0 {
					VPSLLD(Imm(uint64(8*i)), x, x)
					w.or(x, word, word)
				} else {
					word = x
				}
			}
			w.move(word, Mem{Base: dst}.Offset(v*w.bytes()))
		}
		LEAQ(Mem{Base: src, Index: stride, Scale: 4}, src)
		ADDQ(U32(2*w.bytes()), dst)
	})
	VMOVUPS(greatest, Mem{Base: most})
	for v := range totals {
		w.move(totals[v], Mem{Base: sum}.Offset(v*w.bytes()))
	}
	VZEROUPPER()
	RET()
}

// extent emits the constants and the operations that find the greatest
// magnitude of a block and its unit, the quantum of its least number that is
// not zero. Magnitudes are compared as integers, less 1 for the least, so that
// zeros are the greatest there.
type extent struct {
	narrow
	size, ones reg.VecVirtual
	low, top   []reg.VecVirtual // for each group of vectors
}

func (n narrow) newExtent(groups int) extent {
	e := extent{narrow: n, size: n.constant(offIntegerSize), ones: n.constant(offOnes), low: n.vectors(groups), top: n.vectors(groups)}
	for i := range groups {
		VPBROADCASTD(Mem{Base: n.p}.Offset(offNothing), e.low[i])
		n.zero(e.top[i])
	}
	return e
}

func (e extent) add(x reg.VecVirtual, group int) {
	m := e.vector()
	e.and(x, e.size, m)
	VPMAXSD(m, e.top[group], e.top[group])
	VPADDD(e.ones, m, m)
	VPMINUD(m, e.low[group], e.low[group])
}

// unit replaces the least magnitude, less 1, by the unit and returns its
// inverse.
func (e extent) unit(low reg.VecVirtual) (inverse reg.VecVirtual) {
	inverse = e.vector()
	VPSUBD(e.ones, low, low)
	e.and(e.field, low, low)
	VPMAXSD(e.emin, low, low)
	VPBROADCASTD(Mem{Base: e.p}.Offset(offDigits), inverse)
	VPSUBD(inverse, low, low)
	VPBROADCASTD(Mem{Base: e.p}.Offset(offTwice), inverse)
	VPSUBD(low, inverse, inverse)
	return inverse
}

// rowWords emits the packing of a row as words, each block in a unit of its
// own.
func (w width) rowWords() {
	TEXT(fmt.Sprintf("RowWords%d", w), NOSPLIT, "func(dst *int16, low, top *float32, step int, src *float32, blocks int, p *uint32)")
	Doc(fmt.Sprintf("Stores blocks > 0 blocks of %d numbers, rounded, as integers, with the unit low of each and its greatest", integerTerms),
		"magnitude top, which are step bytes apart.")
	dst, low, top, step, src, blocks := param("dst"), param("low"), param("top"), param("step"), param("src"), param("blocks")
	n := w.newNarrow(param("p"))
	Label("next")
	e := n.newExtent(1)
	x := make([]reg.VecVirtual, integerTerms/w.lanes())
	for i := range x {
		x[i] = n.load(Mem{Base: src}.Offset(i * w.bytes()))
		e.add(x[i], 0)
	}
	across := func(v reg.VecVirtual, combine func(ops ...Op)) {
		other := w.vector()
		if w == 512 {
			VEXTRACTI64X4(Imm(1), v, other.AsY())
			combine(other.AsY(), v.AsY(), v.AsY())
		}
		VEXTRACTI128(Imm(1), v.AsY(), other.AsX())
		combine(other.AsX(), v.AsX(), v.AsX())
		for _, order := range []uint64{0x4e, 0xb1} {
			VPSHUFD(Imm(order), v.AsX(), other.AsX())
			combine(other.AsX(), v.AsX(), v.AsX())
		}
		VPBROADCASTD(v.AsX(), v)
	}
	across(e.low[0], VPMINUD)
	across(e.top[0], VPMAXSD)
	inverse := e.unit(e.low[0])
	VMOVSS(e.low[0].AsX(), Mem{Base: low})
	VMOVSS(e.top[0].AsX(), Mem{Base: top})
	for i := range x {
		VMULPS(inverse, x[i], x[i])
		VCVTPS2DQ(x[i], x[i])
		if w == 512 {
			VPMOVDW(x[i], Mem{Base: dst}.Offset(i*w.bytes()/2))
		} else if i%2 == 1 {
			VPACKSSDW(x[i], x[i-1], x[i])
			VPERMQ(Imm(0xd8), x[i], x[i])
			VMOVDQU(x[i], Mem{Base: dst}.Offset(i/2*w.bytes()))
		}
	}
	ADDQ(U32(2*integerTerms), dst)
	ADDQ(U32(4*integerTerms), src)
	ADDQ(step, low)
	ADDQ(step, top)
	DECQ(blocks)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// panelWords emits the packing of a block of two vectors of columns as words,
// two terms of a column side by side, each column in a unit of its own. The
// units follow the block.
func (w width) panelWords() {
	TEXT(fmt.Sprintf("PanelWords%d", w), NOSPLIT, "func(dst *int16, top, rounded, src *float32, stride int, p *uint32)")
	Doc(fmt.Sprintf("Stores %d rows of %d numbers, stride bytes apart, rounded, as integers, with the unit and the greatest", integerTerms, 2*w.lanes()),
		"magnitude top of each column. rounded is memory for the block.")
	dst, top, rounded, src, stride := param("dst"), param("top"), param("rounded"), param("src"), param("stride")
	n := w.newNarrow(param("p"))
	e := n.newExtent(2)
	rows, at := GP64(), GP64()
	MOVQ(U32(integerTerms), rows)
	MOVQ(rounded, at)
	loop("round", rows, func() {
		for v := range 2 {
			x := n.load(Mem{Base: src}.Offset(v * w.bytes()))
			VMOVUPS(x, Mem{Base: at}.Offset(v*w.bytes()))
			e.add(x, v)
		}
		ADDQ(stride, src)
		ADDQ(U32(2*w.bytes()), at)
	})
	inverse := [2]reg.VecVirtual{}
	for v := range 2 {
		inverse[v] = e.unit(e.low[v])
		VMOVUPS(e.low[v], Mem{Base: dst}.Offset(integerTerms*w.bytes()+v*w.bytes()))
		VMOVUPS(e.top[v], Mem{Base: top}.Offset(v*w.bytes()))
	}
	low := n.constant(offWord)
	MOVQ(U32(integerTerms/2), rows)
	loop("store", rows, func() {
		for v := range 2 {
			x, y := w.vector(), w.vector()
			VMULPS(Mem{Base: rounded}.Offset(v*w.bytes()), inverse[v], x)
			VMULPS(Mem{Base: rounded}.Offset((2+v)*w.bytes()), inverse[v], y)
			VCVTPS2DQ(x, x)
			VCVTPS2DQ(y, y)
			w.and(low, x, x)
			VPSLLD(Imm(16), y, y)
			w.or(x, y, y)
			w.move(y, Mem{Base: dst}.Offset(v*w.bytes()))
		}
		ADDQ(U32(4*w.bytes()), rounded)
		ADDQ(U32(2*w.bytes()), dst)
	})
	VZEROUPPER()
	RET()
}
