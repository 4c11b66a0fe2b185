package roundoff

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDeduplicated(t *testing.T) {
	t.Run("counts_the_different_products_of_Algorithm_1", func(t *testing.T) {
		for _, m := range machines {
			for _, kb := range [][2]int{{1, 1}, {2, 2}, {8, 4}, {12, 4}} {
				g := GEMM{M: 2, N: 3, K: kb[0], Block: kb[1], Roundoffs: m.Roundoffs}
				sums, stores := g.roundings()
				different := map[[2]float64]bool{}
				for j := range sums {
					different[[2]float64{float64(sums[j]), g.Accumulate}] = true
					different[[2]float64{float64(stores[j]), g.Output * 1.5}] = true
				}
				want := Never
				for e := range different {
					if n := int(e[0]); n > 0 && e[1] == g.Accumulate {
						want = want.Plus(VIBEAFailure(9, g.Accumulate, n))
					} else if n > 0 {
						want = want.Plus(VIBEAFailure(9, g.Output, n))
					}
				}
				got := g.Failure(VIBEA{Lambda: 9}, Deduplicated)
				if want = want.Times(6); got != want && !near(float64(got), float64(want), 1e-12) {
					t.Errorf("%s, K = %d, b = %d: failure %v, want %v", m.name, g.K, g.Block, float64(got), float64(want))
				}
			}
		}
	})
	t.Run("needs_the_smallest_lambda", func(t *testing.T) {
		for _, f := range []Failure{FailureOf(0.5), FailureOf(0.99), -3000} {
			d, c := paper.Lambda(f, Deduplicated), paper.Lambda(f, Corrected)
			if back := paper.Failure(VIBEA{Lambda: d}, Deduplicated); d >= c || back > f || !near(float64(back), float64(f), 1e-9) {
				t.Errorf("failure %v: lambda %v, corrected %v, back %v", float64(f), d, c, float64(back))
			}
		}
	})
	t.Run("is_0_where_nothing_is_rounded", func(t *testing.T) {
		g := GEMM{M: 1, N: 1, K: 1, Block: 1, Roundoffs: TensorCoreF32}
		if λ := g.Lambda(-1, Deduplicated); λ != 0 || g.Failure(VIBEA{}, Deduplicated) != Never {
			t.Errorf("lambda %v", λ)
		}
	})
}

func TestSchemes(t *testing.T) {
	t.Run("of_the_same_failure_are_tighter_with_a_bound_for_each_event", func(t *testing.T) {
		for _, m := range machines {
			for _, K := range []int{64, 4096} {
				for _, f := range []Failure{FailureOf(0.9), FailureOf(0.999), -1000} {
					g := GEMM{M: 100, N: 10, K: K, Block: 4, Roundoffs: m.Roundoffs}
					corrected := g.Zeta(VIBEA{Lambda: g.Lambda(f, Corrected)})
					each := g.ZetaPerEvent(UniformErrors, f)
					if !(each < corrected) {
						t.Errorf("%s, K = %d, %v: %v, %v", m.name, K, f, corrected, each)
					}
				}
			}
		}
	})
}

// stochastic draws an error of stochastic rounding in units of the spacing of
// the numbers: 1-p with probability p, otherwise -p.
func stochastic(r *rand.Rand) float64 {
	p := r.Float64()
	if r.Float64() < p {
		return 1 - p
	}
	return -p
}

func TestMeanIndependent(t *testing.T) {
	const trials = 20000
	t.Run("covers_errors_that_depend_on_each_other", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(19, 20))
		const n, u = 50, 0x1p-6
		m := MeanIndependent{Lambda: MeanIndependentLambda(FailureOf(0.9), 1)}
		failures := 0
		for range trials {
			product := 1.0
			for range n {
				size := u // large errors while the product is large
				if product < 1 {
					size = u / 8
				}
				product *= 1 + size*extreme(rng)
			}
			if math.Abs(product-1) > m.Theta(n, u) {
				failures++
			}
		}
		if x := float64(failures) / trials; x > allowed(0.1, trials) || x < 0.001 {
			t.Errorf("fails in %v of the trials, want some and at most 0.1", x)
		}
	})
	t.Run("needs_the_mean_zero", func(t *testing.T) {
		const n, u = 1000, 0x1p-11
		m := MeanIndependent{Lambda: MeanIndependentLambda(FailureOf(0.99), 1)}
		if θ := math.Expm1(n * math.Log1p(u)); θ < m.Theta(n, u) {
			t.Errorf("errors of one sign reach %v, bound %v", θ, m.Theta(n, u))
		}
	})
	t.Run("lambda_inverts_failure", func(t *testing.T) {
		for _, f := range []Failure{-0.1, -7, -1e5} {
			m := MeanIndependent{Lambda: MeanIndependentLambda(f, 1000)}
			if back := m.Failure(1, 0.5).Times(1000); !near(float64(back), float64(f), 1e-9) {
				t.Errorf("%v, want %v", float64(back), float64(f))
			}
		}
	})
}

