package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// The largest distance of an error from the centre of its interval, over the
// radius, of a product of 1024 × K × 8 at 99 %. docs/truncation.md has the
// table that the full test prints, of 256 rows of each of five seeds.
func TestMartingaleDistribution_is_tight(t *testing.T) {
	rows, seeds, lengths := 256, map[int]int{256: 3, 4096: 1}, []int{256, 4096} // no floor is asked of long sums
	if testing.Short() {
		rows, seeds, lengths = 64, map[int]int{256: 1}, lengths[:1]
	}
	floors := map[string]float64{devices.HopperF16().Name: 0.5, devices.HopperE4M3().Name: 0.45}
	for i, d := range []tcore.Device{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16(), devices.HopperE4M3()} {
		for j, dist := range []Distribution{Uniform(-1, 1), Normal(0, 1), Uniform(0, 1)} {
			if rarely(3, i, j) {
				continue
			}
			for _, K := range lengths {
				least, before := 1.0, 1.0
				for seed := range seeds[K] {
					rng := rand.New(rand.NewPCG(241118747, uint64(seed)))
					k, outputs := run(t, d, K, rows, draw(rng, rows, K, dist), draw(rng, K, 8, dist))
					k.X, k.Y = dist, dist
					far, trace := 0.0, 0.0
					for o := range outputs {
						e, z := Exact.Interval(k, o, at99).Centre, MartingaleDistribution.Interval(k, o, at99)
						far = max(far, math.Abs(e-z.Centre)/z.Radius)
						z = MartingaleTrace.Interval(k, o, at99)
						trace = max(trace, math.Abs(e-z.Centre)/z.Radius)
					}
					if far > 1 {
						t.Errorf("%s, %s, K = %d, seed %d: broken, %.2f of the radius", d.Name, dist, K, seed, far)
					}
					least, before = min(least, far), min(before, trace)
				}
				t.Logf("%s, %s, K = %d: %.2f, martingale-trace %.2f", d.Name, dist, K, least, before)
				if floor := floors[d.Name]; K == 256 && dist.Symmetric() && least < floor && !testing.Short() {
					t.Errorf("%s, %s: %.3f of the radius, want %v", d.Name, dist, least, floor)
				}
				if K == 256 && least < before { // of long sums the sample may cost more than it gains
					t.Errorf("%s, %s, K = %d: %.3f of the radius, of that of martingale-trace %.3f", d.Name, dist, K, least, before)
				}
			}
		}
	}
}

// Single outputs are outside of their intervals no more often than the
// confidence allows, and at 50 % some of them are.
func TestMartingaleDistribution_covers(t *testing.T) {
	outputs := 80
	if testing.Short() {
		outputs = 32
	}
	confidences := []float64{0.5, 0.9, 0.99}
	for i, d := range []tcore.Device{devices.HopperF16(), devices.HopperE4M3(), devices.AmpereBF16()} {
		for j, dist := range []Distribution{Uniform(-1, 1), Uniform(0, 1), Normal(0, 1), Normal(1, 1), unlikeSigns} {
			if rarely(3, i, j+2) { // the data of unlike signs on the first device, whose format has their bits
				continue
			}
			const K = 200 // the last block is not full
			rng := rand.New(rand.NewPCG(241118747, 31))
			k := Problem{M: outputs, N: outputs, K: K, Machine: tcore.Machine{Device: d}}
			run, err := Emulate(k, draw(rng, outputs, K, dist), draw(rng, K, outputs, dist))
			if err != nil {
				t.Fatal(err)
			}
			k.M, k.N, k.X, k.Y = 1, 1, dist, dist
			failures := make([]int, len(confidences))
			for o := range run {
				e := Exact.Interval(k, o, at99).Centre
				for i, p := range confidences {
					if z := MartingaleDistribution.Interval(k, o, roundoff.FailureOf(p)); !(math.Abs(e-z.Centre) <= z.Radius+1e-14*o.Abs) {
						failures[i]++
					}
				}
			}
			for i, p := range confidences {
				check(t, d.Name+", "+dist.String(), p, failures[i], outputs*outputs)
			}
			if failures[0] == 0 && dist.String() != unlikeSigns.String() {
				t.Errorf("%s, %s: no error is outside of an interval of 50 %%", d.Name, dist)
			}
		}
	}
}

// The distribution that is told counts: of another one errors are outside.
func TestMartingaleDistribution_believes_what_it_is_told(t *testing.T) {
	few := FromMoments("few bits", DataMoments{Mean: 0.5, MeanSquare: 0.35, MeanAbs: 0.5, MaxAbs: 1}, func(r *rand.Rand) float64 { return float64(r.IntN(17)) / 16 })
	for _, c := range []struct {
		dist, told Distribution
		broken     bool
	}{{few, few, false}, {few, Uniform(0, 1), true}, {Uniform(0, 1), few, true}} {
		n := outside(t, devices.HopperF16(), 8, 8, 4000, c.dist, c.told, 5, at99, MartingaleDistribution)
		if broken := n[0] > 0; broken != c.broken {
			t.Errorf("%s, told to be %s: %d of 64 errors outside, want some: %v", c.dist, c.told, n[0], c.broken)
		}
	}
}

