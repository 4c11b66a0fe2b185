package truncation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// LogMoment is the logarithm of the moment generating function over all blocks
// that satisfy the conditions, and of a distribution that is symmetric over all
// signs as well.
func TestLossesAtLogMoment(t *testing.T) {
	const L = 3
	for name, c := range map[string]struct {
		dist *ProductDistribution
		F    int
	}{
		"few values":           {fewValues(), 5},
		"loss depends on sign": {unlike(), 7},
		"far and rare":         {ValueProducts([]float64{-0.9375, 0.9375}, []float64{1, 1e-7}, ones(1), ones(1), -14, -14), 5},
		"one sign":             {ValueProducts([]float64{0, 1.75, 3.5}, ones(3), []float64{1.125, 1.5, 0.375}, ones(3), -14, -14).OneSign(), 5},
		"symmetric":            {fewValues().Symmetric(), 5},
		"many exponents":       {ValueProducts([]float64{-1.75, 0.21875, 6}, ones(3), []float64{1.25, 0.4375, 3}, ones(3), -14, -14), 4},
	} {
		for E := -4; E <= 6; E++ {
			at := c.dist.Losses(c.F).At(E, 0)
			for _, set := range []bool{false, true} {
				for _, x := range []float64{-5, -1, -0.1, -1e-3, 1e-3, 0.1, 1, 5} {
					θ := x / at.grid
					mean, weight := 0.0, 0.0
					blocks(c.dist, L, func(values []float64, w float64, top int) {
						if top > E || set && top < E {
							return
						}
						signs := 1
						if c.dist.symmetric {
							signs = 1 << L
						}
						for s := range signs {
							signed := make([]float64, L)
							for l, v := range values {
								signed[l] = v * float64(1-2*(s>>l&1))
							}
							mean += w * math.Exp(θ*lost(signed, at.grid))
							weight += w
						}
					})
					if weight == 0 {
						continue
					}
					if got, want := at.LogMoment(θ, L, set), math.Log(mean/weight); math.Abs(got-want) > 1e-13 {
						t.Errorf("%s, E = %d, set %v, θ = %v: %v, want %v", name, E, set, θ, got, want)
					}
				}
			}
		}
	}
	t.Run("is less than Bennett's inequality says", func(t *testing.T) {
		at := fewValues().Losses(5).At(2, 0)
		for _, set := range []bool{false, true} {
			b := at.Block(8, set)
			for _, x := range []float64{-3, -1, 1, 3} {
				θ := x / at.grid
				if got, most := at.LogMoment(θ, 8, set), θ*b.Mean+b.Variance*bennett(math.Abs(θ), b.Largest); got > most {
					t.Errorf("set %v, θ = %v: %v, want at most %v", set, θ, got, most)
				}
			}
		}
	})
	t.Run("of products that are not in the distribution is the largest", func(t *testing.T) {
		at := ValueProducts([]float64{-1.25, 1.75}, ones(2), []float64{1.5}, ones(1), -14, -14).Losses(5).At(-40, 0)
		if got, want := at.LogMoment(2/at.grid, 3, false), 6.0; math.Abs(got-want) > 1e-14 {
			t.Errorf("%v, want %v, as if each lost one unit", got, want)
		}
	})
	for want, call := range map[string]func(){
		"truncation: L = 0, want L >= 1":                                func() { fewValues().Losses(5).At(0, 0).LogMoment(1, 0, false) },
		"truncation: θ = +Inf, want a finite number":                    func() { fewValues().Losses(5).At(0, 0).LogMoment(math.Inf(1), 1, false) },
		"truncation: len(θ) = 0, want len(θ) >= 1":                      func() { MixtureTail(nil, nil, -1) },
		"truncation: len(ψ) = 2, want 1, the length of θ":               func() { MixtureTail(ones(1), ones(2), -1) },
		"truncation: θ = 0, want 0 < θ < +Inf":                          func() { MixtureTail([]float64{0}, ones(1), -1) },
		"truncation: ψ = NaN, want a number":                            func() { MixtureTail(ones(1), []float64{math.NaN()}, -1) },
		"truncation: failure = 0, want -Inf < failure < 0, a logarithm": func() { MixtureTail(ones(1), ones(1), 0) },
	} {
		panics.Want(t, want, call)
	}
}

