package roundoff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// paper is the experiment of section 4.2.
var paper = GEMM{M: 1024, K: 32768, N: 8, Block: 4, Roundoffs: TensorCoreF32}

// digits fails the test unless x, printed in the given format, is want.
func digits(t *testing.T, what string, x float64, format, want string) {
	t.Helper()
	if s := fmt.Sprintf(format, x); s != want {
		t.Errorf("%s = %s (%v), want %s", what, s, x, want)
	}
}

func TestPaperExperiment(t *testing.T) {
	printed, corrected := paper.Lambda(FailureOf(0.99), Printed), paper.Lambda(FailureOf(0.99), Corrected)
	hm := paper.HighamMaryLambda(FailureOf(0.99))
	vibea, highamMary := VIBEA{Lambda: printed}, HighamMary{hm}
	digits(t, "printed lambda, 99 %", printed, "%.5f", "11.38502")
	digits(t, "printed lambda, 90 %", paper.Lambda(FailureOf(0.90), Printed), "%.3f", "9.842")
	digits(t, "corrected lambda", corrected, "%.5f", "11.53456")
	digits(t, "Higham-Mary lambda", hm, "%.3f", "7.127")

	digits(t, "zeta, DBEA", paper.Zeta(DBEA), "%.3e", "2.446e-03")
	digits(t, "zeta, VIBEA", paper.Zeta(vibea), "%.3e", "1.843e-04")
	digits(t, "zeta, Higham-Mary", paper.Zeta(highamMary), "%.3e", "1.154e-04")
	digits(t, "DBEA/VIBEA", paper.Zeta(DBEA)/paper.Zeta(vibea), "%.1f", "13.3")
	digits(t, "DBEA/VIBEA, 90 %", paper.Zeta(DBEA)/paper.Zeta(VIBEA{Lambda: paper.Lambda(FailureOf(0.90), Printed)}), "%.1f", "15.4")

	digits(t, "represented, DBEA", paper.ZetaRepresented(DBEA), "%.3e", "3.426e-03")
	digits(t, "represented, VIBEA", paper.ZetaRepresented(vibea), "%.3e", "1.161e-03")
	digits(t, "represented, Higham-Mary", paper.ZetaRepresented(highamMary), "%.2e", "1.09e-03")

	digits(t, "corrected failure at the printed lambda", math.Exp(float64(paper.Failure(vibea, Corrected))), "%.4f", "0.0125")
	digits(t, "printed failure at the printed lambda", math.Exp(float64(paper.Failure(vibea, Printed))), "%.4f", "0.0100")

	for _, tt := range []struct {
		b    int
		want string
	}{{4, "2.446e-03"}, {8, "2.202e-03"}, {16, "2.079e-03"}} {
		g := paper
		g.Block = tt.b
		digits(t, fmt.Sprint("zeta, b = ", tt.b), g.Zeta(DBEA), "%.3e", tt.want)
	}
	t.Run("ratio_without_the_union_bound", func(t *testing.T) {
		for _, tt := range []struct {
			p    float64
			want string
		}{{0.99, "80.0"}, {0.90, "106.5"}} {
			one := VIBEA{Lambda: Lambda(FailureOf(tt.p), 0x1p-24, paper.K-1)}
			digits(t, "DBEA/VIBEA", paper.Zeta(DBEA)/paper.Zeta(one), "%.1f", tt.want)
		}
	})
	t.Run("is_vacuous_below_lambda_8.30", func(t *testing.T) {
		if !paper.Failure(VIBEA{Lambda: 8.30}, Corrected).Vacuous() {
			t.Error("the corrected bound begins below 8.30")
		}
		if paper.Failure(VIBEA{Lambda: 8.305}, Printed).Vacuous() || !paper.Failure(VIBEA{Lambda: 8.295}, Printed).Vacuous() {
			t.Error("the printed bound does not begin at 8.30")
		}
	})
}

