package roundoff

import (
	"math"
	"strconv"
)

// VIBEA is the variance-informed probabilistic backward error analysis. It
// assumes that the rounding errors δ_i are independent and uniform on [-u, u].
// Theta is the γ̃_n(Lambda) of the chosen form, Failure is [VIBEAFailure]. Its
// methods panic if Lambda is negative or NaN; Theta also panics if Form is none
// of the three.
//
// Source: Bhola & Duraisamy 2024, Lemma 2.
type VIBEA struct {
	Lambda float64
	Form   Form // the zero value is Rigorous
}

// A Form says which constant γ̃_n(λ) a VIBEA uses. The paper does not define
// it.
type Form int

const (
	Rigorous Form = iota // GammaTilde: what the proof of the lemma gives
	Linear               // GammaTildeLinear: λ√n u, not a bound at the lemma's probability
	Moment               // GammaTildeMoment: with the exact mean, tighter and still a bound
)

// Theta returns γ̃_n(Lambda) in the chosen form.
func (v VIBEA) Theta(n int, u float64) float64 {
	switch v.Form {
	case Rigorous:
		return GammaTilde(n, u, v.Lambda)
	case Linear:
		return GammaTildeLinear(n, u, v.Lambda)
	case Moment:
		return GammaTildeMoment(n, u, v.Lambda)
	}
	panic("roundoff: Form = " + strconv.Itoa(int(v.Form)) + ", want Rigorous, Linear or Moment")
}

// Failure returns VIBEAFailure(Lambda, u, n) for every form.
func (v VIBEA) Failure(n int, u float64) Failure { return VIBEAFailure(v.Lambda, u, n) }

// VIBEAFailure returns log(1 - P_B(λ, u, n)), the failure of |θ̃_n| <= γ̃_n(λ),
// where
//
//	1 - P_B = 2 exp(-λ²nu² / (2(σ² + λ√n u²/(3(1-u))))).
//
// It is Bernstein's inequality for the sum of log(1+δ_i), with |log(1+δ) - μ|
// <= u/(1-u). The failure decreases as λ grows, and as n grows from 1. It is
// positive, hence vacuous, for small λ. P_B itself is never computed. For n =
// 0, the empty product, it is [Never]. It panics if lambda is negative or NaN,
// u is outside (0, 1), or n < 0.
//
// Source: Bhola & Duraisamy 2024, Lemma 2.
//
// differs: the lemma says u <= 1; it needs u < 1.
func VIBEAFailure(lambda, u float64, n int) Failure {
	check.NotNegative("lambda", lambda)
	check.Unit("u", u)
	check.Index("n", n)
	if n == 0 {
		return Never
	}
	return bernsteinFailure(lambda, varianceRatio(u), linearTerm(u, float64(n)))
}

// Lambda returns the λ at which one product of n factors satisfies |θ̃_n| <=
// γ̃_n(λ) with probability at least P_B(λ, u, n) = 1-e^f: the inverse of
// [VIBEAFailure], the positive root of a quadratic. For a whole matrix product
// see [GEMM.Lambda]. It is 0 for n = 0, the empty product. It panics if u is
// outside (0, 1), n < 0, or unless -Inf < f < 0.
//
// differs: the paper reports neither λ nor the confidence of its experiments.
func Lambda(f Failure, u float64, n int) float64 {
	checkFailure(f)
	check.Unit("u", u)
	check.Index("n", n)
	if n == 0 {
		return 0
	}
	return bernsteinLambda(f, u, n)
}

// bernsteinFailure returns log 2 - λ²/(2(ratio + λ linear)), Bernstein's
// inequality with numerator and denominator divided by λnu². Small u does not
// underflow, and λ = 0 and +Inf need no special treatment.
func bernsteinFailure(λ, ratio, linear float64) Failure {
	return Failure(math.Ln2 - λ/(2*(ratio/λ+linear)))
}

// bernsteinLambda returns the λ with VIBEAFailure(λ, u, n) = f.
func bernsteinLambda(f Failure, u float64, n int) float64 {
	l := math.Ln2 - float64(f) // log(2/failure)
	h := l * linearTerm(u, float64(n))
	return h + math.Sqrt(h*h+2*l*varianceRatio(u))
}

// linearTerm returns 1/(3√n(1-u)), the term of Bernstein's inequality that is
// linear in λ, divided by nu²λ.
func linearTerm(u, n float64) float64 { return 1 / (3 * math.Sqrt(n) * (1 - u)) }
