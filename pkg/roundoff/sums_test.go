package roundoff

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

func TestBernstein(t *testing.T) {
	t.Run("is_the_root_of_its_exponent", func(t *testing.T) {
		for _, f := range []Failure{-1e-3, -5, -1e4} {
			for _, c := range []float64{0, 1e-9, 1, 1e9} {
				x := Bernstein(2, c, f)
				if back := math.Ln2 - x*x/(2*(2+c*x/3)); !near(back, float64(f), 1e-9) {
					t.Errorf("c = %v: failure %v at t = %v, want %v", c, back, x, float64(f))
				}
			}
		}
	})
	t.Run("without_range_is_Azuma_of_the_variance", func(t *testing.T) {
		if x, y := Bernstein(7, 0, -3), Azuma(7, -3); !near(x, y, 1e-15) {
			t.Errorf("%v, want %v", x, y)
		}
	})
	// 20000 random walks of 64 uniform steps; the largest |partial sum| is compared
	// with the bound.
	t.Run("covers_all_partial_sums", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		const n, walks = 64, 20000
		f := FailureOf(0.9)
		failures, bound, azuma := 0, Bernstein(n/3.0, 1, f), Azuma(n, f)
		for range walks {
			sum, largest := 0.0, 0.0
			for range n {
				sum += uniform(rng)
				largest = max(largest, math.Abs(sum))
			}
			if largest > bound {
				failures++
			}
			if math.Abs(sum) > azuma {
				t.Errorf("a sum of %v, above Azuma's %v", sum, azuma) // 1 in 10^5 at most
			}
		}
		if x := float64(failures) / walks; x > allowed(0.1, walks) || x < 0.001 {
			t.Errorf("fails in %v of the walks, want some and at most 0.1", x)
		}
	})
}

// dists are the models of an error δ, with generators of δ/u.
var dists = []struct {
	name string
	dist func(u float64) ErrorModel
	draw func(*rand.Rand) float64
}{
	{"uniform", UniformErrors, uniform},
	{"typical", TypicalErrors, func(r *rand.Rand) float64 { return uniform(r) / (1 + r.Float64()) }},
	{"Benford", BenfordErrors, func(r *rand.Rand) float64 { return uniform(r) / math.Exp2(r.Float64()) }},
}

func TestErrorDistribution(t *testing.T) {
	t.Run("has_the_moments_of_its_model", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		const n = 400000
		for _, l := range dists {
			for _, u := range []float64{0x1p-2, 0x1p-8} {
				sum, square, far := 0.0, 0.0, 0.0
				for range n {
					x := math.Log1p(u * l.draw(rng))
					sum += x
					square += x * x
					far = max(far, math.Abs(x))
				}
				mean := sum / n
				variance := square/n - mean*mean
				dist, slack := l.dist(u), 6*u/math.Sqrt(n)
				if math.Abs(mean) > dist.Mean+slack || variance > dist.Variance*1.01 || far > dist.Largest {
					t.Errorf("%s, u = %v: moments %v, %v, %v, distribution %+v", l.name, u, mean, variance, far, dist)
				}
				if u < 0.1 && variance < dist.Variance*0.97 {
					t.Errorf("%s, u = %v: variance %v, far below %v", l.name, u, variance, dist.Variance)
				}
			}
		}
	})
	t.Run("of_Beta_has_the_moments_of_its_model", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		const n, u = 400000, 0x1p-4
		// Beta(1, b) is 1 - U^(1/b), Beta(1, 1) is uniform.
		for _, b := range []float64{1, 3} {
			sum, square := 0.0, 0.0
			for range n {
				z := 1 - math.Pow(rng.Float64(), 1/b)
				x := math.Log1p(-u) + 2*math.Atanh(u)*z
				sum += x
				square += x * x
			}
			mean, dist := sum/n, BetaErrors(u, 1, b)
			variance := square/n - mean*mean
			if math.Abs(math.Abs(mean)-dist.Mean) > 6*u/math.Sqrt(n) || !near(variance, dist.Variance, 0.02) {
				t.Errorf("b = %v: moments %v, %v, distribution %+v", b, mean, variance, dist)
			}
		}
	})
	t.Run("is_tighter_than_the_lemma", func(t *testing.T) {
		for _, u := range []float64{0x1p-24, 0x1p-11, 0x1p-8} {
			for _, n := range []int{1, 10, 1000} {
				lemma := GammaTilde(n, u, Lambda(FailureOf(0.99), u, n))
				if x := UniformErrors(u).Theta(n, FailureOf(0.99)); x > lemma || x < lemma/2 {
					t.Errorf("n = %d, u = %v: %v, lemma %v", n, u, x, lemma)
				}
			}
		}
	})
	t.Run("covers_every_product_of_a_sum", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		const n, u, trials = 50, 0x1p-4, 20000
		for _, l := range dists {
			θ, failures := l.dist(u).Theta(n, FailureOf(0.9)), 0
			for range trials {
				sum, low, high := 0.0, 0.0, 0.0
				for range n {
					sum += math.Log1p(u * l.draw(rng))
					low, high = min(low, sum), max(high, sum)
				}
				if math.Expm1(high) > θ || -math.Expm1(low) > θ {
					failures++
				}
			}
			if x := float64(failures) / trials; x > allowed(0.1, trials) || x == 0 {
				t.Errorf("%s: fails in %v of the trials, want some and at most 0.1", l.name, x)
			}
		}
	})
	t.Run("of_no_factors_is_0", func(t *testing.T) {
		if x := TypicalErrors(0.1).Theta(0, -1); x != 0 {
			t.Errorf("%v, want 0", x)
		}
	})
}

