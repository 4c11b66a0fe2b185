package roundoff

import "math"

// The mean and variance of log(1+δ) for δ uniform on [-u, u], as usually
// written, are differences of nearly equal numbers, and lose all their digits
// to cancellation as u decreases. With s = atanh u they become
//
//	μ  = -Σ_(k>=1) u^2k/(2k(2k+1))
//	σ² = 1 - (1-u²)(s/u)² = 1 - (s/sinh s)²
//
// since u = tanh s gives (1-u²)/u² = 1/sinh² s. All terms of the series for μ
// have the same sign. With sinh(s)/s = 1 + s²g, where g = 1/3! + s²/5! + s⁴/7!
// + ..., σ² = s²g(2+s²g)/(1+s²g)² is free of cancellation.

// LogMean returns μ = E log(1+δ) for δ uniform on [-u, u]. It is negative and
// close to -u²/6; its relative error is below 1e-14 for u >= 2^-500. It panics
// if u is outside (0, 1).
//
// Source: integration of log(1+δ) over [-u, u], derived here.
func LogMean(u float64) float64 {
	check.Unit("u", u)
	if u > 0.5 {
		return ((1+u)*math.Log1p(u) - (1-u)*math.Log1p(-u) - 2*u) / (2 * u)
	}
	u2 := u * u
	sum, power := 0.0, u2
	for k := 2.0; ; k += 2 {
		next := sum + power/(k*(k+1))
		if next == sum {
			return -sum
		}
		sum = next
		power *= u2
	}
}

// LogVariance returns σ²/n, the variance of log(1+δ) for δ uniform on [-u, u].
// It is close to u²/3; its relative error is below 1e-14 for u >= 2^-500. It
// panics if u is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemma 2.
//
// differs: the printed formula is correct, but its evaluation in floating point
// suffers from cancellation; see [LogVariancePrinted].
func LogVariance(u float64) float64 {
	check.Unit("u", u)
	return u * u * varianceRatio(u)
}

// LogVariancePrinted returns σ²/n by the formula printed in the paper,
//
//	{4u² + κ(log²(1-u) - 2 log(1-u) log(1+u) + log²(1+u))}/(4u²),  κ = u² - 1,
//
// evaluated in float64 as printed. Its terms cancel: the result is 6 % too
// small at u = 2^-24, and 3/4 instead of 4e-33 at u = 2^-53. Use [LogVariance]
// instead. It panics if u is outside (0, 1).
func LogVariancePrinted(u float64) float64 {
	check.Unit("u", u)
	l, r := math.Log(1-u), math.Log(1+u)
	// The conversions force every operation to be rounded, also on machines that
	// fuse x*y + z.
	square := float64(l*l) - float64(2*l*r) + float64(r*r)
	κ := float64(u*u) - 1
	return (float64(4*u*u) + float64(κ*square)) / (4 * u * u)
}

// varianceRatio returns σ²/(nu²), a number between 1/3 and 1.
func varianceRatio(u float64) float64 {
	s := math.Atanh(u)
	g := sinhcRatio(s)
	return (s / u) * (s / u) * g * (2 + s*s*g) / ((1 + s*s*g) * (1 + s*s*g))
}

// sinhcRatio returns g = (sinh(s)/s - 1)/s².
func sinhcRatio(s float64) float64 {
	if s > 1 {
		return (math.Sinh(s)/s - 1) / (s * s)
	}
	sum, term := 0.0, 1.0/6
	for k := 4.0; sum+term != sum; k += 2 {
		sum += term
		term *= s * s / (k * (k + 1))
	}
	return sum
}
