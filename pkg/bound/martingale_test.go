package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// byData are the bounds that estimate losses from the distribution of the
// products.
var byData = []Bound{MartingaleTrace, MartingaleSums, MartingaleSigns, MartingaleExponents, MartingaleDistribution}

// outside returns for each bound the number of outputs of a product of M × N
// whose error is outside its interval. The data have the distribution dist; the
// bounds are given the distribution told.
func outside(t *testing.T, d tcore.Device, M, N, K int, dist, told Distribution, seed uint64, f roundoff.Failure, bounds ...Bound) []int {
	t.Helper()
	rng := rand.New(rand.NewPCG(241118747, seed))
	k := Problem{M: M, N: N, K: K, Machine: tcore.Machine{Device: d}}
	run, err := Emulate(k, draw(rng, M, K, dist), draw(rng, K, N, dist))
	if err != nil {
		t.Fatal(err)
	}
	k.X, k.Y = told, told
	n := make([]int, len(bounds))
	for o := range run {
		e := Exact.Interval(k, o, f).Centre
		for i, b := range bounds {
			if z := b.Interval(k, o, f); !(math.Abs(e-z.Centre) <= z.Radius+1e-14*o.Abs) {
				n[i]++
			}
		}
	}
	return n
}

// The bounds hold where K does not fill the last block, which has fewer
// products and loses less. The low bits of the data are nearly all alike, so
// that an error in the number of products would be visible.
func TestMartingaleLastBlock(t *testing.T) {
	dist := Uniform(0.09995, 0.10000)
	for _, c := range []struct {
		device tcore.Device
		K      []int
	}{
		{devices.HopperF16(), []int{65, 113, 129}}, {devices.AmpereF16(), []int{33, 129}}, {devices.HopperE4M3(), []int{129, 257}},
	} {
		for _, K := range c.K {
			for i, n := range outside(t, c.device, 16, 8, K, dist, dist, uint64(K), at99, byData...) {
				if n > 0 {
					t.Errorf("%s, K = %d: %d of 128 errors outside of %s", c.device.Name, K, n, byData[i].Name)
				}
			}
		}
	}
	t.Run("one more product is no more failures", func(t *testing.T) {
		f, dist, counts := roundoff.FailureOf(0.5), Uniform(0.98, 1.95), map[int][]int{}
		trials := 200
		if testing.Short() {
			trials = 20
		}
		for _, K := range []int{128, 129} {
			counts[K] = make([]int, len(byData))
			for seed := range uint64(trials) {
				for i, n := range outside(t, devices.HopperF16(), 1, 1, K, dist, dist, seed, f, byData...) {
					counts[K][i] += n
				}
			}
		}
		for i, b := range byData {
			if x, y := counts[128][i], counts[129][i]; y > x+trials/10 || y > trials/2 {
				t.Errorf("%s fails in %d of %d products of K = 128, in %d of K = 129", b.Name, x, trials, y)
			}
		}
	})
	t.Run("factors are not needed to know it", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(241118747, 3))
		k := Problem{M: 1, N: 4, K: 37, Machine: tcore.Machine{Device: devices.HopperF16()}}
		run, err := Emulate(k, draw(rng, 1, 37, Uniform(1, 2)), draw(rng, 37, 4, Uniform(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		for o := range run {
			with, interval := MartingaleSums.Interval(k, o, at99), TruncationInterval.Interval(k, o, at99)
			o.X, o.Y = nil, nil
			if without := MartingaleSums.Interval(k, o, at99); without != with {
				t.Errorf("%+v, without factors %+v", with, without)
			}
			if without := TruncationInterval.Interval(k, o, at99); without != interval {
				t.Errorf("%+v, without factors %+v", interval, without)
			}
			if z := MartingaleSigns.Interval(k, o, at99); !math.IsNaN(z.Radius) {
				t.Errorf("%+v, without factors to count zeros", z)
			}
		}
	})
}

// unlikeSigns is a distribution whose negative numbers have many bits and whose
// positive ones have few.
var unlikeSigns = FromMoments("unlike signs", DataMoments{Mean: 0.26, MeanSquare: 2, MeanAbs: 1.4, MaxAbs: 2}, func(r *rand.Rand) float64 {
	if r.IntN(2) == 0 {
		return 1 + float64(r.IntN(2))/2
	}
	return -2 + float64(1+r.IntN(4))/1024
})

// Bounds that read signs hold for data whose losses depend on the sign. If they
// are wrongly given a symmetric distribution, some errors are outside their
// intervals.
func TestMartingaleUnlikeSigns(t *testing.T) {
	signs := []Bound{MartingaleSigns, MartingaleExponents}
	for _, dist := range []Distribution{unlikeSigns, Normal(1, 1)} {
		for _, d := range []tcore.Device{devices.HopperF16(), devices.HopperE4M3(), devices.AmpereBF16()} {
			if dist.String() == unlikeSigns.String() && d.Name != devices.HopperF16().Name {
				continue // the formats do not have these bits
			}
			for i, n := range outside(t, d, 8, 8, 4000, dist, dist, 5, at99, signs...) {
				if n > 0 {
					t.Errorf("%s, %s: %d of 64 errors outside of %s", d.Name, dist, n, signs[i].Name)
				}
			}
		}
	}
	told := but(unlikeSigns, func(m *DataMoments) { m.Symmetric = true })
	if n := outside(t, devices.HopperF16(), 8, 8, 4000, unlikeSigns, told, 5, at99, signs...); n[0] == 0 || n[1] == 0 {
		t.Errorf("%v errors outside of what is told of a symmetric distribution: the signs do not matter", n)
	}
}

// The bounds hold for a single pair of vectors, where the distribution is
// estimated from their own elements, and for data that are mostly zero.
func TestMartingaleFewElements(t *testing.T) {
	sparse := FromMoments("sparse", DataMoments{Mean: 0, MeanSquare: 0.1, MeanAbs: 0.08, MaxAbs: 8}, func(r *rand.Rand) float64 {
		if r.IntN(10) > 0 {
			return 0
		}
		return r.NormFloat64()
	})
	f := roundoff.FailureOf(0.9)
	for i, dist := range []Distribution{Uniform(0, 1), Uniform(-1, 1), Normal(1, 1), sparse} {
		told := but(dist, func(m *DataMoments) { m.Symmetric = false })
		for j, d := range []tcore.Device{devices.HopperF16(), devices.HopperE4M3(), devices.VoltaF16()} {
			if rarely(3, i, j) {
				continue
			}
			failed := make([]int, len(byData))
			trials := 40
			if testing.Short() {
				trials = 10
			}
			for seed := range uint64(trials) {
				for i, n := range outside(t, d, 1, 1, 200, dist, told, seed, f, byData...) {
					failed[i] += n
				}
			}
			for i, n := range failed {
				if n > trials/10 {
					t.Errorf("%s, %s: %d of %d errors outside of %s", d.Name, dist, n, trials, byData[i].Name)
				}
			}
		}
	}
}

// The radius of TruncationInterval is half a grid step for each nonzero
// product, and the error is within it.
func TestTruncationIntervalCountsProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 17))
	k := Problem{M: 4, N: 4, K: 53, Machine: tcore.Machine{Device: devices.HopperF16()}}
	a, b := draw(rng, 4, k.K, Normal(0, 1)), draw(rng, k.K, 4, Normal(0, 1))
	for i := range a.Data {
		if rng.IntN(3) == 0 {
			a.Data[i] = 0
		}
	}
	run, err := Emulate(k, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for o := range run {
		want := 0.0
		for _, block := range k.Device.Trace(o.X, o.Y, 0).Blocks {
			for _, term := range block.Terms {
				if term.Index >= 0 && term.Value != 0 {
					want += block.Unit / 2
				}
			}
		}
		z, e := TruncationInterval.Interval(k, o, at99), Exact.Interval(k, o, at99).Centre
		if math.Abs(z.Radius-want) > 1e-15*want || math.Abs(e-z.Centre) > want {
			t.Errorf("%+v, want radius %v around %v", z, want, e)
		}
	}
}

