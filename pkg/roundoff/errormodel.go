package roundoff

import "math"

// An ErrorModel contains the parameters of a random rounding error δ that
// Bernstein's inequality needs: bounds on the moments and on the range of
// log(1+δ). [UniformErrors], [TypicalErrors], [BenfordErrors] and [BetaErrors]
// return the models of distributions of δ.
//
// The paper's Lemma 2 uses UniformErrors, with larger bounds in place of Mean
// and Largest.
type ErrorModel struct {
	Mean     float64 // at least |E log(1+δ)|
	Variance float64 // at least Var log(1+δ)
	Largest  float64 // at least |log(1+δ) - E log(1+δ)|
}

// Theta returns γ̂_n = exp(t + n|μ|) - 1, with t from [Bernstein] for the sum
// of n variances. With probability at least 1 - e^f it bounds |θ_n| for a
// product of n independent factors (1+δ_i)^±1, and at the same time |θ_k| for
// the products of its first k = 1, 2, ..., n-1 factors: the products of one sum
// count as a single event in a union bound. It is 0 for n = 0. It panics if n <
// 0 and, for n > 0, unless -Inf < f < 0, or if Variance or Largest is negative
// or NaN.
//
// Source: Bhola & Duraisamy 2024b, later versions, for one product; Freedman
// 1975 for all products together.
func (e ErrorModel) Theta(n int, f Failure) float64 {
	check.Index("n", n)
	if n == 0 {
		return 0
	}
	m := float64(n)
	return math.Expm1(Bernstein(m*e.Variance, e.Largest, f) + m*e.Mean)
}

// UniformErrors returns the model of the paper's Lemma 2, δ uniform on [-u, u]:
// its variance is [LogVariance], near u²/3. It panics if u is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemma 2.
//
// differs: Largest is -log(1-u) + |μ|, which is below the u/(1-u) of the lemma.
func UniformErrors(u float64) ErrorModel {
	μ := math.Abs(LogMean(u))
	return ErrorModel{Mean: μ, Variance: LogVariance(u), Largest: μ - math.Log1p(-u)}
}

// TypicalErrors returns the model of rounding a number whose significand is
// uniform on [1, 2), with Var δ = u²/6. The absolute error of a result in [1,
// 2) is uniform on [-u, u], so the relative error decreases towards 2. It
// panics if u is outside (0, 1).
//
// Source: Dahlqvist, Salvia & Constantinides 2019.
func TypicalErrors(u float64) ErrorModel { return centred(u, u*u/6) }

// BenfordErrors returns the model of rounding a number whose significand s has
// the density 1/(s log 2) on [1, 2), with Var δ = u²/(8 log 2) = 0.18u². The
// significands of products of many factors tend to this distribution. It panics
// if u is outside (0, 1).
//
// Source: Dahlqvist, Salvia & Constantinides 2019, for the method; the variance
// is derived here: given s, δ is uniform on [-u/s, u/s], and E u²/(3s²) = u²/(3
// log 2) ∫ s^-3 ds over [1, 2].
func BenfordErrors(u float64) ErrorModel { return centred(u, u*u/(8*math.Ln2)) }

// BetaErrors returns the model log(1+δ) = log(1-u) + Λz, with z distributed as
// Beta(a, b) and Λ = 2 atanh u, so that |δ| <= u. With a = b the mean of the
// logarithm is log(1-u²)/2, of order u². Otherwise it is about u(a-b)/(a+b),
// and n errors add up to an error linear in n. It panics if u is outside (0,
// 1), or if a or b is not positive and finite.
//
// Source: Bhola & Duraisamy 2024b, third version.
//
// differs: Largest is the distance from the mean to the farther end of the
// range of log(1+δ); the paper's log(1+u) may be too small.
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

// centred returns the model of a δ in [-u, u] with mean zero and variance v. It
// uses δ - δ²/(2(1-u)²) <= log(1+δ) <= δ and |log(1+δ)| <= |δ|/(1-u).
func centred(u, v float64) ErrorModel {
	check.Unit("u", u)
	r := v / ((1 - u) * (1 - u))
	return ErrorModel{Mean: r / 2, Variance: r, Largest: r/2 - math.Log1p(-u)}
}