// The bound is that of the worst share of products that set the exponent,
// within its uncertainty, whether they lose more than the others or less.
func TestLossesAtLogMoment_of_an_unsure_share(t *testing.T) {
	const E, L = 2, 6
	for _, weight := range []float64{1e-9, 0.5, 3, 100} {
		p := ValueProducts([]float64{1.40625, -1.71875, 4}, []float64{1, 1, weight}, ones(1), ones(1), -14, -14)
		for _, p.Samples = range []float64{40, 1000, 1e6} {
			at := p.Losses(4).At(E, -5)
			own := at.of(whole).own
			for _, x := range []float64{-2, -0.1, 0.1, 2} {
				got, m := at.LogMoment(x/at.grid, L, true), 1+at.moment(x/at.grid).below
				most := math.Inf(-1)
				for _, ρ := range []float64{own.least(), own.mean, own.most()} {
					ρ = max(ρ, 1e-12)
					mean, some := 0.0, 0.0
					for N := 1; N <= L; N++ {
						w := binomial(L, N, ρ)
						mean, some = mean+w*math.Pow(m, float64(L-N)), some+w
					}
					most = max(most, math.Log(mean/some))
				}
				if math.Abs(got-most) > 1e-9 {
					t.Errorf("weight %v, %v samples, θ = %v: %v, want %v, the most of any share in %+v", weight, p.Samples, x, got, most, own)
				}
			}
		}
	}
}

// The tallies are sums by their definition, group by group, for θ that have a
// series and for θ that are too large for it.
func TestMomentTallies(t *testing.T) {
	x, y := []float64{1.25, -1.75, 0, 1.5, 2.5, -0.375}, []float64{1.5, 1.25, 1, 1.125, -1.75, 1.5}
	alone, pairs := PairProducts(x, y, -14, -14), StarProducts(x, y, 2, -14, -14)
	for name, p := range map[string]*ProductDistribution{"alone": alone, "symmetric, alone": alone.Symmetric(), "pairs": pairs, "values": fewValues(), "symmetric": fewValues().Symmetric()} {
		const F = 1
		losses := p.Losses(F)
		for _, E := range []int{1, 0, -28, -40} { // a product of 0 is below all of them
			for _, θ := range []float64{-9, -2.01, -2, -0.7, -1e-6, 1e-6, 0.7, 2, 2.01, 9} {
				upto, below := losses.momentTallies(E, θ)
				for i, got := range []momentTally{upto, below} {
					want := slowMomentTally(p, E, F, θ, i == 0)
					if want.square == 0 && E == 1 {
						t.Errorf("%s: no product loses anything", name)
					}
					for _, c := range [][2]float64{{got.p, want.p}, {got.sum, want.sum}, {got.square, want.square}, {got.pp, want.pp}, {got.pf, want.pf}, {got.ff, want.ff}} {
						if math.Abs(c[0]-c[1]) > 1e-14*math.Abs(c[1]) {
							t.Errorf("%s, E = %d, θ = %v: %+v, want %+v", name, E, θ, got, want)
						}
					}
				}
			}
		}
	}
}

// slowMomentTally computes a tally by its definition, of the products of e < E
// and, if own is true, of e = E, which lose nothing.
func slowMomentTally(p *ProductDistribution, E, F int, θ float64, own bool) (t momentTally) {
	for lo, hi := range p.groups {
		inCell, sum, w := 0.0, 0.0, 0.0
		for j := lo; j < hi; j++ {
			v, e, weight := p.value[j], p.exp[j], p.weight[j]
			w += weight
			if v != 0 && e >= E && !(own && e == E) {
				continue
			}
			y, f := math.Mod(v, math.Ldexp(1, E-F))/math.Ldexp(1, E-F), 0.0
			switch {
			case v != 0 && e == E:
			case p.symmetric:
				f = 2 * math.Pow(math.Sinh(θ*y/2), 2)
			default:
				f = math.Expm1(θ * y)
			}
			inCell, sum = inCell+weight, sum+weight*f
			t.square += weight * f * f
		}
		t.p, t.sum = t.p+inCell, t.sum+sum
		t.pp, t.pf, t.ff = t.pp+inCell*inCell/w, t.pf+inCell*sum/w, t.ff+sum*sum/w
	}
	return t
}