// Bounds from the distribution of the products refuse a machine that discards
// bits even of the greatest product.
func TestMartingaleNeedsAllBitsOfTheGreatest(t *testing.T) {
	d := devices.HopperF16()
	d.Core = tcore.Fused{Terms: 16, FractionBits: 12, Result: tcore.Binary32, Rounding: tcore.ToZero, ZeroExponent: -133}
	k := Problem{M: 1, N: 1, K: 16, Machine: tcore.Machine{Device: d}}
	for _, b := range byData {
		if why := b.fails(k); why != "products have 20 bits after the point, "+d.Name+" keeps 12 of the greatest" {
			t.Errorf("%s: %q", b.Name, why)
		}
	}
	if why := TruncationInterval.fails(k); why != "" {
		t.Errorf("%s: %q", TruncationInterval.Name, why)
	}
}

// The shares of the probability of failure add up to at most 1.
func TestMartingaleShares(t *testing.T) {
	sum := 0.0
	for _, s := range martingaleShares {
		sum += s
	}
	if sum > 1 {
		t.Errorf("shares add up to %v", sum)
	}
	// Every exponent to which blocks are aligned is one for which a share is
	// reserved.
	for _, d := range aligning {
		k := Problem{M: 2, N: 2, K: 333, Machine: tcore.Machine{Device: d}}
		rng := rand.New(rand.NewPCG(241118747, 18))
		for _, size := range []float64{1, d.A.MinSubnormal(), math.Sqrt(d.C.Max() / 1e5)} {
			dist := Uniform(0, min(size, d.A.Max()))
			run, err := Emulate(k, draw(rng, 2, k.K, dist), draw(rng, k.K, 2, dist))
			if err != nil {
				t.Fatal(err)
			}
			seen := map[int]bool{}
			least := max(k.Device.A.Emin+k.Device.B.Emin, k.Device.Core.(tcore.Fused).ZeroExponent)
			for o := range run {
				o.steps(k, func(s step) {
					if E := s.exponent; s.nonzero > 0 {
						seen[E] = true
						if E < least || E >= least+k.alignments() {
							t.Errorf("%s, %s: aligned to %d, paid for %d from %d", d.Name, dist, E, k.alignments(), least)
						}
					}
				})
			}
		}
	}
}

