package truncation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// What the first stage cuts off simulated blocks has the mean of the
// distribution, and a moment generating function of at most its bound, for one
// part and two, and for products of one sign and of both.
func TestTwoStageSumTops(t *testing.T) {
	const n, pairs = 200000, 1 << 17
	for _, lo := range []float64{-1, 0} {
		for _, parts := range []int{1, 2} {
			r := rand.New(rand.NewPCG(7, uint64(parts)))
			draw := func() float64 { // a number of 11 bits
				m, e := math.Frexp(lo + (1-lo)*r.Float64())
				return math.Ldexp(math.Trunc(m*2048), e-11)
			}
			x, y := make([]float64, pairs), make([]float64, pairs)
			for i := range x {
				x[i], y[i] = draw(), draw()
			}
			dist := PairProducts(x, y, -100, -100)
			if lo < 0 {
				dist = dist.Symmetric()
			}
			c := &stageChain{TwoStageSum: TwoStageSum{
				Terms: 8, Parts: parts, Unit: 0x1p-24, Grid: 0x1p-200, Losses: dist.Losses(24), LogMoment: dist.LogMoment, Largest: 1,
			}, q: 1, L: 8}
			c.dist(roundoff.FailureOf(0.99))
			c.grid = []float64{0x1p20, 0x1p23, 0x1p24}
			c.topsOf()
			mean, square := 0.0, 0.0
			exps := make([][2]float64, len(c.grid))
			for range n {
				lost := 0.0
				for range parts {
					var p []float64
					top := math.MinInt
					for range 8 / parts {
						u, v := draw(), draw()
						if u*v != 0 {
							top = max(top, math.Ilogb(u)+math.Ilogb(v))
						}
						p = append(p, u*v)
					}
					for _, v := range p {
						lost += math.Mod(v, math.Ldexp(1, top-24))
					}
				}
				mean += lost / n
				square += lost * lost / n
				for k, θ := range c.grid {
					exps[k][0] += math.Exp(θ*(lost-c.lost)) / n
					exps[k][1] += math.Exp(-θ*(lost-c.lost)) / n
				}
			}
			// The distribution is from a smaller sample than the simulation.
			if σ := math.Sqrt(square / n); math.Abs(mean-c.lost) > 20*σ || lo == 0 && mean < 100*σ || lo < 0 && c.lost != 0 {
				t.Errorf("from %v, %d parts: mean loss %v, distribution %v ± %v", lo, parts, mean, c.lost, σ)
			}
			for k, θ := range c.grid {
				for sign, e := range exps[k] {
					bound := 0.0
					for _, w := range c.tops[k][sign] {
						bound += w
					}
					if !(e <= bound*1.0001) || bound-1 > 20*(e-1)+0.01 {
						t.Errorf("from %v, %d parts, θ = %v: E exp is %v, bound %v", lo, parts, θ, e, bound)
					}
				}
			}
		}
	}
}

