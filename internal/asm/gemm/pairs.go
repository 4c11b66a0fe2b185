package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairs emits the routine that adds blocks of 2 or 4 products to the sums of a
// tile, rows × vectors of binary32 numbers, in pairs. Every operation flushes
// subnormal results to zeros of their sign, as MXCSR says:
//
//	for every block of terms:
//		p = fl(a₀b₀), q = fl(a₂b₂)
//		p = fl(p + a₁b₁), q = fl(q + a₃b₃)
//		c = fl(c + fl(p + q)), for 2 terms c = fl(c + p)
//
// fused says that the products are normal numbers of binary32, zeros or not
// finite, so that the fused multiply-adds in the second line give what a
// product and a sum do; otherwise they are these two operations. No operand may
// be subnormal: with flushing on, no result is. The processor flushes what is
// subnormal after a rounding of unbounded exponent, IEEE 754 what is so after
// its own; the two agree where a result near the least normal number is exact.
// A sum is, since both operands are multiples of the least subnormal number. A
// product of at most 23 bits is, or it is less than half of the least normal
// number.
func (w width) pairs(terms int, fused bool, rows, vectors int) {
	kind := "MAC"
	if fused {
		kind = "FMA"
	}
	w.pairsUnder(zeroResults, kind, terms, fused, rows, vectors)
}

// fusedPairs emits the routine that adds pairs of products to the sums of a
// tile, by two roundings: c = fl(c + fl(a₀b₀ + a₁b₁)). Nothing is flushed. It
// is that of pairs, for products that are numbers of binary32, as a
// multiply-add of one of them to the other then rounds their exact sum.
func (w width) fusedPairs(rows, vectors int) { w.pairsUnder(0, "Fused", 2, true, rows, vectors) }

// pairsUnder emits the routine of pairs under the given bits of MXCSR.
func (w width) pairsUnder(control int, kind string, terms int, fused bool, rows, vectors int) {
	doc := fmt.Sprintf("adds to c the products ab of blocks of %d terms in pairs, k > 0 terms in all, strides in bytes.", terms)
	w.blockTile("Pairs"+kind, doc, control, terms, rows, vectors, func() addBlock {
		x, q := w.vector(), w.vector()
		return func(row Mem, y, s []reg.VecVirtual) {
			p := w.vectors(vectors)
			// pair stores in z the sum of the products t and t+1.
			pair := func(t int, z []reg.VecVirtual) {
				VBROADCASTSS(row.Offset(4*t), x)
				for v := range vectors {
					VMULPS(x, y[t*vectors+v], z[v])
				}
				VBROADCASTSS(row.Offset(4*t+4), x)
				for v := range vectors {
					if fused {
						VFMADD231PS(x, y[(t+1)*vectors+v], z[v])
					} else {
						VMULPS(x, y[(t+1)*vectors+v], q)
						VADDPS(q, z[v], z[v])
					}
				}
			}
			pair(0, p)
			if terms == 4 {
				r := w.vectors(vectors)
				pair(2, r)
				for v := range vectors {
					VADDPS(r[v], p[v], p[v])
				}
			}
			for v := range vectors {
				VADDPS(p[v], s[v], s[v])
			}
		}
	})
}

// addBlock emits that the products of a block of a row of a and the vectors y
// of b, of one term after the other, are added to the sums s.
type addBlock = func(row Mem, y, s []reg.VecVirtual)

// blockTile emits a routine that adds products in blocks of 2 or 4 terms to the
// sums of a tile, rows × vectors of binary32 numbers, under the given bits of
// MXCSR. start emits what comes before all blocks.
func (w width) blockTile(name, doc string, control, terms, rows, vectors int, start func() addBlock) {
	columns := vectors * w.lanes()
	TEXT(fmt.Sprintf("%s%d_%dx%d", name, terms, rows, columns), NOSPLIT,
		"func(c *float32, ldc int, a *float32, lda int, b *float32, k int)")
	Doc(strings.Split(fmt.Sprintf("%d rows × %d columns: %s", rows, columns, doc), "\n")...)
	c, ldc, a, lda, b, k := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("k")
	restore := underControl(control)
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)

	s, y := w.vectors(rows*vectors), w.vectors(terms*vectors)
	add := start()
	for i, row := range results {
		for v := range vectors {
			VMOVUPS(row.Offset(v*w.bytes()), s[i*vectors+v])
		}
	}
	if terms == 4 {
		SHRQ(Imm(2), k)
	} else {
		SHRQ(Imm(1), k)
	}
	loop("next", k, func() {
		for i := range y {
			VMOVUPS(Mem{Base: b}.Offset(i*w.bytes()), y[i])
		}
		for i, row := range factors {
			add(row, y, s[i*vectors:][:vectors])
		}
		for _, p := range pointers {
			ADDQ(U32(4*terms), p)
		}
		ADDQ(U32(terms*vectors*w.bytes()), b)
	})
	restore()
	for i, row := range results {
		for v := range vectors {
			VMOVUPS(s[i*vectors+v], row.Offset(v*w.bytes()))
		}
	}
	VZEROUPPER()
	RET()
}

