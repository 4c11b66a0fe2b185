package roundoff

import "math"

// Gamma returns γ_n = nu/(1-nu), the bound on |θ_n| for a product of n factors
// (1+δ_i)^±1 = 1+θ_n with |δ_i| <= u. Where nu >= 1 the lemma does not apply
// and Gamma returns +Inf; [Unrestricted] is finite there. It is 0 for n = 0,
// the empty product. It panics if n < 0 or u is outside (0, 1).
//
// Source: Higham 2002, Lemma 3.1 (Bhola & Duraisamy 2024, Lemma 1).
func Gamma(n int, u float64) float64 {
	check.Index("n", n)
	check.Unit("u", u)
	x := float64(n) * u
	if x >= 1 {
		return math.Inf(1)
	}
	return x / (1 - x)
}

// Unrestricted returns (1-u)^-n - 1, the largest |θ_n| that n factors
// (1+δ_i)^±1 can produce. It needs no condition on nu, never exceeds [Gamma],
// and is +Inf only where it overflows float64: nu > 709 for small u, nu >= 512
// at u = 1/2. It is 0 for n = 0, the empty product. It panics if n < 0 or u is
// outside (0, 1).
//
// differs: the paper states γ_n only.
func Unrestricted(n int, u float64) float64 {
	check.Index("n", n)
	check.Unit("u", u)
	return math.Expm1(-float64(n) * math.Log1p(-u))
}

// Compound returns (1+u)^n - 1, the largest |θ_n| that n factors 1+δ_i can
// produce. No factor is a reciprocal, as in the analysis of a sum. It is the
// [Compose] of n errors u, never exceeds [Unrestricted], and is +Inf only where
// it overflows float64: nu > 709 for small u, a larger nu for large u. It is 0
// for n = 0, the empty product. It panics if n < 0 or u is outside (0, 1).
//
// Source: derived here; the lower end (1-u)^n is nearer to 1, as (1+u)^n - 1 >=
// 1 - (1-u)^n.
//
// differs: the paper states γ_n only.
func Compound(n int, u float64) float64 {
	check.Index("n", n)
	check.Unit("u", u)
	return math.Expm1(float64(n) * math.Log1p(u))
}

// Compose returns a + b + ab, the bound on |θ| for (1+θ_a)(1+θ_b) = 1+θ with
// |θ_a| <= a and |θ_b| <= b. Compose(0, +Inf) is +Inf. For γ constants
// Compose(γ_j, γ_k) <= γ_(j+k). It panics if a or b is negative or NaN.
//
// Source: Higham 2002, Lemma 3.3.
func Compose(a, b float64) float64 {
	check.NotNegative("a", a)
	check.NotNegative("b", b)
	if a == 0 || b == 0 {
		return a + b // FMA(+Inf, 0, ...) would be NaN
	}
	return math.FMA(a, b, a+b)
}

// GammaTilde returns γ̃_n(λ) = exp(λ√n u + nu²/(1-u)) - 1, the probabilistic
// counterpart of [Gamma]: it grows like √n until the term nu² dominates. It
// bounds |θ_n| except with the probability of [VIBEAFailure] under the
// assumptions of that lemma, and except with that of [HighamMaryFailure] under
// weaker ones. It is 0 for n = 0, the empty product. It panics if n < 0, u is
// outside (0, 1), or lambda is negative or NaN.
//
// Source: Higham & Mary 2019, Theorem 2.4.
//
// differs: the paper uses γ̃ without defining it; this is the form that the
// proof of its Lemma 2 gives.
func GammaTilde(n int, u, lambda float64) float64 {
	return math.Expm1(GammaTildeLinear(n, u, lambda) + float64(n)*(u*u)/(1-u))
}

// GammaTildeLinear returns λ√n u, the first-order part of [GammaTilde]. It is
// not a bound at the probability of Lemma 2: it neglects the mean of log(1+δ)
// and the curvature of exp, which matters where λ√n u is not small. It is 0 for
// n = 0, the empty product. It panics if n < 0, u is outside (0, 1), or lambda
// is negative or NaN.
func GammaTildeLinear(n int, u, lambda float64) float64 {
	check.Index("n", n)
	check.Unit("u", u)
	check.NotNegative("lambda", lambda)
	if n == 0 {
		return 0 // also at λ = +Inf
	}
	return lambda * math.Sqrt(float64(n)) * u
}

// GammaTildeMoment returns exp(λ√n u + n|μ|) - 1 with the exact mean μ = E
// log(1+δ) of [LogMean] in place of its bound u²/(1-u). It too bounds |θ_n|
// except with the probability of [VIBEAFailure], but for uniform δ only. It is
// smaller than [GammaTilde]. It is 0 for n = 0, the empty product. It panics if
// n < 0, u is outside (0, 1), or lambda is negative or NaN.
func GammaTildeMoment(n int, u, lambda float64) float64 {
	return math.Expm1(GammaTildeLinear(n, u, lambda) + float64(n)*math.Abs(LogMean(u)))
}