func TestZeta(t *testing.T) {
	t.Run("grows_with_K_u_and_lambda", func(t *testing.T) {
		previous := 0.0
		for k := 4; k <= 1<<16; k *= 2 {
			g := paper
			g.K = k
			for _, an := range []Analysis{VIBEA{Lambda: 2}, HighamMary{3}, DBEA} {
				if z := g.Zeta(an); z <= 0 || math.IsNaN(z) || g.ZetaSharp(an) > z || g.ZetaRepresented(an) <= z {
					t.Errorf("K = %d, %T: zeta %v, sharp %v, represented %v", k, an, z, g.ZetaSharp(an), g.ZetaRepresented(an))
				}
			}
			if z := g.Zeta(DBEA); z <= previous {
				t.Errorf("K = %d: zeta %v, not above %v", k, z, previous)
			} else {
				previous = z
			}
		}
		small, large := paper, paper
		large.Accumulate, large.Output = 0x1p-20, 0x1p-20
		for _, an := range []Analysis{DBEA, VIBEA{Lambda: 2}} {
			if small.Zeta(an) >= large.Zeta(an) {
				t.Errorf("%T: zeta does not grow with u", an)
			}
		}
		if paper.Zeta(VIBEA{Lambda: 2}) >= paper.Zeta(VIBEA{Lambda: 3}) {
			t.Error("zeta does not grow with lambda")
		}
	})
	t.Run("is_infinite_where_gamma_is_and_finite_without_restriction", func(t *testing.T) {
		g := paper
		g.Roundoffs = TensorCoreF16
		if z := g.Zeta(DBEA); !math.IsInf(z, 1) {
			t.Errorf("zeta %v, want +Inf", z)
		}
		if z, want := g.Zeta(Unconditional), math.Expm1(-float64(g.K-1+g.K/4)*math.Log1p(-0x1p-11)); !near(z, want, 1e-12) {
			t.Errorf("zeta %v, want %v", z, want)
		}
	})
	t.Run("of_a_single_product", func(t *testing.T) {
		g := GEMM{M: 1, N: 1, K: 1, Block: 1, Roundoffs: TensorCoreF32}
		if x, y := g.Zeta(DBEA), g.ZetaSharp(DBEA); x != Gamma(1, 0x1p-24) || y != 0 {
			t.Errorf("zeta %v and %v, want gamma_1 and 0", x, y)
		}
		if f := g.Failure(VIBEA{Lambda: 5}, Corrected); f != VIBEAFailure(5, 0x1p-24, 1) {
			t.Errorf("failure %v, want that of one factor", f)
		}
	})
	// With fp16 accumulation and K = 2 the first product is rounded too. The
	// computed result is fl(fl(x1 y1) + x2 y2) = 1 (tests of packages with formats
	// check this arithmetic).
	t.Run("sharp_needs_exact_products", func(t *testing.T) {
		g := GEMM{M: 1, N: 1, K: 2, Block: 2, Roundoffs: TensorCoreF16}
		exact := 1.0009765625*(1-0x1p-11) + (1-0x1p-11)*0x1p-11
		e := math.Abs(1-exact) / exact
		if !near(e, 9.749e-4, 1e-4) || e <= Gamma(1, 0x1p-11) {
			t.Errorf("error %v, want 9.749e-4, above gamma_1 = %v", e, Gamma(1, 0x1p-11))
		}
		if g.ZetaSharp(DBEA) < e || g.Zeta(DBEA) < e || g.ZetaSharp(Unconditional) < e {
			t.Errorf("bounds %v, %v, %v below the error %v", g.ZetaSharp(DBEA), g.Zeta(DBEA), g.ZetaSharp(Unconditional), e)
		}
		if g.ZetaSharp(DBEA) != Gamma(2, 0x1p-11) {
			t.Errorf("sharp zeta %v, want gamma_2", g.ZetaSharp(DBEA))
		}
	})
}

