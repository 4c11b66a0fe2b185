package roundoff

import "math"

// A Cumulant bounds the logarithm of the moment generating function of a sum of random numbers,
// each of mean zero given those before it, by Bennett's inequality:
//
//	ψ(θ) = Σ V_i (e^(θc_i) - 1 - θc_i)/c_i²,
//
// V_i a bound on the variance of number i, and c_i on its size, given those before it. Both may
// depend on the past. The zero value is that of an empty sum.
type Cumulant struct {
	largest, variance []float64 // of different sizes c
}

// Add adds a number of variance at most V and size at most c. It panics if either is negative or
// NaN.
func (s *Cumulant) Add(variance, largest float64) {
	checkConstant("variance", variance)
	checkConstant("largest", largest)
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

// Tail returns t that the size of the sum exceeds with probability at most ζ = e^f:
//
//	t = min_k (log(2/ζ) - log w_k + ψ(θ_k))/θ_k,  θ_k = θ2^k,  w_k = 1/(2.29 (1+|k|)²)
//
// over all integers k, the weights adding up to at most 1. As the variances need not be known
// beforehand, no single θ will do: each costs its share of the failure. The nearer θ is to
// √(2 log(2/ζ)/ΣV), the less that is; it must not depend on what happened. All partial sums obey
// their t with the same probability.
// It panics if θ is not positive and finite, or unless -Inf < f < 0.
//
// Source: Freedman 1975, for one θ; the sum over θ derived here.
func (s *Cumulant) Tail(θ float64, f Failure) float64 {
	checkPositive("θ", θ)
	l := f.sides()
	const most = 40
	best := math.Inf(1)
	for k := -most; k <= most; k++ {
		x := math.Ldexp(θ, k)
		d := 1 + math.Abs(float64(k))
		if t := (l + math.Log(2.29*d*d) + s.At(x)) / x; t < best {
			best = t
		}
	}
	if s.empty() {
		return 0
	}
	return best
}

// empty reports whether the sum is zero for sure.
func (s *Cumulant) empty() bool {
	for _, v := range s.variance {
		if v > 0 {
			return false
		}
	}
	return true
}
