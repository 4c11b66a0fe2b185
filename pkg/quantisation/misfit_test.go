package quantisation

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Probabilities below numbers are those of the closed forms.
func TestSharesAreTheDistributionFunction(t *testing.T) {
	x := []float64{-7, -1.3, -1.3, -0.2, 0, 0.4, 1, 2.5, 9}
	for _, c := range []struct {
		law Law
		of  func(x float64) float64
	}{
		{Uniform(-1, 2), func(x float64) float64 { return min(1, max(0, (x+1)/3)) }},
		{Normal(0.5, 2), func(x float64) float64 { return math.Erfc(-(x-0.5)/2/math.Sqrt2) / 2 }},
		{Laplace(0, 1), func(x float64) float64 { return 0.5 + math.Copysign(1-math.Exp(-math.Abs(x)), x)/2 }},
	} {
		for i, p := range c.law.shares(x) {
			if math.Abs(p-c.of(x[i])) > 1e-6 {
				t.Errorf("%s: P(x < %v) = %v, want %v", c.law.Name, x[i], p, c.of(x[i]))
			}
		}
	}
}

// Elements of the law pass, and those of laws that differ by more than the
// limit do not.
func TestMisfit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	laws := []Law{Uniform(-1, 1), Normal(0, 1), Laplace(0, 1), Uniform(-1.1, 1)}
	for _, of := range laws {
		m := filled(40, 500, func(int, int) float64 { return draw(r, of) })
		for _, told := range laws {
			if why := misfit("A", m, told); (why == "") != (of.Name == told.Name) {
				t.Errorf("elements of %s told as %s: %q", of.Name, told.Name, why)
			}
		}
	}
	constant := filled(4, 25, func(int, int) float64 { return 0.3 })
	if got, want := misfit("B", constant, Normal(0, 1)), "of the elements of B 0 % are below 0.3, of N(0,1) 61.8 % (found at level 0.05 %)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	refused := 0
	for range 20000 {
		if misfit("A", filled(1, 30, func(int, int) float64 { return r.Float64() }), Uniform(0, 1)) != "" {
			refused++
		}
	}
	if refused > 22 { // 10 are the mean at most, 22 has a probability of 4·10⁻⁴
		t.Errorf("%d of 20000 samples are refused, want 10", refused)
	}
	t.Logf("%d of 20000 samples are refused", refused)
}
