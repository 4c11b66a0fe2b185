package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// exactSum emits the routine that adds blocks of products to the sums of a
// tile, rows × vectors of 8, each block with one rounding to binary32:
//
//	for every block of terms:
//		s = c                       binary64
//		s = s + ab                  for every term, by a fused multiply-add
//		c = fl32(s)
//	if a fused multiply-add has rounded: return 1 and leave the tile as it was
//
// Whether one has rounded the processor tells by the flag of inexact results,
// bit 5 of MXCSR, which is cleared first. Conversions to binary32 do not raise
// it, since they suppress exceptions. Without it every s is exact, and the
// conversion is the one rounding. The flags are restored at the end.
func exactSum(terms, rows, vectors int) {
	const w, inexact = width(512), 1 << 5
	TEXT(fmt.Sprintf("ExactSum%d_%dx%d", terms, rows, 8*vectors), NOSPLIT,
		"func(c *float32, ldc int, a *float64, lda int, b *float64, k int) (rounded int)")
	Doc(fmt.Sprintf("%d rows × %d columns: c = fl32(c + Σ ab) for each of the blocks of %d terms, k > 0 terms in all, strides in bytes.",
		rows, 8*vectors, terms),
		"If a sum is not exact in binary64, it changes nothing and returns 1, else 0.")
	c, ldc, a, lda, b, k := param("c"), param("ldc"), param("a"), param("lda"), param("b"), param("k")
	saved, control := AllocLocal(8), AllocLocal(8)
	STMXCSR(saved)
	flags := GP32()
	MOVL(saved, flags)
	ANDL(I32(^inexact), flags)
	MOVL(flags, control)
	LDMXCSR(control)
	results, _ := rowAddresses(c, ldc, rows)
	factors, pointers := rowAddresses(a, lda, rows)

	s, y, x := w.vectors(rows*vectors), w.vectors(vectors), w.vector()
	for i, row := range results {
		for v := range vectors {
			VCVTPS2PD(row.Offset(32*v), s[i*vectors+v])
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
			VCVTPD2PS_RN_SAE(sum, sum.AsY())
			VCVTPS2PD(sum.AsY(), sum)
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
			VCVTPD2PS_RN_SAE(sum, sum.AsY())
			VMOVUPS(sum.AsY(), row.Offset(32*v))
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
}
