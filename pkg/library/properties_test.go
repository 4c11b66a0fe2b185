package library

import (
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// every returns a configuration of each mode that takes the shape, and of each
// row of the tables.
func every(s Shape) (all []Config) {
	for _, splits := range []int{1, 2, 3, 7, 64, 200} {
		for _, scheme := range []int{0, 2, 4} {
			for stages := range cutlassStages {
				all = append(all, config(24, splits, scheme, 0, stages))
			}
		}
		for stages := range nvjetStages {
			all = append(all, config(66, splits, 2, 0, stages))
		}
		for option := range profiles[0].recipes {
			all = append(all, config(13, splits, 0, option, 0))
		}
		all = append(all, config(14, splits, 0, 0, 0), config(13, splits, 0, sliceOption, 0))
	}
	for r := range gemmsnRecipes {
		all = append(all, config(r[0], 1, 0, r[1], 0))
	}
	return all
}

// integers returns factors whose sums are exact in every order, also in
// binary16.
func integers(rng *rand.Rand, k int) (x, y []float64, exact float64) {
	x, y = make([]float64, k), make([]float64, k)
	for i := range x {
		x[i], y[i] = float64(rng.IntN(3)-1), float64(rng.IntN(3)-1)
		exact += x[i] * y[i]
	}
	return x, y, exact
}

// Every plan of small integers equals their product: each product is added
// once. The one of a lost tail misses that, and nothing else.
func TestPlansOfIntegersAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	modes := map[Mode]int{}
	for _, shape := range []Shape{{1, 64, 300}, {64, 1, 1500}, {8, 8, 128}, {8, 8, 64}, {1, 1, 1}, {64, 64, 577}} {
		x, y, exact := integers(rng, shape.K)
		for _, p := range Profiles() {
			for _, c := range every(shape) {
				for _, k := range []Kind{FP16, BF16, FP8} {
					if c.CustomOption.Value != sliceOption && rng.IntN(8) > 0 {
						continue
					}
					planned, err := p.Plan(shape, k, c)
					if err != nil {
						continue
					}
					modes[planned.Mode]++
					if got := planned.Plan.Dot(x, y); got != exact {
						t.Fatalf("%s, %v, %v of %v: %v, want %v", p.Name(), shape, c, k, got, exact)
					}
					if q := planned.Suspected; q != nil {
						_, _, lossy := head(x, y, q.Lost)
						if got := q.Plan.Dot(x, y); got != lossy {
							t.Fatalf("%s, %v, %v of %v: %v without %d, want %v", p.Name(), shape, c, k, got, q.Lost, lossy)
						}
					}
				}
			}
		}
	}
	for _, m := range Modes() {
		if modes[m] == 0 {
			t.Errorf("no plan of mode %s", m)
		}
	}
	t.Log(modes)
}

// head returns factors and their sum without the last ones.
func head(x, y []float64, lost int) (hx, hy []float64, exact float64) {
	hx, hy = x[:len(x)-lost], y[:len(y)-lost]
	for i := range hx {
		exact += hx[i] * hy[i]
	}
	return hx, hy, exact
}

// drawn returns factors that use all digits, of many magnitudes.
func drawn(rng *rand.Rand, f tcore.Format, k int) (x, y []float64) {
	x, y = make([]float64, k), make([]float64, k)
	for i := range x {
		for _, v := range []*float64{&x[i], &y[i]} {
			*v = f.Round(rng.NormFloat64()*float64(int(1)<<rng.IntN(6)), tcore.ToNearestEven)
		}
	}
	return x, y
}

