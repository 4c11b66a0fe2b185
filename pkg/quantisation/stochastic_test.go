package quantisation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
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

// drawn returns one rounding of x by the emulator.
func drawn(f tcore.Format, bits int, x blas64.General, seed uint64) blas64.General {
	z := matrix.New64(x.Rows, x.Cols)
	tcore.Stochastic{Seed: seed, Bits: bits}.RoundSlice(f, z.Data, x.Data, 0)
	return z
}

// All bits of the generator are tried: of 2^8 random numbers, as many round up
// as the mean says, in the emulator and in the two neighbours.
func TestRoundedHasTheMeanOfTheEmulator(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1, tcore.E5M2} {
		x := filled(1, 200, func(_, j int) float64 {
			v := math.Ldexp(r.NormFloat64(), r.IntN(12)-9)
			return max(-6, min(v, 6))
		})
		x.Data[0], x.Data[1], x.Data[2] = 0, 6, -1.5
		for _, bits := range []int{1, 3, 8} {
			p, err := Rounded(x, f, bits)
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range x.Data {
				low, high := f.Round(v, tcore.ToNegative), f.Round(v, tcore.ToPositive)
				mean := 0.0
				for n := range 1 << bits { // the neighbour away from zero if fraction and random number reach 1
					φ, near, far := math.Abs(v), math.Abs(low), math.Abs(high)
					if near > far {
						near, far = far, near
					}
					z := near
					if far > near && (φ-near)/(far-near)+math.Ldexp(float64(n), -bits) >= 1 {
						z = far
					}
					mean += math.Copysign(z, v) / float64(int(1)<<bits)
				}
				m, l, h := p.at(0, j)
				if m != mean || l != low || h != high {
					t.Errorf("%s, %d bits: %v has mean %v between %v and %v, want %v, %v, %v", f.Name, bits, v, m, l, h, mean, low, high)
				}
				if math.Abs(m) > math.Abs(v) || math.Abs(v-m) >= math.Ldexp(high-low, -bits) && v != m {
					t.Errorf("%s, %d bits: the mean of %v is %v", f.Name, bits, v, m)
				}
			}
			const draws = 4000
			sum := make([]float64, len(x.Data))
			for seed := range uint64(draws) {
				for j, v := range drawn(f, bits, x, seed).Data {
					sum[j] += v / draws
				}
			}
			for j := range sum {
				m, l, h := p.at(0, j)
				if d := math.Abs(sum[j] - m); d > 5*math.Sqrt(variance(m, l, h)/draws)+1e-9 {
					t.Errorf("%s, %d bits: the emulator's mean of %v is %v, want %v", f.Name, bits, x.Data[j], sum[j], m)
				}
			}
		}
	}
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

// weighted returns the tilted sum of E_00 from the definition, term by term.
func (s StochasticProduct) weighted(θ float64) (z tilted) {
	for k := range s.a.mean.Cols {
		var q fourPoint
		s.term(&q, 0, k, 0)
		m, w := 0.0, [4]float64{}
		for l, v := range q.value {
			w[l] = q.weight[l] * math.Exp(θ*v)
			m += w[l]
		}
		mean := 0.0
		for l, v := range q.value {
			mean += w[l] / m * v
		}
		z.cumulant += math.Log(m)
		z.mean += mean
		for l, v := range q.value {
			z.variance += w[l] / m * math.Pow(v-mean, 2)
			z.cubes += w[l] / m * math.Pow(math.Abs(v-mean), 3)
		}
	}
	return z
}

