package paper

import (
	"math"
	"math/big"

	"github.com/roundofflab/roundoff/internal/fma"
)

// macError returns |z - (ab+c)|/|ab+c| for binary32 operands. The product ab is
// exact in binary64, and the sum is represented exactly as an unevaluated pair
// of binary64 numbers (TwoSum: Knuth 1969). The error is therefore that of z
// against the exact value.
func macError(z, a, b, c float64) float64 {
	p := a * b
	high := p + c
	v := high - p
	low := (p - (high - v)) + (c - v)
	return math.Abs(float64(z-high)-low) / math.Abs(high)
}

// exactMACError returns the same error for binary64 operands, as the binary64
// number nearest to it. If ab + c = 0, it returns |z|. An error that a pair of
// binary64 numbers approximates is rounded as the pair is if that is the same
// with a little more and a little less (Ziv 1991); others need numbers of 400
// bits.
func exactMACError(z, a, b, c float64) float64 {
	if q, r, ok := pairQuotient(z, a, b, c); ok {
		off := float64(pairError * math.Abs(q))
		if most, least := q+(r+off), q+(r-off); most == least {
			return math.Abs(most)
		}
	}
	q, _ := bigQuotient(z, a, b, c).Float64()
	return math.Abs(q)
}

// pairError bounds the relative error of pairQuotient.
const pairError = 0x1p-64

// pairQuotient returns (z - (ab + c))/(ab + c) as q + r, |r| <= 2^-19 |q|. What
// the sums leave is below 2^-52 of their results, unless these are cancelled.
// It reports false where nearly all is cancelled, and for numbers so large or
// small that a part may overflow or underflow.
func pairQuotient(z, a, b, c float64) (q, r float64, ok bool) {
	product := float64(a * b)
	tail := math.FMA(a, b, -product)
	sum, rest := fma.TwoSum(product, c) // ab + c = sum + rest + tail
	low := rest + tail
	over, under := fma.TwoSum(z, -sum)
	diff, left := fma.TwoSum(over, -rest) // z - (ab + c) = diff + left + under - tail
	less := left + under - tail
	q = diff / sum
	if !(math.Abs(product) > 0x1p-400 && math.Abs(q) < 0x1p400 &&
		math.Abs(low) <= 0x1p-46*math.Abs(sum) && math.Abs(tail) <= 0x1p-20*math.Abs(diff)) {
		return 0, 0, false
	}
	return q, (math.FMA(-q, sum, diff) + less - float64(q*low)) / sum, true
}

// bigQuotient returns (z - (ab + c))/(ab + c) in 400 bits, z if ab + c = 0.
func bigQuotient(z, a, b, c float64) *big.Float {
	exact := new(big.Float).SetPrec(400).SetFloat64(a)
	exact.Mul(exact, big.NewFloat(b)).Add(exact, big.NewFloat(c))
	diff := new(big.Float).SetPrec(400).SetFloat64(z)
	if exact.Sign() == 0 {
		return diff
	}
	return diff.Sub(diff, exact).Quo(diff, exact)
}
