package roundoff

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

func TestLeastSum(t *testing.T) {
	// The sum of two-valued numbers is binomial; the probability that it is below x
	// is computed term by term.
	t.Run("is not undercut by coins", func(t *testing.T) {
		const n, least = 60, 3.0
		for _, p := range []float64{0.05, 0.5, 0.9} {
			for _, f := range []Failure{-1, -5, -30} {
				x := LeastSum(n, p*least, p*least*least, f)
				below := 0.0
				for k := 0; float64(k)*least < x; k++ {
					a, _ := math.Lgamma(n + 1)
					b, _ := math.Lgamma(float64(k) + 1)
					c, _ := math.Lgamma(n - float64(k) + 1)
					below += math.Exp(a - b - c + float64(k)*math.Log(p) + (n-float64(k))*math.Log1p(-p))
				}
				if below > math.Exp(float64(f)) {
					t.Errorf("p = %v, f = %v: below %v with probability %v", p, f, x, below)
				}
			}
		}
	})
	t.Run("is the best that Chernoff does for those that are worst", func(t *testing.T) {
		const n, mean, square, f = 100, 0.5, 1. / 3, -6
		best := 0.0
		for θ := 1e-3; θ < 100; θ *= 1.001 {
			best = max(best, -(-f+n*math.Log1p(mean*mean/square*math.Expm1(-θ*square/mean)))/θ)
		}
		if x := LeastSum(n, mean, square, f); math.Abs(x/best-1) > 1e-5 {
			t.Errorf("%v, want %v", x, best)
		}
	})
	t.Run("is not undercut oftener than it says", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(241118747, 21))
		const n, trials = 20, 20000
		least, under := LeastSum(n, 0.25, 1./9, FailureOf(0.9)), 0
		for range trials {
			sum := 0.0
			for range n {
				sum += rng.Float64() * rng.Float64()
			}
			if sum < least {
				under++
			}
		}
		if x := float64(under) / trials; x > allowed(0.1, trials) || x == 0 {
			t.Errorf("of %v of the sums, want some and at most 0.1", x)
		}
	})
	t.Run("knows few numbers and constant ones", func(t *testing.T) {
		if x := LeastSum(3, 0.5, 1, -10); x != 0 {
			t.Errorf("%v, of three that may all be 0", x)
		}
		if x := LeastSum(3, 2, 4, -1e6); math.Abs(x-6) > 1e-12 || LeastSum(3, 0, 4, -1) != 0 || LeastSum(3, 1, math.Inf(1), -1) != 0 {
			t.Errorf("%v, want 6", x)
		}
	})
	t.Run("panics", func(t *testing.T) {
		for want, call := range map[string]func(){
			"roundoff: n = 0, want n >= 1":                                                       func() { LeastSum(0, 1, 1, -1) },
			"roundoff: mean = -1, want mean >= 0":                                                func() { LeastSum(1, -1, 1, -1) },
			"roundoff: square = 0.5, want square >= mean²":                                       func() { LeastSum(1, 1, 0.5, -1) },
			"roundoff: failure = 0, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is": func() { LeastSum(1, 1, 1, 0) },
		} {
			panics.Want(t, want, call)
		}
	})
}
