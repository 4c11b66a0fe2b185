package roundoff

import "math"

// RandomData returns (λ|μ|K^(3/2) + λ²CK)u/(1 - λ√K u), which with probability
// 1 - e^f bounds the error of a sum of K exact products, added one after the
// other: the products are independent, of mean μ and at most C in size, and the
// errors mean-independent. The sums then stay within k|μ| + λC√k, K+1 events of
// failure 2exp(-λ²/2) in all. The second value is λ. With μ = 0 the bound over
// KE|p| does not grow with K. It is +Inf where λ√K u >= 1. It panics if K < 1,
// u is outside (0, 1), largest < |mean| or either is NaN, or unless -Inf < f <
// 0.
//
// Source: Higham & Mary 2020, for products that are exact.
//
// differs: the paper has O(u²) for what the errors do to the sums; here it is
// the denominator.
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

// RandomDataSharp is [RandomData] with the variance of the products as well,
// Bernstein's inequality for the sums, and their true squares in place of the
// last one's:
//
//	λu √(Σ(k|μ| + t_k)²)/(1 - λ√K u),
//
// t_k by [Bernstein] from k variances, half of the failure for all t_k, half
// for λ. It panics as RandomData does, or if variance is negative or NaN.
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

// squaresOfSums returns Σ s_k² over k = 1 ... K, s_k = k|μ| + t_k, t_k by
// Bernstein; at most 10⁻⁴ more where K is large. As s is concave in k, it is
// below its tangent: of n terms around m the squares add up to no more than
// ns_m² + s'_m² n(n²-1)/12.
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
