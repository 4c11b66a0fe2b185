package truncation

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// fewValues returns a distribution of products of both signs, of zeros and of
// several exponents, with bits that truncation to few bits cuts off.
func fewValues() *ProductDistribution {
	return ValueProducts([]float64{-1.25, 0, 1.75, 3.5}, []float64{2, 1, 3, 1}, []float64{1.125, 1.5, 0.375}, []float64{1, 2, 2}, -14, -14)
}

// blocks calls f with every block of L products, its probability and its
// greatest exponent.
func blocks(p *ProductDistribution, L int, f func(values []float64, w float64, top int)) {
	values := make([]float64, L)
	var choose func(l int, w float64, top int)
	choose = func(l int, w float64, top int) {
		if l == L {
			f(values, w, top)
			return
		}
		for i, v := range p.value {
			values[l] = v
			choose(l+1, w*p.weight[i], max(top, p.exp[i]))
		}
	}
	choose(0, 1, math.MinInt)
}

// lost returns Σ sgn(p) (|p| mod g).
func lost(values []float64, g float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Mod(v, g)
	}
	return sum
}

func TestRoundingLoss(t *testing.T) {
	// For block sums modulo u, on top of every multiple of g, the mean and the mean
	// square are at most the bounds.
	const L, F, E = 2, 4, 1
	g := math.Ldexp(1, E-F)
	for name, p := range map[string]*ProductDistribution{
		"few values": fewValues(),
		"one value":  PairProducts([]float64{1}, []float64{1.125}, -14, -14),
		"spread":     spread(),
	} {
		p.Samples = math.Inf(1)
		for n := 1; n <= 8; n *= 2 {
			u := g * float64(n)
			toZero, nearest := p.Losses(F).Rounding(L, E, u, false, -1), p.Losses(F).Rounding(L, E, u, true, -1)
			for start := range n {
				var weight, mean, square, signed, signedSquare float64
				blocks(p, L, func(values []float64, w float64, top int) {
					if top > E {
						return
					}
					s := float64(start) * g
					for _, v := range values {
						s += g * math.Trunc(v/g)
					}
					r := s - u*math.Floor(s/u)
					q := s - u*math.RoundToEven(s/u)
					if math.Abs(q) == u/2 { // a tie goes to either side
						signedSquare += w * q * q
						q = 0
					}
					weight, mean, square = weight+w, mean+w*r, square+w*r*r
					signed, signedSquare = signed+w*q, signedSquare+w*q*q
				})
				if mean/weight > toZero.Mean+1e-15 || square/weight > toZero.Square+1e-15 {
					t.Errorf("%s, u = %dg, from %d: %v and %v, bounds %+v", name, n, start, mean/weight, square/weight, toZero)
				}
				if math.Abs(signed/weight) > nearest.Mean+1e-15 || signedSquare/weight > nearest.Square+1e-15 {
					t.Errorf("%s, u = %dg, from %d, to nearest: %v and %v, bounds %+v", name, n, start, signed/weight, signedSquare/weight, nearest)
				}
			}
			if half := (u - g) / 2; name == "spread" && (toZero.Mean > half+0.05*u || nearest.Mean > 0.05*u) {
				t.Errorf("u = %dg: %+v to zero, %+v to nearest, of spread bits", n, toZero, nearest)
			}
		}
	}
}

// spread returns a distribution whose products have every residue.
func spread() *ProductDistribution {
	x := make([]float64, 37)
	for i := range x {
		x[i] = 1 + float64(i)/37
	}
	one := make([]float64, len(x))
	for i := range one {
		one[i] = 1
	}
	return PairProducts(x, one, -14, -14)
}

