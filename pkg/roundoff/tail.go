package roundoff

import "math"

// Azuma returns √(2 log(2/ζ) Σc_k²), which |Σ x_k| exceeds with probability at
// most ζ = e^f, for x_k in [-c_k, c_k], each of mean zero given those before
// it. It takes squares = Σc_k². It panics if squares is negative or NaN, or
// unless -Inf < f < 0.
//
// Source: Azuma 1967; Hoeffding 1963, Theorem 2, if the x_k are independent.
func Azuma(squares float64, f Failure) float64 {
	check.NotNegative("squares", squares)
	return math.Sqrt(2 * f.TwoSidedLog() * squares)
}

// Bernstein returns t = cl/3 + √((cl/3)² + 2lV), l = log(2/ζ), which |Σ x_k|
// exceeds with probability at most ζ = e^f, for x_k of mean zero and size at
// most c = largest, each given those before it, whose variances add up to at
// most V = variance. The largest of the partial sums exceeds t with no more
// probability: one event pays for all of them. It panics if variance or largest
// is negative or NaN, or unless -Inf < f < 0.
//
// Source: Bernstein's inequality, solved for t; Freedman 1975, Theorem 1.6, for
// partial sums and dependence on the past.
func Bernstein(variance, largest float64, f Failure) float64 {
	check.NotNegative("variance", variance)
	check.NotNegative("largest", largest)
	l := f.TwoSidedLog()
	h := l * largest / 3
	return h + math.Sqrt(h*h+2*l*variance)
}

// TwoSidedLog returns log(2/ζ), of a statement with two sides that each fail
// with probability ζ/2. It panics unless -Inf < f < 0.
func (f Failure) TwoSidedLog() float64 {
	checkFailure(f)
	return math.Ln2 - float64(f)
}

// Split returns the failure of each of n statements that fail with probability
// e^f together, by the union bound: f - log n. It panics unless n >= 1; n may
// be no integer.
func (f Failure) Split(n float64) Failure {
	check.Number("events", n, n >= 1, "events >= 1")
	return f - Failure(math.Log(n))
}
