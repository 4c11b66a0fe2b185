package paper

import (
	"math"
	"math/big"
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

// exactMACError returns the same error for binary64 operands, computed with
// 400-bit numbers. If ab + c = 0, it returns |z|.
func exactMACError(z, a, b, c float64) float64 {
	exact := new(big.Float).SetPrec(400).SetFloat64(a)
	exact.Mul(exact, big.NewFloat(b)).Add(exact, big.NewFloat(c))
	if exact.Sign() == 0 {
		return math.Abs(z)
	}
	diff := new(big.Float).SetPrec(400).SetFloat64(z)
	diff.Sub(diff, exact).Quo(diff, exact)
	q, _ := diff.Float64()
	return math.Abs(q)
}