// oddPairs emits the routine that adds pairs of products to the sums of a tile,
// rows × vectors of binary32 numbers, each sum rounded to odd:
//
//	p = a₀b₀, q = a₁b₁
//	p = odd(p + q)
//	c = odd(c + p), where odd(x + y) is:
//		z = x + y, rounded down
//		where the last bit of z is 0: z = x + y, rounded up
//
// Of the two numbers of binary32 around a sum that is none, one is odd. A sum
// that is one, or not finite, is the same either way, and its zeros are +0, as
// that rounded up, unless both terms are -0. Beyond the greatest number, which
// is odd, this would not be an infinity: no sum may be as great.
//
// Operands and results are flushed. The products have 16 bits and are exact;
// sums below 2^-126 are exact, too, so that it does not matter whether they are
// subnormal before or after they are rounded.
func oddPairs(rows, vectors int) {
	const w, terms = width(512), 2
	doc := "adds to c the products ab of pairs of terms, k > 0 terms in all, rounded to odd, strides in bytes.\n" +
		"The products have 16 bits, and no sum may overflow."
	w.blockTile("PairsOdd", doc, flushing, terms, rows, vectors, func() addBlock {
		one, last := GP32(), w.vector()
		MOVL(U32(1), one)
		VPBROADCASTD(one, last)
		// odd stores odd(x + y) in z, which is neither of them.
		odd := func(x, y, z reg.VecVirtual) {
			even := K()
			VADDPS_RD_SAE(x, y, z)
			VPTESTNMD(last, z, even)
			VADDPS_RU_SAE(x, y, even, z)
		}
		return func(row Mem, y, s []reg.VecVirtual) {
			p, q, x := w.vectors(vectors), w.vectors(vectors), w.vectors(terms)
			for t := range x {
				VBROADCASTSS(row.Offset(4*t), x[t])
			}
			for v := range vectors {
				VMULPS(x[0], y[v], p[v])
				VMULPS(x[1], y[vectors+v], q[v])
			}
			for v := range vectors {
				pair := w.vector()
				odd(p[v], q[v], pair)
				odd(s[v], pair, q[v])
				VMOVAPS(q[v], s[v])
			}
		}
	})
}

// flush emits the routine that replaces subnormal numbers of a format by zeros.
// It compares magnitudes as integers, which orders them.
func flush() {
	TEXT("Flush", NOSPLIT, "func(x *float32, n int, normal uint32)")
	Doc("x = +0 if 0 < |x| < normal, for n elements, n a positive multiple of 8. normal has the bits of a number.")
	x, n := param("x"), param("n")
	normal, magnitude, zero := YMM(), YMM(), YMM()
	scalar := XMM()
	VMOVD(Load(Param("normal"), GP32()), scalar)
	VPBROADCASTD(scalar, normal)
	VPXOR(zero, zero, zero)
	VPCMPEQD(magnitude, magnitude, magnitude)
	VPSRLD(Imm(1), magnitude, magnitude)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		z, m, small, null := YMM(), YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: x}, z)
		VPAND(magnitude, z, m)
		VPCMPEQD(zero, m, null)
		VPCMPGTD(m, normal, small)
		VPANDN(small, null, small) // small and not zero
		VPANDN(z, small, z)
		VMOVDQU(z, Mem{Base: x})
		ADDQ(U32(32), x)
	})
	VZEROUPPER()
	RET()
}

// magnitudes emits the search for the least nonzero and the greatest magnitude
// of numbers, which it compares as integers: NaNs are the greatest.
func magnitudes() {
	TEXT("Magnitudes", NOSPLIT, "func(x *float32, n int, extremes *uint32)")
	Doc("Lowers the 8 numbers at extremes to the least nonzero |x|, lane by lane, and raises the 8 numbers after them to the greatest,",
		"for n elements, n a positive multiple of 8. Numbers at extremes are given by their bits.")
	x, n, extremes := param("x"), param("n"), param("extremes")
	magnitude, zero, least, greatest := YMM(), YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPCMPEQD(magnitude, magnitude, magnitude)
	VPSRLD(Imm(1), magnitude, magnitude)
	VMOVDQU(Mem{Base: extremes}, least)
	VMOVDQU(Mem{Base: extremes}.Offset(32), greatest)
	SHRQ(Imm(3), n)
	loop("next", n, func() {
		m, null := YMM(), YMM()
		VPAND(Mem{Base: x}, magnitude, m)
		VPCMPEQD(zero, m, null)
		VPMAXUD(m, greatest, greatest)
		VPOR(null, m, m) // a zero is greater than all
		VPMINUD(m, least, least)
		ADDQ(U32(32), x)
	})
	VMOVDQU(least, Mem{Base: extremes})
	VMOVDQU(greatest, Mem{Base: extremes}.Offset(32))
	VZEROUPPER()
	RET()
}
