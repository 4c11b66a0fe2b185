package truncation

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// weighted is a list of values with weights.
type weighted struct{ values, weights []float64 }

func (m *weighted) add(value, weight float64) {
	m.values, m.weights = append(m.values, value), append(m.weights, weight)
}

func (m weighted) mean() float64 {
	sum, weight := 0.0, 0.0
	for i, v := range m.values {
		sum, weight = sum+m.weights[i]*v, weight+m.weights[i]
	}
	return sum / weight
}

// logMoment returns log E e^(θ(v-Ev)).
func (m weighted) logMoment(θ float64) float64 {
	mean, sum, weight := m.mean(), 0.0, 0.0
	for i, v := range m.values {
		sum, weight = sum+m.weights[i]*math.Exp(θ*(v-mean)), weight+m.weights[i]
	}
	return math.Log(sum / weight)
}

func (m weighted) variance() float64 {
	mean, sum, weight := m.mean(), 0.0, 0.0
	for i, v := range m.values {
		sum, weight = sum+m.weights[i]*(v-mean)*(v-mean), weight+m.weights[i]
	}
	return sum / weight
}

// checkLoss compares a bound with the exact distribution, all: its mean, its
// variance and, on both sides, its moment generating function.
func checkLoss(t *testing.T, name string, got LossBound, all weighted) {
	t.Helper()
	if mean := all.mean(); math.Abs(got.Mean-mean) > 1e-13 || got.Error != 0 || got.Slack != 0 {
		t.Errorf("%s: mean %v ± %v ± %v, of all blocks %v", name, got.Mean, got.Error, got.Slack, mean)
	}
	if v := all.variance(); got.Variance < v-1e-13 {
		t.Errorf("%s: variance %v, of all blocks %v", name, got.Variance, v)
	}
	for _, x := range []float64{-8, -4, -2, -1, -0.3, -0.01, 0.01, 0.3, 1, 2, 4, 8} {
		θ := x / got.Largest
		if got.Largest == 0 {
			θ = x
		}
		if is, said := all.logMoment(θ), got.Variance*bennett(math.Abs(θ), got.Largest); is > said*(1+1e-9)+1e-12 {
			t.Errorf("%s: log E e^(θX) = %v at θ = %v, said to be at most %v", name, is, θ, said)
		}
	}
}

// unlike returns a distribution in which the loss depends on the sign: negative
// products lose much.
func unlike() *ProductDistribution {
	return ValueProducts([]float64{-1.9375, -1.8125, 0, 1.0625, 2.125}, []float64{2, 1, 1, 3, 1}, []float64{1.5, 1.875, 0.5}, []float64{1, 2, 1}, -14, -14)
}

// Block and Signed return the mean loss over all blocks that satisfy the
// conditions, and bounds on the variance and the moment generating function.
func TestLossesAtBlock(t *testing.T) {
	const L = 3
	for name, c := range map[string]struct {
		dist *ProductDistribution
		F    int
	}{
		"few values":           {fewValues(), 5},
		"loss depends on sign": {unlike(), 7},
		"far and rare":         {ValueProducts([]float64{-0.9375, 0.9375}, []float64{1, 1e-7}, ones(1), ones(1), -14, -14), 5},
	} {
		for E := -4; E <= 6; E++ {
			at := c.dist.Losses(c.F).At(E, 0)
			for _, set := range []bool{false, true} {
				whole, signed := weighted{}, map[[2]int]*weighted{}
				blocks(c.dist, L, func(values []float64, w float64, top int) {
					if top > E || set && top < E {
						return
					}
					var n [2]int
					for _, v := range values {
						switch {
						case v > 0:
							n[0]++
						case v < 0:
							n[1]++
						}
					}
					y := lost(values, at.grid)
					whole.add(y, w)
					if signed[n] == nil {
						signed[n] = &weighted{}
					}
					signed[n].add(y, w)
				})
				if len(whole.values) == 0 {
					continue
				}
				checkLoss(t, name, at.Block(L, set), whole)
				for n, all := range signed {
					if n[0]+n[1] > 0 {
						checkLoss(t, name, at.Signed(n[0], n[1], set), *all)
					}
				}
			}
		}
	}
	t.Run("of a symmetric distribution", func(t *testing.T) {
		const E, F = 2, 5
		at := fewValues().Symmetric().Losses(F).At(E, 0)
		for _, set := range []bool{false, true} {
			all, alike := weighted{}, weighted{}
			blocks(fewValues(), 2, func(values []float64, w float64, top int) {
				if top > E || set && top < E {
					return
				}
				for _, s := range [][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
					all.add(lost([]float64{s[0] * values[0], s[1] * values[1]}, at.grid), w)
				}
				if values[0] != 0 && values[1] != 0 {
					alike.add(lost([]float64{math.Abs(values[0]), -math.Abs(values[1])}, at.grid), w)
				}
			})
			checkLoss(t, "symmetric", at.Block(2, set), all)
			checkLoss(t, "symmetric, of both signs", at.Signed(1, 1, set), alike)
		}
	})
}

