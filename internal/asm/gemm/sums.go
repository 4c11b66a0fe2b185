package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// sums emits the routine that adds to the sums of a tile of binary32 numbers,
// rows × vectors, in place: c += ab for k = 0, 1, …, in this order. fused says
// that the products are exact in binary32, so that a fused multiply-add gives
// the same result as two operations.
func (w width) sums(fused bool, rows, vectors int) {
	kind := "MAC"
	if fused {
		kind = "FMA"
	}
	TEXT(fmt.Sprintf("Sums%s%dx%d", kind, rows, vectors*w.lanes()), NOSPLIT,
		"func(c *float32, ldc int, a *float32, lda int, b *float32, k int)")
	Doc(fmt.Sprintf("%d rows × %d columns: c += ab for k > 0 terms in order, strides in bytes.", rows, vectors*w.lanes()))
	c, ldc, a, lda, b, k := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("k")
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)

	s, y, x := w.vectors(rows*vectors), w.vectors(vectors), w.vector()
	product := x
	if !fused && vectors > 1 {
		product = w.vector()
	}
	for i, row := range results {
		for v := range vectors {
			VMOVUPS(row.Offset(v*w.bytes()), s[i*vectors+v])
		}
	}
	loop("next", k, func() {
		for v := range vectors {
			VMOVUPS(Mem{Base: b}.Offset(v*w.bytes()), y[v])
		}
		for i, row := range factors {
			VBROADCASTSS(row, x)
			for v := range vectors {
				sum := s[i*vectors+v]
				if fused {
					VFMADD231PS(x, y[v], sum)
				} else {
					VMULPS(x, y[v], product)
					VADDPS(product, sum, sum)
				}
			}
		}
		for _, p := range pointers {
			ADDQ(U32(4), p)
		}
		ADDQ(U32(vectors*w.bytes()), b)
	})
	for i, row := range results {
		for v := range vectors {
			VMOVUPS(s[i*vectors+v], row.Offset(v*w.bytes()))
		}
	}
	VZEROUPPER()
	RET()
}

// sumsHalf emits the routine for a product with few columns, whose time is that
// of reading a: it rounds 8 columns of a to binary16 just before multiplying
// them.
func sumsHalf() {
	const rows, depth, ahead = 12, 8, 512
	TEXT("SumsHalf12x8", NOSPLIT, "func(c *float32, ldc int, a *float32, lda int, b *float32, n int)")
	Doc("12 rows × 8 columns: c += fl16(a)b for n > 0 times 8 terms in order, strides in bytes.")
	c, ldc, a, lda, b, n := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("n")
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)
	rounded := AllocLocal(rows * 4 * depth)

	s, x, half := width(256).vectors(rows), YMM(), XMM()
	for i, row := range results {
		VMOVUPS(row, s[i])
	}
	loop("next", n, func() {
		for i, row := range factors {
			PREFETCHT0(row.Offset(ahead))
			for part := 0; part < 4*depth; part += 32 {
				VMOVUPS(row.Offset(part), x)
				VCVTPS2PH(Imm(0), x, half)
				VCVTPH2PS(half, x)
				VMOVUPS(x, rounded.Offset(4*depth*i+part))
			}
		}
		for k := range depth {
			y := YMM()
			VMOVUPS(Mem{Base: b}.Offset(32*k), y)
			for i := range rows {
				VBROADCASTSS(rounded.Offset(4*(depth*i+k)), x)
				VFMADD231PS(x, y, s[i])
			}
		}
		for _, p := range pointers {
			ADDQ(U32(4*depth), p)
		}
		ADDQ(U32(32*depth), b)
	})
	for i, row := range results {
		VMOVUPS(s[i], row)
	}
	VZEROUPPER()
	RET()
}
