package roundoff

import "math"

// Azuma returns √(2 log(2/ζ) Σc_k²), which |Σ x_k| exceeds with probability at
// most ζ = e^f. Each x_k is in [-c_k, c_k] and has mean zero conditionally on
// those before it. The argument squares is Σc_k². It panics if squares is
// negative or NaN, or unless -Inf < f < 0.
//
// Source: Azuma 1967; Hoeffding 1963, Theorem 2, if the x_k are independent.
func Azuma(squares float64, f Failure) float64 {
	check.NotNegative("squares", squares)
	return math.Sqrt(2 * f.TwoSidedLog() * squares)
}

// Bernstein returns t = cl/3 + √((cl/3)² + 2lV), l = log(2/ζ), which |Σ x_k|
// exceeds with probability at most ζ = e^f. Conditionally on those before it,
// each x_k has mean zero and absolute value at most c = largest, and the
// conditional variances add up to at most V = variance. The probability that
// any partial sum exceeds t in absolute value is also at most ζ: all of them
// count as one event. It panics if variance or largest is negative or NaN, or
// unless -Inf < f < 0.
//
// Source: Bernstein's inequality, solved for t; Freedman 1975, Theorem 1.6, for
// partial sums and dependent x_k.
func Bernstein(variance, largest float64, f Failure) float64 {
	check.NotNegative("variance", variance)
	check.NotNegative("largest", largest)
	l := f.TwoSidedLog()
	h := l * largest / 3
	return h + math.Sqrt(h*h+2*l*variance)
}

// TwoSidedLog returns log(2/ζ), ζ = e^f, the exponent of a two-sided inequality
// of which each side fails with probability ζ/2. It panics unless -Inf < f < 0.
func (f Failure) TwoSidedLog() float64 {
	checkFailure(f)
	return math.Ln2 - float64(f)
}

// Split returns the failure that each of n statements may have if together they
// are to fail with probability at most e^f, by the union bound: f - log n. It
// panics unless n >= 1; n need not be an integer.
func (f Failure) Split(n float64) Failure {
	check.Number("events", n, n >= 1, "events >= 1")
	return f - Failure(math.Log(n))
}
