package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Cumulant bounds the logarithm of the moment generating function of a sum of
// random numbers, each of mean zero given those before it, by Bennett's
// inequality:
//
//	ψ(θ) = Σ V_i (e^(θc_i) - 1 - θc_i)/c_i²,
//
// V_i a bound on the variance of number i, and c_i on its size, given those
// before it. Both may depend on the past. The zero value is that of an empty
// sum.
type Cumulant struct {
	largest, variance []float64 // of different sizes c
}

// Add adds a number of variance at most V and size at most c. It panics if
// either is negative or NaN.
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

// Tail returns t that the size of the sum exceeds with probability at most ζ =
// e^f:
//
//	t = min_k (log(2/ζ) - log w_k + ψ(θ_k))/θ_k,  θ_k = least 2^k,
//
// over all integers k, the weights w_k adding up to at most 1: 7/8 in equal
// parts for the n+1 numbers 0 <= k <= n that cover the range from least to
// greatest, and 1/(26.4 d²) at the distance d from these. As the variances need
// not be known beforehand, no single θ will do: each costs its share of the
// failure. The nearer the range is to √(2 log(2/ζ)/ΣV), the less that is; it
// must be known before the first number that is not 0. All partial sums obey
// their t with the same probability. It panics unless 0 < least <= greatest,
// both finite, and -Inf < f < 0.
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

// tailWeight returns w_k.
func tailWeight(k, n int) float64 {
	if d := float64(max(-k, k-n)); d > 0 {
		return 1 / (26.4 * d * d)
	}
	return 7 / (8 * float64(n+1))
}
