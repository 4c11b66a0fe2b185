package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Cumulant bounds the logarithm of the moment generating function of a sum of
// random numbers, each of mean zero given those before it, by Bennett's
// inequality:
//
//	ψ(θ) = Σ V_i (e^(θc_i) - 1 - θc_i)/c_i².
//
// Given the numbers before number i, V_i bounds its variance and c_i its size.
// Both may depend on these. The zero value is that of an empty sum.
type Cumulant struct {
	largest, variance []float64 // one c and the sum of its V for each different c
}

// Add adds a random number of variance at most V = variance and size at most c
// = largest. It panics if either is negative or NaN.
func (s *Cumulant) Add(variance, largest float64) {
	check.NotNegative("variance", variance)
	check.NotNegative("largest", largest)
	if variance == 0 {
		return
	}
	for i := len(s.largest) - 1; i >= 0; i-- {
		if s.largest[i] == largest {
			s.variance[i] += variance
			return
		}
	}
	s.largest, s.variance = append(s.largest, largest), append(s.variance, variance)
}

// At returns ψ(θ).
func (s *Cumulant) At(θ float64) float64 {
	sum := 0.0
	for i, c := range s.largest {
		sum += s.variance[i] * bennett(θ, c)
	}
	return sum
}

// bennett returns (e^(θc) - 1 - θc)/c².
func bennett(θ, c float64) float64 {
	if x := θ * c; math.Abs(x) > 1e-4 {
		return (math.Expm1(x) - x) / (c * c)
	}
	return θ * θ / 2 * (1 + θ*c/3)
}

// Tail returns t, which the absolute value of the sum exceeds with probability
// at most ζ = e^f:
//
//	t = min_k (log(2/ζ) - log w_k + ψ(θ_k))/θ_k,  θ_k = least 2^k,
//
// over integers k with weights w_k that add up to at most 1. The n+1 values 0
// <= k <= n, whose θ_k cover the range from least to greatest, share 7/8 in
// equal parts; a k at distance d from these has 1/(26.4 d²). The variances need
// not be known beforehand, so no single θ is best in all cases, and each θ has
// its share of the failure. The range must be known before the first number
// that is not 0; the nearer it is to √(2 log(2/ζ)/ΣV), the smaller is t. With
// the same probability every partial sum is within its own t. Tail panics
// unless 0 < least <= greatest, both finite, and -Inf < f < 0.
//
// Source: Freedman 1975, for one θ; the sum over θ derived here.
func (s *Cumulant) Tail(least, greatest float64, f roundoff.Failure) float64 {
	check.Positive("least", least)
	check.Positive("greatest", greatest)
	check.Number("greatest", greatest, greatest >= least, "greatest >= least")
	l := f.TwoSidedLog()
	if len(s.variance) == 0 {
		return 0
	}
	const beyond = 40
	n := int(math.Ceil(math.Log2(greatest / least)))
	best := math.Inf(1)
	for k := -beyond; k <= n+beyond; k++ {
		θ := math.Ldexp(least, k)
		best = min(best, (l-math.Log(tailWeight(k, n))+s.At(θ))/θ)
	}
	return best
}

// tailWeight returns the weight w_k of θ_k.
func tailWeight(k, n int) float64 {
	if d := float64(max(-k, k-n)); d > 0 {
		return 1 / (26.4 * d * d)
	}
	return 7 / (8 * float64(n+1))
}
