package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exactSum emits the routine that adds blocks of products to the sums of a
// tile, rows × vectors of binary64 numbers, each block with one rounding to
// binary32:
//
//	for every block of terms:
//		s = c                       binary64
//		s = s + ab                  for every term, by a fused multiply-add
//		c = fl32(s)
//	if a fused multiply-add has rounded: return 1 and leave the tile as it was
//
// Whether one has rounded the processor tells by the flag of inexact results,
// bit 5 of MXCSR, which is cleared first and restored at the end. Without it
// every s is exact, and fl32 is the one rounding. It does not raise the flag:
// in 512 bits it is a conversion that suppresses exceptions, in 256 bits it
// rounds s as an integer. That gives no infinities, and 24 bits also to
// subnormal numbers: sums must be multiples of 2^-149 and not reach 2^128.
func (w width) exactSum(terms, rows, vectors int) {
	const inexact = 1 << 5
	columns := vectors * w.bytes() / 8
	TEXT(fmt.Sprintf("ExactSum%d_%dx%d", terms, rows, columns), NOSPLIT,
		"func(c *float32, ldc int, a *float64, lda int, b *float64, k int) (rounded int)")
	Doc(fmt.Sprintf("%d rows × %d columns: c = fl32(c + Σ ab) for each of the blocks of %d terms, k > 0 terms in all, strides in bytes.",
		rows, columns, terms),
		"If a sum is not exact in binary64, it changes nothing and returns 1, else 0.",
		"Sums are multiples of 2^-149 below 2^128.")
	c, ldc, a, lda, b, k := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("k")
	saved, control := AllocLocal(8), AllocLocal(8)
	STMXCSR(saved)
	flags := GP32()
	MOVL(saved, flags)
	ANDL(I32(^inexact), flags)
	MOVL(flags, control)
	LDMXCSR(control)
	round := w.rounding32()
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)

	s, y, x := w.vectors(rows*vectors), w.vectors(vectors), w.vector()
	for i, row := range results {
		for v := range vectors {
			VCVTPS2PD(row.Offset(w.bytes()/2*v), s[i*vectors+v])
		}
	}
	if terms == 4 {
		SHRQ(Imm(2), k)
	} else {
		SHRQ(Imm(1), k)
	}
	loop("next", k, func() {
		for t := range terms {
			for v := range vectors {
				VMOVUPD(Mem{Base: b}.Offset((t*vectors+v)*w.bytes()), y[v])
			}
			for i, row := range factors {
				VBROADCASTSD(row.Offset(8*t), x)
				for v := range vectors {
					VFMADD231PD(x, y[v], s[i*vectors+v])
				}
			}
		}
		for _, sum := range s {
			round(sum, x)
		}
		for _, p := range pointers {
			ADDQ(U32(8*terms), p)
		}
		ADDQ(U32(terms*vectors*w.bytes()), b)
	})
	STMXCSR(control)
	LDMXCSR(saved)
	rounded := GP64()
	MOVLQZX(control, rounded)
	SHRQ(Imm(5), rounded)
	ANDQ(U32(1), rounded)
	Store(rounded, ReturnIndex(0))
	JNZ(LabelRef("done"))
	for i, row := range results {
		for v := range vectors {
			sum := s[i*vectors+v]
			if w == 256 {
				VCVTPD2PSY(sum, sum.AsX())
				VMOVUPS(sum.AsX(), row.Offset(16*v))
			} else {
				VCVTPD2PS(sum, sum.AsY())
				VMOVUPS(sum.AsY(), row.Offset(32*v))
			}
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// rounding32 emits the constants of, and returns what emits, the rounding of
// binary64 numbers to 24 bits, to nearest even. It overwrites t.
func (w width) rounding32() (round func(s, t reg.VecVirtual)) {
	if w == 512 {
		return func(s, _ reg.VecVirtual) {
			VCVTPD2PS_RN_SAE(s, s.AsY())
			VCVTPS2PD(s.AsY(), s)
		}
	}
	const cut = 53 - 24
	constant := func(bits int64) Mem {
		m, word, v := AllocLocal(32), GP64(), YMM()
		MOVQ(I64(bits), word)
		VMOVQ(word, v.AsX())
		VPBROADCASTQ(v.AsX(), v)
		VMOVDQU(v, m)
		return m
	}
	one, belowHalf, kept := constant(1), constant(1<<(cut-1)-1), constant(-1<<cut)
	return func(s, t reg.VecVirtual) {
		VPSRLQ(Imm(cut), s, t)
		VPAND(one, t, t)
		VPADDQ(belowHalf, t, t)
		VPADDQ(t, s, s)
		VPAND(kept, s, s)
	}
}
