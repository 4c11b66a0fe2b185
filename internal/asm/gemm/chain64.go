package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// chain64 emits the routine that adds to the sums of a tile of binary64
// numbers, rows × vectors, in place: c = fl(c + ab) for k = 0, 1, …, in this
// order, each by one fused multiply-add.
func (w width) chain64(rows, vectors int) {
	columns := vectors * w.bytes() / 8
	TEXT(fmt.Sprintf("Chain64_%dx%d", rows, columns), NOSPLIT,
		"func(c *float64, ldc int, a *float64, lda int, b *float64, k int)")
	Doc(fmt.Sprintf("%d rows × %d columns: c = fl(c + ab) for k > 0 terms in order, strides in bytes.", rows, columns))
	c, ldc, a, lda, b, k := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("k")
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)

	s, y, x := w.vectors(rows*vectors), w.vectors(vectors), w.vector()
	for i, row := range results {
		for v := range vectors {
			VMOVUPD(row.Offset(v*w.bytes()), s[i*vectors+v])
		}
	}
	loop("next", k, func() {
		for v := range vectors {
			VMOVUPD(Mem{Base: b}.Offset(v*w.bytes()), y[v])
		}
		for i, row := range factors {
			VBROADCASTSD(row, x)
			for v := range vectors {
				VFMADD231PD(x, y[v], s[i*vectors+v])
			}
		}
		for _, p := range pointers {
			ADDQ(U32(8), p)
		}
		ADDQ(U32(vectors*w.bytes()), b)
	})
	for i, row := range results {
		for v := range vectors {
			VMOVUPD(s[i*vectors+v], row.Offset(v*w.bytes()))
		}
	}
	VZEROUPPER()
	RET()
}

// widen emits the conversion of binary32 numbers to binary64.
func widen() {
	TEXT("Widen", NOSPLIT, "func(dst *float64, src *float32, n int)")
	Doc("dst = src; n is a positive multiple of 8.")
	Pragma("noescape")
	dst, src, n := param("dst"), param("src"), param("n")
	SHRQ(Imm(3), n)
	low, high := YMM(), YMM()
	loop("next", n, func() {
		VCVTPS2PD(Mem{Base: src}, low)
		VCVTPS2PD(Mem{Base: src}.Offset(16), high)
		VMOVUPD(low, Mem{Base: dst})
		VMOVUPD(high, Mem{Base: dst}.Offset(32))
		ADDQ(U32(32), src)
		ADDQ(U32(64), dst)
	})
	VZEROUPPER()
	RET()
}

// narrowed emits the conversion of binary64 numbers to binary32.
func narrowed() {
	TEXT("Narrow", NOSPLIT, "func(dst *float32, src *float64, n int)")
	Doc("dst = fl(src), to nearest even; n is a positive multiple of 8.")
	Pragma("noescape")
	dst, src, n := param("dst"), param("src"), param("n")
	SHRQ(Imm(3), n)
	low, high := XMM(), XMM()
	loop("next", n, func() {
		VCVTPD2PSY(Mem{Base: src}, low)
		VCVTPD2PSY(Mem{Base: src}.Offset(32), high)
		VMOVUPS(low, Mem{Base: dst})
		VMOVUPS(high, Mem{Base: dst}.Offset(16))
		ADDQ(U32(64), src)
		ADDQ(U32(32), dst)
	})
	VZEROUPPER()
	RET()
}
