package truncation

import "math"

// Closed forms of the errors that truncation makes in long sums of random
// products. The notation is f = -log2 2u for the number of bits of the sum
// after the point, F >= f for the number of those that alignment keeps, and L
// for the number of terms of a step. They assume that a running sum s has a
// significand x in [1, 2) of density 1/(x ln 2), so that
//
//	E 2^⌊lg s⌋ = s/(2 ln 2),  E 4^⌊lg s⌋ = 3s²/(8 ln 2),
//
// that a discarded part is uniform, and that products have far more bits than
// are kept. They are accurate for sums of some thousand products with errors
// far below 1. They are not where F = 13 and the sum stops growing, nor for
// data of few bits: see [RunningSum] for those.

// Delta returns δ = 2^-F + (2^-f - 2^-F)/L. In a sum of products of one sign a
// step loses δ/2 on average for each of its products, in units of 2^⌊lg s⌋: the
// first term by aligning the products, the second by truncating the sum. With
// Nearest δ is 2^-F. Delta panics if Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) Delta() float64 {
	grid := math.Ldexp(1, -t.FractionBits)
	return grid + t.excess()/float64(t.Terms)
}

// excess returns 2^-f - 2^-F, or 0 if that is negative: the most that
// truncating a sum s cuts off, in units of 2^⌊lg s⌋. With Nearest it is 0.
func (t Accumulator) excess() float64 {
	check.Count("Terms", t.Terms)
	check.Unit("Unit", t.Unit)
	if t.Nearest {
		return 0
	}
	return max(0, 2*t.Unit-math.Ldexp(1, -t.FractionBits))
}

// BinadeTheta returns θ = 2(x - 2/3)/x², between 2/3 and 3/4, for the
// significand x in [1, 2) of sum, the sum K|μ| of K products. θ/2 is the mean
// of 2^⌊lg s⌋ over the running sums s, divided by the final sum. BinadeTheta
// panics unless 0 < sum < +Inf.
//
// Source: derived here. While a sum grows from 0 to x 2^n, the mean of 2^⌊lg s⌋
// is (x - 2/3) 2^n/x.
func BinadeTheta(sum float64) float64 {
	check.Positive("sum", sum)
	fraction, _ := math.Frexp(sum)
	x := 2 * fraction
	return 2 * (x - 2.0/3) / (x * x)
}

// MeanError returns -(K/4)θδ, the mean relative error of a sum of K products of
// mean μ ≠ 0. It panics if K < 1, |μ| is not positive and finite, Terms < 1 or
// Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) MeanError(p ProductMoments, K int) float64 {
	check.Count("K", K)
	check.Positive("|mean|", math.Abs(p.Mean))
	k := float64(K)
	return -k / 4 * BinadeTheta(k*math.Abs(p.Mean)) * t.Delta()
}

// Kappa returns κ = (2^-f - 2^-F)/(4 ln 2), the mean fraction of the running
// sum that truncating it cuts off at every step; 0 with Nearest. It panics if
// Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) Kappa() float64 { return t.excess() / (4 * math.Ln2) }

// ErrorSlope returns the slope of the regression of the error on the exact sum,
// for products of symmetric distribution,
//
//	β = -(κK/2L + √(2/π)/(6 ln 2) (E|p|/σ) √K 2^-F + [F = f] √(K/L) 2^-f/(6π ln 2)).
//
// The three terms are the effects of truncating the sum, of aligning the
// products, and of carries. With Nearest the first and the last are 0.
// ErrorSlope panics if K < 1, σ² is not positive and finite, Terms < 1 or Unit
// is outside (0, 1).
//
// Source: derived here. A carry is a path of s through a power of two, outward;
// it loses a bit every other time.
func (t Accumulator) ErrorSlope(p ProductMoments, K int) float64 {
	check.Count("K", K)
	check.Positive("variance", p.Variance)
	q := float64(K) / float64(t.Terms)
	β := t.Kappa()*q/2 + math.Sqrt(2/math.Pi)/(6*math.Ln2)*p.Abs*math.Sqrt(float64(K)/p.Variance)*math.Ldexp(1, -t.FractionBits)
	if !t.Nearest && t.excess() == 0 {
		β += 2 * t.Unit * math.Sqrt(q) / (6 * math.Pi * math.Ln2)
	}
	return -β
}

// ErrorDeviation returns the standard deviation of the error of a sum of K
// products of symmetric distribution,
//
//	√((κσK^(3/2)/(L√3))² + (σK 2^-F)²/(16 ln 2)),
//
// from the drift towards zero and from the noise of aligning. With Nearest the
// noise of rounding, uσK/(4√(L ln 2)), replaces the drift. ErrorDeviation
// panics if K < 1, Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) ErrorDeviation(p ProductMoments, K int) float64 {
	check.Count("K", K)
	k, L, σ := float64(K), float64(t.Terms), math.Sqrt(p.Variance)
	sum := t.Kappa() * σ * k * math.Sqrt(k/3) / L
	if t.Nearest {
		sum = t.Unit * σ * k / (4 * math.Sqrt(L*math.Ln2))
	}
	return math.Hypot(sum, σ*k*math.Ldexp(1, -t.FractionBits)/(4*math.Sqrt(math.Ln2)))
}

// DriftLength returns K* = 3 ln 2 (L/(2^(F-f) - 1))², the number of products at
// which the two terms of [Accumulator.ErrorDeviation] are equal. In longer sums
// of products of symmetric distribution the error is mostly drift, in shorter
// ones noise. K* is +Inf where F = f, and with Nearest. DriftLength panics if
// Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) DriftLength() float64 {
	ratio := math.Ldexp(t.excess(), t.FractionBits) / float64(t.Terms)
	return 3 * math.Ln2 / (ratio * ratio)
}

// BreakdownLength returns K_c = (4λu/(θδ))², the number of products of one sign
// from which on the mean error of their sum exceeds λ√K u. For longer sums no
// bound that assumes errors of mean zero can be valid. BreakdownLength panics
// if lambda is negative or NaN, theta is not positive and finite, Terms < 1 or
// Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) BreakdownLength(lambda, theta float64) float64 {
	check.NotNegative("lambda", lambda)
	check.Positive("theta", theta)
	x := 4 * lambda * t.Unit / (theta * t.Delta())
	return x * x
}
