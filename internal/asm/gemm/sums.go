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

// sumsRows emits the routine that adds to a row of sums the multiples of chosen
// rows of b, in the order in which they are chosen.
func sumsRows() {
	TEXT("SumsRows", NOSPLIT, "func(c *float32, n int, a *float32, b *float32, ldb int, rows *int, count int)")
	Doc("n > 0 times 8 columns: c = fl(c + ab) for the elements of a and the rows of b that count > 0 rows name, in order, stride in bytes.")
	c, n, a, b, ldb := param("c"), param("n"), param("a"), param("b"), param("ldb")
	rows, count := param("rows"), param("count")
	columns := func(vectors int) {
		s, x := width(256).vectors(vectors), YMM()
		for v := range s {
			VMOVUPS(Mem{Base: c}.Offset(32*v), s[v])
		}
		next, row, left := GP64(), GP64(), GP64()
		MOVQ(rows, next)
		MOVQ(count, left)
		loop(fmt.Sprintf("next%d", vectors), left, func() {
			MOVQ(Mem{Base: next}, row)
			VBROADCASTSS(Mem{Base: a, Index: row, Scale: 4}, x)
			IMULQ(ldb, row)
			ADDQ(b, row)
			for v := range s {
				VFMADD231PS(Mem{Base: row}.Offset(32*v), x, s[v])
			}
			ADDQ(U32(8), next)
		})
		for v := range s {
			VMOVUPS(s[v], Mem{Base: c}.Offset(32*v))
		}
		ADDQ(U32(32*vectors), c)
		ADDQ(U32(32*vectors), b)
	}
	Label("wide")
	SUBQ(U32(8), n)
	JL(LabelRef("narrow"))
	columns(8)
	JMP(LabelRef("wide"))
	Label("narrow")
	ADDQ(U32(8), n)
	JZ(LabelRef("end"))
	Label("rest")
	columns(1)
	DECQ(n)
	JNZ(LabelRef("rest"))
	Label("end")
	VZEROUPPER()
	RET()
}

// transpose emits the routine that transposes 8 rows.
func transpose() {
	const rows = 8
	TEXT("Transpose8", NOSPLIT, "func(z *float32, ldz int, a *float32, lda int, n int)")
	Doc("z = the transpose of 8 rows × n > 0 times 8 columns, strides in bytes.")
	z, ldz, a, lda, n := param("z"), param("ldz"), param("a"), param("lda"), param("n")
	from, pointers := rowAddresses(a, lda, rows)
	eight := GP64()
	MOVQ(ldz, eight)
	SHLQ(Imm(3), eight)
	to, columns := rowAddresses(z, ldz, rows)
	loop("next", n, func() {
		for half := range 2 {
			t, u := width(256).vectors(4), width(256).vectors(4)
			for r := range t { // rows r and r + 4
				VMOVUPS(from[r].Offset(16*half), t[r].AsX())
				VINSERTF128(Imm(1), from[r+4].Offset(16*half), t[r], t[r])
			}
			for pair := range 2 {
				VUNPCKLPS(t[2*pair+1], t[2*pair], u[pair])
				VUNPCKHPS(t[2*pair+1], t[2*pair], u[pair+2])
			}
			for i := range 2 {
				x := YMM()
				VUNPCKLPD(u[2*i+1], u[2*i], x)
				VMOVUPS(x, to[4*half+2*i])
				VUNPCKHPD(u[2*i+1], u[2*i], x)
				VMOVUPS(x, to[4*half+2*i+1])
			}
		}
		for _, p := range pointers {
			ADDQ(U32(4*rows), p)
		}
		for _, p := range columns {
			ADDQ(eight, p)
		}
	})
	VZEROUPPER()
	RET()
}

// add emits the routine that adds numbers one by one.
func add() {
	TEXT("Add", NOSPLIT, "func(z *float32, x *float32, step int, n int)")
	Doc("z += x for n > 0 times 8 numbers, where those of x are step bytes apart: 32, or 0 for the same 8.")
	z, x, step, n := param("z"), param("x"), param("step"), param("n")
	v := YMM()
	loop("next", n, func() {
		VMOVUPS(Mem{Base: z}, v)
		VADDPS(Mem{Base: x}, v, v)
		VMOVUPS(v, Mem{Base: z})
		ADDQ(U32(32), z)
		ADDQ(step, x)
	})
	VZEROUPPER()
	RET()
}
