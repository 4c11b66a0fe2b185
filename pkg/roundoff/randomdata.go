package roundoff

import "math"

// RandomData returns (λ|μ|K^(3/2) + λ²CK)u/(1 - λ√K u), which with probability
// at least 1 - e^f bounds the absolute error of a sum of K exact products added
// one after the other, and it returns λ. The products are independent with mean
// μ and absolute value at most C = largest; the errors are mean-independent.
// The partial sum of k products then is at most k|μ| + λC√k in absolute value.
// In all, K+1 events of probability 2exp(-λ²/2) count. With μ = 0 the bound
// divided by KE|p| grows with K only through λ and the denominator. The bound
// is +Inf where λ√K u >= 1. It panics if K < 1, u is outside (0, 1), largest <
// |mean| or either is NaN, or unless -Inf < f < 0.
//
// Source: Higham & Mary 2020, for exact products.
//
// differs: the paper has a term O(u²) for the effect of the errors on the
// partial sums; here the denominator bounds it.
func RandomData(K int, u, mean, largest float64, f Failure) (bound, lambda float64) {
	check.Count("K", K)
	check.Unit("u", u)
	checkMoments(mean, largest)
	k := float64(K)
	λ := Azuma(1, f.Split(k+1))
	rest := 1 - λ*math.Sqrt(k)*u
	if rest <= 0 {
		return math.Inf(1), λ
	}
	return λ * math.Sqrt(k) * (math.Abs(mean)*k + λ*largest*math.Sqrt(k)) * u / rest, λ
}

// RandomDataSharp returns a bound as [RandomData] does, and λ, from the
// variance of the products as well. It bounds the partial sums by Bernstein's
// inequality, and adds the squares of their bounds instead of K times the
// square of the last:
//
//	λu √(Σ(k|μ| + t_k)²)/(1 - λ√K u),
//
// with t_k from [Bernstein] for the sum of k variances. Half of the probability
// of failure is for all t_k, half for λ. The bound is +Inf where λ√K u >= 1. It
// panics as RandomData does, or if variance is negative or NaN.
//
// Source: derived here, after Higham & Mary 2020.
func RandomDataSharp(K int, u, mean, variance, largest float64, f Failure) (bound, lambda float64) {
	check.Count("K", K)
	check.Unit("u", u)
	checkMoments(mean, largest)
	squares := squaresOfSums(K, math.Abs(mean), variance, largest+math.Abs(mean), f.Split(2*float64(K)))
	λ := Azuma(1, f.Split(2))
	rest := 1 - λ*math.Sqrt(float64(K))*u
	if rest <= 0 {
		return math.Inf(1), λ
	}
	return λ * u * math.Sqrt(squares) / rest, λ
}

// squaresOfSums returns an upper bound on Σ s_k² over k = 1 ... K, with s_k =
// k|μ| + t_k and t_k from [Bernstein]. It exceeds the sum by a factor of at
// most 1 + 10⁻⁴, for large K. As s is concave in k, it is below its tangent at
// m, so the squares of n terms centred at m add up to at most ns_m² + s'_m²
// n(n²-1)/12.
func squaresOfSums(K int, mean, variance, largest float64, f Failure) float64 {
	l := f.TwoSidedLog()
	squares := 0.0
	for k := 0; k < K; {
		terms := min(max(1, k/64), K-k)
		n := float64(terms)
		m := float64(k) + (n+1)/2
		t := Bernstein(m*variance, largest, f)
		s, slope := m*mean+t, mean
		if root := t - l*largest/3; root > 0 {
			slope += l * variance / root
		}
		squares += n*s*s + slope*slope*n*(n*n-1)/12
		k += terms
	}
	return squares
}

func checkMoments(mean, largest float64) {
	check.Number("largest", largest, largest >= math.Abs(mean), "largest >= |mean|")
}