func TestCumulant(t *testing.T) {
	t.Run("is that of Bennett", func(t *testing.T) {
		var c Cumulant
		c.Add(2, 3)
		c.Add(1, 3)
		c.Add(5, 0)
		for _, θ := range []float64{0.01, 1} {
			want := 3*(math.Exp(3*θ)-1-3*θ)/9 + 5*θ*θ/2
			if got := c.At(θ); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("at %v: %v, want %v", θ, got, want)
			}
		}
	})
	t.Run("tail is little more than that of a sum whose variance is known", func(t *testing.T) {
		var c Cumulant
		for range 1000 {
			c.Add(1./12, 0.5)
		}
		known := roundoff.Azuma(1000./12, -15)
		for _, scale := range []float64{1, 1.4, 0.5, 30} {
			θ := scale * math.Sqrt(2*15.7*12/1000)
			got, wide := c.Tail(θ, θ, -15), c.Tail(θ/32, 32*θ, -15)
			if got < known || got > known*(1.16+0.08*math.Abs(math.Log2(scale))) {
				t.Errorf("θ off by %v: %v, with a known variance %v", scale, got, known)
			}
			if wide < known || wide > 1.25*known {
				t.Errorf("θ in a range about what is off by %v: %v, with a known variance %v", scale, wide, known)
			}
		}
		if got := new(Cumulant).Tail(1, 1, -15); got != 0 {
			t.Errorf("of nothing: %v", got)
		}
	})
	t.Run("weights of all θ add up to 1, or a little less", func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 20} {
			sum := 0.0
			for k := -10000; k <= n+10000; k++ {
				sum += tailWeight(k, n)
			}
			if sum > 1 || sum < 0.999 {
				t.Errorf("n = %d: %v", n, sum)
			}
		}
	})
	t.Run("covers martingales that choose their variance", func(t *testing.T) {
		// A step is ten times as large while the sum is negative. A bound for a fixed
		// variance does not cover this.
		r := rand.New(rand.NewPCG(241118747, 4))
		const trials, steps = 20000, 100
		fails, f := 0, roundoff.Failure(math.Log(0.05))
		for range trials {
			var c Cumulant
			sum := 0.0
			for range steps {
				size := 1.0
				if sum < 0 {
					size = 10
				}
				sum += size * (2*r.Float64() - 1)
				c.Add(size*size/3, size)
			}
			if math.Abs(sum) > c.Tail(0.1, 1, f) {
				fails++
			}
		}
		if share := float64(fails) / trials; share > allowed(0.05, trials) {
			t.Errorf("exceeded by a share of %v, want 0.05 at most", share)
		}
	})
	t.Run("panics", func(t *testing.T) {
		for want, call := range map[string]func(){
			"truncation: variance = -1, want variance >= 0":                                      func() { new(Cumulant).Add(-1, 1) },
			"truncation: largest = NaN, want largest >= 0":                                       func() { new(Cumulant).Add(1, math.NaN()) },
			"truncation: least = 0, want 0 < least < +Inf":                                       func() { new(Cumulant).Tail(0, 1, -1) },
			"truncation: greatest = 1, want greatest >= least":                                   func() { new(Cumulant).Tail(2, 1, -1) },
			"roundoff: failure = 0, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is": func() { new(Cumulant).Tail(1, 1, 0) },
			"truncation: Losses.F = 8, want FractionBits = 9":                                    func() { s := onFew(); s.FractionBits = 9; s.ErrorBound(1, 1, -1) },
			"truncation: K = 0, want K >= 1":                                                     func() { onFew().ErrorBound(0, 1, -1) },
			"truncation: E p = 0.8705357142857143, want products of a symmetric distribution":    func() { onFew().CalibratedBound(1, 1, -1) },
		} {
			panics.Want(t, want, call)
		}
	})
}

// A running sum loses no more than cut returns, wherever it is aligned to.
func TestChainCut(t *testing.T) {
	const F, resultBits = 5, 4
	c := &chain{Sum: Sum{Accumulator: Accumulator{Terms: 3, FractionBits: F}}, resultBits: resultBits, first: -3}
	for e := -3; e <= 3; e++ {
		u := math.Ldexp(1, e-resultBits)
		for m := e; m <= e+12; m++ {
			g, worst := math.Ldexp(1, m-F), 0.0
			for s := math.Ldexp(1, e); s < math.Ldexp(2, e); s += u {
				worst = max(worst, s-g*math.Floor(s/g))
			}
			if got := c.cut(m, e, false); got < worst || got > worst+u {
				t.Errorf("sums of exponent %d aligned to %d lose %v, said to be at most %v", e, m, worst, got)
			}
			// Of smaller exponents the finest bits are unknown.
			for s := math.Ldexp(1, -4); s < math.Ldexp(2, -4); s += 0x1p-20 {
				if got, lost := c.cut(m, -4, false), s-g*math.Floor(s/g); got < lost {
					t.Fatalf("%v aligned to %d loses %v, said to be at most %v", s, m, lost, got)
				}
			}
		}
	}
	if c.cut(4, 1, true) != 0 {
		t.Error("a sum that is zero loses something")
	}
}