func TestTilt(t *testing.T) {
	for name, make := range data {
		a, b := make(1, 20, 1, rand.New(rand.NewPCG(5, 1)))
		s := stochastic(t, tcore.E2M1, IdealBits, a, b)
		for _, θ := range []float64{-5, -0.3, 0, 0.3, 2, 10} {
			got, want := tilt(s.terms(nil, 0, 0), θ), s.weighted(θ)
			if math.Abs(got.cumulant-want.cumulant) > 1e-12*want.cumulant+1e-14 || math.Abs(got.mean-want.mean) > 1e-12*math.Abs(want.mean)+1e-12 {
				t.Errorf("%s, θ = %v: %+v, want %+v", name, θ, got, want)
			}
			near(t, name+", variance", got.variance, want.variance, 1e-9)
			near(t, name+", cubes", got.cubes, want.cubes, 1e-9)
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

// The tails that are found are those of a fine grid of θ.
func TestTailsAreTheLeast(t *testing.T) {
	for name, make := range data {
		a, b := make(1, 30, 1, rand.New(rand.NewPCG(5, 0)))
		s := stochastic(t, tcore.E2M1, IdealBits, a, b)
		for _, f := range []roundoff.Failure{roundoff.FailureOf(0.9), -14} {
			l := math.Ln2 - float64(f)
			chernoff, refined := 0.0, 0.0
			for _, sign := range []float64{-1, 1} {
				least, tail := math.Inf(1), math.Inf(1)
				for θ := 0.05; θ < 20; θ *= 1.004 {
					z := s.weighted(sign * θ)
					least = min(least, (l+z.cumulant)/θ)
					factor := 1/(θ*math.Sqrt(2*math.Pi*z.variance)) + 2*0.56*z.cubes/math.Pow(z.variance, 1.5)
					if math.Exp(z.cumulant-θ*sign*z.mean)*factor <= math.Exp(-l) {
						tail = min(tail, sign*z.mean)
					}
				}
				chernoff, refined = max(chernoff, least), max(refined, min(least, tail))
			}
			near(t, name+", Chernoff", s.Chernoff(f).Data[0], chernoff, 1e-5)
			if got := s.Tilted(f).Data[0]; got > refined*1.004 || got < refined*0.996 || got > s.Chernoff(f).Data[0] {
				t.Errorf("%s, f = %v: tilted %v, want %v", name, f, got, refined)
			}
		}
	}
}

// Kearns and Saul's κ bounds the generating function of two values, and where
// 1-2p is small the series is the formula.
func TestProxy(t *testing.T) {
	for _, p := range []float64{1e-300, 1e-12, 0.01, 0.2, 0.4, 0.4999, 0.49999, 0.5, 0.7, 0.999} {
		κ := proxy(p, 0, 1)
		if v := p * (1 - p); κ < v*(1-1e-12) || κ > 0.25 {
			t.Errorf("p = %v: κ = %v, want between the variance %v and 1/4", p, κ, v)
		}
		for θ := -30.0; θ <= 30; θ += 0.37 {
			if K := math.Log(1-p+p*math.Exp(θ)) - θ*p; K > κ*θ*θ/2*(1+1e-9)+1e-15 {
				t.Errorf("p = %v, θ = %v: log E e^θX = %v > %v", p, θ, K, κ*θ*θ/2)
			}
		}
	}
	near(t, "the series", proxy(0.5-4.9e-5, 0, 1), (2*4.9e-5)/(4*math.Atanh(2*4.9e-5)), 1e-12)
	near(t, "a step of 3", proxy(1+0.6, 1, 4), 9*proxy(0.2, 0, 1), 1e-12)
	near(t, "mean over p, of the fact that prices it against the variance 1/6", meanProxy(), 0.213, 0.003)
	if proxy(2, 2, 2) != 0 || proxy(2, 2, 3) != 0 {
		t.Error("κ of a number of the format, want 0")
	}
}

func meanProxy() float64 {
	mean := 0.0
	for i := range 1000 {
		mean += proxy((float64(i)+0.5)/1000, 0, 1) / 1000
	}
	return mean
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

// A tightness is the largest |E|/t over the outputs of one product, for t of
// four bounds that hold for all outputs with a probability of 99 %. All but the
// first are computed for the 16 outputs of largest E/√V alone, so theirs may be
// larger.
type tightness struct{ subGaussian, bernstein, chernoff, refined float64 }

func tightnessOf(t *testing.T, f tcore.Format, a, b blas64.General, seed uint64) (τ tightness) {
	t.Helper()
	const bits = 32
	s := stochastic(t, f, bits, a, b)
	p, err := Known(s.a.Mean(), s.b.Mean(), drawn(f, bits, a, 2*seed), drawn(f, bits, b, 2*seed+1))
	if err != nil {
		t.Fatal(err)
	}
	E, V := p.Error(), s.Variance()
	all := roundoff.FailureOf(0.99).Split(float64(len(E.Data)))
	for at, v := range s.SubGaussian(all).Data {
		τ.subGaussian = max(τ.subGaussian, math.Abs(E.Data[at])/v)
	}
	z := elementwise(func(e, v float64) float64 { return math.Abs(e) / math.Sqrt(v) }, E, V)
	order := make([]int, len(z.Data))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(z.Data[j], z.Data[i]) })
	for _, at := range order[:16] {
		one, e := s.output(at/E.Cols, at%E.Cols), math.Abs(E.Data[at])
		τ.bernstein = max(τ.bernstein, e/one.Bernstein(all).Data[0])
		τ.chernoff = max(τ.chernoff, e/one.Chernoff(all).Data[0])
		τ.refined = max(τ.refined, e/one.Tilted(all).Data[0])
	}
	return τ
}

// output returns the product of one row and one column.
func (s StochasticProduct) output(i, j int) StochasticProduct {
	row := func(m blas64.General) blas64.General {
		return blas64.General{Rows: 1, Cols: m.Cols, Stride: m.Cols, Data: m.Data[i*m.Stride:]}
	}
	column := func(m blas64.General) blas64.General {
		return blas64.General{Rows: m.Rows, Cols: 1, Stride: m.Stride, Data: m.Data[j:]}
	}
	return Stochastic(TwoPoint{row(s.a.mean), row(s.a.low), row(s.a.high)}, TwoPoint{column(s.b.mean), column(s.b.low), column(s.b.high)})
}

// kinds are data of which the distribution is unknown to a bound, or none.
var kinds = []string{"constants", "AR(1)", "sorted", "N(0,1)"}

// Of 1024 × 8 outputs the largest error is more than 0.6 of the tilted bound,
// in the mean over five products. Where all rows are nearly equal, as sorted
// ones, outputs share their errors, so that the largest of them is that of a
// few, and one product may have less.
func TestTightnessOfStochasticRounding(t *testing.T) {
	seeds := 5
	if testing.Short() {
		seeds = 1
	}
	for _, K := range []int{256, 4096} {
		if K > 256 && testing.Short() {
			continue
		}
		for _, name := range kinds {
			for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1} {
				r := rand.New(rand.NewPCG(7, uint64(K)))
				least, mean := tightness{1, 1, 1, 1}, 0.0
				for seed := range seeds {
					a, b := data[name](1024, K, 8, r)
					τ := tightnessOf(t, f, a, b, uint64(seed))
					if most := max(τ.subGaussian, τ.bernstein, τ.chernoff, τ.refined); most > 1 {
						t.Errorf("%s, %s, K = %d: an error is %.2f of a bound", name, f.Name, K, most)
					}
					least = tightness{min(least.subGaussian, τ.subGaussian), min(least.bernstein, τ.bernstein),
						min(least.chernoff, τ.chernoff), min(least.refined, τ.refined)}
					mean += τ.refined / float64(seeds)
				}
				t.Logf("%-9s %s K = %-4d least of %d: %.2f; mean of the last %.2f", name, f.Name, K, seeds, least, mean)
				if mean < 0.6 && seeds > 1 || least.refined < 0.55 {
					t.Errorf("%s, %s, K = %d: τ %.2f in the mean of %d and %.2f at least, want 0.6 and 0.55", name, f.Name, K, mean, seeds, least.refined)
				}
			}
		}
	}
}

// One output is rounded many times: the errors exceed bounds of 90, 99 and 99.9
// % no more often than these say.
func TestCoverageOfStochasticRounding(t *testing.T) {
	for _, K := range []int{256, 4096} {
		runs := 2_000_000 / K
		if !testing.Short() {
			runs = 40_000_000 / K
		}
		for _, name := range kinds {
			for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1} {
				r := rand.New(rand.NewPCG(8, uint64(K)))
				a, b := data[name](1, K, 1, r)
				s := stochastic(t, f, IdealBits, a, b)
				e := s.errors(runs, r)
				for _, ζ := range []float64{1e-1, 1e-2, 1e-3} {
					failure := roundoff.FailureOf(1 - ζ)
					var shares [4]float64
					for i, bound := range []blas64.General{s.SubGaussian(failure), s.Bernstein(failure), s.Chernoff(failure), s.Tilted(failure)} {
						shares[i] = exceeding(e, bound.Data[0])
						if shares[i] > ζ+3*math.Sqrt(ζ/float64(runs)) {
							t.Errorf("%s, %s, K = %d: bound %d fails with %v, want %v", name, f.Name, K, i, shares[i], ζ)
						}
					}
					t.Logf("%-9s %s K = %-4d of %d: %.0e %.1e", name, f.Name, K, runs, ζ, shares)
				}
				if z := sample.RMS(e) / math.Sqrt(s.Variance().Data[0]); math.Abs(z-1) > 4/math.Sqrt(float64(runs)) {
					t.Errorf("%s, %s, K = %d: rms of E/√V = %v, want 1", name, f.Name, K, z)
				}
			}
		}
	}
}

