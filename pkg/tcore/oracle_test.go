package tcore

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"
)

// The oracle rounds by search. It knows the numbers of a format through Decode
// alone (tested against other definitions in code_test.go), finds the two
// neighbours of an exact number among them, and picks one by comparing exact
// distances.

// exactBits holds ab + c exactly for all binary64 operands.
const exactBits = 4400

func exactly(x float64) *big.Float {
	return new(big.Float).SetPrec(exactBits).SetFloat64(x)
}

// oracleRound returns v ≠ 0 rounded to f.
func oracleRound(f Format, v *big.Float, mode RoundingMode) float64 {
	neg, mag := v.Sign() < 0, new(big.Float).Abs(v)
	switch {
	case neg && f.Sign != Signed:
		return oracleRoundNegative(f, v, mode)
	case f.Subnormals == Flushed:
		f.Subnormals = Kept
		z := oracleRound(f, v, mode)
		if math.Abs(z) < f.MinNormal() {
			return oracleZero(f, neg)
		}
		return z
	}
	decode := func(code int) *big.Float { return exactly(f.Decode(uint64(code))) }

	last := greatestCode(f)
	low := sort.Search(last+1, func(code int) bool { return decode(code).Cmp(mag) > 0 }) - 1
	if low < 0 {
		return signed(f.Decode(0), neg) // below the least number of a format without zero
	}
	if decode(low).Cmp(mag) == 0 {
		return signed(f.Decode(uint64(low)), neg)
	}

	// The neighbours are codes low and low+1. Beyond the last code the
	// numbers are taken to go on.
	var high *big.Float
	if low < last {
		high = decode(low + 1)
	} else {
		high = decode(last)
		high.Add(high, decode(last)).Sub(high, decode(last-1))
	}
	middle := new(big.Float).Add(decode(low), high)
	side := mag.Cmp(middle.Quo(middle, exactly(2)))

	up := false
	odd := low%2 == 1 || f.Precision == 1 // the significand 1 is odd
	switch mode {
	case ToNearestEven:
		up = side > 0 || side == 0 && odd
	case ToNearestAway:
		up = side >= 0
	case ToPositive:
		up = !neg
	case ToNegative:
		up = neg
	case ToOdd:
		up = !odd && low < last
	}
	switch {
	case !up && low == 0 && f.Subnormals == Kept:
		return oracleZero(f, neg)
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

// oracleRoundNegative returns v < 0 rounded to a format without negative
// numbers: what rounds to zero there is zero, and nothing else fits.
func oracleRoundNegative(f Format, v *big.Float, mode RoundingMode) float64 {
	withSign := f
	withSign.Sign = Signed
	switch {
	case f.Subnormals != NoZero && oracleRound(withSign, v, mode) == 0:
		return 0
	case f.Overflow == Saturate || f.Specials == FiniteOnly:
		return f.Decode(0)
	}
	return math.NaN()
}

// oracleZero returns what stands for a zero of the given sign.
func oracleZero(f Format, neg bool) float64 {
	return signed(f.Decode(0), neg && f.Specials != FNUZ && f.Sign == Signed)
}

// greatestCode returns the code of the greatest finite number. All codes up to
// it are finite, all above not, the sign bit apart.
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

// Operands where rounding goes wrong: few bits set, long runs of ones, extreme
// exponents, neighbours of powers of two.
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
		E4M3FNUZ, E5M2FNUZ, E3M2, E2M3, E2M1, E8M0, UE4M3}
	ieeeFormats = []Format{Binary16, BFloat16, TF32, Binary32, Binary64, E4M3, E5M2}
	modes       = []RoundingMode{ToNearestEven, ToNearestAway, ToZero, ToPositive, ToNegative, ToOdd}
)