// machines has all combinations of unit roundoffs: products are exact or not,
// stores round or not.
var machines = []struct {
	name string
	Roundoffs
}{
	{"exact_products", TensorCoreF32},
	{"exact_products_and_rounding_stores", Roundoffs{Low: 0x1p-5, High: 0x1p-8, Product: 0x1p-16, Accumulate: 0x1p-10, Output: 0x1p-8}},
	{"rounded_products", TensorCoreF16},
	{"rounded_products_and_rounding_stores", Roundoffs{Low: 0x1p-5, High: 0x1p-6, Product: 0x1p-16, Accumulate: 0x1p-8, Output: 0x1p-6}},
	{"rounded_products_and_finer_stores", Roundoffs{Low: 0x1p-5, High: 0x1p-6, Product: 0x1p-16, Accumulate: 0x1p-6, Output: 0x1p-8}},
}

// roundings runs Algorithm 1 for one output and returns, for each of the K
// products, the numbers of roundings of sums and of stores that affect it.
func (g GEMM) roundings() (sums, stores []int) {
	sums, stores = make([]int, g.K), make([]int, g.K)
	for k := range g.K {
		for j := range k + 1 {
			if !(k == 0 && g.exactProducts()) {
				sums[j]++
			}
			if (k+1)%g.Block == 0 && g.Output > g.Accumulate {
				stores[j]++
			}
		}
	}
	return sums, stores
}

// With Unconditional, ZetaSharpRepresented is the worst case, in which every
// factor is largest: (1+u_low)² from the inputs, 1/(1-u) from each rounding of
// Algorithm 1.
func TestZetaRepresentedIsReached(t *testing.T) {
	for _, m := range machines {
		for _, kb := range [][2]int{{1, 1}, {2, 2}, {12, 4}, {6, 6}, {4096, 16}} {
			g := GEMM{M: 1, N: 1, K: kb[0], Block: kb[1], Roundoffs: m.Roundoffs}
			sums, stores := g.roundings()
			worst := bigPower(bigAdd(bf(1), bf(g.Low)), 2)
			worst = bigQuo(worst, bigPower(bigSub(bf(1), bf(g.Accumulate)), sums[0]))
			worst = bigQuo(worst, bigPower(bigSub(bf(1), bf(g.Output)), stores[0]))
			worst = bigSub(worst, bf(1))
			if x := g.ZetaSharpRepresented(Unconditional); relativeError(x, worst) > 1e-13 {
				want, _ := worst.Float64()
				t.Errorf("%s, K = %d, b = %d: %v, want %v", m.name, g.K, g.Block, x, want)
			}
			if s, z := g.ZetaSharpRepresented(Unconditional), g.ZetaRepresented(Unconditional); !leq(s, z) {
				t.Errorf("%s, K = %d, b = %d: sharp %v, above %v", m.name, g.K, g.Block, s, z)
			}
		}
	}
}

func TestZetaHoldsForAlgorithm1(t *testing.T) {
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			for _, kb := range [][2]int{{1, 1}, {2, 1}, {2, 2}, {8, 4}, {12, 4}, {6, 6}} {
				g := GEMM{M: 1, N: 1, K: kb[0], Block: kb[1], Roundoffs: m.Roundoffs}
				sums, stores := g.roundings()
				// In the worst case every factor is 1/(1-u), and all products but the first are
				// negligible.
				worst := Compose(Unconditional.Theta(sums[0], g.Accumulate), Unconditional.Theta(stores[0], g.Output))
				for _, an := range []Analysis{DBEA, Unconditional} {
					if z, s := g.Zeta(an), g.ZetaSharp(an); !leq(worst, s) || !leq(worst, z) {
						t.Errorf("K = %d, b = %d, %T: error %v, sharp %v, zeta %v", g.K, g.Block, an, worst, s, z)
					}
				}
				if z, s := g.Zeta(Unconditional), g.ZetaSharp(Unconditional); !near(s, worst, 1e-14) || z < s*(1-1e-14) {
					t.Errorf("K = %d, b = %d: sharp %v, attainable %v, zeta %v", g.K, g.Block, s, worst, z)
				}
			}
		})
	}
}