// Estimated from a sample, LogMoment is less than that of the distribution with
// no more than the stated probability, and not far above it.
func TestLossesAtLogMoment_of_a_sample(t *testing.T) {
	const n, E, F = 4000, 4, 8
	const f = roundoff.Failure(-3) // of each of nine cells
	samples := 200
	if testing.Short() {
		samples = 60
	}
	draw := func(r *rand.Rand) float64 {
		return math.Ldexp(1+float64(r.IntN(32))/32, -r.IntN(4)) * float64(1-2*(r.IntN(3)/2))
	}
	r := rand.New(rand.NewPCG(241118747, 12))
	x, px := counted(1<<13, func() float64 { return draw(r) })
	y, py := counted(1<<13, func() float64 { return draw(r) })
	exact := ValueProducts(x, px, y, py, -14, -14)
	pick := func(v, p []float64) float64 {
		z := r.Float64() * (1 << 13)
		for i := range p {
			if z -= p[i]; z < 0 {
				return v[i]
			}
		}
		return v[len(v)-1]
	}
	for _, symmetric := range []bool{false, true} {
		of := func(p *ProductDistribution) *LossesAt {
			if symmetric {
				p = p.Symmetric()
			}
			return p.Losses(F).At(E, f)
		}
		truth, failed, near := of(exact), 0, 0
		for range samples {
			u, v := make([]float64, n), make([]float64, n)
			for i := range u {
				u[i], v[i] = pick(x, px), pick(y, py)
			}
			at := of(PairProducts(u, v, -14, -14))
			below, close := false, true
			for _, set := range []bool{false, true} {
				for _, θ := range []float64{-0.5, 0.5} {
					got, want := at.LogMoment(θ/at.grid, 8, set), truth.LogMoment(θ/at.grid, 8, set)
					below = below || got < want
					close = close && math.Abs(got-want) < 0.3
				}
			}
			if below {
				failed++
			}
			if close {
				near++
			}
		}
		if float64(failed)/float64(samples) > 9*math.Exp(float64(f)) {
			t.Errorf("symmetric %v: too small in %d of %d samples", symmetric, failed, samples)
		}
		if near < samples*9/10 {
			t.Errorf("symmetric %v: near in %d of %d samples", symmetric, near, samples)
		}
	}
}

// The mean of the exponentials at the tail is 1/ζ, and no single θ is better.
func TestMixtureTail(t *testing.T) {
	for _, c := range []struct{ θ, ψ []float64 }{
		{[]float64{1}, []float64{0.5}},
		{[]float64{0.5, 1, 2}, []float64{0.125, 0.5, 2}},
		{[]float64{0.1, 1, 10}, []float64{-3, 0, 4000}},
		{[]float64{1e-9, 1e9}, []float64{1, math.Inf(1)}},
		{[]float64{0.5, 1}, []float64{-30, -60}}, // sums that are negative for sure
	} {
		for _, f := range []roundoff.Failure{-1e-3, -5, -700} {
			got, sum, single := MixtureTail(c.θ, c.ψ, f), 0.0, math.Inf(1)
			for k, θ := range c.θ {
				sum += math.Exp(θ*got-c.ψ[k]+float64(f)) / float64(len(c.θ))
				single = min(single, (math.Log(float64(len(c.θ)))-float64(f)+c.ψ[k])/θ)
			}
			if math.Abs(sum-1) > 1e-9 || got > single*(1+1e-12) && got > single*(1-1e-12) {
				t.Errorf("%v, failure %v: %v, where the mean is %v/ζ; by one θ %v", c, float64(f), got, sum, single)
			}
		}
	}
	t.Run("covers partial sums of random variance", func(t *testing.T) {
		const trials, n = 20000, 64
		r := rand.New(rand.NewPCG(241118747, 13))
		θ := []float64{0.1, 0.2, 0.4}
		for _, p := range []float64{0.5, 0.9, 0.99} {
			failures := 0
			for range trials {
				sum, scale, above := 0.0, 1.0, false
				ψ := make([]float64, len(θ))
				for range n {
					sum += scale * float64(1-2*r.IntN(2))
					for k, x := range θ {
						ψ[k] += math.Log(math.Cosh(x * scale))
					}
					above = above || sum > MixtureTail(θ, ψ, roundoff.FailureOf(p))
					if sum > 0 { // what comes depends on what was
						scale = 2
					} else {
						scale = 1
					}
				}
				if above {
					failures++
				}
			}
			if x := float64(failures) / trials; x > allowed(1-p, trials) || x < (1-p)/20 {
				t.Errorf("confidence %v: fails in %v of the sums", p, x)
			}
		}
	})
}
