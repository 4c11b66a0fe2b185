package tcore

import "math/big"

// Accuracy returns on which side of x the rounded number fl(x) lies, as a
// [big.Accuracy]: Below, Exact or Above. If x overflows or saturates, fl(x) is
// the infinity or ±Max that replaces it. The result is Exact if x or fl(x) is a
// NaN, and if an infinity remains an infinity.
func (f Format) Accuracy(x float64, mode RoundingMode) big.Accuracy {
	switch z := f.Round(x, mode); {
	case z < x:
		return big.Below
	case z > x:
		return big.Above
	}
	return big.Exact
}
