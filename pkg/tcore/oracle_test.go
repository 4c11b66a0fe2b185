package tcore

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"
)

// The oracle rounds by search. It knows the numbers of a format only from
// Decode (which code_test.go tests against other definitions), finds the two
// neighbours of an exact number among them, and selects one by comparing exact
// distances.

// exactBits is a precision in which ab + c is exact for all binary64 operands.
const exactBits = 4400

func exactly(x float64) *big.Float {
	return new(big.Float).SetPrec(exactBits).SetFloat64(x)
}

// oracleRound returns v ≠ 0 rounded to f.
func oracleRound(f Format, v *big.Float, mode RoundingMode) float64 {
	return oracleRandom(f, v, mode, 0)
}

// oracleRandom is oracleRound, also for mode stochastic with the random
// fraction ρ.
func oracleRandom(f Format, v *big.Float, mode RoundingMode, ρ float64) float64 {
	if f.Sign == TwosComplement { // round among more integers, then saturate
		wider := f
		wider.Sign, wider.Precision, wider.Emin, wider.Emax = Signed, f.Precision+1, f.Emin+1, f.Emax+1
		return max(-exp2(f.Emax+1), min(oracleRandom(wider, v, mode, ρ), f.Max())) + 0
	}
	neg, mag := v.Sign() < 0, new(big.Float).Abs(v)
	g := withoutChoices(f)
	decode := func(code int) *big.Float { return exactly(g.Decode(uint64(code))) }

	last := greatestCode(g)
	low := sort.Search(last+1, func(code int) bool { return decode(code).Cmp(mag) > 0 }) - 1
	if low < 0 || decode(low).Cmp(mag) == 0 {
		return withChoices(f, signed(g.Decode(uint64(max(low, 0))), neg), neg)
	}

	// The neighbours are codes low and low+1.
	high := new(big.Float).Add(decode(low), gapAbove(g, low, last))
	middle := new(big.Float).Add(decode(low), high)
	side := mag.Cmp(middle.Quo(middle, exactly(2)))

	sum := new(big.Float).Mul(exactly(ρ), gapAbove(g, low, last))
	carries := sum.Add(sum, mag).Cmp(high) >= 0

	z := oraclePick(g, low, last, oracleUp(g, low, last, side, neg, carries, mode), neg)
	return withChoices(f, z, neg)
}

// gapAbove returns the distance from code low to the next number. Beyond the
// last code it is that of a format with a greater Emax.
func gapAbove(f Format, low, last int) *big.Float {
	x := f.Decode(uint64(low))
	if low < last {
		return new(big.Float).Sub(exactly(f.Decode(uint64(low+1))), exactly(x))
	}
	_, e := math.Frexp(x)
	return exactly(math.Ldexp(1, e-f.Precision))
}

// oracleUp reports whether a number between codes low and low+1 is rounded to
// low+1. side is the sign of the number minus the midpoint.
func oracleUp(f Format, low, last, side int, neg, carries bool, mode RoundingMode) bool {
	odd := low%2 == 1 || f.Precision == 1 && f.Decode(uint64(low)) != 0 // the significand 1 is odd
	switch mode {
	case ToNearestEven:
		return side > 0 || side == 0 && odd
	case ToNearestAway:
		return side >= 0
	case ToPositive:
		return !neg
	case ToNegative:
		return neg
	case ToOdd:
		return !odd && low < last
	case stochastic:
		return carries
	}
	return false
}

// oraclePick returns the number of code low, or of low+1 if up is true, of a
// format that withoutChoices returns.
func oraclePick(f Format, low, last int, up, neg bool) float64 {
	switch {
	case !up:
		return signed(f.Decode(uint64(low)), neg)
	case low < last:
		return signed(f.Decode(uint64(low+1)), neg)
	case f.Overflow == Saturate || f.Specials == FiniteOnly:
		return signed(f.Decode(uint64(last)), neg)
	case f.Overflow == ToNaN || f.Specials != IEEE:
		return math.NaN()
	}
	return signed(math.Inf(1), neg)
}