// What a sample leaves open of the characters is paid for: both parts of each.
func TestRoundingPaysForItsCharacters(t *testing.T) {
	const L, n, samples, f = 2, 8, 4000, roundoff.Failure(-3)
	p := spread()
	p.Samples = samples
	residues := make([]float64, n) // of products in 16ths, modulo a half
	for i, v := range p.value {
		residues[int64(16*v)&(n-1)] += p.weight[i]
	}
	off := math.Sqrt2 * roundoff.Azuma(1./samples, f-roundoff.Failure(math.Log(n))) // of n/2 characters, conjugates are alike
	mean := 0.0
	for i, φ := range p.transform(residues) {
		term := math.Pow(min(1, φ+off), L) / (2 * math.Sin(math.Pi*float64(i+1)/n))
		if mean += term; i+1 < n/2 {
			mean += term
		}
	}
	if got := 16 * p.Losses(4).Rounding(L, 0, 0.5, true, f).Mean; got < mean*(1-1e-12) || got > 1.3*mean {
		t.Errorf("mean %v, want %v or a little more", got, mean)
	}
}

// The transform is that of the definition, of weights that are no distribution
// that is symmetric, too: of one that is said to be, the real part counts.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, symmetric := range []bool{false, true} {
		for n := 1; n <= 64; n *= 2 {
			of := make([]float64, n)
			for i := range of {
				of[i] = rng.Float64()
			}
			got := (&ProductDistribution{symmetric: symmetric}).transform(of)
			if len(got) != n/2 {
				t.Fatalf("%d values of %d, want half", len(got), n)
			}
			for i := range got {
				z := complex(0, 0)
				for r, w := range of {
					z += complex(w, 0) * cmplx.Exp(complex(0, 2*math.Pi*float64((i+1)*r)/float64(n)))
				}
				want := cmplx.Abs(z)
				if symmetric {
					want = math.Abs(real(z))
				}
				if math.Abs(got[i]-want) > 1e-12 {
					t.Errorf("n = %d, h = %d, symmetric %v: %v, want %v", n, i+1, symmetric, got[i], want)
				}
			}
		}
	}
}

// onFew returns a chain of blocks of three products of few values, of at most 4
// bits, with sums of 8 bits.
func onFew() Sum {
	p := fewValues()
	return Sum{
		Accumulator: Accumulator{Terms: 3, FractionBits: 8, Unit: 0x1p-8},
		Losses:      p.Losses(8), LogMoment: p.LogMoment, Largest: 3.5 * 1.5,
	}
}

