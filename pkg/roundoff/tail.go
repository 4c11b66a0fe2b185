package roundoff

import (
	"fmt"
	"math"
)

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

// UniformTail returns Chernoff's bound
//
//	t = min_θ (log(2/ζ) + Σ n_i log(sinh(θh_i)/(θh_i)) + θ²v/2)/θ,
//
// which |Σ x_k| exceeds with probability at most ζ = e^f. Among the independent
// x_k, n_i are uniform on [-h_i, h_i], with h_i = half[i] and n_i = count[i].
// The others together are sub-Gaussian: the logarithm of the moment generating
// function of their sum is at most θ²v/2. t is at most [Azuma] of v + Σ
// n_i h_i²/3, because sinh(z)/z <= exp(z²/6). It is evaluated in float64, not
// rounded outward. UniformTail panics if the lengths of half and count differ,
// if v or an element of these is negative or NaN, or unless -Inf < f < 0.
//
// Source: Chernoff 1952, with the moment generating function of the uniform
// distribution.
func UniformTail(half, count []float64, v float64, f Failure) float64 {
	if len(half) != len(count) {
		panic(fmt.Sprintf("roundoff: len(count) = %d, want %d, the length of half", len(count), len(half)))
	}
	check.NotNegative("v", v)
	squares := v
	for i, h := range half {
		check.NotNegative("half", h)
		check.NotNegative("count", count[i])
		squares += count[i] * h * h / 3
	}
	l := f.TwoSidedLog()
	if squares == 0 || math.IsInf(squares, 1) {
		return squares
	}
	at := func(logθ float64) float64 {
		θ := math.Exp(logθ)
		sum := l + θ*θ*v/2
		for i, h := range half {
			sum += count[i] * logSinhc(θ*h)
		}
		return sum / θ
	}
	// The sum is convex in θ, so that the quotient falls and then grows. At
	// Azuma's θ it does not grow yet. Every θ gives a bound: that the least is not
	// found exactly does no harm.
	lo := math.Log(2*l/squares) / 2
	best := at(lo)
	hi := lo + math.Ln2
	for next := at(hi); next < best; next = at(hi) {
		best, hi = next, hi+math.Ln2
	}
	const golden = 0.6180339887498949
	lo = max(lo, hi-2*math.Ln2)
	x, y := hi-golden*(hi-lo), lo+golden*(hi-lo)
	atX, atY := at(x), at(y)
	for range 10 {
		best = min(best, atX, atY)
		if atX < atY {
			hi, y, atY = y, x, atX
			x = hi - golden*(hi-lo)
			atX = at(x)
		} else {
			lo, x, atX = x, y, atY
			y = lo + golden*(hi-lo)
			atY = at(y)
		}
	}
	return best
}

// logSinhc returns log(sinh(x)/x) for x >= 0.
func logSinhc(x float64) float64 {
	if x <= 1 {
		return math.Log1p(x * x * sinhcRatio(x))
	}
	return x - math.Log(2*x) + math.Log1p(-math.Exp(-2*x))
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
