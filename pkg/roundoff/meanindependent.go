package roundoff

import "math"

// MeanIndependent is the probabilistic analysis with the weakest assumptions on
// the errors δ_i: each has mean zero conditionally on those before it, and
// |δ_i| <= u. Stochastic rounding provably satisfies them, with u = 2^(1-p)
// rather than 2^-p. Its methods panic if Lambda is negative or NaN.
//
// Source: Connolly, Higham & Mary 2021.
type MeanIndependent struct{ Lambda float64 }

// Theta returns γ̃_n(λ) = exp((λ√n u + nu²)/(1-u)) - 1, which is 0 for n = 0.
// It panics if n < 0 or u is outside (0, 1).
func (m MeanIndependent) Theta(n int, u float64) float64 {
	return math.Expm1((GammaTildeLinear(n, u, m.Lambda) + float64(n)*(u*u)) / (1 - u))
}

// Failure returns log(2 exp(-λ²/2)), by the inequality of [Azuma], the same for
// every n >= 1 and every u. It returns Never for n = 0. It panics if n < 0 or u
// is outside (0, 1).
func (m MeanIndependent) Failure(n int, u float64) Failure {
	check.Index("n", n)
	check.Unit("u", u)
	check.NotNegative("lambda", m.Lambda)
	if n == 0 {
		return Never
	}
	return Failure(math.Ln2 - m.Lambda*m.Lambda/2)
}

// MeanIndependentLambda returns the λ at which the given number of products all
// satisfy their bounds with probability at least 1-ζ, ζ = e^f: √(2 log(2
// events/ζ)). It panics if events < 1 or NaN, or unless -Inf < f < 0.
func MeanIndependentLambda(f Failure, events float64) float64 {
	return Azuma(1, f.Split(events))
}

// Chebyshev returns √(((1+u²)^n - 1)/ζ), ζ = e^f, which bounds |ŝ - s|/Σ|p| for
// a sum of terms p with probability at least 1 - ζ. At most n mean-independent
// errors affect each term, so that the root mean square of ŝ - s is at most
// √((1+u²)^n - 1) Σ|p|. The bound is smaller than that of [MeanIndependent]
// where ζ is not small. It panics if n < 1, u is outside (0, 1), or unless -Inf
// < f < 0.
//
// Source: El Arar, Sohier, de Oliveira Castro & Petit 2023.
func Chebyshev(n int, u float64, f Failure) float64 {
	check.Count("n", n)
	check.Unit("u", u)
	checkFailure(f)
	return math.Sqrt(math.Expm1(float64(n)*math.Log1p(u*u))) * math.Exp(-float64(f)/2)
}
