package truncation

import "math"

// Closed forms of what truncation does to long sums of random products, in the
// notation f = -log2 2u for the bits of the sum after the point, F >= f for
// those that alignment keeps, and L for the terms of a step. A running sum s is
// taken to have a significand x in [1, 2) of density 1/(x ln 2), so that
//
//	E 2^⌊lg s⌋ = s/(2 ln 2),  E 4^⌊lg s⌋ = 3s²/(8 ln 2),
//
// a discarded part to be uniform, and products to have far more bits than are
// kept. They are good for sums of some thousand products, of error far below 1:
// not where F = 13 and the sum stops growing, nor for data of few bits. See
// [RunningSum] for those.

// Delta returns δ = 2^-F + (2^-f - 2^-F)/L, twice the part of the running sum
// that a step loses for each of its products, on products of one sign: the
// first term by aligning the products, the second by cutting off the sum. With
// Nearest it is 2^-F. It panics if Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) Delta() float64 {
	grid := math.Ldexp(1, -t.FractionBits)
	return grid + t.excess()/float64(t.Terms)
}

// excess returns 2^-f - 2^-F, what can be cut off a sum over its exponent; 0
// with Nearest.
func (t Accumulator) excess() float64 {
	check.Count("Terms", t.Terms)
	check.Unit("Unit", t.Unit)
	if t.Nearest {
		return 0
	}
	return max(0, 2*t.Unit-math.Ldexp(1, -t.FractionBits))
}

// BinadeTheta returns θ = 2(x - 2/3)/x², between 2/3 and 3/4, for the
// significand x in [1, 2) of the sum of K products, K|μ|: how much of the units
// of a growing sum come from its last binade. It panics unless 0 < sum < +Inf.
//
// Source: derived here. A sum that grows from 0 to x 2^n meets the units 2^⌊lg
// s⌋, of the mean (x - 2/3) 2^n/x.
func BinadeTheta(sum float64) float64 {
	check.Positive("sum", sum)
	fraction, _ := math.Frexp(sum)
	x := 2 * fraction
	return 2 * (x - 2.0/3) / (x * x)
}

// MeanError returns -(K/4)θδ, the mean relative error of a sum of K products of
// mean μ ≠ 0. It panics if K < 1, μ = 0, Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) MeanError(p ProductMoments, K int) float64 {
	check.Count("K", K)
	check.Positive("|mean|", math.Abs(p.Mean))
	k := float64(K)
	return -k / 4 * BinadeTheta(k*math.Abs(p.Mean)) * t.Delta()
}

// Kappa returns κ = (2^-f - 2^-F)/(4 ln 2), the part of the running sum that
// cutting it off loses at every step; 0 with Nearest. It panics if Terms < 1 or
// Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) Kappa() float64 { return t.excess() / (4 * math.Ln2) }

// ErrorSlope returns the slope of the error on the exact sum for products of
// symmetric distribution,
//
//	β = -(κK/2L + √(2/π)/(6 ln 2) (E|p|/σ) √K 2^-F + [F = f] √(K/L) 2^-f/(6π ln 2)),
//
// of which the terms are what cutting off the sum, aligning the products and
// carries do. With Nearest the first and the last are 0. It panics if K < 1, σ
// = 0, Terms < 1 or Unit is outside (0, 1).
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
// the drift towards zero and the noise of aligning; with Nearest the noise of
// rounding, uσK/(4√(L ln 2)), takes the place of the drift. It panics if K < 1,
// Terms < 1 or Unit is outside (0, 1).
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

// DriftLength returns K* = 3 ln 2 (L/(2^(F-f) - 1))², from which on the error
// of a sum of products of symmetric distribution is drift and no longer noise:
// where the two terms of [Accumulator.ErrorDeviation] are equal. It is +Inf
// where F = f, and with Nearest. It panics if Terms < 1 or Unit is outside (0,
// 1).
//
// Source: derived here.
func (t Accumulator) DriftLength() float64 {
	ratio := math.Ldexp(t.excess(), t.FractionBits) / float64(t.Terms)
	return 3 * math.Ln2 / (ratio * ratio)
}

// BreakdownLength returns K_c = (4λu/(θδ))², from which on the mean error of a
// sum of products of one sign exceeds λ√K u: no bound that takes errors as of
// mean zero can hold for longer sums. It panics if lambda is negative or NaN, θ
// is not positive, Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) BreakdownLength(lambda, theta float64) float64 {
	check.NotNegative("lambda", lambda)
	check.Positive("theta", theta)
	x := 4 * lambda * t.Unit / (theta * t.Delta())
	return x * x
}
