package roundoff

import "math"

// An ErrorModel is what Bernstein's inequality takes of a random rounding error
// δ: the moments and the range of log(1+δ). [UniformErrors], [TypicalErrors],
// [BenfordErrors] and [BetaErrors] are models of δ.
//
// The paper's Lemma 2 is UniformErrors, with bounds in place of Mean and
// Largest.
type ErrorModel struct {
	Mean     float64 // at least |E log(1+δ)|
	Variance float64 // at least Var log(1+δ)
	Largest  float64 // at least |log(1+δ) - E log(1+δ)|
}

// Theta returns γ̂_n = exp(t + n|μ|) - 1, t by [Bernstein] from n variances.
// With probability 1 - e^f it bounds |θ_n| for a product of n factors
// (1+δ_i)^±1, and those of its first 1, 2, ..., n-1 factors as well: it is a
// union bound over the products of one sum for the price of one event. It is 0
// for n = 0. It panics if n < 0 or unless -Inf < f < 0.
//
// Source: Bhola & Duraisamy 2024b, later versions, for one product; Freedman
// 1975 for all.
func (e ErrorModel) Theta(n int, f Failure) float64 {
	check.Index("n", n)
	if n == 0 {
		return 0
	}
	m := float64(n)
	return math.Expm1(Bernstein(m*e.Variance, e.Largest, f) + m*e.Mean)
}

// UniformErrors is the distribution of the paper's Lemma 2, δ uniform on [-u,
// u]: its variance is [LogVariance], near u²/3. It panics if u is outside (0,
// 1).
//
// Source: Bhola & Duraisamy 2024, Lemma 2.
//
// differs: Largest is -log(1-u) + |μ|, which is below the u/(1-u) of the lemma.
func UniformErrors(u float64) ErrorModel {
	μ := math.Abs(LogMean(u))
	return ErrorModel{Mean: μ, Variance: LogVariance(u), Largest: μ - math.Log1p(-u)}
}

// TypicalErrors is the distribution of the error of rounding a number of
// uniform significand, Var δ = u²/6: the errors of a result in [1, 2) are
// uniform on ±u in absolute size, and so smaller, relatively, towards 2. It
// panics if u is outside (0, 1).
//
// Source: Dahlqvist, Salvia & Constantinides 2019.
func TypicalErrors(u float64) ErrorModel { return centred(u, u*u/6) }

// BenfordErrors is the distribution of the error of rounding a number whose
// significand has the density 1/(s log 2), Var δ = u²/(8 log 2) = 0.18u².
// Significands of long products tend to it. It panics if u is outside (0, 1).
//
// Source: Dahlqvist, Salvia & Constantinides 2019, for the method; the variance
// derived here: given s, δ is uniform on ±u/s, and E u²/(3s²) = u²/(3 log 2) ∫
// s^-3 ds over [1, 2].
func BenfordErrors(u float64) ErrorModel { return centred(u, u*u/(8*math.Ln2)) }

// BetaErrors is the distribution log(1+δ) = log(1-u) + Λz, z from Beta(a, b)
// and Λ = 2 atanh u, so that |δ| <= u. With a = b the logarithm has mean zero;
// else its mean, about u(a-b)/(a+b), adds up to an error linear in n. It panics
// if u is outside (0, 1), or a or b is not positive.
//
// Source: Bhola & Duraisamy 2024b, third version.
//
// differs: Largest is the distance from the mean to the farther end; log(1+u)
// may be too small.
func BetaErrors(u, a, b float64) ErrorModel {
	check.Unit("u", u)
	check.Positive("a", a)
	check.Positive("b", b)
	s := math.Atanh(u)
	μ := math.Log1p(-u*u)/2 + s*(a-b)/(a+b)
	return ErrorModel{
		Mean:     math.Abs(μ),
		Variance: 4 * s * s * a * b / ((a + b) * (a + b) * (a + b + 1)),
		Largest:  max(math.Log1p(u)-μ, μ-math.Log1p(-u)),
	}
}

// centred returns the distribution of a δ in [-u, u] of mean zero and variance
// v, by δ - δ²/(2(1-u)²) <= log(1+δ) <= δ and |log(1+δ)| <= |δ|/(1-u).
func centred(u, v float64) ErrorModel {
	check.Unit("u", u)
	r := v / ((1 - u) * (1 - u))
	return ErrorModel{Mean: r / 2, Variance: r, Largest: r/2 - math.Log1p(-u)}
}