// Orders that mean the same give the same bits: blocks of 128 of a K up to 128
// and one chain, a CUTLASS chain of whole tiles and one chain, threads of up to
// 32 blocks with the folds by 64 and 32 and without.
func TestOrdersThatAreEqual(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	hopper := profiles[0]
	equal := func(a, b plan.Plan, k Kind, n int) {
		t.Helper()
		for range 8 {
			x, y := drawn(rng, k.Factors(), n)
			if got, want := a.Dot(x, y), b.Dot(x, y); !same(got, want) {
				t.Fatalf("%s: %x, %s: %x", a.Name, got, b.Name, want)
			}
		}
	}
	of := func(s Shape, k Kind, c Config) plan.Plan { return hopper.mustPlan(t, s, k.String(), c).Plan }
	for _, n := range []int{16, 100, 128} {
		blocks := of(Shape{64, 64, n}, FP8, config(66, 1, 0, 0, 36))
		equal(blocks, plan.Plan{Name: "chain", Order: plan.Run{Device: blocks.Device()}, Output: tcore.Binary16}, FP8, n)
	}
	equal(of(Shape{64, 64, 512}, FP16, config(66, 1, 0, 0, 35)), of(Shape{64, 64, 512}, FP16, config(24, 1, 0, 0, 7)), FP16, 512)
	for _, blocks := range []int{1, 5, 32} {
		p := of(Shape{1, 64, 6000}, BF16, config(14, blocks, 0, 0, 0))
		short := p
		parts := p.Order.(plan.Parts)
		parts.Merge.Folds = []int{32, 4, 1}
		short.Name, short.Order = "without folds", parts
		equal(p, short, BF16, 6000)
	}
}

// The hypothesis about tails changes no slices but those that it says lose
// some, and for SPLITK_NUM up to a block loses what is published.
func TestFloorIsTheConditionOfTheTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	p := profiles[1]
	lost, beyond := 0, 0
	for range 20000 {
		shape := Shape{64, 64, 1 + rng.IntN(60000)}
		c := config(66, 2+rng.IntN(200), 2, 0, 35)
		block := 64
		if rng.IntN(2) == 0 {
			c.StagesID, block = Some(36), 128
		}
		if rng.IntN(2) == 0 { // near a tail
			shape.K = c.SplitKNum.Value*block*(1+rng.IntN(20)) + rng.IntN(20)
		}
		published, err := p.Plan(shape, FP16, c)
		if err != nil {
			continue
		}
		floor, err := p.PlanWith(shape, FP16, c, Options{Floor: true})
		if err != nil {
			t.Fatal(err)
		}
		missing := max(0, shape.K-floor.KChunk*c.SplitKNum.Value)
		switch s := published.Suspected; {
		case missing == 0 && floor.KChunk != published.KChunk:
			t.Fatalf("%v, %v: slices of %d and %d, and none lost", shape, c, floor.KChunk, published.KChunk)
		case s != nil && s.Lost != missing:
			t.Fatalf("%v, %v: %d lost by the condition, %d by the hypothesis", shape, c, s.Lost, missing)
		case s == nil && missing > 0 && c.SplitKNum.Value <= block:
			t.Fatalf("%v, %v: %d lost by the hypothesis alone", shape, c, missing)
		case s != nil:
			lost++
		case missing > 0:
			beyond++
		}
	}
	if lost < 100 || beyond < 10 {
		t.Errorf("%d lost tails and %d beyond the condition, want 100 and 10", lost, beyond)
	}
	t.Logf("%d tails lost, %d beyond the published condition", lost, beyond)
}

// A tail is suspected where the published condition says so, and nowhere else.
func TestSuspectedTails(t *testing.T) {
	for _, c := range []struct {
		k    int
		c    Config
		lost int
	}{
		{8648, config(66, 9, 2, 0, 35), 8},
		{57608, config(66, 45, 2, 0, 35), 8},
		{11528, config(66, 9, 2, 0, 35), 8},
		{8640, config(66, 9, 2, 0, 35), 0},  // no tail
		{8649, config(66, 9, 2, 0, 35), 0},  // 9 products over, not less than 9 slices
		{8648, config(66, 10, 2, 0, 35), 0}, // 135 blocks, which 10 does not divide
		{8648, config(66, 1, 2, 0, 35), 0},  // no slices
		{8648, config(24, 9, 2, 0, 7), 0},   // another kernel
	} {
		for _, p := range Profiles() {
			planned := p.mustPlan(t, Shape{1, 8, c.k}, "fp16", c.c)
			switch s := planned.Suspected; {
			case (s != nil) != (c.lost > 0):
				t.Errorf("%s, K = %d, %v: suspected: %v", p.Name(), c.k, c.c, s != nil)
			case s != nil && (s.Lost != c.lost || s.Plan.Name == planned.Plan.Name || s.Note == ""):
				t.Errorf("%s, K = %d, %v: %d lost, want %d; %s", p.Name(), c.k, c.c, s.Lost, c.lost, s.Note)
			}
		}
	}
}
