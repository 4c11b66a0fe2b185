package quantisation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// stochastic returns the distribution of a product whose factors are rounded at
// random.
func stochastic(t *testing.T, f tcore.Format, bits int, a, b blas64.General) StochasticProduct {
	t.Helper()
	qa, err := Rounded(a, f, bits)
	if err != nil {
		t.Fatal(err)
	}
	qb, err := Rounded(b, f, bits)
	if err != nil {
		t.Fatal(err)
	}
	return Stochastic(qa, qb)
}

// small returns a product of three terms, with an element that is not rounded.
func small(t *testing.T) StochasticProduct {
	a := blas64.General{Rows: 1, Cols: 3, Stride: 4, Data: []float64{0.3, -2.2, 1.5, 99}}
	b := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{-1.1, 0.7, 5.9, -0.01, 0.2, 3.1}}
	return stochastic(t, tcore.E2M1, IdealBits, a, b)
}

// outcomes calls f with every possible E_ij of a small product and its
// probability.
func (s StochasticProduct) outcomes(i, j int, f func(e, p float64)) {
	K := s.a.mean.Cols
	for bits := range 1 << (2 * K) {
		e, p := 0.0, 1.0
		for k := range K {
			a, la, ha := s.a.at(i, k)
			b, lb, hb := s.b.at(k, j)
			x, y := la, lb
			if bits>>(2*k)&1 == 1 {
				x = ha
				p *= probability(a, la, ha)
			} else {
				p *= 1 - probability(a, la, ha)
			}
			if bits>>(2*k)&2 == 2 {
				y = hb
				p *= probability(b, lb, hb)
			} else {
				p *= 1 - probability(b, lb, hb)
			}
			e += x*y - a*b
		}
		f(e, p)
	}
}

func TestStochasticAgainstAllOutcomes(t *testing.T) {
	s := small(t)
	for j := range 2 {
		mean, V := 0.0, 0.0
		s.outcomes(0, j, func(e, p float64) { mean, V = mean+p*e, V+p*e*e })
		if math.Abs(mean) > 1e-12 {
			t.Errorf("mean %v, want 0", mean)
		}
		near(t, "variance", s.Variance().Data[j], V, 1e-12)
		for _, θ := range []float64{-40, -3, -0.1, 1e-4, 0.1, 0.5, 3, 40, 2000} {
			top := 0.0
			s.outcomes(0, j, func(e, p float64) { top = max(top, θ*e) })
			sum := 0.0
			s.outcomes(0, j, func(e, p float64) { sum += p * math.Exp(θ*e-top) })
			want := top + math.Log(sum)
			if got := s.Cumulant(0, j, θ); math.Abs(got-want) > 1e-12*math.Abs(want)+1e-15 {
				t.Errorf("cumulant at %v: %v, want %v", θ, got, want)
			}
		}
		for _, f := range []roundoff.Failure{-0.1, -2, -5, -30} {
			chernoff, gauss, bernstein := s.Chernoff(f).Data[j], s.SubGaussian(f).Data[j], s.Bernstein(f).Data[j]
			var outC, outG, outB, greatest float64
			s.outcomes(0, j, func(e, p float64) {
				if math.Abs(e) > chernoff*(1+1e-9) {
					outC += p
				}
				if math.Abs(e) > gauss {
					outG += p
				}
				if math.Abs(e) > bernstein {
					outB += p
				}
				if p > 0 {
					greatest = max(greatest, math.Abs(e))
				}
			})
			if ζ := math.Exp(float64(f)); outC > ζ || outG > ζ || outB > ζ {
				t.Errorf("ζ = %v: probabilities %v of Chernoff, %v sub-Gaussian, %v Bernstein", ζ, outC, outG, outB)
			}
			if chernoff > 1.000001*min(gauss, bernstein) {
				t.Errorf("Chernoff %v, sub-Gaussian %v, Bernstein %v: want it the least", chernoff, gauss, bernstein)
			}
			if f == -30 {
				near(t, "Chernoff at ζ = e^-30, the greatest sum", chernoff, greatest, 1e-6)
			}
		}
	}
}