func TestTruncatedSum(t *testing.T) {
	t.Run("moment generating function of a step is that of all blocks, or more", func(t *testing.T) {
		const L, F = 3, 5
		p := fewValues()
		for e := -3; e <= 6; e++ { // from below the exponents of all products
			for _, θ := range []float64{0.1, 1, 4} {
				s := Sum{Accumulator: Accumulator{Terms: L, FractionBits: F, Unit: 0x1p-101}, Losses: p.Losses(F), LogMoment: p.LogMoment, Largest: 5.25}
				// Unit is so small that rounding has no error.
				c := newChain(s, L, roundoff.Failure(-1).Account(sumShares))
				c.grid, c.tilts, c.ends = []float64{θ}, map[int]tilt{}, map[endingKind]*ending{}
				sum := 0.0
				blocks(p, L, func(values []float64, w float64, top int) {
					sum += w * math.Exp(θ*math.Abs(lost(values, math.Ldexp(1, max(e, top)-F))))
				})
				signed := 0.0
				blocks(p, L, func(values []float64, w float64, top int) {
					signed += w * math.Exp(θ*lost(values, math.Ldexp(1, max(e, top)-F)))
				})
				κ := c.stepFrom(e, -200, L, true)
				if math.Log(signed) > κ[0]+1e-12 || θ == 0.1 && κ[0] > 1.2*math.Log(sum)+1e-3 {
					t.Errorf("e = %d, θ = %v: %v, of all blocks %v, of sizes %v", e, θ, κ[0], math.Log(signed), math.Log(sum))
				}
			}
		}
	})

	t.Run("a step that rounds loses what its bound says, whatever the sum", func(t *testing.T) {
		const L, F = 2, 6
		four := ValueProducts([]float64{4, 0x1p-4}, []float64{1e9, 1}, []float64{1}, []float64{1}, -14, -14)
		four.Samples = math.Inf(1)
		opposite := ValueProducts([]float64{0.5, 1 + 0x1p-6}, []float64{1, 1}, []float64{1}, []float64{1}, -14, -14)
		opposite.Samples = math.Inf(1)
		for name, p := range map[string]*ProductDistribution{"few values": fewValues(), "many values": manyValues(), "almost one value": four, "opposite": opposite} {
			for bits := 3; bits <= F; bits++ {
				s := Sum{Accumulator: Accumulator{Terms: L, FractionBits: F, Unit: math.Ldexp(1, -bits-1)},
					Losses: p.Losses(F), LogMoment: p.LogMoment, Largest: 5.25}
				c := newChain(s, 8*L, roundoff.Failure(-1).Account(sumShares))
				c.sums.block = L * s.Largest
				for _, θ := range []float64{0.5, 2, 16} {
					c.grid, c.tilts, c.ends = []float64{θ}, map[int]tilt{}, map[endingKind]*ending{}
					for e := max(-3, c.first-1); e <= 5; e++ {
						κ, worst := math.Exp(c.stepFrom(e, 200, L, false)[0]), 0.0
						for _, start := range []float64{1, -1, 1.25, 2 - math.Ldexp(1, -bits)} {
							up, down := 0.0, 0.0
							blocks(p, L, func(values []float64, w float64, top int) {
								y := θ * s.loss(math.Ldexp(start, e), values, max(e, top))
								up, down = up+w*math.Exp(y), down+w*math.Exp(-y)
							})
							worst = max(worst, up, down)
						}
						if !(worst <= κ*(1+1e-12)) {
							t.Errorf("%s, %d bits, θ = %v, e = %d: %v, of all blocks %v", name, bits, θ, e, κ, worst)
						}
					}
				}
			}
		}
	})

	t.Run("characters tell what rounding takes of blocks, whatever was there before", func(t *testing.T) {
		const L, F, n = 2, 6, 4
		// The characters of products that set the exponent and of those that do not may
		// cancel.
		opposite := ValueProducts([]float64{0.5, 1 + 0x1p-6}, []float64{1, 1}, []float64{1}, []float64{1}, -14, -14)
		for name, p := range map[string]*ProductDistribution{"few values": fewValues(), "many values": manyValues(), "opposite": opposite} {
			s := Sum{Accumulator: Accumulator{Terms: L, FractionBits: F, Unit: 0x1p-5}, Losses: p.Losses(F), LogMoment: p.LogMoment, Largest: 5.25}
			c := newChain(s, 8*L, roundoff.Failure(-1).Account(sumShares))
			c.grid, c.tilts, c.ends = []float64{0.5, 4}, map[int]tilt{}, map[endingKind]*ending{}
			for E := c.first; E <= c.last+2; E++ {
				g := math.Ldexp(1, E-F)
				for _, set := range []bool{false, true} {
					z := c.ending(endingKind{E, E, L, set}) // u = ng
					for k, θ := range c.grid {
						if exact, spread := spreadOf(p, L, E, F, n, set, θ), c.spread(endingKind{E, E, L, set}, c.Losses.characters(E, n), k); exact > spread*(1+1e-9)+1e-12 {
							t.Errorf("%s, E = %d, set %v, θ = %v: spread %v, of all blocks %v", name, E, set, θ, spread, exact)
						}
						for start := range n {
							for _, sign := range []float64{1, -1} {
								lost, all := 0.0, 0.0
								blocks(p, L, func(values []float64, w float64, top int) {
									if top > E || set && top < E {
										return
									}
									y, kept := 0.0, float64(start)
									for _, v := range values {
										y += sign * math.Mod(v, g)
										kept += sign * math.Trunc(v/g)
									}
									lost += w * math.Exp(θ*y)
									all += w * math.Exp(θ*(y+g*(kept-n*math.Floor(kept/n))))
								})
								if !(all <= z.mean[k]*lost+z.more[k]+1e-12) || !(all <= z.worst[k]*lost+1e-12) {
									t.Errorf("%s, E = %d, set %v, θ = %v, from %d: %v, bound %v × %v + %v", name, E, set, θ, start, all, z.mean[k], lost, z.more[k])
								}
							}
						}
					}
				}
			}
		}
	})

	t.Run("a step pays for what characters leave open", func(t *testing.T) {
		const open = 0.125
		p := manyValues()
		s := Sum{Accumulator: Accumulator{Terms: 2, FractionBits: 6, Unit: 0x1p-5}, Losses: p.Losses(6), LogMoment: p.LogMoment, Largest: 2}
		c := newChain(s, 16, roundoff.Failure(-1).Account(sumShares))
		c.grid, c.tilts, c.ends = []float64{1}, map[int]tilt{}, map[endingKind]*ending{}
		c.stepFrom(c.last, 200, 2, false) // an exponent that no product exceeds
		for _, z := range c.ends {
			z.worst, z.mean, z.more = []float64{1e9}, []float64{0}, []float64{open}
		}
		if κ := c.stepFrom(c.last, 200, 2, false)[0]; math.Abs(math.Exp(κ)-open) > 1e-12 {
			t.Errorf("%v, want %v", math.Exp(κ), open)
		}
	})

	t.Run("aligning cuts off a running sum what it says", func(t *testing.T) {
		c := newChain(onFew(), 9, roundoff.Failure(-1).Account(sumShares))
		for m := -2; m <= c.last; m++ {
			for e := c.first; e < m; e++ {
				worst, g := 0.0, math.Ldexp(1, m-c.FractionBits)
				for i := 1 << c.resultBits; i < 2<<c.resultBits; i++ {
					worst = max(worst, math.Mod(math.Ldexp(float64(i), e-c.resultBits), g))
				}
				if x := c.cut(m, e, false); x != worst {
					t.Errorf("m = %d, e = %d: %v, of all sums %v", m, e, x, worst)
				}
			}
		}
	})

	t.Run("what a sample leaves open of the distribution is in its bounds", func(t *testing.T) {
		r := rand.New(rand.NewPCG(241118747, 6))
		const n, F, residue = 400, 6, 4
		dist := manyValues()
		chain := func(p *ProductDistribution) *chain {
			s := Sum{Accumulator: Accumulator{Terms: 4, FractionBits: F, Unit: 0x1p-6}, Losses: p.Losses(F), LogMoment: dist.LogMoment, Largest: 2}
			return newChain(s, 200, roundoff.Failure(math.Log(0.1)).Account(sumShares))
		}
		truth, closest := chain(dist), math.Inf(1)
		exact := truth.ErrorBound(200, 10, -3)
		for range 200 {
			x, one := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], one[i] = dist.value[r.IntN(len(dist.value))], 1
			}
			c := chain(PairProducts(x, one, -14, -14))
			if !(c.leastMean <= truth.mean && truth.mean <= c.mean) {
				t.Errorf("mean within %v and %v, want %v", c.leastMean, c.mean, truth.mean)
			}
			for E := c.first; E <= c.last+3; E++ {
				got, want := c.losses(E), truth.losses(E)
				if !(got.above >= want.above && got.mean >= want.mean*(1-1e-12) && got.square >= want.square*(1-1e-12)) {
					t.Errorf("E = %d: %+v, want %+v", E, got, want)
				}
				if want.mean > 0 {
					closest = min(closest, got.mean/want.mean)
				}
				φ := truth.Losses.characters(E, residue)
				for i, x := range c.Losses.characters(E, residue) {
					if x.atMost+c.unsure < φ[i].atMost || x.below+c.unsure < φ[i].below {
						t.Errorf("E = %d: characters %+v, give or take %v, want %+v", E, x, c.unsure, φ[i])
					}
				}
			}
			if e := c.ErrorBound(200, 10, -3); e < exact {
				t.Errorf("bound %v, that of the distribution is %v", e, exact)
			}
		}
		if closest > 1.3 {
			t.Errorf("means are never nearer than %v to the truth", closest)
		}
	})

	t.Run("what a sample leaves open fails as seldom as is paid for", func(t *testing.T) {
		// A product is 1 or, with the given probability, a number that loses nearly g
		// by alignment. The count of the latter in a sample is binomial, and every
		// sample is tried.
		const n, F = 400, 6
		x, one := make([]float64, n), make([]float64, n)
		for i := range one {
			one[i] = 1
		}
		for _, probability := range []float64{0.02, 0.3, 0.9} {
			for name, loses := range map[string]float64{"same exponent": 1 + 0x1.fp-7, "smaller exponent": 0x1.fp-7} {
				of := ValueProducts([]float64{1, loses}, []float64{1 - probability, probability}, []float64{1}, []float64{1}, -14, -14)
				of.Samples = math.Inf(1)
				sampled := func(p *ProductDistribution) *chain {
					s := Sum{Accumulator: Accumulator{Terms: 4, FractionBits: F, Unit: 0x1p-6}, Losses: p.Losses(F), LogMoment: of.LogMoment, Largest: 2}
					return newChain(s, 200, roundoff.Failure(math.Log(0.9)).Account(sumShares))
				}
				truth := sampled(of)
				mean, square, mu, above := 0.0, 0.0, 0.0, 0.0 // probabilities that the bounds fail
				var c *chain
				for k := range n + 1 {
					w := binomial(n, k, probability)
					if w < 1e-12 {
						continue
					}
					for i := range x {
						x[i] = 1
						if i < k {
							x[i] = loses
						}
					}
					c = sampled(PairProducts(x, one, -14, -14))
					got, want := c.losses(0), truth.losses(0)
					for of, fails := range map[*float64]bool{
						&mean: got.mean < want.mean*(1-1e-12), &square: got.square < want.square*(1-1e-12),
						&mu: c.mean < truth.mean*(1-1e-12) || c.leastMean > truth.mean*(1+1e-12), &above: c.row(-1).above < truth.row(-1).above,
					} {
						if fails {
							*of += w
						}
					}
				}
				account := roundoff.Failure(math.Log(0.9)).Account(sumShares)
				for what, p := range map[string][2]float64{
					"mean loss": {mean, math.Exp(float64(c.moments))}, "square": {square, math.Exp(float64(c.moments))},
					"mean": {mu, math.Exp(float64(account.Spend("mean")))}, "exponents": {above, math.Exp(float64(account.Spend("exponents").Split(c.events)))},
				} {
					if p[0] > p[1] {
						t.Errorf("%s, probability %v: %s fails with probability %v, paid for %v", name, probability, what, p[0], p[1])
					}
				}
			}
		}
	})

	t.Run("rounding to nearest adds to a last block no more than it says", func(t *testing.T) {
		// Blocks of 1, 2 and 3 products on any running sum, of an even or an odd
		// number of units with the same probability.
		const E, u = 3, 8 // no product has a greater exponent
		s := onFew()
		s.Nearest, s.FractionBits, s.Losses = true, E, s.Losses.Products.Losses(E)
		closest := 0.0
		for terms := 1; terms <= s.Terms; terms++ {
			for _, θ := range []float64{0.01, 0.1, 0.5} {
				c := newChain(s, 4, roundoff.Failure(-1).Account(sumShares))
				c.grid, c.ends = []float64{θ}, map[endingKind]*ending{}
				c.resultBits = 0
				z := c.ending(endingKind{E: E, sum: 3, terms: terms})
				for sum := 0.0; sum < u; sum++ { // in units of the grid
					for _, sign := range []float64{1, -1} {
						mean := 0.0
						blocks(s.Losses.Products, terms, func(values []float64, w float64, _ int) {
							kept := sum
							for _, v := range values {
								kept += math.Trunc(v)
							}
							even, odd := u*math.RoundToEven(kept/u)-kept, u*(math.RoundToEven(kept/u+1)-1)-kept
							mean += w * (math.Exp(sign*θ*even) + math.Exp(sign*θ*odd)) / 2
						})
						if closest = max(closest, (mean-1)/(z.mean[0]-1)); mean > z.mean[0] {
							t.Errorf("%d products on %v: E exp(%vr) = %v, at most %v", terms, sum, sign*θ, mean, z.mean[0])
						}
					}
				}
			}
		}
		t.Logf("at most %.3g of what is said", closest)
	})

	t.Run("divides the whole failure", func(t *testing.T) {
		sum := 0.0
		for _, share := range sumShares {
			sum += share
		}
		if sum != 1 {
			t.Errorf("shares of %v", sum)
		}
		account := roundoff.Failure(-3).Account(sumShares)
		newChain(onFew(), 9, account)
		if left := account.Unspent(); !slices.Equal(left, []string{"exact sums", "losses"}) {
			t.Errorf("not spent on the distribution: %q", left)
		}

		// Two events of every row may fail, the mean and the square of what its
		// products lose, and a sample of others may have rows below these.
		for _, K := range []int{1, 9, 1000} {
			c := newChain(onFew(), K, roundoff.Failure(-3).Account(sumShares))
			share := math.Log(sumShares["moments"]) - 3
			if paid := math.Log(2*c.events) + float64(c.moments); c.events < float64(len(c.rows)) || paid > share+1e-9 {
				t.Errorf("K = %d: e^%v is spent on moments of %v rows, of e^%v; the sample has %d", K, paid, c.events, share, len(c.rows))
			}
		}
	})

	t.Run("is not exceeded", func(t *testing.T) {
		r := rand.New(rand.NewPCG(241118747, 5))
		for _, nearest := range []bool{false, true} {
			for _, q := range []int{1, 10, 100} {
				for _, symmetric := range []bool{false, true} {
					s := onFew()
					s.Nearest = nearest
					p := s.Losses.Products
					if symmetric {
						p = p.Symmetric()
						s.Losses, s.LogMoment = p.Losses(8), p.LogMoment
					}
					const sums = 300
					bound, worst := s.ErrorBound(q*s.Terms, sums, roundoff.Failure(math.Log(0.01))), 0.0
					for range sums {
						worst = max(worst, math.Abs(s.simulate(r, q)))
					}
					if !(worst <= bound) || worst < bound/100 {
						t.Errorf("q = %d, symmetric %v, nearest %v: error %v, bound %v", q, symmetric, nearest, worst, bound)
					}
				}
			}
		}
	})

	t.Run("contains the mean error as its drift", func(t *testing.T) {
		r := rand.New(rand.NewPCG(241118747, 6))
		for _, nearest := range []bool{false, true} {
			for _, q := range []int{1, 7, 100} {
				s := onFew()
				s.Nearest = nearest
				const sums = 3000
				var mean, squares float64
				for range sums {
					e := s.simulate(r, q)
					mean += e / sums
					squares += e * e / sums
				}
				f := roundoff.Failure(math.Log(0.01))
				bound, drift := s.ErrorAndDrift(q*s.Terms, 1, f)
				if sure := 4 * math.Sqrt(squares/sums); !(math.Abs(mean) <= drift+sure && drift < bound) || !nearest && q == 100 && drift > 4*math.Abs(mean) {
					t.Errorf("q = %d, nearest %v: mean error %v ± %v, drift %v of %v", q, nearest, mean, sure, drift, bound)
				}
				if bound != s.ErrorBound(q*s.Terms, 1, f) {
					t.Errorf("q = %d, nearest %v: another bound than %v", q, nearest, bound)
				}
				if _, more := s.ErrorAndDrift(q*s.Terms+1, 1, f); !(more > drift) {
					t.Errorf("q = %d, nearest %v: drift %v, and %v of one product more", q, nearest, drift, more)
				}
				s.Losses = s.Losses.Products.Symmetric().Losses(8)
				if _, drift := s.ErrorAndDrift(q*s.Terms, 1, f); drift != 0 {
					t.Errorf("q = %d, nearest %v: drift %v of symmetric products", q, nearest, drift)
				}
			}
		}
	})

	t.Run("grows with q, sums and confidence", func(t *testing.T) {
		s := onFew()
		x := s.ErrorBound(60, 10, -5)
		for _, more := range []float64{s.ErrorBound(61, 10, -5), s.ErrorBound(60, 11, -5), s.ErrorBound(60, 10, -6)} {
			if !(more > x) {
				t.Errorf("%v, and %v for less", more, x)
			}
		}
	})

	t.Run("of products that lose nothing is small", func(t *testing.T) {
		p := PairProducts([]float64{1}, []float64{1}, -14, -14)
		s := Sum{Accumulator: Accumulator{Terms: 4, FractionBits: 24, Unit: 0x1p-24}, Losses: p.Losses(24), LogMoment: p.LogMoment, Largest: 1}
		if got := s.ErrorBound(400, 1, -5); got > 100*0x1p-14 {
			t.Errorf("sum of ones: %v", got)
		}
	})

	t.Run("of zeros returns", func(t *testing.T) {
		p := ValueProducts([]float64{0, 1}, []float64{9, 1}, []float64{0, 1}, []float64{9, 1}, -14, -14)
		s := Sum{Accumulator: Accumulator{Terms: 4, FractionBits: 23, Unit: 0x1p-24}, Losses: p.Losses(23), LogMoment: p.LogMoment, Largest: 1}
		if got := s.ErrorBound(4000, 1, -5); !(got >= 0 && got < 1) {
			t.Errorf("%v", got)
		}
	})

	t.Run("calibrated is less than proved", func(t *testing.T) {
		s := onFew()
		p := s.Losses.Products.Symmetric()
		s.Losses, s.LogMoment = p.Losses(8), p.LogMoment
		for _, s.Nearest = range []bool{false, true} {
			if c, b := s.CalibratedBound(300, 10, -5), s.ErrorBound(300, 10, -5); !(0 < c && c < b) {
				t.Errorf("calibrated %v, proved %v", c, b)
			}
		}
	})
}

