package tcore

import (
	"fmt"
	"math"
	"math/bits"
)

// Format is a binary floating-point format: the numbers
//
//	±d₀.d₁d₂…d₍p₋₁₎ × 2^e,  Emin <= e <= Emax,  p = Precision,
//
// where d₀ may be 0 only for e = Emin (zeros and subnormals). It must be a
// subset of binary64: 2 <= Precision <= 53, a least subnormal of at least
// 2^-1074 and Emax <= 1023. Methods panic on any other Format.
//
// A Format is a value, so a variant is a copy with one field changed:
//
//	f := tcore.E4M3
//	f.Overflow = tcore.Saturate
type Format struct {
	Name       string
	Precision  int // significand bits p, the implicit one included
	Emin, Emax int // exponents of the least and of the greatest normal number
	Specials   Specials
	Overflow   Overflow
}

// Specials says which codes of the top exponent are not numbers.
type Specials int

const (
	IEEE    Specials = iota // the exponent above Emax holds infinities and NaNs (IEEE 754)
	NaNOnly                 // only the all-ones code is a NaN; there is no infinity (OCP OFP8 E4M3)
)

// Overflow says what stands where IEEE 754 delivers an infinity, be it from an
// overflow or from an infinite operand.
type Overflow int

const (
	ToInfinity Overflow = iota // ±Inf; NaN in a format without infinities
	Saturate                   // ±Max
	ToNaN                      // NaN
)

// The catalogue. Parameters from the paper's Table 1 (binary16, 32, 64), the
// PTX ISA manual (tf32) and the OCP 8-bit Floating Point Specification 1.0
// (e4m3, e5m2). E4M3 overflows to NaN, the specification's non-saturating
// mode: an overflow stays visible. GPU conversion instructions saturate.
var (
	Binary16 = Format{Name: "binary16", Precision: 11, Emin: -14, Emax: 15}
	BFloat16 = Format{Name: "bfloat16", Precision: 8, Emin: -126, Emax: 127}
	TF32     = Format{Name: "tf32", Precision: 11, Emin: -126, Emax: 127}
	Binary32 = Format{Name: "binary32", Precision: 24, Emin: -126, Emax: 127}
	Binary64 = Format{Name: "binary64", Precision: 53, Emin: -1022, Emax: 1023}
	E4M3     = Format{Name: "e4m3", Precision: 4, Emin: -6, Emax: 8, Specials: NaNOnly, Overflow: ToNaN}
	E5M2     = Format{Name: "e5m2", Precision: 3, Emin: -14, Emax: 15}
)

// UnitRoundoff returns u = 2^-p, the paper's ½β^(1-p): half the distance from
// 1 to the next number.
func (f Format) UnitRoundoff() float64 {
	f.check()
	return math.Ldexp(1, -f.Precision)
}

// Max returns the greatest finite number.
func (f Format) Max() float64 {
	f.check()
	return float64(f.maxSignificand()) * exp2(f.maxQuantum())
}

// MinNormal returns the least positive normal number, 2^Emin.
func (f Format) MinNormal() float64 {
	f.check()
	return exp2(f.Emin)
}

// MinSubnormal returns the least positive number, 2^(Emin-p+1).
func (f Format) MinSubnormal() float64 {
	f.check()
	return exp2(f.minQuantum())
}

// Bits returns the width of a code: sign, exponent field and the p-1 stored
// bits of the significand.
func (f Format) Bits() int {
	f.check()
	return 1 + bits.Len64(f.topExponent()) + f.Precision - 1
}

// topExponent returns the largest value of the exponent field. Field 0 holds
// the subnormals, 1 is Emin, and IEEE formats keep one above Emax.
func (f Format) topExponent() uint64 {
	e := uint64(f.Emax - f.Emin + 1)
	if f.Specials == IEEE {
		e++
	}
	return e
}

// The finite positive numbers are n × 2^q with integers n and q. minQuantum
// and maxQuantum are the extreme exponents q, and maxSignificand is the
// greatest n at q = maxQuantum. Pointer receivers keep copies of f out of the
// rounding routine.

func (f *Format) minQuantum() int { return f.Emin - f.Precision + 1 }
func (f *Format) maxQuantum() int { return f.Emax - f.Precision + 1 }

func (f *Format) maxSignificand() uint64 {
	n := uint64(1)<<f.Precision - 1
	if f.Specials == NaNOnly {
		n-- // all ones is the NaN
	}
	return n
}

// infinity returns what stands for an infinity of the given sign.
func (f Format) infinity(neg bool) float64 {
	switch {
	case f.Overflow == Saturate:
		return signed(f.Max(), neg)
	case f.Overflow == ToNaN, f.Specials == NaNOnly:
		return math.NaN()
	}
	return signed(math.Inf(1), neg)
}

// contains reports whether every finite number of g is a number of f.
func (f Format) contains(g Format) bool {
	return g.Precision <= f.Precision && g.minQuantum() >= f.minQuantum() && g.Max() <= f.Max()
}

// extends reports whether f is an IEEE format that contains g and so carries
// all its values, infinities and NaN included.
func (f Format) extends(g Format) bool {
	return f.contains(g) && f.Specials == IEEE && f.Overflow == ToInfinity
}

// same reports whether f and g are one format but for the name.
func (f Format) same(g Format) bool {
	g.Name = f.Name
	return f == g
}

// containsProducts reports whether the product of any two finite numbers of g
// is a number of f, so that multiplying them in f makes no error.
func (f Format) containsProducts(g Format) bool {
	return 2*g.Precision <= f.Precision && 2*g.minQuantum() >= f.minQuantum() && 2*(g.Emax+1) <= f.Emax+1
}

// check panics unless f is a subset of binary64.
func (f *Format) check() {
	if f.Precision < 2 || f.Precision > 53 || f.minQuantum() < -1074 || f.Emax > 1023 || f.Emin > f.Emax {
		f.invalid()
	}
}

func (f *Format) invalid() {
	panic(fmt.Sprintf("tcore: format %+v, want a subset of binary64", *f))
}

// signed returns |x|, negated if neg.
func signed(x float64, neg bool) float64 {
	if neg {
		return math.Copysign(x, -1)
	}
	return math.Abs(x)
}

// exp2 returns 2^e for -1074 <= e <= 1023.
func exp2(e int) float64 {
	if e < -1022 {
		return math.Float64frombits(1 << (e + 1074))
	}
	return math.Float64frombits(uint64(e+1023) << 52)
}
