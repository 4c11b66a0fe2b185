package roundoff

import "math"

// MeanIndependent is the probabilistic analysis that assumes the least of the
// errors δ_i: each has mean zero given those before it, and |δ_i| <= u. For
// stochastic rounding, where u is 2^(1-p) and not 2^-p, that is a theorem. Its
// methods panic if Lambda is negative or NaN.
//
// Source: Connolly, Higham & Mary 2021.
type MeanIndependent struct{ Lambda float64 }

// Theta returns γ̃_n(λ) = exp((λ√n u + nu²)/(1-u)) - 1, which is 0 for n = 0.
// It panics if n < 0 or u is outside (0, 1).
func (m MeanIndependent) Theta(n int, u float64) float64 {
	return math.Expm1((GammaTildeLinear(n, u, m.Lambda) + float64(n)*(u*u)) / (1 - u))
}

// Failure returns log(2 exp(-λ²/2)), by [Azuma], the same for every n and u,
// and Never for n = 0. It panics if n < 0 or u is outside (0, 1).
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
// obey their bounds but for a failure of e^f: √(2 log(2 events/ζ)). It panics
// if events < 1 or NaN, or unless -Inf < f < 0.
func MeanIndependentLambda(f Failure, events float64) float64 {
	return Azuma(1, f.Split(events))
}

// Chebyshev returns √(((1+u²)^n - 1)/ζ), which with probability 1 - ζ bounds
// the error of a sum over Σ|p|, if each p meets at most n mean-independent
// errors: the root mean square of the error is √((1+u²)^n - 1) Σ|p| at most. It
// beats [MeanIndependent] where ζ = e^f is not small. It panics if n < 1, u is
// outside (0, 1), or unless -Inf < f < 0.
//
// Source: El Arar, Sohier, de Oliveira Castro & Petit 2023.
func Chebyshev(n int, u float64, f Failure) float64 {
	check.Count("n", n)
	check.Unit("u", u)
	checkFailure(f)
	return math.Sqrt(math.Expm1(float64(n)*math.Log1p(u*u))) * math.Exp(-float64(f)/2)
}