// spreadOf returns Σ_(0<h<n) |E(e^(θΣY) χ_h)| |e^(θg)-1|/|e^(θg)χ_h-1| over all
// blocks that are aligned to E, by the running sum or, with set, by a product.
// χ_h is the character e^(2πih kept/n) of what alignment keeps.
func spreadOf(p *ProductDistribution, L, E, F, n int, set bool, θ float64) float64 {
	g, total := math.Ldexp(1, E-F), 0.0
	for h := 1; h < n; h++ {
		turn := func(k float64) complex128 { return cmplx.Rect(1, 2*math.Pi*float64(h)*k/float64(n)) }
		sum := complex(0, 0)
		blocks(p, L, func(values []float64, w float64, top int) {
			if top > E || set && top < E {
				return
			}
			y, kept := 0.0, 0.0
			for _, v := range values {
				y += math.Mod(v, g)
				kept += math.Trunc(v / g)
			}
			sum += complex(w*math.Exp(θ*y), 0) * turn(kept)
		})
		total += cmplx.Abs(sum) * math.Expm1(θ*g) / cmplx.Abs(complex(math.Exp(θ*g), 0)*turn(1)-1)
	}
	return total
}

// manyValues returns a distribution of products of 5 bits after the point and
// of three exponents.
func manyValues() *ProductDistribution {
	var x, one []float64
	for i := range 32 {
		for _, e := range []int{0, -2, -5} {
			x, one = append(x, math.Ldexp(1+float64(i)/32, e)), append(one, 1)
		}
	}
	p := PairProducts(x, one, -14, -14)
	p.Samples = math.Inf(1)
	return p
}