// errors draws the error of output (0, 0) so many times.
func (s StochasticProduct) errors(runs int, r *rand.Rand) []float64 {
	e := make([]float64, runs)
	for k := range s.a.mean.Cols {
		a, la, ha := s.a.at(0, k)
		b, lb, hb := s.b.at(k, 0)
		pa, pb := probability(a, la, ha), probability(b, lb, hb)
		for i := range e {
			x, y := la, lb
			if r.Float64() < pa {
				x = ha
			}
			if r.Float64() < pb {
				y = hb
			}
			e[i] += x*y - a*b
		}
	}
	return e
}

// exceeding returns the share of numbers of magnitude above t.
func exceeding(e []float64, t float64) float64 {
	n := 0.0
	for _, v := range e {
		if math.Abs(v) > t {
			n++
		}
	}
	return n / float64(len(e))
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
		if z < c.z || max(τ.subGaussian, τ.bernstein, τ.chernoff, τ.refined) > 1 {
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

// Scales multiply what is rounded: the errors of two scaled factors are those
// of the unscaled ones, multiplied.
func TestTimes(t *testing.T) {
	s := small(t)
	scale := func(m blas64.General, c float64) blas64.General { return each(func(float64) float64 { return c }, m) }
	a, err := s.a.Times(scale(s.a.mean, 0.25))
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.b.Times(scale(s.b.mean, 6))
	if err != nil {
		t.Fatal(err)
	}
	f := roundoff.FailureOf(0.9)
	for i, v := range Stochastic(a, b).Chernoff(f).Data {
		near(t, "Chernoff", v, 1.5*s.Chernoff(f).Data[i], 1e-9)
	}
	panics(t, "s = -1, want s >= 0", func() { s.a.Times(scale(s.a.mean, -1)) })
	panics(t, "s is 3 × 2, want 1 × 3", func() { s.a.Times(s.b.mean) })
	if _, err := s.a.Times(scale(s.a.mean, math.Inf(1))); err == nil {
		t.Error("no error for an infinite scale")
	}
}

// A factor that is not rounded has no variance, and bounds are 0 where nothing
// is random.
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
	for _, t0 := range []blas64.General{Stochastic(a, b).Variance(), Stochastic(a, b).SubGaussian(f), Stochastic(a, b).Bernstein(f), Stochastic(a, b).Tilted(f)} {
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
	panics(t, "bits = 33, want 0 <= bits <= 32", func() { Rounded(x, tcore.E4M3, 33) })
	panics(t, "x is 0 × 0", func() { Rounded(blas64.General{}, tcore.E4M3, 8) })
	s := small(t)
	panics(t, "a has 3 columns, b has 1 rows", func() { Stochastic(s.a, s.a) })
	panics(t, "output (1, 0), want one of 1 × 2", func() { s.Cumulant(1, 0, 0) })
	for _, bound := range []func(roundoff.Failure) blas64.General{s.SubGaussian, s.Bernstein, s.Chernoff, s.Tilted} {
		panics(t, "failure = 0, want", func() { bound(0) })
	}
}