// The density integrates to 1, and its variance is that of TypicalErrors.
func TestTypicalDensity(t *testing.T) {
	const n = 100000
	area, variance := 0.0, 0.0
	for i := range n {
		x := (float64(i) + 0.5) / n
		area += 2 * typicalDensity(x) / n
		variance += 2 * x * x * typicalDensity(-x) / n
	}
	if !near(area, 1, 1e-6) || !near(variance, 1.0/6, 1e-6) {
		t.Errorf("area %v, variance %v, want 1 and 1/6", area, variance)
	}
}

// Among 200000 random sums in four bits of precision, added one after the other
// with rounding to nearest, no error exceeds nuΣ|p|, and some reach 2uΣ|p|.
func TestSumOfNearest(t *testing.T) {
	const u = 0x1p-4
	rng := rand.New(rand.NewPCG(13, 14))
	worst := 0.0
	for range 200000 {
		n := 2 + rng.IntN(60)
		s, exact, abs := 0.0, 0.0, 0.0
		for k := range n {
			p := float64(1+rng.IntN(15)) * math.Ldexp(1, rng.IntN(5))
			if rng.IntN(8) == 0 {
				p = -p
			}
			exact += p
			abs += math.Abs(p)
			if k == 0 {
				s = p
				continue
			}
			s = roundTo4(s + p)
		}
		e := math.Abs(s-exact) / abs
		if e > SumOfNearest(n-1, u) {
			t.Fatalf("n = %d: error %v, bound %v", n, e, SumOfNearest(n-1, u))
		}
		worst = max(worst, e/u)
	}
	if worst < 2 {
		t.Errorf("worst error %v u, too tame a search", worst)
	}
}

// roundTo4 rounds x to four bits, to nearest even.
func roundTo4(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(x, 4-e)), e-4)
}

func TestSumsPanic(t *testing.T) {
	for want, f := range map[string]func(){
		"roundoff: failure = 0, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is":    func() { Azuma(1, 0) },
		"roundoff: failure = -Inf, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is": func() { Bernstein(1, 1, Never) },
		"roundoff: squares = -1, want squares >= 0":                                             func() { Azuma(-1, -1) },
		"roundoff: variance = NaN, want variance >= 0":                                          func() { Bernstein(math.NaN(), 1, -1) },
		"roundoff: largest = -1, want largest >= 0":                                             func() { Bernstein(1, -1, -1) },
		"roundoff: n = -1, want n >= 0":                                                         func() { ErrorModel{}.Theta(-1, -1) },
		"roundoff: u = 1, want 0 < u < 1":                                                       func() { TypicalErrors(1) },
		"roundoff: a = 0, want 0 < a < +Inf":                                                    func() { BetaErrors(0.1, 0, 2) },
		"roundoff: b = +Inf, want 0 < b < +Inf":                                                 func() { BetaErrors(0.1, 2, math.Inf(1)) },
		"roundoff: n = 0, want n >= 1":                                                          func() { SumOfNearest(0, 0.1) },
		"roundoff: events = NaN, want events >= 1":                                              func() { HighamMaryLambda(-1, 0.1, math.NaN()) },
	} {
		t.Run(want, func(t *testing.T) { panics.Want(t, want, f) })
	}
}

// typicalDensity returns the density at x = δ/u of the error of rounding a
// number whose significand is uniform: 3/4 for |x| <= 1/2, w/2 + w²/4 with w =
// 1/|x| - 1 for 1/2 < |x| < 1, and 0 beyond.
//
// Source: Dahlqvist, Salvia & Constantinides 2019.
func typicalDensity(x float64) float64 {
	x = math.Abs(x)
	switch {
	case x <= 0.5:
		return 0.75
	case x < 1:
		w := 1/x - 1
		return w/2 + w*w/4
	}
	return 0
}