// loss returns the loss of a step that adds values to the running sum, aligned
// to E, and truncates.
func (s Sum) loss(sum float64, values []float64, E int) float64 {
	g, exact := math.Ldexp(1, E-s.FractionBits), sum
	sum = g * math.Trunc(sum/g)
	for _, v := range values {
		exact += v
		sum += g * math.Trunc(v/g)
	}
	if sum != 0 {
		u := math.Ldexp(2*s.Unit, ilog(sum))
		sum = u * math.Trunc(sum/u)
	}
	return exact - sum
}

// simulate returns the error of one chain of q blocks.
func (s Sum) simulate(r *rand.Rand, q int) float64 {
	p := s.Losses.Products
	bits := -math.Ilogb(s.Unit) - 1
	sum, exact := 0.0, 0.0
	for range q {
		values, E := make([]float64, s.Terms), ilog(sum)
		for l := range values {
			i, x := 0, r.Float64()
			for x > p.weight[i] && i < len(p.weight)-1 {
				x -= p.weight[i]
				i++
			}
			values[l] = p.value[i]
			if p.symmetric && r.IntN(2) == 0 {
				values[l] = -values[l]
			}
			E = max(E, p.exp[i])
			exact += values[l]
		}
		g := math.Ldexp(1, E-s.FractionBits)
		sum = g * math.Trunc(sum/g)
		for _, v := range values {
			sum += g * math.Trunc(v/g)
		}
		u := math.Ldexp(1, ilog(sum)-bits)
		switch {
		case sum == 0:
		case s.Nearest:
			sum = u * math.RoundToEven(sum/u)
		default:
			sum = u * math.Trunc(sum/u)
		}
	}
	return sum - exact
}