// If products lose h each unless they have set the exponent, a block of n
// products loses h times the number of those that have not set it. Given that
// at least one has, the variance that Signed returns is exact where signs
// cancel, and at least the exact one otherwise. The bound on the moment
// generating function is always valid.
func TestLossesAtOwn(t *testing.T) {
	const F, E, h = 4, 3, 0.75
	for _, ρ := range []float64{1e-4, 0.01, 0.1, 0.3, 0.7, 0.95} {
		// 0.75 loses all but 0.5 of it at g = 1/2, 8 loses nothing.
		dist := func(negative float64) *Losses {
			return ValueProducts([]float64{0.75, 8, -0.75, -8}, []float64{1 - ρ, ρ, negative * (1 - ρ), negative * ρ},
				[]float64{1}, []float64{1}, -14, -14).Losses(F)
		}
		both, one := dist(1).At(E, 0), dist(0).At(E, 0)
		for L := 1; L <= 16; L++ {
			for positive := range L + 1 {
				all := weighted{}
				for n := range positive + 1 {
					for m := range L - positive + 1 {
						if n+m > 0 {
							all.add(0.25*float64(positive-n-(L-positive-m)), binomial(positive, n, ρ)*binomial(L-positive, m, ρ))
						}
					}
				}
				checkLoss(t, "signs", both.Signed(positive, L-positive, true), all)
				if positive == L {
					checkLoss(t, "one sign", one.Block(L, true), all)
				}
				// E N = Lp₁, and so on: p₁ and p₂ are the probabilities that one given product,
				// or two, have set it.
				S, n := float64(2*positive-L), float64(L)
				p1 := ρ / (1 - math.Pow(1-ρ, n))
				exact := (n*p1 + (S*S-n)*ρ*p1 - S*S*p1*p1) / 16
				if v := all.variance(); math.Abs(v-exact) > 1e-9 {
					t.Fatalf("L = %d, S = %v, ρ = %v: variance %v, by formula %v", L, S, ρ, v, exact)
				}
				if got := both.Signed(positive, L-positive, true).Variance; S == 0 && got > exact*(1+1e-9) {
					t.Errorf("L = %d, S = 0, ρ = %v: variance %v, exactly %v", L, ρ, got, exact)
				}
			}
		}
	}
}

// binomial returns P(N = k) of n trials.
func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a-b-c) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

func TestLossesAtTerm(t *testing.T) {
	p, E, F := unlike(), 2, 6
	at := p.Losses(F).At(E, 0)
	for e := -3; e <= 3; e++ {
		for _, negative := range []bool{false, true} {
			all := weighted{}
			for i, v := range p.value {
				if v != 0 && p.exp[i] == e && (v < 0) == negative && e < E {
					all.add(math.Mod(v, at.grid), p.weight[i])
				}
			}
			if len(all.values) > 0 {
				checkLoss(t, "term", at.Term(e, negative), all)
			}
		}
	}
	if b := at.Term(E, false); b != (LossBound{}) {
		t.Errorf("of the greatest exponent: %+v", b)
	}
}