func TestTwoStageSum(t *testing.T) {
	x := []float64{-1, -0.5, 0.25, 1.5}
	dist := ValueProducts(x, []float64{1, 1, 1, 1}, x, []float64{1, 1, 1, 1}, -14, -14)
	s := TwoStageSum{Terms: 8, Parts: 1, Unit: 0x1p-24, Grid: 0x1p-48, Losses: dist.Losses(24), LogMoment: dist.LogMoment, Largest: 2.25}
	f := roundoff.FailureOf(0.99)
	t.Run("grows", func(t *testing.T) {
		e := s.ErrorBound(8*64, 1, f)
		if more := s.ErrorBound(8*128, 1, f); !(e < more) {
			t.Errorf("%v, of twice the blocks %v", e, more)
		}
		if more := s.ErrorBound(8*64, 1e6, f); !(e < more) {
			t.Errorf("%v, of a million sums %v", e, more)
		}
		if more := s.ErrorBound(8*64, 1, -100); !(e < more) {
			t.Errorf("%v, surer %v", e, more)
		}
		if most := TwoStage(8, 64, 0x1p-24) * 64 * 8 * 2.25; !(e < most) {
			t.Errorf("%v, always %v", e, most)
		}
	})
	t.Run("knows how large sums become", func(t *testing.T) {
		c := &stageChain{TwoStageSum: s}
		for c.sums.block = range map[float64]bool{0.25: true, 3: true, 18: true} {
			for e := -3; e <= 8; e++ {
				for _, sum := range []float64{math.Ldexp(1, e), math.Ldexp(1.5, e), math.Nextafter(math.Ldexp(2, e), 0)} {
					if got, most := ilog(sum+c.sums.block), c.after(e, 1000); got > most || c.after(e, 1.5*sum) > ilog(1.5*sum) {
						t.Errorf("%v + %v has the exponent %d, said to be at most %d", sum, c.sums.block, got, most)
					}
				}
			}
		}
	})
	t.Run("a last block of one product is rounded with its own bias", func(t *testing.T) {
		// The low bits of eight products are nearly uniform, those of one are not.
		z := s
		z.Unit, z.Grid = 0x1p-6, 0.25
		one := []float64{1}
		z.Losses = ValueProducts([]float64{1.25, 1.5}, []float64{1, 1}, one, one, -14, -14).Losses(24)
		z.LogMoment, z.Largest = z.Losses.Products.LogMoment, 1.5
		c := &stageChain{TwoStageSum: z, K: 8, q: 1, L: 8, grid: []float64{0.1}, steps: map[[4]int][]float64{}}
		account := f.Account(map[string]float64{"distribution": 0.5, "characters": 0.5})
		c.dist(account.Spend("distribution"))
		c.ends = account.Spend("characters")
		c.sums = newExactSums(8, 8, c.mean, z.Largest, z.Losses.Products.deviation(z.Largest), z.LogMoment, f)
		c.topsOf()
		// On a running sum of 64, of which multiples of 2 are kept, either is rounded
		// to 66.
		mean := (math.Exp(0.1*0.75) + math.Exp(0.1*0.5)) / 2
		if κ := c.step(64, 66, 1, false)[0]; κ < math.Log(mean) {
			t.Errorf("log E exp is %v, bound %v", math.Log(mean), κ)
		}
		if c.step(64, 66, 8, false)[0] > math.Log(mean) {
			t.Error("eight products are as biased as one")
		}
	})
	for want, call := range map[string]func(){
		"truncation: K = 0, want K >= 1":                              func() { s.ErrorBound(0, 1, f) },
		"truncation: Parts = 3, want 1 or 2":                          func() { z := s; z.Parts = 3; z.ErrorBound(1, 1, f) },
		"truncation: Losses.F = 25, want 24":                          func() { z := s; z.Losses = dist.Losses(25); z.ErrorBound(1, 1, f) },
		"truncation: Largest = +Inf, want it finite and not negative": func() { z := s; z.Largest = math.Inf(1); z.ErrorBound(1, 1, f) },
	} {
		t.Run("panics", func(t *testing.T) { panics.Want(t, want, call) })
	}
}

// What the second stage rounds down is at most down, and comes near it, for all
// kinds of block sums and running sums. Block sum and running sum are rounded
// down to the grid of the greater exponent, and what they add up to to 31 bits
// below its leading one.
func TestTwoStageSumDown(t *testing.T) {
	r := rand.New(rand.NewPCG(241118747, 8))
	floor := func(x, g float64) float64 { return g * math.Floor(x/g) }
	for _, parts := range []int{1, 2} {
		for _, grid := range []float64{0x1p-40, 0x1p-26, 0x1p-22} {
			c := stageChain{TwoStageSum: TwoStageSum{Terms: 8, Parts: parts, Unit: 0x1p-24, Grid: grid}}
			nearest := 0.0
			for e := -15; e <= 12; e++ {
				for range 400 {
					sum := floor(16*r.Float64()-8, max(0x1p-24, grid)) // of the part of exponent 0
					if parts == 2 {
						lesser := r.IntN(12)
						sum += floor(math.Ldexp(8*r.Float64()-4, -lesser), max(math.Ldexp(1, -lesser-24), grid))
					}
					before := math.Copysign(floor(math.Ldexp(1+r.Float64(), e), max(math.Ldexp(1, e-23), grid)), r.Float64()-0.5)
					if before == 0 {
						continue
					}
					top := max(0, e)
					kept := floor(floor(sum, max(0x1p-24, grid)), math.Ldexp(1, top-32)) + floor(before, math.Ldexp(1, top-24))
					if kept == 0 {
						continue
					}
					lead := math.Ilogb(kept)
					down, most := sum+before-floor(kept, math.Ldexp(1, lead-31)), c.down(0, e, lead)
					if !(down <= most) {
						t.Errorf("%d parts, grid %v, e = %d: %v + %v lose %v, at most %v", parts, grid, e, sum, before, down, most)
					}
					if most > 0 {
						nearest = max(nearest, down/most)
					}
				}
			}
			if nearest < 0.5 {
				t.Errorf("%d parts, grid %v: nothing loses more than %v of what is said", parts, grid, nearest)
			}
		}
	}
}
