package tcore

import (
	"fmt"
	"math"
	"math/bits"
)

// Fused is the truncated fused dot-product-add of NVIDIA tensor cores. The
// products of a block and the accumulator are aligned to the largest exponent
// among them, truncated there, and added exactly, with one rounding at the end.
// Probing (Fasi et al. 2021; Li et al. 2024; Khattak & Mikaitis 2025; Xie et
// al. 2025) found these phases:
//
//  1. Decode. x = ±s × 2^e with 1 <= s < 2, or e = Emin and s < 1.
//  2. Multiply. s = sₓs_y in [0, 4) and E = eₓ+e_y, exact and not normalised.
//     With scales their exponents are added to E. A zero has E = ZeroExponent.
//  3. E* is the greatest exponent E of the products and of c.
//  4. Align and truncate: every term keeps FractionBits bits below 2^E*. The
//     lower bits of its magnitude are discarded: no guard bit, no sticky bit.
//  5. Add exactly; the order does not matter.
//  6. Round once to Result.
//
// If a factor or c is an infinity or NaN, the result is that of IEEE 754. A
// result that overflows becomes an infinity, also if Rounding is ToZero.
type Fused struct {
	Terms        int          // L, the number of products in a block
	FractionBits int          // F
	Group        int          // products summed exactly to one term, with one pair of scales; 0: no groups
	Result       Format       // of the rounded sum
	Rounding     RoundingMode // of the sum
	ZeroExponent int          // E of a zero
	Contested
}

// Contested selects a model where the published models disagree. The zero value
// is what an H100 was seen to do, wherever that can be seen.
type Contested struct {
	// ClampAlways: E* is at least ZeroExponent in every block. If false, only in a
	// block with a zero among its terms. The results differ only where all terms
	// are tiny.
	ClampAlways bool
	// NegativeTiny: a negative sum that is rounded to zero gives -0, as in later
	// releases of MMA-Sim. If false, it gives +0, as on an H100 and in the first
	// release.
	NegativeTiny bool
}

// summand is the number sig × 2^(exp-frac), a term of the sum.
type summand struct {
	sig       int64
	exp, frac int
}

func (f Fused) width() int { return f.Terms }

func (f Fused) sum(d *Device, b block, t *TraceBlock) float64 {
	if s := specials(b); s != 0 {
		return s
	}

	// Decode, multiply.
	terms := make([]summand, 0, f.Terms+1)
	if f.Group > 0 {
		terms = f.groups(terms, d, b)
	} else {
		terms = f.products(terms, d, b)
	}
	terms = append(terms, f.accumulator(d, b.c))

	// Greatest exponent.
	top := terms[0].exp
	for _, s := range terms[1:] {
		top = max(top, s.exp)
	}
	if f.ClampAlways {
		top = max(top, f.ZeroExponent)
	}

	// Align and truncate, add.
	var total int64
	for _, s := range terms {
		total += s.truncate(f.FractionBits - top)
	}
	if t != nil {
		t.record(terms, top, f.FractionBits)
	}

	// Round.
	return f.round(total, top-f.FractionBits)
}

// products appends the products as terms.
func (f Fused) products(terms []summand, d *Device, b block) []summand {
	for i := range b.x {
		x, ex := d.A.split(b.x[i])
		y, ey := d.B.split(b.y[i])
		s := summand{sig: x * y, exp: ex + ey, frac: d.A.Precision + d.B.Precision - 2}
		if d.ScaleBlock > 0 {
			_, u := d.Scale.split(b.scaleX[i/d.ScaleBlock])
			_, v := d.Scale.split(b.scaleY[i/d.ScaleBlock])
			s.exp += u + v
		}
		terms = append(terms, f.zero(s))
	}
	return terms
}

// groups appends the exact sums of Group products, times their scales, as
// terms. The exponent of a term is that of its scales alone.
func (f Fused) groups(terms []summand, d *Device, b block) []summand {
	grid := d.A.minQuantum() + d.B.minQuantum()
	for i := 0; i < f.Terms; i += f.Group {
		var total int64
		allZero := true
		for k := i; k < i+f.Group; k++ {
			p := b.x[k] * b.y[k]
			total += int64(math.Ldexp(p, -grid))
			allZero = allZero && p == 0
		}
		u, eu := d.Scale.split(math.Abs(b.scaleX[i/d.ScaleBlock]))
		v, ev := d.Scale.split(math.Abs(b.scaleY[i/d.ScaleBlock]))
		s := summand{sig: total * u * v, exp: eu + ev, frac: 2*(d.Scale.Precision-1) - grid}
		if allZero || u*v == 0 {
			s.exp = f.ZeroExponent
		}
		terms = append(terms, s)
	}
	return terms
}