// The sub-Gaussian bound has the squares of the neighbours far from zero, on
// whichever side of it they are.
func TestSubGaussianFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	for _, signs := range [][2]float64{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}} {
		draw := func(sign float64) func(int, int) float64 {
			return func(int, int) float64 { return sign * 4 * r.Float64() }
		}
		a, b := filled(1, 8, draw(signs[0])), filled(8, 1, draw(signs[1]))
		left, right := 0.0, 0.0
		for k := range 8 {
			x, y := math.Abs(a.Data[k]), math.Abs(b.Data[k])
			lx, hx := tcore.E2M1.Round(x, tcore.ToZero), tcore.E2M1.Round(x, tcore.ToPositive)
			ly, hy := tcore.E2M1.Round(y, tcore.ToZero), tcore.E2M1.Round(y, tcore.ToPositive)
			left += proxy(x, lx, hx)*y*y + hx*hx*proxy(y, ly, hy)
			right += proxy(x, lx, hx)*hy*hy + x*x*proxy(y, ly, hy)
		}
		got := stochastic(t, tcore.E2M1, IdealBits, a, b).SubGaussian(-3).Data[0]
		near(t, "sub-Gaussian", got, math.Sqrt(2*(math.Ln2+3)*min(left, right)), 1e-9)
	}
}