// sums runs trials of a sum of n numbers from draw, rounded with errors from δ.
// It returns, for each trial, |error|/Σ|p|, and the sum of the squares of the
// exact partial sums divided by (Σ|p|)².
func sums(trials, n int, u float64, draw, δ func(*rand.Rand) float64) (errors, squares []float64) {
	rng := rand.New(rand.NewPCG(21, uint64(n)))
	for range trials {
		s, exact, abs, square := 0.0, 0.0, 0.0, 0.0
		for k := range n {
			p := draw(rng)
			exact += p
			s += p
			abs += math.Abs(p)
			if k > 0 {
				s += s * u * δ(rng)
				square += exact * exact
			}
		}
		errors = append(errors, math.Abs(s-exact)/abs)
		squares = append(squares, square/(abs*abs))
	}
	return errors, squares
}

func TestChebyshev(t *testing.T) {
	t.Run("covers_stochastic_rounding", func(t *testing.T) {
		const trials, n, u = 10000, 100, 0x1p-8
		errors, _ := sums(trials, n, u, func(r *rand.Rand) float64 { return r.Float64() }, stochastic)
		if x := exceed(errors, Chebyshev(n-1, u, FailureOf(0.5))); x > allowed(0.5, trials) {
			t.Errorf("fails in %v of the trials, want at most 0.5", x)
		}
		rms := 0.0
		for _, e := range errors {
			rms += e * e / trials
		}
		if bound := Chebyshev(n-1, u, -1e-12); math.Sqrt(rms) > bound || math.Sqrt(rms) < bound/10 {
			t.Errorf("root mean square %v, bound %v", math.Sqrt(rms), bound)
		}
	})
	t.Run("is_evaluated_without_cancellation", func(t *testing.T) {
		if x, want := Chebyshev(4, 0x1p-53, -2), math.E*0x1p-52; !near(x, want, 1e-14) {
			t.Errorf("%v, want %v", x, want)
		}
		if x := Chebyshev(4, 0.5, -2000); !math.IsInf(x, 1) {
			t.Errorf("%v, want +Inf beyond float64", x)
		}
	})
}

func TestTree(t *testing.T) {
	const trials, n, u = 10000, 100, 0x1p-8
	for name, draw := range map[string]func(*rand.Rand) float64{
		"positive": func(r *rand.Rand) float64 { return r.Float64() },
		"signed":   func(r *rand.Rand) float64 { return uniform(r) },
	} {
		t.Run("covers_"+name+"_sums", func(t *testing.T) {
			errors, squares := sums(trials, n, u, draw, extreme)
			failures := 0
			for i, e := range errors {
				b := Tree(squares[i], n-1, n-1, u, FailureOf(0.5))
				if e > b {
					failures++
				}
				if b > Tree(n-1, n-1, n-1, u, FailureOf(0.5)) {
					t.Errorf("the squares of a chain exceed its height")
				}
			}
			if x := float64(failures) / trials; x > allowed(0.5, trials) || x == 0 {
				t.Errorf("fails in %v of the trials, want some and at most 0.5", x)
			}
		})
	}
}

func TestPairwiseHeight(t *testing.T) {
	for n := 1; n < 3000; n++ {
		h, leaves := 0, 1
		for leaves < n {
			h, leaves = h+1, 2*leaves
		}
		if got := PairwiseHeight(n); got != h {
			t.Errorf("n = %d: %d, want %d", n, got, h)
		}
	}
}