// Of products that the distribution does not contain, the bounds assume only
// that a product loses less than g and at most its own size.
func TestLossesAtUnknown(t *testing.T) {
	p := ValueProducts([]float64{-1.25, 1.75}, ones(2), []float64{1.5}, ones(1), -14, -14)
	l := p.Losses(5)
	g := math.Ldexp(1, -45)
	if b := l.At(-40, 0).Block(3, false); b.Mean != 0 || b.Error != 3*g || b.Variance != 3*g*g {
		t.Errorf("%+v, of products smaller than any", b)
	}
	if b := l.At(-40, 0).Signed(2, 1, false); b.Mean != g/2 || b.Slack != 1.5*g || b.Variance != 3*g*g/4 {
		t.Errorf("%+v, of products smaller than any, of known signs", b)
	}
	if b := l.At(40, 0).Term(-10, true); b.Mean != -0x1p-9 || b.Slack != 0x1p-9 || b.Variance != 0x1p-18 {
		t.Errorf("%+v, of a product that is less than 2^-8", b)
	}
	p.Samples = 3
	if b := p.Losses(5).At(4, -5).Block(3, false); b.Error != 3*math.Ldexp(1, -1) {
		t.Errorf("%+v, from three pairs", b)
	}
}

// If a distribution is estimated from all pairs of two samples, the smaller of
// n elements, the bounds fail with no more than the stated probability, and the
// estimates are not much nearer to the truth than the bounds say. This also
// holds if one factor alone decides what is lost.
func TestLossesAtSample(t *testing.T) {
	const n, partners, E, F = 1200, 36, 4, 8
	samples := 40
	if testing.Short() {
		samples = 15
	}
	draw := func(r *rand.Rand) float64 {
		x := math.Ldexp(1+float64(r.IntN(32))/32, -r.IntN(4))
		if r.IntN(3) == 0 {
			return -x
		}
		return x
	}
	one := func(*rand.Rand) float64 { return 1 }
	r := rand.New(rand.NewPCG(241118747, 11))
	for name, c := range map[string]struct{ x, y func(*rand.Rand) float64 }{
		"both": {draw, draw}, "the smaller sample alone": {draw, one}, "the larger sample alone": {one, draw},
	} {
		x, px := counted(1<<14, func() float64 { return c.x(r) }) // the distribution of the samples
		y, py := counted(1<<14, func() float64 { return c.y(r) })
		truth := ValueProducts(x, px, y, py, -14, -14).Losses(F).At(E, -1)
		pick := func(v, p []float64) float64 {
			z := r.Float64() * (1 << 14)
			for i := range p {
				if z -= p[i]; z < 0 {
					return v[i]
				}
			}
			return v[len(v)-1]
		}
		for _, table := range []bool{false, true} {
			const f = roundoff.Failure(-5) // failure of each of twelve cells
			failed, eighth := 0, 0
			for range samples {
				u, v := make([]float64, n), make([]float64, n*partners)
				for i := range u {
					u[i] = pick(x, px)
				}
				for i := range v {
					v[i] = pick(y, py)
				}
				var p *ProductDistribution
				if table {
					i, j := 0, 0
					u, pu := counted(n, func() float64 { i++; return u[i-1] })
					v, pv := counted(n*partners, func() float64 { j++; return v[j-1] })
					p = ValueProducts(u, pu, v, pv, -14, -14)
				} else {
					var s []float64
					for i := range v {
						s = append(s, u[i/partners])
					}
					p = StarProducts(s, v, partners, -14, -14)
				}
				p.Samples, p.Partners = n, partners
				at, off, near := p.Losses(F).At(E, f), false, true
				for _, b := range [][2]LossBound{
					{at.Block(8, false), truth.Block(8, false)}, {at.Block(8, true), truth.Block(8, true)},
					{at.Signed(5, 3, false), truth.Signed(5, 3, false)}, {at.Signed(5, 3, true), truth.Signed(5, 3, true)},
					{at.Term(0, true), truth.Term(0, true)},
				} {
					d, within := math.Abs(b[0].Mean-b[1].Mean), math.Abs(b[0].Error)+b[0].Slack
					off = off || d > within || b[0].Variance < b[1].Variance
					near = near && d < within/8
				}
				if off {
					failed++
				}
				if !near {
					eighth++
				}
			}
			if float64(failed)/float64(samples) > 12*math.Exp(float64(f)) {
				t.Errorf("%s: off in %d of %d samples", name, failed, samples)
			}
			if float64(eighth)/float64(samples) < 0.05 {
				t.Errorf("%s: off by an eighth in %d of %d samples: the error is no error", name, eighth, samples)
			}
		}
	}
}

