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
	decode := func(code int) *big.Float { return exactly(f.Decode(uint64(code))) }

	last := greatestCode(f)
	low := sort.Search(last+1, func(code int) bool { return decode(code).Cmp(mag) > 0 }) - 1
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
	switch mode {
	case ToNearestEven:
		up = side > 0 || side == 0 && low%2 == 1
	case ToNearestAway:
		up = side >= 0
	case ToPositive:
		up = !neg
	case ToNegative:
		up = neg
	case ToOdd:
		up = low%2 == 0 && low < last
	}
	switch {
	case !up:
		return signed(f.Decode(uint64(low)), neg)
	case low < last:
		return signed(f.Decode(uint64(low+1)), neg)
	case f.Overflow == Saturate:
		return signed(f.Decode(uint64(last)), neg)
	case f.Overflow == ToNaN:
		return math.NaN()
	}
	return signed(math.Inf(1), neg)
}

// greatestCode returns the code of the greatest finite number.
func greatestCode(f Format) int {
	inf := map[string]int{
		"binary16": 0x7c00, "bfloat16": 0x7f80, "tf32": 0x3fc00, "binary32": 0x7f800000,
		"binary64": 0x7ff0000000000000, "e4m3": 0x7f, "e5m2": 0x7c,
	}
	return inf[f.Name] - 1
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
		return signed(0, negP)
	}
	return signed(0, mode == ToNegative)
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
	formats = []Format{Binary16, BFloat16, TF32, Binary32, Binary64, E4M3, E5M2}
	modes   = []RoundingMode{ToNearestEven, ToNearestAway, ToZero, ToPositive, ToNegative, ToOdd}
)