// The bound holds for Sum2 in eight bits of precision. The accumulated errors
// are rounded to eight bits too.
func TestCompensatedSum(t *testing.T) {
	const u = 0x1p-8
	round := func(x float64) float64 {
		_, e := math.Frexp(x)
		return math.Ldexp(math.RoundToEven(math.Ldexp(x, 8-e)), e-8)
	}
	rng := rand.New(rand.NewPCG(23, 24))
	worst := 0.0
	for range 20000 {
		n := 1 + rng.IntN(100)
		s, e, exact, abs := 0.0, 0.0, 0.0, 0.0
		for k := range n + 1 {
			p := round((rng.Float64() - 0.3) * math.Exp2(float64(rng.IntN(8))))
			exact += p
			abs += math.Abs(p)
			if k == 0 {
				s = p
				continue
			}
			z := round(s + p)
			e = round(e + (s + p - z)) // the error of an addition is a floating-point number
			s = z
		}
		got := math.Abs(round(s+e)-exact) / abs
		if got > CompensatedSum(n, u) {
			t.Fatalf("n = %d: error %v, bound %v", n, got, CompensatedSum(n, u))
		}
		worst = max(worst, got/u)
	}
	if worst < 0.3 {
		t.Errorf("worst error %v u, too tame a search", worst)
	}
}

func TestRandomData(t *testing.T) {
	const trials, n, u = 5000, 200, 0x1p-10
	for _, d := range []struct {
		name           string
		mean, variance float64
		draw           func(*rand.Rand) float64
	}{
		{"zero_mean", 0, 1.0 / 3, uniform},
		{"positive", 0.5, 1.0 / 12, func(r *rand.Rand) float64 { return r.Float64() }},
	} {
		t.Run(d.name, func(t *testing.T) {
			errors, _ := sums(trials, n, u, func(r *rand.Rand) float64 { return d.draw(r) }, stochastic)
			worst := 0.0
			for _, e := range errors {
				worst = max(worst, e)
			}
			abs := n * 0.5 * 0.85 // in most trials Σ|p| is larger
			printed, _ := RandomData(n, u, d.mean, 1, FailureOf(0.9))
			sharp, _ := RandomDataSharp(n, u, d.mean, d.variance, 1, FailureOf(0.9))
			if !(worst*abs < sharp && sharp < printed) || sharp > 100*worst*abs {
				t.Errorf("largest error %v, sharp %v, printed %v", worst*abs, sharp, printed)
			}
		})
	}
	t.Run("has_no_bound_for_sums_too_long", func(t *testing.T) {
		if b, _ := RandomData(1<<20, 0x1p-10, 0, 1, -5); !math.IsInf(b, 1) {
			t.Errorf("%v, want +Inf", b)
		}
		if b, _ := RandomDataSharp(1<<20, 0x1p-10, 0, 1, 1, -5); !math.IsInf(b, 1) {
			t.Errorf("%v, want +Inf", b)
		}
	})
	t.Run("adds_squares_by_blocks_as_one_by_one", func(t *testing.T) {
		for _, d := range []struct{ mean, variance, largest float64 }{{0, 1, 1}, {0.5, 1.0 / 12, 1}, {0, 0, 0}, {1, 1e-9, 1.1}} {
			one, f, K := 0.0, Failure(-20), 100000
			for k := range K {
				s := float64(k+1)*d.mean + Bernstein(float64(k+1)*d.variance, d.largest, f)
				one += s * s
				if by := squaresOfSums(k+1, d.mean, d.variance, d.largest, f); k%997 == 0 && !(by >= one*(1-1e-12) && by <= one*(1+1e-4)) {
					t.Errorf("%+v, K = %d: %v, want %v", d, k+1, by, one)
				}
			}
		}
	})
	t.Run("is_as_fast_for_sums_of_any_length", func(t *testing.T) {
		if b, _ := RandomDataSharp(math.MaxInt/4, 0x1p-53, 0, 1, 1, -5); !(b > 0) {
			t.Errorf("%v", b)
		}
	})
	t.Run("refuses_a_largest_below_the_mean", func(t *testing.T) {
		defer func() {
			if got, want := recover(), "roundoff: largest = 1, want largest >= |mean|"; got != want {
				t.Errorf("panic %v, want %q", got, want)
			}
		}()
		RandomData(1, 0.1, -2, 1, -1)
	})
}