// doubleSum returns the number of factors n of every event of one output, in
// the order of the theorem's double sum.
func (g GEMM) doubleSum(union Union) (sums, stores []int) {
	b, q := g.Block, g.K/g.Block
	for i := 1; i <= q; i++ {
		for j := (i-1)*b + 1; j <= i*b; j++ {
			c1, c2 := b-(j-1)%b+b*(q-i), q-i+1
			if union == Printed {
				c1 = b - (j-1)%b + b*(q-max(2, i)+1)
			} else if i == 1 && j == 1 {
				c1 = g.sums()
			}
			if c1 > 0 {
				sums = append(sums, c1)
			}
			stores = append(stores, c2)
		}
	}
	return sums, stores
}

// slowFailure computes the union bound one event at a time.
func (g GEMM) slowFailure(an Analysis, union Union) Failure {
	sums, stores := g.doubleSum(union)
	total := Never
	for _, n := range sums {
		total = total.Plus(an.Failure(n, g.Accumulate))
	}
	for _, n := range stores {
		total = total.Plus(an.Failure(n, g.Output))
	}
	return total.Times(float64(g.M) * float64(g.N))
}

func TestUnion(t *testing.T) {
	t.Run("corrected_counts_the_roundings_of_Algorithm_1", func(t *testing.T) {
		for _, m := range machines[:2] {
			for _, kb := range [][2]int{{2, 1}, {2, 2}, {8, 4}, {12, 4}, {6, 6}, {30, 5}} {
				g := GEMM{M: 1, N: 1, K: kb[0], Block: kb[1], Roundoffs: m.Roundoffs}
				sums, stores := g.roundings()
				s, r := g.doubleSum(Corrected)
				if !slices.Equal(s, sums) || g.Output > g.Accumulate && !slices.Equal(r, stores) {
					t.Errorf("K = %d, b = %d: sums %v, want %v; stores %v, want %v", g.K, g.Block, s, sums, r, stores)
				}
			}
		}
	})
	t.Run("printed_promises_too_much", func(t *testing.T) {
		for _, λ := range []float64{9, 11, 13} {
			if p, c := paper.Failure(VIBEA{Lambda: λ}, Printed), paper.Failure(VIBEA{Lambda: λ}, Corrected); p >= c {
				t.Errorf("lambda = %v: printed %v, corrected %v", λ, p, c)
			}
		}
	})
	t.Run("deterministic_never_fails", func(t *testing.T) {
		for _, an := range []Analysis{DBEA, Unconditional} {
			for _, union := range []Union{Corrected, Printed} {
				if f := paper.Failure(an, union); f != Never {
					t.Errorf("%T: %v", an, f)
				}
			}
		}
	})
	t.Run("is_the_double_sum_at_full_size", func(t *testing.T) {
		for _, λ := range []float64{0, 0.5, 3, 8, 11.4, 40, 1e6} {
			for _, union := range []Union{Corrected, Printed} {
				x, want := float64(paper.Failure(VIBEA{Lambda: λ}, union)), float64(paper.slowFailure(VIBEA{Lambda: λ}, union))
				if math.Abs(x-want) > 1e-11*(1+math.Abs(want)) {
					t.Errorf("lambda = %v, union %d: %v, want %v", λ, union, x, want)
				}
			}
		}
	})
	t.Run("never_fails_at_infinite_lambda", func(t *testing.T) {
		if f := paper.Failure(VIBEA{Lambda: math.Inf(1)}, Corrected); f != Never {
			t.Errorf("failure %v", f)
		}
	})
	t.Run("of_Higham_and_Mary_has_2KMN_events", func(t *testing.T) {
		an := HighamMary{paper.HighamMaryLambda(FailureOf(0.99))}
		for _, union := range []Union{Corrected, Printed} {
			if f := paper.Failure(an, union); !near(float64(f), float64(FailureOf(0.99)), 1e-12) {
				t.Errorf("union %d: failure %v, want 99 %%", union, f)
			}
		}
	})
}

