package quantisation

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// Conformal returns a bound that the score of a new row exceeds with a
// probability of at most alpha, from the scores of n calibration rows: the
// ⌈(n+1)(1-alpha)⌉-th of them in increasing order. A score is any number that
// is computed from a row alone, such as its largest error in [RowMaxima], which
// bounds all outputs of the row at once.
//
// The rows are assumed to be exchangeable, the new one among them, and nothing
// else: any distribution, heavy tails and dependent outputs are allowed. The
// probability is that over calibration rows and new row together; without equal
// scores it is more than alpha - 1/(n+1). Rows of other inputs than those that
// calibrated, or of a signal that drifts, are not exchangeable. For M new rows
// at once alpha/M holds by the union bound.
//
// The error says how many rows are needed if n < 1/alpha - 1, or names a score
// that is NaN. Conformal panics unless 0 < alpha < 1.
//
// Source: Vovk, Gammerman & Shafer 2005; the split, Papadopoulos et al. 2002.
func Conformal(scores []float64, alpha float64) (float64, error) {
	check.Unit("alpha", alpha)
	n := len(scores)
	above := int(float64(n+1) / (1 / alpha)) // ranks of a new row that are above the bound
	if above < 1 {
		return 0, fmt.Errorf("quantisation: Conformal: n = %d calibration rows, want n >= %.0f for alpha = %v", n, math.Ceil(1/alpha)-1, alpha)
	}
	for i, s := range scores {
		if math.IsNaN(s) {
			return 0, fmt.Errorf("quantisation: Conformal: score %d is NaN", i)
		}
	}
	return slices.Sorted(slices.Values(scores))[n-above], nil
}

// RowMaxima returns the largest |E_ij| of every row of E. It panics if E is
// empty or its data are too short.
func RowMaxima(E blas64.General) []float64 {
	checkMatrix("RowMaxima", "E", E)
	z := make([]float64, E.Rows)
	for i := range z {
		for _, v := range E.Data[i*E.Stride : i*E.Stride+E.Cols] {
			z[i] = max(z[i], math.Abs(v))
		}
	}
	return z
}