// A walk visits every element once. The number of independent samples is at
// most that of the elements of the smaller matrix.
func TestWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 19))
	for n := 1; n < 40; n++ {
		next, seen := (elements{General: draw(rng, 1, n, Uniform(0, 1))}).walk(rng), make([]int, 0, n)
		for range n {
			seen = append(seen, next())
		}
		slices.Sort(seen)
		for i, j := range seen {
			if i != j {
				t.Fatalf("n = %d: %v", n, seen)
			}
		}
	}
	k := Problem{M: 64, N: 2, K: 300, Machine: tcore.Machine{Device: devices.HopperF16()}}
	a, b := draw(rng, 64, k.K, Uniform(0, 1)), draw(rng, k.K, 2, Uniform(0, 1))
	for _, p := range []*truncation.ProductDistribution{k.lossesOf(a, b).Products, k.stars(elements{b, k.Device.B}, elements{a, k.Device.A})} {
		if p.Samples != 600 || p.Partners != 32 {
			t.Errorf("%v samples with %v partners each, want 600 with 32, of 64 × 300 pairs", p.Samples, p.Partners)
		}
	}
}

// The bounds hold for products of subnormal factors, which are all below the
// exponent of zero to which the machine aligns, and so lose bits.
func TestMartingalesBelowTheExponentOfZero(t *testing.T) {
	tiny := FromMoments("", DataMoments{}, func(r *rand.Rand) float64 { return math.Exp2(-24+10*r.Float64()) * float64(1-2*r.IntN(2)) })
	for _, d := range []tcore.Device{devices.VoltaF16F16(), devices.TuringF16F16(), devices.AmpereF16F16()} {
		for _, K := range []int{2, 8, 129} {
			rng := rand.New(rand.NewPCG(241118747, uint64(K)))
			k := Problem{M: 16, N: 8, K: K, Machine: tcore.Machine{Device: d}}
			run, err := Emulate(k, draw(rng, 16, K, tiny), draw(rng, K, 8, tiny))
			if err != nil {
				t.Fatal(err)
			}
			lost := 0
			for o := range run {
				e := Exact.Interval(k, o, at99).Centre
				for _, b := range []Bound{MartingaleTrace, MartingaleSigns, MartingaleExponents, MartingaleSums} {
					if i := b.Interval(k, o, at99); !(math.Abs(e-i.Centre) <= i.Radius) {
						t.Errorf("%s, K = %d: error %v, %s says %+v", d.Name, K, e, b.Name, i)
					}
				}
				for _, z := range o.Blocks {
					if z.Lost != 0 {
						lost++
					}
				}
			}
			if lost == 0 {
				t.Errorf("%s, K = %d: nothing is lost, and nothing tried", d.Name, K)
			}
		}
	}
}

// Sums so small that they are cut off to zero are lost whole, and the intervals
// of the bounds that read a run contain the error.
func TestMartingaleOfLostSums(t *testing.T) {
	d := devices.AmpereBF16()
	for _, K := range []int{1, 4, 8} {
		rng := rand.New(rand.NewPCG(241118747, uint64(K)))
		const lost = 0x1p-149 // the least number of binary32
		size := math.Sqrt(lost / float64(K))
		dist := Uniform(size/2, size)
		k, outputs := run(t, d, K, 8, draw(rng, 8, K, dist), draw(rng, K, 8, dist))
		for _, known := range []bool{false, true} {
			if known {
				k.X, k.Y = dist, dist
			}
			for o := range outputs {
				e := Exact.Interval(k, o, at99).Centre
				if sum := o.Sums[len(o.Sums)-1]; sum != 0 || !(e < 0) {
					t.Fatalf("K = %d: result %v, error %v, want a sum that is lost", K, sum, e)
				}
				for _, b := range []Bound{MartingaleTrace, MartingaleSums} {
					if i := b.Interval(k, o, at99); !(math.Abs(e-i.Centre) <= i.Radius) {
						t.Errorf("%s, K = %d: error %v, %v ± %v", b.Name, K, e, i.Centre, i.Radius)
					}
				}
			}
		}
	}
}