// withoutChoices returns f with a sign bit, and with subnormals if it flushes
// them.
func withoutChoices(f Format) Format {
	f.Sign = Signed
	if f.Subnormals == Flushed {
		f.Subnormals = Kept
	}
	return f
}

// withChoices returns the value of f for z, a number of withoutChoices(f) of
// the given sign.
func withChoices(f Format, z float64, neg bool) float64 {
	if f.Subnormals == Flushed && math.Abs(z) < f.MinNormal() || z == 0 {
		return oracleZero(f, neg)
	}
	switch {
	case !neg || f.Sign == Signed:
		return z
	case f.Overflow == Saturate || f.Specials == FiniteOnly:
		return f.Decode(0)
	}
	return math.NaN()
}

// oracleZero returns the value of f that replaces a zero of the given sign.
func oracleZero(f Format, neg bool) float64 {
	return signed(f.Decode(0), neg && f.Specials != FNUZ && f.Sign == Signed)
}

// greatestCode returns the code of the greatest finite number. Without the sign
// bit, all codes up to it are finite and all above it are not.
func greatestCode(f Format) int {
	w := f.Bits()
	if f.Sign == Unsigned {
		w++
	}
	end := int(min(uint64(1)<<(w-1), math.MaxInt))
	return sort.Search(end, func(code int) bool { return !finite(f.Decode(uint64(code))) }) - 1
}

// oracleFMA returns ab + c rounded to f, for finite operands.
func oracleFMA(f Format, a, b, c float64, mode RoundingMode) float64 {
	p := new(big.Float).SetPrec(exactBits).Mul(exactly(a), exactly(b))
	v := new(big.Float).SetPrec(exactBits).Add(p, exactly(c))
	if v.Sign() != 0 {
		return oracleRound(f, v, mode)
	}
	negP, negC := math.Signbit(a) != math.Signbit(b), math.Signbit(c)
	if negP == negC {
		return oracleZero(f, negP)
	}
	return oracleZero(f, mode == ToNegative)
}

// same reports whether x and y are the same number, sign of zero included, or
// both NaN.
func same(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
}

// awkward returns an operand for which rounding is difficult: few bits set,
// long runs of ones, an extreme exponent, or a neighbour of a power of two.
func awkward(f Format, rng *rand.Rand) float64 {
	n := rng.Uint64() >> (64 - f.Precision)
	switch rng.IntN(4) {
	case 0: // one or two bits
		n = 1<<(f.Precision-1) | 1<<rng.IntN(f.Precision)
	case 1: // ones, then zeros
		n = 1<<f.Precision - 1<<rng.IntN(f.Precision)
	case 2: // next to a power of two
		n = 1<<(f.Precision-1) + uint64(rng.IntN(2))
	}
	q := f.minQuantum() + rng.IntN(f.maxQuantum()-f.minQuantum()+1)
	switch rng.IntN(4) {
	case 0: // near the least numbers
		q = f.minQuantum() + rng.IntN(3)
	case 1: // near 1
		q = 1 - f.Precision + rng.IntN(5) - 2
	}
	return signed(min(float64(n)*exp2(q), f.Max()), rng.IntN(2) == 0)
}

// eachMode runs test as a subtest of every format and mode.
func eachMode(t *testing.T, test func(t *testing.T, f Format, mode RoundingMode)) {
	for _, f := range formats {
		for _, mode := range modes {
			t.Run(f.Name+"/"+mode.String(), func(t *testing.T) { test(t, f, mode) })
		}
	}
}

var (
	formats = []Format{Binary16, BFloat16, TF32, Binary32, Binary64, E4M3, E5M2,
		E4M3FNUZ, E5M2FNUZ, E3M2, E2M3, E2M1, E8M0, UE4M3, INT8, UINT8}
	modes = []RoundingMode{ToNearestEven, ToNearestAway, ToZero, ToPositive, ToNegative, ToOdd}
)
