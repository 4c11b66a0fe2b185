package tcore

import "math/big"

// Accuracy returns on which side of x its rounding lies, as package math/big
// has it: Below, Exact or Above. What overflows to an infinity, or saturates,
// lies where that is. Of a NaN, and of an infinity that stays one, it is Exact.
func (f Format) Accuracy(x float64, mode RoundingMode) big.Accuracy {
	switch z := f.Round(x, mode); {
	case z < x:
		return big.Below
	case z > x:
		return big.Above
	}
	return big.Exact
}
