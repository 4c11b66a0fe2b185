package roundoff

import (
	"math"
	"math/big"
	"testing"
)

// This file is the reference for tests: the paper's formulas as printed, with
// 1500 bits of precision.

const oracleBits = 1500

func bf(x float64) *big.Float { return new(big.Float).SetPrec(oracleBits).SetFloat64(x) }

func bigAdd(x, y *big.Float) *big.Float { return bf(0).Add(x, y) }
func bigSub(x, y *big.Float) *big.Float { return bf(0).Sub(x, y) }
func bigMul(x, y *big.Float) *big.Float { return bf(0).Mul(x, y) }
func bigQuo(x, y *big.Float) *big.Float { return bf(0).Quo(x, y) }

// bigTwiceAtanh returns 2 atanh z = log((1+z)/(1-z)), for |z| <= 1/3, by its
// power series.
func bigTwiceAtanh(z *big.Float) *big.Float {
	sum, power, z2 := bf(0), bigMul(bf(2), z), bigMul(z, z)
	for k := 1.0; ; k += 2 {
		term := bigQuo(power, bf(k))
		if term.Sign() == 0 || sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-oracleBits {
			return sum
		}
		sum.Add(sum, term)
		power = bigMul(power, z2)
	}
}

// bigLog returns log x = log m + e log 2 with m in [3/4, 3/2), by the series of
// atanh.
func bigLog(x *big.Float) *big.Float {
	m := bf(0)
	e := x.MantExp(m)
	if m.Cmp(bf(0.75)) < 0 {
		m.Mul(m, bf(2))
		e--
	}
	logm := bigTwiceAtanh(bigQuo(bigSub(m, bf(1)), bigAdd(m, bf(1))))
	log2 := bigTwiceAtanh(bigQuo(bf(1), bf(3)))
	return bigAdd(logm, bigMul(bf(float64(e)), log2))
}

// bigMoments returns the mean μ and the variance σ²/n of log(1+δ).
func bigMoments(u float64) (mean, variance *big.Float) {
	U := bf(u)
	l, r := bigLog(bigSub(bf(1), U)), bigLog(bigAdd(bf(1), U))

	mean = bigSub(bigMul(bigAdd(bf(1), U), r), bigMul(bigSub(bf(1), U), l))
	mean = bigQuo(bigSub(mean, bigMul(bf(2), U)), bigMul(bf(2), U))

	four := bigMul(bf(4), bigMul(U, U))
	κ := bigSub(bigMul(U, U), bf(1))
	square := bigAdd(bigSub(bigMul(l, l), bigMul(bf(2), bigMul(l, r))), bigMul(r, r))
	return mean, bigQuo(bigAdd(four, bigMul(κ, square)), four)
}

// relativeError returns |x - want|/|want|.
func relativeError(x float64, want *big.Float) float64 {
	e, _ := bigQuo(bigSub(bf(x), want), want).Float64()
	return math.Abs(e)
}

// near reports whether x and want agree to the relative tolerance tol.
func near(x, want, tol float64) bool {
	return x == want || math.Abs(x-want) <= tol*math.Abs(want)
}

func TestOracle(t *testing.T) {
	for _, tt := range []struct{ x, log float64 }{
		{2, math.Ln2}, {10, math.Ln10}, {0.5, -math.Ln2}, {1 + 0x1p-52, 0x1p-52 - 0x1p-105}, {1 - 0x1p-53, -0x1p-53 - 0x1p-107},
	} {
		if got, _ := bigLog(bf(tt.x)).Float64(); got != tt.log {
			t.Errorf("log(%v) = %v, want %v", tt.x, got, tt.log)
		}
	}
}