// counted returns the different values among n numbers, and how often each
// occurs.
func counted(n int, next func() float64) (values, counts []float64) {
	count := map[float64]float64{}
	for range n {
		count[next()]++
	}
	for _, v := range slices.Sorted(maps.Keys(count)) {
		values, counts = append(values, v), append(counts, count[v])
	}
	return values, counts
}

// ones returns n ones.
func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

func TestLossesAtPanics(t *testing.T) {
	l := fewValues().Losses(5)
	for want, call := range map[string]func(){
		"truncation: failure = 1, want failure <= 0, a logarithm": func() { l.At(0, 1) },
		"truncation: L = 0, want L >= 1":                          func() { l.At(0, 0).Block(0, false) },
		"truncation: products = 0, want products >= 1":            func() { l.At(0, 0).Signed(0, 0, false) },
		"truncation: negative = -1, want negative >= 0":           func() { l.At(0, 0).Signed(2, -1, false) },
		"truncation: product -1.40625, want products of one sign": func() { ValueProducts([]float64{1, -1.40625}, ones(2), ones(1), ones(1), -14, -14).OneSign() },
	} {
		panics.Want(t, want, call)
	}
}

// The uncertainty of the share of products that set the exponent, and of the
// mean of what the others lose, is contained in the Error and the Slack of a
// mean, wherever in their ranges the true values are.
func TestLossesAtUnsure(t *testing.T) {
	known := &kindLosses{below: cellLoss{0.375, 0.0625, 0.03125}, own: cellLoss{mean: 0.25, off: 0.125}}
	other := &kindLosses{below: cellLoss{0.5, 0.03125, 0.0625}, own: cellLoss{mean: 0.0625, off: 0.03125}}
	at := func(dist *ProductDistribution) *LossesAt {
		a := &LossesAt{losses: dist.Losses(5), grid: 1}
		for k, z := range map[kind]*kindLosses{whole: known, nonzero: known, positives: known, negatives: other} {
			a.kinds[k].once.Do(func() { a.kinds[k].kindLosses = *z })
		}
		return a
	}
	unlike, alike := at(fewValues()), at(fewValues().Symmetric())
	truths := func(c cellLoss) []float64 { return []float64{c.mean - c.off, c.mean, c.mean + c.off} }
	for n := 1; n <= 12; n++ {
		for positive := range n + 1 {
			negative := n - positive
			for _, ρ := range truths(known.own) {
				for _, h := range truths(known.below) {
					check := func(what string, b LossBound, mean float64) {
						t.Helper()
						if d := math.Abs(mean - b.Mean); d > (math.Abs(b.Error)+b.Slack)*(1+1e-12) {
							t.Errorf("%s, %d+%d: mean %v, said to be %v ± %v ± %v", what, positive, negative, mean, b.Mean, b.Error, b.Slack)
						}
					}
					N := meanOfMost(float64(n), ρ)
					S := float64(positive - negative)
					check("of one distribution", unlike.Block(n, true), (float64(n)-N)*h)
					check("of any sign alike", alike.Signed(positive, negative, true), S*(1-N/float64(n))*h)
					for _, π := range truths(other.own) {
						for _, g := range truths(other.below) {
							P, M := float64(positive), float64(negative)
							check("signs", unlike.Signed(positive, negative, true),
								(P-meanOfEither(P, ρ, M, π))*h-(M-meanOfEither(M, π, P, ρ))*g)
						}
					}
				}
			}
		}
	}
}