func TestLogMoment(t *testing.T) {
	p := fewValues()
	for _, x := range []float64{0.01, 1, 3} {
		up, down := 0.0, 0.0
		for i, v := range p.value {
			up += p.weight[i] * math.Exp(x*(v-p.Mean))
			down += p.weight[i] * math.Exp(-x*(v-p.Mean))
		}
		if got, want := p.LogMoment(x), math.Log(max(up, down)); math.Abs(got-want) > 1e-12 {
			t.Errorf("x = %v: %v, want %v", x, got, want)
		}
	}
}

// The identity |Σ_r r exp(2πi hr/n)| = n/(2 sin(πh/n)), on which
// [Losses.Rounding] is based, is true.
func TestCharacters(t *testing.T) {
	for _, n := range []int{2, 4, 8, 64} {
		for h := 1; h < n; h++ {
			var sum complex128
			for r := range n {
				sum += complex(float64(r), 0) * cmplx.Rect(1, 2*math.Pi*float64(h*r)/float64(n))
			}
			if want := float64(n) / (2 * math.Sin(math.Pi*float64(h)/float64(n))); math.Abs(cmplx.Abs(sum)-want) > 1e-9 {
				t.Errorf("n = %d, h = %d: %v, want %v", n, h, cmplx.Abs(sum), want)
			}
		}
	}
}

// allowed returns a fraction of trials that an event of probability at most p
// exceeds with probability at most 10^-9, by Bernstein's inequality.
func allowed(p float64, trials int) float64 {
	l := math.Log(1e9) / float64(trials)
	return p + math.Sqrt(2*p*(1-p)*l) + l
}