func TestEvents(t *testing.T) {
	for _, m := range machines {
		for _, kb := range [][2]int{{1, 1}, {2, 1}, {2, 2}, {8, 4}, {12, 4}, {6, 6}} {
			g := GEMM{M: 3, N: 5, K: kb[0], Block: kb[1], Roundoffs: m.Roundoffs}
			for _, union := range []Union{Corrected, Printed} {
				sums, stores := g.doubleSum(union)
				if n, want := g.Events(union), 15*float64(len(sums)+len(stores)); n != want {
					t.Errorf("%s, K = %d, b = %d, union %d: %v events, want %v", m.name, g.K, g.Block, union, n, want)
				}
			}
			// Each distinct number of roundings of a product is one event.
			sums, stores := g.roundings()
			different := map[int]bool{}
			for j := range sums {
				different[sums[j]], different[-stores[j]] = true, true
			}
			delete(different, 0)
			n := g.Events(Deduplicated)
			if want := 15 * float64(len(different)); n != want {
				t.Errorf("%s, K = %d, b = %d: %v different events, want %v", m.name, g.K, g.Block, n, want)
			}
			if n == 0 {
				continue
			}
			// If the failure is the same for every length, the number of events determines
			// λ.
			an := MeanIndependent{MeanIndependentLambda(-5, n)}
			if f := g.Failure(an, Deduplicated); !near(float64(f), -5, 1e-12) {
				t.Errorf("%s, K = %d, b = %d: failure %v, want -5", m.name, g.K, g.Block, float64(f))
			}
		}
	}
}

func TestGEMMLambda(t *testing.T) {
	for _, m := range machines {
		for _, kb := range [][2]int{{1, 1}, {2, 2}, {2, 1}, {64, 4}, {64, 64}, {32768, 16}} {
			for _, p := range []float64{1e-6, 0.5, 0.9, 0.99, 1 - 0x1p-50} {
				for _, union := range []Union{Corrected, Printed} {
					g := GEMM{M: 3, N: 5, K: kb[0], Block: kb[1], Roundoffs: m.Roundoffs}
					λ := g.Lambda(FailureOf(p), union)
					want := FailureOf(p)
					if f := g.Failure(VIBEA{Lambda: λ}, union); f > want {
						t.Errorf("%s, K = %d, b = %d, %v: failure %v at lambda, want at most %v", m.name, g.K, g.Block, p, float64(f), float64(want))
					}
					if f := g.Failure(VIBEA{Lambda: λ * (1 - 1e-9)}, union); f <= want {
						t.Errorf("%s, K = %d, b = %d, %v: lambda %v is not the smallest", m.name, g.K, g.Block, p, λ)
					}
				}
			}
		}
	}
}

// other hides the type of an analysis from the package.
type other struct{ Analysis }