// accumulator returns c as a term.
func (f Fused) accumulator(d *Device, c float64) summand {
	sig, exp := d.C.split(c)
	return f.zero(summand{sig: sig, exp: exp, frac: d.C.Precision - 1})
}

// zero returns s, with exponent ZeroExponent if it is zero.
func (f Fused) zero(s summand) summand {
	if s.sig == 0 {
		s.exp = f.ZeroExponent
	}
	return s
}

// truncate returns s in units of 2^-n, truncated toward zero.
func (s summand) truncate(n int) int64 {
	shift := n + s.exp - s.frac
	switch {
	case s.sig == 0:
		return 0
	case shift >= 0:
		return s.sig << shift
	case s.sig < 0:
		return -(-s.sig >> min(-shift, 63))
	}
	return s.sig >> min(-shift, 63)
}

// round returns total × 2^exp rounded to Result.
func (f *Fused) round(total int64, exp int) float64 {
	if total == 0 {
		return 0
	}
	u := unrounded{neg: total < 0, sig: magnitude(total), exp: exp}
	if exp+bits.Len64(u.sig) > f.Result.Emax+1 {
		return signed(math.Inf(1), u.neg)
	}
	z := f.Result.round(u, f.Rounding)
	if z == 0 && !f.NegativeTiny {
		return 0
	}
	return z
}

// magnitude returns |n|.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// specials returns the result of a block that contains an infinity or a NaN,
// and 0 if it contains neither.
func specials(b block) float64 {
	s := 0.0
	if !finite(b.c) {
		s = b.c
	}
	for i := range b.x {
		if p := b.x[i] * b.y[i]; !finite(p) {
			s += p
		}
	}
	for i := range b.scaleX {
		if u := b.scaleX[i] * b.scaleY[i]; u != u {
			s += u
		}
	}
	return s
}

// split returns the significand of x, a finite number of f, as an integer, and
// its exponent: x = sig × 2^(exp-p+1). Zero and subnormal numbers have exponent
// Emin.
func (f *Format) split(x float64) (sig int64, exp int) {
	if x == 0 {
		return 0, f.Emin
	}
	v := unpack(x)
	exp = max(v.exp+bits.Len64(v.sig)-1, f.Emin)
	sig = int64(v.sig >> (exp - f.Precision + 1 - v.exp))
	if v.neg {
		sig = -sig
	}
	return sig, exp
}

// room returns the number of bits of a sum of products, without the sign.
func (f Fused) room() int {
	return f.FractionBits + 2 + bits.Len(uint(f.Terms))
}

// check panics unless Group is 0 or divides Terms and ScaleBlock, the terms
// have at most 53 bits and their sum at most 62.
func (f Fused) check(d *Device) {
	f.Result.check()
	if f.Group < 0 || f.Group > 0 && (f.Terms%f.Group != 0 || d.ScaleBlock%f.Group != 0 || d.ScaleBlock == 0) {
		panic(fmt.Sprintf("tcore: device %q: Group = %d, want a divisor of Terms = %d and of ScaleBlock = %d",
			d.Name, f.Group, f.Terms, d.ScaleBlock))
	}
	term, room := d.A.Precision+d.B.Precision, f.room()
	if f.Group > 0 {
		above := d.A.Emax + d.B.Emax + 2 + bits.Len(uint(f.Group)) + 2
		term = above - d.A.minQuantum() - d.B.minQuantum() + 2*d.Scale.Precision
		room += above
	}
	if f.FractionBits < 1 || room > 62 || term > 53 || d.C.Precision > 53 {
		panic(fmt.Sprintf("tcore: device %q: %d terms of %d bits and FractionBits = %d, want terms of at most 53 bits and a sum of at most 62",
			d.Name, f.Terms, term, f.FractionBits))
	}
}