// What 8 random bits leave out is known: of many roundings, the mean error is
// the bias, and what remains has the variance.
func TestBiasOfFewBits(t *testing.T) {
	const K, draws = 64, 3000
	r := rand.New(rand.NewPCG(6, 0))
	a, b := data["U(0,1)"](1, K, 1, r)
	s := stochastic(t, tcore.E2M1, 3, a, b)
	bias, err := s.Bias(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var e []float64
	for seed := range uint64(draws) {
		p, err := Known(a, b, drawn(tcore.E2M1, 3, a, 2*seed), drawn(tcore.E2M1, 3, b, 2*seed+1))
		if err != nil {
			t.Fatal(err)
		}
		e = append(e, p.Error().Data[0]-bias.Data[0])
	}
	sd := math.Sqrt(s.Variance().Data[0])
	mean := 0.0
	for _, v := range e {
		mean += v / draws
	}
	if math.Abs(mean) > 4*sd/math.Sqrt(draws) || math.Abs(bias.Data[0]) < 10*sd/math.Sqrt(draws) {
		t.Errorf("mean %v of E less bias %v, sd %v", mean, bias.Data[0], sd)
	}
	near(t, "deviation", sample.RMS(e), sd, 0.06)
}

// Data at which rounding to nearest has errors of one sign: E is many times √V
// of random signs there, and stochastic rounding is as on any other data.
func TestWhereOnlyStochasticRoundingIsRandom(t *testing.T) {
	f := tcore.E4M3
	if x := f.Round(0.3, tcore.ToNearestEven); math.Abs(x/0.3-1-0.0417) > 1e-4 {
		t.Errorf("0.3 becomes %v, want 4.2 %% more", x)
	}
	for _, c := range []struct {
		name string
		K    int
		z    float64 // at least
	}{{"constants", 256, 22}, {"decimal grid", 4096, 8}} {
		r := rand.New(rand.NewPCG(9, 0))
		a, b := data[c.name](64, c.K, 8, r)
		z := sample.RMS(known(t, f, a, b).Standardised().Data)
		τ := tightnessOf(t, f, a, b, 1)
		t.Logf("%s: rms of z to nearest %.1f, τ of stochastic rounding %.2f", c.name, z, τ)
		if z < c.z || max(τ.subGaussian, τ.bernstein, τ.chernoff, τ.refined, τ.tightest) > 1 {
			t.Errorf("%s: rms of z = %.1f, want %v or more; τ = %.2f, want at most 1", c.name, z, c.z, τ)
		}
	}
}

// The diagonal of AAᵀ is a sum of squares. With one rounding of A its error has
// the mean Σ v, which is more than a bound for independent factors allows; with
// two independent ones the bound holds.
func TestGramMatrixNeedsTwoRoundings(t *testing.T) {
	const M, K = 64, 4096
	f, r := tcore.E2M1, rand.New(rand.NewPCG(10, 0))
	a, _ := data["N(0,1)"](M, K, 1, r)
	transposed := filled(K, M, func(k, i int) float64 { return a.Data[i*K+k] })
	s := stochastic(t, f, 32, a, transposed)
	bound := s.SubGaussian(roundoff.FailureOf(0.99).Split(M))
	v := s.a.each(variance)
	q, q2 := drawn(f, 32, a, 1), drawn(f, 32, a, 2)
	var same, apart int
	for i := range M {
		var e, e2, mean float64
		for k := range K {
			x, y := q.Data[i*K+k], q2.Data[i*K+k]
			e += x*x - square(s.a.mean.Data[i*K+k])
			e2 += x*y - square(s.a.mean.Data[i*K+k])
			mean += v.Data[i*K+k]
		}
		if e > bound.Data[i*M+i] {
			same++
		}
		if math.Abs(e2) > bound.Data[i*M+i] {
			apart++
		}
		near(t, "mean of the diagonal", e, mean, 0.5)
	}
	if same == 0 || apart > 0 {
		t.Errorf("%d of %d errors above the bound with one rounding, %d with two, want some and none", same, M, apart)
	}
}

// A factor that is not rounded has no variance, and bounds are 0 where nothing
// is random.
func TestRowsOfAStochasticProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	normal := func(int, int) float64 { return r.NormFloat64() }
	s := stochastic(t, tcore.E4M3, 4, filled(5, 30, normal), filled(30, 3, normal))
	f := roundoff.FailureOf(0.99)
	if got, want := s.Rows(1, 4).SubGaussian(f).Data, s.SubGaussian(f).Data[3:12]; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestExactFactors(t *testing.T) {
	s := small(t)
	a, err := Exact(s.a.mean)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Exact(s.b.mean)
	if err != nil {
		t.Fatal(err)
	}
	f := roundoff.FailureOf(0.9)
	for _, t0 := range []blas64.General{Stochastic(a, b).Variance(), Stochastic(a, b).SubGaussian(f), Stochastic(a, b).Bernstein(f), Stochastic(a, b).Tilted(f), Stochastic(a, b).Smoothed(f), Stochastic(a, b).Tightest(f)} {
		for _, v := range t0.Data {
			if v != 0 {
				t.Errorf("%v where nothing is random, want 0", v)
			}
		}
	}
	s.b = b
	s.outcomes(0, 0, func(e, p float64) {
		if p > 0 && math.Abs(e) > s.Bernstein(-50).Data[0] {
			t.Errorf("error %v", e)
		}
	})
}

func TestStochasticRefuses(t *testing.T) {
	x := filled(1, 2, func(_, j int) float64 { return float64(5 + 2*j) })
	refused := func(x blas64.General, f tcore.Format, want string) {
		t.Helper()
		if _, err := Rounded(x, f, 8); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	refused(x, tcore.E2M1, "quantisation: Rounded: x(0, 1) = 7, want a number between two of e2m1")
	refused(filled(1, 1, func(int, int) float64 { return 460 }), tcore.E4M3, "quantisation: Rounded: x(0, 0) = 460, want a number between two of e4m3")
	refused(filled(1, 1, func(int, int) float64 { return 60000 }), tcore.E5M2, "quantisation: Rounded: x(0, 0) = 60000, want a number between two of e5m2")
	refused(filled(1, 1, func(int, int) float64 { return -1 }), tcore.UE4M3, "quantisation: Rounded: x(0, 0) = -1, want a number between two of ue4m3")
	refused(filled(1, 1, func(int, int) float64 { return math.Inf(-1) }), tcore.E4M3, "quantisation: Rounded: x(0, 0) = -Inf, want a finite number")
	panics.WantPart(t, "bits = 33, want 0 <= bits <= 32", func() { Rounded(x, tcore.E4M3, 33) })
	panics.WantPart(t, "x is 0 × 0", func() { Rounded(blas64.General{}, tcore.E4M3, 8) })
	s := small(t)
	panics.WantPart(t, "a has 3 columns, b has 1 rows", func() { Stochastic(s.a, s.a) })
	panics.WantPart(t, "output (1, 0), want one of 1 × 2", func() { s.Cumulant(1, 0, 0) })
	for _, bound := range []func(roundoff.Failure) blas64.General{s.SubGaussian, s.Bernstein, s.Chernoff, s.Tilted, s.Smoothed, s.Tightest} {
		panics.WantPart(t, "failure = 0, want", func() { bound(0) })
	}
}