func FuzzGEMMFailure(f *testing.F) {
	f.Add(uint8(16), uint8(4), 11.4, 0x1p-11, 0x1p-24, 0x1p-24)
	f.Add(uint8(1), uint8(1), 0.0, 0.5, 0.9, 0.1)
	f.Add(uint8(200), uint8(1), 1e308, 0x1p-11, 0x1p-11, 0x1p-8)
	f.Fuzz(func(t *testing.T, q, b uint8, λ, low, accumulate, output float64) {
		ok := func(u float64) bool { return 0 < u && u < 1 }
		if q == 0 || b == 0 || !(λ >= 0 && λ < 1e150) || !ok(low) || !ok(accumulate) || !ok(output) {
			t.Skip()
		}
		g := GEMM{M: 2, N: 3, K: int(q) * int(b), Block: int(b), Roundoffs: Roundoffs{Low: low, Accumulate: accumulate, Output: output}}
		for _, union := range []Union{Corrected, Printed} {
			for _, an := range []Analysis{VIBEA{Lambda: λ}, other{VIBEA{Lambda: λ}}, HighamMary{λ}, DBEA} {
				x, want := float64(g.Failure(an, union)), float64(g.slowFailure(an, union))
				if x != want && !(math.Abs(x-want) <= 1e-11*(1+math.Abs(want))) {
					t.Errorf("%+v, %+v, union %d: %v, want %v", g, an, union, x, want)
				}
			}
		}
	})
}

// The probabilistic theorem holds in its model: Algorithm 1 with uniform
// errors. The data have one sign, so that |A||B|/|AB| is 1. The bound is far
// from tight, so that no failure is expected; the stated confidence of 90 %
// allows 2000 failures in 20000 trials.
func TestTheoremHoldsInTheModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	g := GEMM{M: 1, N: 1, K: 16, Block: 4, Roundoffs: machines[1].Roundoffs}
	ζ := g.Zeta(VIBEA{Lambda: g.Lambda(FailureOf(0.90), Corrected)})
	failures, largest := 0, 0.0
	for range 20000 {
		exact, computed := 0.0, 0.0
		for k := range g.K {
			xy := rng.Float64()
			exact += xy
			computed += xy
			if k > 0 {
				computed *= 1 + g.Accumulate*uniform(rng)
			}
			if (k+1)%g.Block == 0 {
				computed *= 1 + g.Output*uniform(rng)
			}
		}
		e := math.Abs(computed-exact) / exact
		largest = max(largest, e)
		if e > ζ {
			failures++
		}
	}
	if failures > 0 || largest < ζ/20 {
		t.Errorf("%d failures, largest error %v, bound %v", failures, largest, ζ)
	}
}

func BenchmarkGEMMFailure(b *testing.B) {
	for _, λ := range []float64{2, 8, 11.5} {
		b.Run(fmt.Sprintf("K=32768/lambda=%v", λ), func(b *testing.B) {
			for b.Loop() {
				paper.Failure(VIBEA{Lambda: λ}, Corrected)
			}
		})
	}
}

func BenchmarkGEMMLambda(b *testing.B) {
	for b.Loop() {
		paper.Lambda(FailureOf(0.99), Corrected)
	}
}

// The failure of a long stretch, computed by integration, agrees to 8 digits
// with the sum term by term, also for the small λ of a few outputs, where all
// terms matter.
func TestFailureOfLongSums(t *testing.T) {
	for _, λ := range []float64{1, 3, 5, 7, 12, 100, 3000} {
		for _, s := range []stretch{{1, 200000, 1, 0x1p-24}, {300, 5000, 7, 0x1p-8}, {600, 601, 1, 0x1p-11}, {1, 513, 2, 0x1p-24}} {
			sum, v := 0.0, VIBEA{Lambda: λ}
			for n := s.lo; n <= s.hi; n++ {
				sum += math.Exp(float64(v.Failure(n, s.u) - v.Failure(s.lo, s.u)))
			}
			if got, want := float64(s.failure(v)), float64(v.Failure(s.lo, s.u))+math.Log(sum*float64(s.times)); math.Abs(got-want) > 1e-8 {
				t.Errorf("%+v at λ = %v: %v, want %v", s, λ, got, want)
			}
		}
	}
	g := GEMM{M: 1, N: 1, K: 1 << 40, Block: 4, Roundoffs: TensorCoreF32}
	if λ := g.Lambda(FailureOf(0.9), Corrected); !(λ > 4 && λ < 5) {
		t.Errorf("λ = %v", λ)
	}
}
