package truncation

import (
	"math"
	"math/rand/v2"
	"testing"
)

// integrated returns the Step of a RunningSum whose D, V and C are given by
// their integrals from 0.
func integrated(D, V, C func(s float64) float64) func(lo, hi float64) ErrorMoments {
	return func(lo, hi float64) ErrorMoments {
		if lo == hi {
			lo, hi = lo-1e-6, hi+1e-6
		}
		mean := func(f func(float64) float64) float64 { return (f(hi) - f(lo)) / (hi - lo) }
		return ErrorMoments{mean(D), mean(V), mean(C)}
	}
}

func times(a float64) func(float64) float64 { return func(s float64) float64 { return a * s } }

func TestRunningSum(t *testing.T) {
	within := func(t *testing.T, what string, got, want, ε float64) {
		t.Helper()
		if !(math.Abs(got-want) <= ε*math.Abs(want)) {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}

	t.Run("adds up errors that do not depend on the sum", func(t *testing.T) {
		for _, μ := range []float64{0, 0.3, -2} {
			r := RunningSum{4, ProductMoments{μ, 1, 2}, integrated(times(-0.01), times(0.02), times(0.005))}
			for _, K := range []int{1, 4, 100, 40000} {
				e, q := r.Error(K), float64(K)/4
				within(t, "mean", e.Mean, -0.01*q, 1e-9)
				within(t, "variance", e.Variance, 0.02*q, 1e-9)
				within(t, "covariance", e.Covariance, 0.005*q, 1e-9)
			}
		}
	})

	t.Run("knows the sum that is drawn towards zero", func(t *testing.T) {
		// ŝ_i = (1-κ)ŝ_(i-1) + p_i, so that e = Σ_i ((1-κ)^(q-i) - 1) p_i.
		const κ, q, σ2 = 1e-4, 8000, 3.0
		r := RunningSum{1, ProductMoments{0, σ2, 1}, integrated(func(s float64) float64 { return -κ * s * s / 2 }, times(0), times(0))}
		variance, covariance := 0.0, 0.0
		for i := range q {
			c := math.Pow(1-κ, float64(i)) - 1
			variance += σ2 * c * c
			covariance += σ2 * c
		}
		e := r.Error(q)
		within(t, "variance", e.Variance, variance, 0.01)
		within(t, "covariance", e.Covariance, covariance, 0.01)
		if d := math.Sqrt(e.Variance); math.Abs(e.Mean) > 1e-6*d {
			t.Errorf("mean = %v, deviation %v, want 0", e.Mean, d)
		}
	})

	t.Run("is the walk, step by step, whose error changes at a place", func(t *testing.T) {
		// Where the sum is 400 or more, a step loses 0.5 in the mean; the sum reaches
		// 400 after some 400 of 600 steps.
		const place, loss, q, trials = 400, 0.5, 600, 20000
		for _, at := range []float64{place, 600} { // in the middle of the walk, and at its end
			past := func(s float64) float64 { return -loss * max(0, s-at) }
			r := RunningSum{1, ProductMoments{1, 2, 1}, integrated(past, times(0.1), times(0.2))}
			var n, e1, e2, es, s1 float64
			rng := rand.New(rand.NewPCG(3, uint64(at)))
			for range trials {
				s, sum := 0.0, 0.0
				for range q {
					p := math.Sqrt2 * rng.NormFloat64()
					x := 0.1*p + math.Sqrt(0.1-0.02)*rng.NormFloat64() // Var x = 0.1, Cov(x, p) = 0.2
					if s >= at {
						x -= loss
					}
					s, sum = s+1+p+x, sum+1+p
				}
				n, e1, e2, es, s1 = n+1, e1+s-sum, e2+(s-sum)*(s-sum), es+(s-sum)*sum, s1+sum
			}
			e := r.Error(q)
			within(t, "mean", e.Mean, e1/n, 0.02)
			within(t, "variance", e.Variance, e2/n-e1/n*e1/n, 0.04)
			within(t, "covariance", e.Covariance, es/n-e1/n*s1/n, 0.05)
		}
	})

	t.Run("of constants is one path", func(t *testing.T) {
		e := RunningSum{2, ProductMoments{1, 0, 1}, integrated(times(-0.25), times(0), times(0))}.Error(40)
		if math.Abs(e.Mean+5) > 1e-12 || e.Variance > 1e-24 || e.Covariance != 0 {
			t.Errorf("%+v, want a mean of -5", e)
		}
	})

	t.Run("of nothing is nothing", func(t *testing.T) {
		r := RunningSum{2, ProductMoments{}, integrated(times(0), times(0), times(0))}
		p := r.Error(40).Prediction(r.Products, 40)
		if p.Slope != 0 || p.Backward != 0 || p.BackwardDeviation != 0 || !math.IsNaN(p.Mean) || !math.IsNaN(p.Deviation) {
			t.Errorf("%+v", p)
		}
	})
}

// The closed forms agree with simulated running sums in which a step loses what
// their assumptions say. The simulation makes no approximation other than
// sampling the significand by binades.
func TestTruncationOfOneDistribution(t *testing.T) {
	machines := []Accumulator{
		{Terms: 4, FractionBits: 23, Unit: 0x1p-24},
		{Terms: 8, FractionBits: 24, Unit: 0x1p-24},
		{Terms: 16, FractionBits: 25, Unit: 0x1p-24},
	}
	binade := func(s float64) float64 {
		if s == 0 {
			return 0
		}
		return math.Ldexp(1, math.Ilogb(s))
	}
	t.Run("mean of a growing sum", func(t *testing.T) {
		p := ProductMoments{0.25, 0.05, 0.25}
		for _, m := range machines {
			for _, K := range []int{4096, 5000, 32768, 50000} {
				err, L := 0.0, float64(m.Terms)
				for s := 0.0; s < 0.25*float64(K); s += 0.25 * L {
					g, u := math.Ldexp(binade(s), -m.FractionBits), 2*m.Unit*binade(s)
					err -= L*g/2 + (u-g)/2
				}
				if got, want := m.MeanError(p, K), err/(0.25*float64(K)); !close(got, want, 0.01) {
					t.Errorf("F = %d, K = %d: %v, want %v", m.FractionBits, K, got, want)
				}
			}
		}
	})
	t.Run("slope and deviation of a sum of mean zero", func(t *testing.T) {
		p := ProductMoments{0, 1.0 / 9, 0.25}
		lengths := []int{4096, 32768}
		if testing.Short() {
			lengths = lengths[:1]
		}
		for _, m := range machines {
			for _, K := range lengths {
				slope, deviation := simulated(m, p, K, binade)
				if got := m.ErrorSlope(p, K); !close(got, slope, 0.15) {
					t.Errorf("F = %d, K = %d: slope %v, want %v", m.FractionBits, K, got, slope)
				}
				if got := m.ErrorDeviation(p, K); !close(got, deviation, 0.12) {
					t.Errorf("F = %d, K = %d: deviation %v, want %v", m.FractionBits, K, got, deviation)
				}
			}
		}
	})
	t.Run("drift and noise are equal at K*", func(t *testing.T) {
		for _, m := range machines[1:] {
			K := int(math.Round(m.DriftLength()))
			p := ProductMoments{0, 1, 1}
			noise := Accumulator{Terms: m.Terms, FractionBits: m.FractionBits, Unit: 0x1p-60, Nearest: true}.ErrorDeviation(p, K) // no drift
			if got := m.ErrorDeviation(p, K); !close(got, math.Sqrt2*noise, 0.01) {
				t.Errorf("F = %d: deviation %v at K* = %d, want √2 times %v", m.FractionBits, got, K, noise)
			}
		}
		if K := machines[0].DriftLength(); !math.IsInf(K, 1) {
			t.Errorf("F = f: K* = %v, want +Inf", K)
		}
	})
	t.Run("the mean error is λ√K u at K_c", func(t *testing.T) {
		for _, m := range machines {
			θ := BinadeTheta(1)
			K := m.BreakdownLength(7, θ)
			if mean, bound := K/4*θ*m.Delta(), 7*math.Sqrt(K)*m.Unit; !close(mean, bound, 1e-9) {
				t.Errorf("F = %d: %v and %v", m.FractionBits, mean, bound)
			}
		}
	})
	t.Run("θ is between 2/3 and 3/4", func(t *testing.T) {
		for x := 1.0; x < 64; x *= 1.01 {
			if θ := BinadeTheta(x); θ < 2.0/3-1e-12 || θ > 0.75+1e-12 {
				t.Errorf("θ(%v) = %v", x, θ)
			}
		}
	})
	t.Run("kinds", func(t *testing.T) {
		for i, want := range []SumKind{KeepsSame, KeepsMore, KeepsMore} {
			if got := machines[i].Kind(); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
		if got := (Accumulator{Terms: 16, FractionBits: 25, Unit: 0x1p-11, Nearest: true}).Kind(); got != ToNearest {
			t.Errorf("%v", got)
		}
		seen := map[[2]int]bool{}
		for _, g := range GrowthRates() {
			seen[[2]int{int(g.Products), int(g.Sums)}] = true
		}
		if len(seen) != 6 {
			t.Errorf("%d distributions, want one for each of 2 × 3 kinds", len(seen))
		}
	})
}

// simulated returns the slope and the standard deviation of the error of random
// walks with normal block sums. Every step has a random loss with the
// distribution of what a step of m loses.
func simulated(m Accumulator, p ProductMoments, K int, binade func(float64) float64) (slope, deviation float64) {
	const trials = 2000
	rng := rand.New(rand.NewPCG(5, uint64(K)))
	L := float64(m.Terms)
	var ee, es, ss float64
	for range trials {
		s, sum := 0.0, 0.0
		for range K / m.Terms {
			x := math.Sqrt(L*p.Variance) * rng.NormFloat64()
			g := math.Ldexp(max(binade(s), binade(x)), -m.FractionBits)
			// L losses of either sign, uniform on [0, g); losses of products that have the
			// sign of x are more frequent.
			lost := g*p.Abs/(2*p.Variance)*x + g*math.Sqrt(L*(1.0/3-p.Abs*p.Abs/(4*p.Variance)))*rng.NormFloat64()
			to := s + x
			if u := 2 * m.Unit * binade(to); u > g { // toward zero, from a multiple of g
				lost += math.Copysign(g*math.Floor(rng.Float64()*u/g), to)
			}
			s, sum = to-lost, sum+x
		}
		e := s - sum
		ee, es, ss = ee+e*e, es+e*sum, ss+sum*sum
	}
	return es / ss, math.Sqrt(ee / trials)
}
