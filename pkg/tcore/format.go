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
// subset of binary64: 1 <= Precision <= 53, a least subnormal of at least
// 2^-1074 and Emax <= 1023. A format with infinities needs a significand bit
// that distinguishes NaN from infinity (Precision >= 2 with IEEE). A format
// that uses the code of -0 for NaN must have negative numbers and zero (FNUZ).
// One in two's complement has one exponent, below 1023, subnormals, and neither
// infinity nor NaN.
// Methods panic on any other Format.
//
// A Format is a value, so a new one is one literal, in which omitted fields
// mean IEEE 754, and a variant is a copy with one field changed:
//
//	f := tcore.E4M3
//	f.Overflow = tcore.Saturate
type Format struct {
	Name       string
	Precision  int // significand bits p, the implicit one included
	Emin, Emax int // exponents of the least and of the greatest normal number
	Specials   Specials
	Overflow   Overflow
	Subnormals Subnormals
	Sign       Sign
}

// Specials says which codes are not numbers.
type Specials int

const (
	IEEE       Specials = iota // the exponent field above Emax encodes infinities and NaNs (IEEE 754)
	NaNOnly                    // only the greatest code is a NaN; there is no infinity (OCP OFP8 E4M3)
	FNUZ                       // the code of -0 is the one NaN; there is no infinity and no -0 (AMD CDNA3)
	FiniteOnly                 // all codes are numbers; a NaN is rounded to +Max, as PTX does (OCP MX)
)

// Overflow says which value replaces an infinity of IEEE 754, whether it
// results from an overflow or from an infinite operand. A format without
// infinities uses NaN in place of ToInfinity, and a format without NaN uses
// ±Max.
type Overflow int

const (
	ToInfinity Overflow = iota // ±Inf
	Saturate                   // ±Max
	ToNaN                      // NaN
)

// Subnormals says which numbers the codes of the least exponent represent.
type Subnormals int

const (
	Kept    Subnormals = iota // zeros and subnormals (IEEE 754)
	Flushed                   // zeros: a number that is rounded to a subnormal becomes ±0
	NoZero                    // normal numbers: 0 and numbers below the least one become the least one (e8m0)
)

// Sign says whether the codes have a sign bit. In a format without negative
// numbers, a number that is rounded to a negative one becomes NaN, or the least
// number of the format if Overflow is Saturate or the format has no NaN.
type Sign int

const (
	Signed      Sign = iota // a sign bit
	Unsigned                // none: all numbers are positive or +0
	SignIgnored             // a meaningless sign bit: as Unsigned, but Decode ignores it and Encode clears it

	// TwosComplement is a format of integers in two's complement, times a power of
	// two: Emin = Emax, and all codes are numbers (FiniteOnly). There is no -0, and
	// one negative number more than positive ones, -2^(Emax+1). Numbers beyond it
	// become it.
	TwosComplement
)

// The catalogue. Parameters from the paper's Table 1 (binary16, 32, 64), the
// PTX ISA manual (tf32, ue4m3), the OCP 8-bit Floating Point Specification 1.0
// (e4m3, e5m2), the OCP Microscaling Formats Specification 1.0 (e3m2, e2m3,
// e2m1, e8m0) and Noune et al. 2022 with the AMD Instinct MI300 instruction set
// manual (fnuz, of bias 8 and 16). The 8-bit formats overflow to infinity, or
// to NaN if they have no infinity. This is the non-saturating mode of the
// specification, in which an overflow stays visible. GPU conversion
// instructions saturate.
var (
	Binary16 = Format{Name: "binary16", Precision: 11, Emin: -14, Emax: 15}
	BFloat16 = Format{Name: "bfloat16", Precision: 8, Emin: -126, Emax: 127}
	TF32     = Format{Name: "tf32", Precision: 11, Emin: -126, Emax: 127}
	Binary32 = Format{Name: "binary32", Precision: 24, Emin: -126, Emax: 127}
	Binary64 = Format{Name: "binary64", Precision: 53, Emin: -1022, Emax: 1023}

	E4M3     = Format{Name: "e4m3", Precision: 4, Emin: -6, Emax: 8, Specials: NaNOnly, Overflow: ToNaN}
	E5M2     = Format{Name: "e5m2", Precision: 3, Emin: -14, Emax: 15}
	E4M3FNUZ = Format{Name: "e4m3fnuz", Precision: 4, Emin: -7, Emax: 7, Specials: FNUZ, Overflow: ToNaN}
	E5M2FNUZ = Format{Name: "e5m2fnuz", Precision: 3, Emin: -15, Emax: 15, Specials: FNUZ, Overflow: ToNaN}
	E3M2     = Format{Name: "e3m2", Precision: 3, Emin: -2, Emax: 4, Specials: FiniteOnly, Overflow: Saturate}
	E2M3     = Format{Name: "e2m3", Precision: 4, Emin: 0, Emax: 2, Specials: FiniteOnly, Overflow: Saturate}
	E2M1     = Format{Name: "e2m1", Precision: 2, Emin: 0, Emax: 2, Specials: FiniteOnly, Overflow: Saturate}
)

