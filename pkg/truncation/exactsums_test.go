package truncation

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// For sums of random signs, whose distribution is known, the bounds on the sums
// at any one length and on all single blocks fail with no more than the stated
// probability, for any number of blocks.
func TestExactSums(t *testing.T) {
	ψ := func(x float64) float64 { return math.Log(math.Cosh(x)) }
	// tail returns P(|s_n| > t).
	tail := func(n int, t float64) float64 {
		p := 0.0
		all, _ := math.Lgamma(float64(n + 1))
		for k := range n + 1 {
			if math.Abs(float64(2*k-n)) > t {
				a, _ := math.Lgamma(float64(k + 1))
				b, _ := math.Lgamma(float64(n - k + 1))
				p += math.Exp(all - a - b - float64(n)*math.Ln2)
			}
		}
		return p
	}
	for _, confidence := range []float64{0.5, 0.99} {
		f := roundoff.FailureOf(confidence)
		for _, blocks := range []int{1, 100, 1e6} {
			const L = 64
			s := newExactSums(blocks*L, L, 0, 1, 1, ψ, f)
			if p := float64(blocks) * tail(L, s.block); !(p <= 1-confidence) || !(s.block <= L) {
				t.Errorf("%d blocks: P(one is beyond %v) <= %v, want %v", blocks, s.block, p, 1-confidence)
			}
			if blocks == 1e6 && s.block > 1.5*8*math.Sqrt(2*math.Log(2e6/(1-confidence))) {
				t.Errorf("no sum of %d is beyond %v: too wide", L, s.block)
			}
			for n := 1; n <= min(blocks*L, 4096); n *= 2 {
				if p := tail(n, s.apart(float64(n))); !(p <= 1-confidence) {
					t.Errorf("P(|s_%d| > %v) = %v", n, s.apart(float64(n)), p)
				}
			}
		}
	}
	// With a mean μ, |s_n| is at most n|μ| + t_n, and at most n times the largest
	// product.
	s := newExactSums(1000, 10, 0.25, 2, 1, ψ, -5)
	for _, n := range []float64{1, 10, 1000} {
		if got, want := s.within(n), min(n/4+s.apart(n), 2*n); got != want || s.apart(n) > 2.25*n {
			t.Errorf("n = %v: %v, want %v", n, got, want)
		}
	}
}
