package roundoff

import "math"

// HighamMary is the probabilistic backward error analysis of Higham and Mary.
// It assumes that the rounding errors are independent, of mean zero and at most
// u in absolute value, but no distribution. Theta is [GammaTilde]. Failure is
// [HighamMaryFailure], the same for every n >= 1. Its methods panic if Lambda
// is negative or NaN.
//
// Source: Higham & Mary 2019, Theorem 2.4.
type HighamMary struct{ Lambda float64 }

// Theta returns GammaTilde(n, u, Lambda).
func (h HighamMary) Theta(n int, u float64) float64 { return GammaTilde(n, u, h.Lambda) }

// Failure returns HighamMaryFailure(Lambda, u) for n >= 1, and Never for n = 0.
func (h HighamMary) Failure(n int, u float64) Failure {
	check.Index("n", n)
	f := HighamMaryFailure(h.Lambda, u)
	if n == 0 {
		return Never
	}
	return f
}

// HighamMaryFailure returns log(2 exp(-λ²(1-u)²/2)), the failure of |θ_n| <=
// γ̃_n(λ) for one product of any number of factors. It panics if lambda is
// negative or NaN or u is outside (0, 1).
//
// Source: Higham & Mary 2019, Theorem 2.4 (Hoeffding's inequality).
func HighamMaryFailure(lambda, u float64) Failure {
	check.NotNegative("lambda", lambda)
	check.Unit("u", u)
	x := lambda * (1 - u)
	return Failure(math.Ln2 - x*x/2)
}

// HighamMaryLambda returns the λ at which the given number of products all
// satisfy |θ_n| <= γ̃_n(λ) with probability at least 1-ζ, ζ = e^f: √(2 log(2
// events/ζ))/(1-u). It panics if u is outside (0, 1), events < 1 or NaN, or
// unless -Inf < f < 0.
//
// Source: Higham & Mary 2019, Theorem 2.4, inverted.
func HighamMaryLambda(f Failure, u, events float64) float64 {
	check.Unit("u", u)
	check.Number("events", events, events >= 1, "events >= 1")
	return math.Sqrt(2*(f.TwoSidedLog()+math.Log(events))) / (1 - u)
}