// The scales of block formats: e8m0 of OCP MX, the powers of two from 2^-127 to
// 2^127, and ue4m3 of NVFP4, e4m3 without its negative numbers.
var (
	E8M0 = Format{Name: "e8m0", Precision: 1, Emin: -127, Emax: 127, Specials: NaNOnly, Overflow: ToNaN,
		Subnormals: NoZero, Sign: Unsigned}
	UE4M3 = Format{Name: "ue4m3", Precision: 4, Emin: -6, Emax: 8, Specials: NaNOnly, Overflow: ToNaN,
		Sign: SignIgnored}
)

// Integers, as formats whose only exponent is that of their greatest numbers:
// the others are subnormal. They saturate, and a NaN becomes the greatest one.
var (
	INT8  = Format{Name: "int8", Precision: 7, Emin: 6, Emax: 6, Specials: FiniteOnly, Overflow: Saturate, Sign: TwosComplement}
	UINT8 = Format{Name: "uint8", Precision: 8, Emin: 7, Emax: 7, Specials: FiniteOnly, Overflow: Saturate, Sign: Unsigned}
	INT32 = Format{Name: "int32", Precision: 31, Emin: 30, Emax: 30, Specials: FiniteOnly, Overflow: Saturate, Sign: TwosComplement}
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

// MinSubnormal returns the least positive number: 2^(Emin-p+1), or 2^Emin in a
// format without subnormals.
func (f Format) MinSubnormal() float64 {
	f.check()
	if f.Subnormals != Kept {
		return exp2(f.Emin)
	}
	return exp2(f.minQuantum())
}

// Bits returns the width of a code: sign if there is one, exponent field and
// the p-1 stored bits of the significand.
func (f Format) Bits() int {
	f.check()
	w := bits.Len64(f.topExponent()) + f.Precision - 1
	if f.Sign != Unsigned {
		w++
	}
	return w
}

// topExponent returns the largest value of the exponent field. Field 0 encodes
// zeros and subnormals and field 1 the exponent Emin; in a format without zero,
// field 0 encodes Emin. One field above Emax is reserved for IEEE infinities
// and NaNs, or for a NaN that no bit of the significand distinguishes
// (Precision = 1).
func (f Format) topExponent() uint64 {
	e := uint64(f.Emax-f.Emin) + b2u(f.Subnormals != NoZero)
	if f.Specials == IEEE || f.Specials == NaNOnly && f.Precision == 1 {
		e++
	}
	return e
}

// The finite positive numbers are n × 2^q with integers n and q. minQuantum
// and maxQuantum are the extreme exponents q, minNormalSignificand is the least
// n of a normal number, and maxSignificand is the greatest n at q = maxQuantum.
// Pointer receivers keep copies of f out of the rounding routine.

func (f *Format) minQuantum() int { return f.Emin - f.Precision + 1 }
func (f *Format) maxQuantum() int { return f.Emax - f.Precision + 1 }

func (f *Format) minNormalSignificand() uint64 { return 1 << (f.Precision - 1) }

func (f *Format) maxSignificand() uint64 {
	n := uint64(1)<<f.Precision - 1
	if f.Specials == NaNOnly && f.Precision > 1 {
		n-- // all ones is the NaN
	}
	return n
}

// infinity returns the value that replaces an infinity of the given sign.
func (f Format) infinity(neg bool) float64 {
	switch {
	case neg && f.Sign == TwosComplement:
		return -f.greatest()
	case neg && f.Sign != Signed:
		return f.negative()
	case f.Overflow == Saturate, f.Specials == FiniteOnly:
		return signed(f.Max(), neg)
	case f.Overflow == ToNaN, f.Specials != IEEE:
		return signed(math.NaN(), neg)
	}
	return signed(math.Inf(1), neg)
}

// negative returns the value that replaces a negative number in a format
// without negative numbers.
func (f Format) negative() float64 {
	switch {
	case f.Overflow != Saturate && f.Specials != FiniteOnly:
		return math.NaN()
	case f.Subnormals == NoZero:
		return f.MinNormal()
	}
	return 0
}

// nan returns the value that replaces the NaN x: x itself, made quiet, or +Max
// in a format without NaN.
func (f Format) nan(x float64) float64 {
	if f.Specials == FiniteOnly {
		return f.Max()
	}
	const quiet = 1 << 51
	return math.Float64frombits(math.Float64bits(x) | quiet)
}

// zero returns the value that replaces a zero of the given sign.
func (f *Format) zero(neg bool) float64 {
	switch {
	case f.Subnormals == NoZero:
		return signed(exp2(f.Emin), neg && f.Sign == Signed)
	case f.Sign != Signed || f.Specials == FNUZ:
		return 0
	}
	return signed(0, neg)
}

// greatest returns the magnitude of the number of the greatest magnitude.
func (f *Format) greatest() float64 {
	if f.Sign == TwosComplement {
		return exp2(f.Emax + 1)
	}
	return f.Max()
}

// contains reports whether every finite number of g is a number of f.
func (f Format) contains(g Format) bool {
	return g.Precision <= f.Precision && g.minQuantum() >= f.minQuantum() && g.greatest() <= f.Max() &&
		f.Subnormals == Kept && f.Sign == Signed
}

// extends reports whether f is an IEEE format that contains g and so represents
// all its values, infinities and NaN included.
func (f Format) extends(g Format) bool {
	return f.contains(g) && f.Specials == IEEE && f.Overflow == ToInfinity
}

// Equal reports whether f and g are the same format, except for the name.
func (f Format) Equal(g Format) bool {
	g.Name = f.Name
	return f == g
}

// containsProducts reports whether the product of any two finite numbers of g
// is a number of f, so that their multiplication in f is exact.
func (f Format) containsProducts(g Format) bool {
	return 2*g.Precision <= f.Precision && 2*g.minQuantum() >= f.minQuantum() && 2*(g.Emax+1) <= f.Emax+1 && g.Sign != TwosComplement
}

// check panics unless f is valid, as defined in the doc comment of Format.
func (f *Format) check() {
	if !f.valid() {
		f.invalid()
	}
}

func (f *Format) valid() bool {
	switch {
	case f.Precision < 1 || f.Precision > 53 || f.minQuantum() < -1074 || f.Emax > 1023 || f.Emin > f.Emax,
		f.Specials < IEEE || f.Specials > FiniteOnly || f.Overflow < ToInfinity || f.Overflow > ToNaN,
		f.Subnormals < Kept || f.Subnormals > NoZero || f.Sign < Signed || f.Sign > TwosComplement,
		f.Specials == IEEE && f.Precision < 2,
		f.Specials == FNUZ && (f.Sign != Signed || f.Subnormals == NoZero),
		f.Sign == TwosComplement && (f.Emin != f.Emax || f.Emax == 1023 || f.Specials != FiniteOnly || f.Subnormals != Kept):
		return false
	}
	return true
}

func (f *Format) invalid() {
	panic(fmt.Sprintf("tcore: format %+v, want a subset of binary64 as Format describes", *f))
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
