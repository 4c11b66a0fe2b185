package main

import "fmt"

// pairs emits the routine that adds blocks of 2 or 4 products to the sums of a
// tile, rows × vectors of binary32 numbers, in pairs. Every operation flushes
// subnormal results to zeros of their sign, as FPCR says:
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
// subnormal before it is rounded, IEEE 754 what is so afterwards; the two agree
// where a result near the least normal number is exact. A sum is, since both
// operands are multiples of the least subnormal number. A product of at most 23
// bits is, or it is less than half of the least normal number.
func (f *file) pairs(terms int, fused bool, rows, vectors int) {
	const flushing = 1 << 24 // FPCR.FZ
	kind, columns := "MAC", vectors*single.count()
	if fused {
		kind = "FMA"
	}
	r, p := f.routine(fmt.Sprintf("Pairs%s%d_%dx%d", kind, terms, rows, columns),
		"c *float32, ldc int, a *float32, lda int, b *float32, k int",
		fmt.Sprintf("%d rows × %d columns: adds to c the products ab of blocks of %d terms in pairs, k > 0 terms in all, strides in bytes.",
			rows, columns, terms))
	c, ldc, a, lda, b, k := p[0], p[1], p[2], p[3], p[4], p[5]
	saved := r.generals(1)[0]
	row := r.rowPointers(a, lda, rows)
	s, y := r.vectors(rows*vectors), r.vectors(terms*vectors)
	pairs, x, z := r.vectors(terms/2*vectors), r.vectors(2), r.vectors(1)[0]

	control := lda // which is not used any more
	r.emit("MRS FPCR, %v", saved)
	r.emit("ORR $%d, %v, %v", flushing, saved, control)
	r.emit("MSR %v, FPCR", control)
	r.load(single, c, ldc, s, vectors)
	r.emit("LSR $%d, %v", terms/2, k)
	r.loop("next", k, func() {
		for i := 0; i < len(y); i += vectors {
			r.emit("VLD1.P %d(%v), %s", 16*vectors, b, single.list(y[i:][:vectors]))
		}
		for i, row := range row {
			for t := 0; t < terms; t += 2 {
				r.emit("FMOVS.P 4(%v), %s", row, x[0].scalar())
				r.emit("FMOVS.P 4(%v), %s", row, x[1].scalar())
				for v := range vectors {
					pair := pairs[t/2*vectors+v]
					r.multiply(single, pair, y[t*vectors+v], x[0])
					if fused {
						r.multiplyAdd(single, pair, y[(t+1)*vectors+v], x[1])
					} else {
						r.multiply(single, z, y[(t+1)*vectors+v], x[1])
						r.add(pair, pair, z)
					}
				}
			}
			for v := range vectors {
				sum := s[i*vectors+v]
				if terms == 4 {
					r.add(pairs[v], pairs[v], pairs[vectors+v])
				}
				r.add(sum, sum, pairs[v])
			}
		}
	})
	r.emit("MSR %v, FPCR", saved)
	r.store(single, c, ldc, s, vectors)
	r.ret()
}

// flush emits the routine that replaces subnormal numbers of a format by zeros.
// It compares magnitudes as integers, which orders them: m < normal where m is
// the lesser of m and normal - 1. Zeros are among these.
func (f *file) flush() {
	r, p := f.routine("Flush", "x *float32, n int, normal uint32",
		"x = +0 if 0 < |x| < normal, for n elements, n a positive multiple of 8. normal has the bits of a number.")
	x, n, normal := p[0], p[1], p[2]
	v := r.vectors(6)
	greatest, magnitude, zero, z, m, small := v[0], v[1], v[2], v[3], v[4], v[5]
	r.emit("SUB $1, %v", normal)
	r.emit("VDUP %v, %v.S4", normal, greatest)
	r.magnitudeMask(magnitude)
	r.emit("VEOR %[1]v.B16, %[1]v.B16, %[1]v.B16", zero)
	r.emit("LSR $2, %v", n)
	r.loop("next", n, func() {
		r.emit("VLD1 (%v), %s", x, single.list([]vector{z}))
		r.emit("VAND %v.B16, %v.B16, %v.B16", magnitude, z, m)
		r.emit("VUMIN %v.S4, %v.S4, %v.S4", greatest, m, small)
		r.emit("VCMEQ %v.S4, %v.S4, %v.S4", m, small, small)
		r.emit("VCMEQ %v.S4, %v.S4, %v.S4", zero, m, m)
		r.emit("VEOR %v.B16, %v.B16, %v.B16", m, small, small) // small and not zero
		r.emit("VBIT %v.B16, %v.B16, %v.B16", small, zero, z)
		r.emit("VST1.P %s, 16(%v)", single.list([]vector{z}), x)
	})
	r.ret()
}

// magnitudes emits the search for the least nonzero and the greatest magnitude
// of numbers, which it compares as integers: NaNs are the greatest.
func (f *file) magnitudes() {
	r, p := f.routine("Magnitudes", "x *float32, n int, extremes *uint32",
		"Lowers the 8 numbers at extremes to the least nonzero |x|, lane by lane, and raises the 8 numbers after them to the greatest, for n elements, n a positive multiple of 8. Numbers at extremes are given by their bits.")
	x, n, extremes := p[0], p[1], p[2]
	bounds, m := r.vectors(4), r.vectors(2)
	least, greatest := bounds[:2], bounds[2:]
	v := r.vectors(3)
	magnitude, zero, null := v[0], v[1], v[2]
	r.magnitudeMask(magnitude)
	r.emit("VEOR %[1]v.B16, %[1]v.B16, %[1]v.B16", zero)
	r.emit("VLD1 (%v), %s", extremes, single.list(bounds))
	r.emit("LSR $3, %v", n)
	r.loop("next", n, func() {
		r.emit("VLD1.P 32(%v), %s", x, single.list(m))
		for i, m := range m {
			r.emit("VAND %v.B16, %v.B16, %v.B16", magnitude, m, m)
			r.emit("VUMAX %v.S4, %v.S4, %v.S4", m, greatest[i], greatest[i])
			r.emit("VCMEQ %v.S4, %v.S4, %v.S4", zero, m, null)
			r.emit("VORR %v.B16, %v.B16, %v.B16", null, m, m) // a zero is greater than all
			r.emit("VUMIN %v.S4, %v.S4, %v.S4", m, least[i], least[i])
		}
	})
	r.emit("VST1 %s, (%v)", single.list(bounds), extremes)
	r.ret()
}

// magnitudeMask stores in every lane of v the bits of a number but its sign.
func (r *routine) magnitudeMask(v vector) {
	mask := r.generals(1)[0]
	r.emit("MOVD $0x7fffffff, %v", mask)
	r.emit("VDUP %v, %v.S4", mask, v)
}