// What is not known before the matrices are drawn is refused.
func TestMartingaleDistribution_needs_distributions_beforehand(t *testing.T) {
	k := Problem{M: 2, N: 2, K: 64, Machine: tcore.Machine{Device: devices.HopperF16()}}
	elements, err := MomentsOf("elements", blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: []float64{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, y Distribution
		why  string
	}{
		{Distribution{}, Uniform(0, 1), "the distribution of A cannot be drawn from"},
		{Uniform(0, 1), FromMoments("moments", DataMoments{MaxAbs: 1}, nil), "the distribution of B cannot be drawn from"},
		{Uniform(0, 1), elements, "the distribution of B is that of the elements of a matrix"},
		{Uniform(0, 1), Normal(0, 1), ""},
	} {
		k.X, k.Y = c.x, c.y
		if why := MartingaleDistribution.fails(k); why != c.why {
			t.Errorf("%s, %s: %q, want %q", c.x, c.y, why, c.why)
		}
		if z := MartingaleDistribution.Interval(k, Entry{}, at99); !math.IsNaN(z.Radius) {
			t.Errorf("%s, %s: %+v of a run without a trace", c.x, c.y, z)
		}
	}
}

// Where the distribution reaches beyond the numbers of the format, products
// that do not overflow are within their intervals.
func TestMartingaleDistribution_of_large_numbers(t *testing.T) {
	large := FromMoments("large", DataMoments{MeanSquare: 4e8, MeanAbs: 1.6e4, MaxAbs: math.Inf(1), Symmetric: true}, func(r *rand.Rand) float64 { return 2e4 * r.NormFloat64() })
	for _, d := range []tcore.Device{devices.HopperF16(), devices.HopperE4M3(), devices.HopperF16F16()} {
		rng := rand.New(rand.NewPCG(241118747, 35))
		k := Problem{M: 16, N: 8, K: 64, Machine: tcore.Machine{Device: d}, X: large, Y: large}
		a, b := draw(rng, 16, k.K, large), draw(rng, k.K, 8, large)
		for _, m := range []blas32.General{a, b} {
			for i, x := range m.Data {
				one := []float64{float64(x)}
				k.convertFinite(one, d.A)
				m.Data[i] = float32(one[0])
			}
		}
		run, err := Emulate(k, a, b)
		if err != nil {
			t.Fatal(err)
		}
		for o := range run {
			e := Exact.Interval(k, o, at99).Centre
			if z := MartingaleDistribution.Interval(k, o, at99); !math.IsNaN(e-e) && math.Abs(e-z.Centre) > z.Radius*(1+1e-12) {
				t.Errorf("%s: error %v, want it in %+v", d.Name, e, z)
			}
		}
	}
}

// A sum of blocks is that of the blocks one by one, whatever their exponents
// and numbers of products are.
func TestMixtureSum(t *testing.T) {
	dist := Normal(0, 1)
	k := Problem{M: 1, N: 4, K: 211, Machine: tcore.Machine{Device: devices.HopperF16()}, X: dist, Y: dist}
	rng := rand.New(rand.NewPCG(241118747, 32))
	run, err := Emulate(k, draw(rng, 1, k.K, dist), draw(rng, k.K, 4, dist))
	if err != nil {
		t.Fatal(err)
	}
	const f, cell = roundoff.Failure(-5), roundoff.Failure(-20)
	for o := range run {
		sum := mixtureSum{losses: k.lossesBefore(), cell: cell, thetas: k.thetas(f)[:1]}
		θ := sum.thetas[0]
		for _, sign := range []float64{1, -1} {
			ψ := 0.0
			o.steps(k, func(s step) {
				if sign > 0 {
					sum.add(s)
				}
				ψ += sum.losses.At(s.exponent, cell).LogMoment(sign*θ, s.products, s.set)
			})
			if got, want := sum.tail(sign, f), (5+ψ)/θ; math.Abs(got-want) > 1e-12*want {
				t.Errorf("sign %v: %v, want %v", sign, got, want)
			}
		}
	}
}

// The θ of the mixture are around the best for the variance of the losses, and
// that is the one that outputs are seen to have.
func TestLossVariance(t *testing.T) {
	for _, d := range []tcore.Device{devices.HopperF16(), devices.HopperE4M3()} {
		dist := Uniform(-1, 1)
		k, outputs := run(t, d, 256, 512, draw(rand.New(rand.NewPCG(241118747, 33)), 512, 256, dist), draw(rand.New(rand.NewPCG(241118747, 34)), 256, 8, dist))
		k.X, k.Y = dist, dist
		seen, n := 0.0, 0.0
		for o := range outputs {
			e, z := Exact.Interval(k, o, at99).Centre, MartingaleDistribution.Interval(k, o, at99)
			seen += (e - z.Centre) * (e - z.Centre)
			n++
		}
		if got, want := k.lossVariance(), seen/n; math.Abs(got/want-1) > 0.35 {
			t.Errorf("%s: variance %v, of %v outputs %v", d.Name, got, n, want)
		}
		θ := k.thetas(-8)
		if got, want := θ[2]*θ[2]*k.lossVariance(), 16.0; math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: θ²V = %v, want %v", d.Name, got, want)
		}
	}
}
