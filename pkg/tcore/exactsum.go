package tcore

import (
	"fmt"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/limbs"
)

// ExactSum adds the products of a block and the accumulator exactly and rounds
// once, to nearest even: binary16 and bfloat16 on AMD CDNA1 (Xie et al. 2025).
type ExactSum struct {
	Terms int // number of products in a block
}

func (s ExactSum) width() int { return s.Terms }

func (s ExactSum) sum(d *Device, b block, _ *TraceBlock) float64 {
	if z := specials(b); z != 0 {
		return z
	}

	// A fixed-point accumulator wide enough for every sum of products and c.
	low := min(d.A.minQuantum()+d.B.minQuantum(), d.C.minQuantum())
	high := max(d.A.Emax+d.B.Emax+2, d.C.Emax+1) + bits.Len(uint(s.Terms)) + 1
	z := make([]uint64, (high-low)/64+2)

	for i := range b.x {
		x, ex := d.A.split(b.x[i])
		y, ey := d.B.split(b.y[i])
		limbs.AddShifted(z, x*y, uint(ex+ey-d.A.Precision-d.B.Precision+2-low))
	}
	c, ec := d.C.split(b.c)
	limbs.AddShifted(z, c, uint(ec-d.C.Precision+1-low))

	return d.C.round(jamLimbs(z, low), ToNearestEven)
}

func (s ExactSum) check(d *Device) {
	if d.A.Precision+d.B.Precision > 62 || d.C.Precision > 62 {
		panic(fmt.Sprintf("tcore: device %q: ExactSum of %s × %s, want products of at most 62 bits", d.Name, d.A.Name, d.B.Name))
	}
}

// jamLimbs returns the two's complement number z × 2^exp with its leading 64
// bits, the last of which is sticky: it is set if any lower bit is set. It
// overwrites z.
func jamLimbs(z []uint64, exp int) unrounded {
	neg := int64(z[len(z)-1]) < 0
	if neg {
		carry := uint64(1)
		for i := range z {
			z[i], carry = bits.Add64(^z[i], 0, carry)
		}
	}
	n := len(z) - 1
	for n > 0 && z[n] == 0 {
		n--
	}
	if n == 0 {
		return unrounded{neg, z[0], exp}
	}
	rest := uint64(0)
	for _, limb := range z[:n-1] {
		rest |= limb
	}
	w := wide{neg: neg, hi: z[n], lo: z[n-1] | b2u(rest != 0), exp: exp + 64*(n-1)}
	return w.jam()
}
