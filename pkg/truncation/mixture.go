package truncation

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// MixtureTail returns t, which a sum exceeds with probability at most ζ = e^f
// if log E e^(θ_k sum) <= ψ_k for every k, with θ_k > 0. The bound is that of
// Markov's inequality for the mean of these n exponentials,
//
//	(1/n) Σ_k e^(θ_k t - ψ_k) = 1/ζ,
//
// so that t is never more than min_k (log(n/ζ) + ψ_k)/θ_k. A ψ_k may be random:
// it is enough that E e^(θ_k sum - ψ_k) <= 1. For partial sums of which the
// exponentials are supermartingales, ζ bounds the probability that any exceeds
// its t. MixtureTail panics unless there is at least one θ, as many ψ, all θ
// are positive and finite, no ψ is NaN, and -Inf < f < 0.
//
// Source: Robbins 1970.
func MixtureTail(θ, ψ []float64, f roundoff.Failure) float64 {
	check.Count("len(θ)", len(θ))
	if len(ψ) != len(θ) {
		panic(fmt.Sprintf("truncation: len(ψ) = %d, want %d, the length of θ", len(ψ), len(θ)))
	}
	check.Number("failure", float64(f), roundoff.Never < f && f < 0, "-Inf < failure < 0, a logarithm")
	l := math.Log(float64(len(θ))) - float64(f)
	t := math.Inf(1)
	for k, x := range θ {
		check.Positive("θ", x)
		check.Number("ψ", ψ[k], !math.IsNaN(ψ[k]), "a number")
		t = min(t, (l+ψ[k])/x)
	}
	// The logarithm of the sum is convex and grows with t: Newton's method comes
	// down to the root from above.
	for range 20 {
		if math.IsInf(t, 0) {
			break
		}
		sum, slope := 0., 0.
		for k, x := range θ {
			e := math.Exp(x*t - ψ[k] - l)
			sum += e
			slope += x * e
		}
		step := math.Log(sum) * sum / slope
		t -= step
		if !(step > 1e-12*math.Abs(t)) {
			break
		}
	}
	return t
}
