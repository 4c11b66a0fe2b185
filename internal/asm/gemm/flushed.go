package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// flushing are the bits of MXCSR that make subnormal operands and results zeros
// of their sign. A result is subnormal if it is so after it was rounded without
// regard to its exponent.
const flushing = zeroOperands | zeroResults

// evenOdd emits the routine that adds blocks of products to the sums of a tile,
// rows × vectors of binary32 numbers: those of even index by one chain of fused
// multiply-adds from zero, those of odd index by another, and c plus the sum of
// both.
func (w width) evenOdd(rows, vectors int) {
	columns := vectors * w.lanes()
	TEXT(fmt.Sprintf("EvenOdd%dx%d", rows, columns), NOSPLIT,
		"func(c *float32, ldc int, a *float32, lda int, b *float32, blocks int, pairs int)")
	Doc(fmt.Sprintf("%d rows × %d columns: adds to c the products ab of blocks > 0 blocks of pairs > 0 pairs of terms,", rows, columns),
		"even and odd ones in chains of their own, flushing, strides in bytes.")
	c, ldc, a, lda, b, blocks, pairs := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("blocks"), param("pairs")
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)
	chains := [2][]reg.VecVirtual{w.vectors(rows * vectors), w.vectors(rows * vectors)}
	y, x := w.vectors(vectors), w.vector()
	restore := underControl(flushing)
	loop("block", blocks, func() {
		for _, s := range append(chains[0], chains[1]...) {
			w.zero(s)
		}
		left := GP64()
		MOVQ(pairs, left)
		loop("pair", left, func() {
			for t, s := range chains {
				for v := range y {
					VMOVUPS(Mem{Base: b}.Offset((t*vectors+v)*w.bytes()), y[v])
				}
				for i, row := range factors {
					VBROADCASTSS(row.Offset(4*t), x)
					for v := range y {
						VFMADD231PS(y[v], x, s[i*vectors+v])
					}
				}
			}
			for _, p := range pointers {
				ADDQ(U32(8), p)
			}
			ADDQ(U32(2*vectors*w.bytes()), b)
		})
		for i, row := range results {
			for v := range y {
				even, odd := chains[0][i*vectors+v], chains[1][i*vectors+v]
				VADDPS(odd, even, even)
				VMOVUPS(row.Offset(v*w.bytes()), odd)
				VADDPS(even, odd, odd)
				VMOVUPS(odd, row.Offset(v*w.bytes()))
			}
		}
	})
	restore()
	VZEROUPPER()
	RET()
}

// oddFirst emits the routine that adds pairs of products to the sums of a tile,
// rows × vectors of binary32 numbers, by two fused multiply-adds, the odd term
// before the even one.
func (w width) oddFirst(rows, vectors int) {
	columns := vectors * w.lanes()
	TEXT(fmt.Sprintf("OddFirst%dx%d", rows, columns), NOSPLIT,
		"func(c *float32, ldc int, a *float32, lda int, b *float32, pairs int)")
	Doc(fmt.Sprintf("%d rows × %d columns: c += ab for pairs > 0 pairs of terms, the odd one of each first, flushing, strides in bytes.",
		rows, columns))
	c, ldc, a, lda, b, pairs := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("pairs")
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)
	s, y, x := w.vectors(rows*vectors), w.vectors(vectors), w.vector()
	for i, row := range results {
		for v := range y {
			VMOVUPS(row.Offset(v*w.bytes()), s[i*vectors+v])
		}
	}
	restore := underControl(flushing)
	loop("pair", pairs, func() {
		for _, t := range []int{1, 0} {
			for v := range y {
				VMOVUPS(Mem{Base: b}.Offset((t*vectors+v)*w.bytes()), y[v])
			}
			for i, row := range factors {
				VBROADCASTSS(row.Offset(4*t), x)
				for v := range y {
					VFMADD231PS(y[v], x, s[i*vectors+v])
				}
			}
		}
		for _, p := range pointers {
			ADDQ(U32(8), p)
		}
		ADDQ(U32(2*vectors*w.bytes()), b)
	})
	restore()
	for i, row := range results {
		for v := range y {
			VMOVUPS(s[i*vectors+v], row.Offset(v*w.bytes()))
		}
	}
	VZEROUPPER()
	RET()
}
