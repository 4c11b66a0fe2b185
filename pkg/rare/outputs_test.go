package rare

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
)

func dot(d tcore.Device, k int, x, y bound.Distribution) bound.Problem {
	return bound.Problem{M: 1, N: 1, K: k, Machine: tcore.Machine{Device: d}, X: x, Y: y}
}

// Many products of matrices, whose errors package trial measures, exceed a
// limit as often as splitting finds, on a device and after conversion of the
// factors.
func TestExceedsIsWhatIsCounted(t *testing.T) {
	u := bound.Uniform(-1, 1)
	products := 20
	if testing.Short() {
		products = 8
	}
	for _, c := range []struct {
		name        string
		k           bound.Problem
		constant    float64
		represented bool
	}{
		{"hopper e4m3", dot(devices.HopperE4M3(), 8, u, u), 0x1p-14, false},
		{"hopper e4m3 from binary32", dot(devices.HopperE4M3(), 8, u, u), 0x1p-5, true},
		{"hopper e4m3 promoted, N(0,1)", dot(devices.HopperE4M3(), 64, bound.Normal(0, 1), u), 0x1p-15, false},
	} {
		c.k.Represented = c.represented
		if c.k.K == 64 {
			c.k.Promote = 32
		}
		limit := bound.Result{Constant: c.constant, Absolute: math.Inf(1)}
		e, err := Exceeds(t.Context(), c.k, limit, Effort{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		// Outputs of one product share rows: each row and column is used once, on the
		// diagonal.
		failed, n := 0, 0
		for seed := range products {
			k := c.k
			k.M, k.N = 64, 64
			d, err := trial.Run(k, diagonal{c.k}, uint64(seed))
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range d.Backward() {
				n++
				if x > c.constant*(1+slack) {
					failed++
				}
				_ = i
			}
		}
		// Outputs that share factors are correlated in pairs: their spread is allowed
		// twice that of independent ones.
		counted := float64(failed) / float64(n)
		if σ := 2 * math.Sqrt(counted/float64(n)); math.Abs(counted-e.Rate) > 4*math.Hypot(σ, e.StdErr) || failed < 10 {
			t.Errorf("%s: %v, counted %d of %d", c.name, e, failed, n)
		}
		t.Logf("%s: %v, counted %.3g", c.name, e, counted)
	}
}

// diagonal draws the matrices of a problem.
type diagonal struct{ bound.Problem }

func (d diagonal) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	r := rand.New(rand.NewPCG(seed, 77))
	d.X.Src, d.Y.Src = r, r
	draw := func(x bound.Distribution) func(float32) float32 {
		return func(float32) float32 { return float32(x.Rand()) }
	}
	return matrix.Map(matrix.New(m, k), draw(d.X)), matrix.Map(matrix.New(k, n), draw(d.Y))
}

// A bound that reads a run fails as often as is counted, and the limits of
// those known before the product are those that they state.
func TestFailsIsWhatIsCounted(t *testing.T) {
	k := dot(devices.HopperE4M3(), 8, bound.Uniform(-1, 1), bound.Uniform(-1, 1))
	f := roundoff.FailureOf(0.5) // so that it fails at times
	z, err := Fails(t.Context(), k, bound.MartingaleDistribution, f, Effort{Seed: 1, Samples: 500})
	if err != nil {
		t.Fatal(err)
	}
	failed, n := 0, 3000
	r := rand.New(rand.NewPCG(8, 0))
	for range n {
		x, y := make([]float64, k.K), make([]float64, k.K)
		for i := range x {
			p := drawPair(k, r)
			x[i], y[i] = p.x, p.y
		}
		run, err := bound.Emulate(k, rowOf(x), columnOf(y))
		if err != nil {
			t.Fatal(err)
		}
		for o := range run {
			i := bound.MartingaleDistribution.Interval(k, o, f)
			exact := new(big.Float).SetPrec(200)
			for l := range o.X {
				exact.Add(exact, new(big.Float).Mul(big.NewFloat(o.X[l]), big.NewFloat(o.Y[l])))
			}
			e, _ := exact.Sub(big.NewFloat(o.Sums[len(o.Sums)-1]), exact).Float64()
			if math.Abs(e-i.Centre) > i.Radius {
				failed++
			}
		}
	}
	counted := float64(failed) / float64(n)
	if !z.Result.Holds || math.Abs(counted-z.Rate) > 4*math.Hypot(math.Sqrt(counted/float64(n)), z.StdErr) || failed < 5 {
		t.Errorf("%v, counted %v", z.Estimate, counted)
	}
	t.Logf("%v, counted %v", z.Estimate, counted)

	z, err = Fails(t.Context(), k, bound.TruncatedRandomData, f, Effort{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	same, err := Exceeds(t.Context(), k, z.Result, Effort{Seed: 1})
	if err != nil || same != z.Estimate || !z.Result.Holds || z.Result.Confidence != f {
		t.Errorf("%+v, %v, and by its limits %v", z, err, same)
	}
	if want := z.Rate / 0.5; math.Abs(z.Ratio()-want) > 1e-12*want {
		t.Errorf("ratio %v, want %v", z.Ratio(), want)
	}
}

// A bound that cannot hold is found out: what is claimed of a device that
// rounds to nearest, on one that truncates.
func TestABrokenBoundIsFoundOut(t *testing.T) {
	k := dot(devices.HopperE4M3(), 32, bound.Uniform(0, 1), bound.Uniform(0, 1))
	z := Finding{Stated: roundoff.Failure(math.Log(1e-9)), Result: bound.Result{Constant: 1e-5, Absolute: math.Inf(1), Holds: true}}
	var err error
	if z.Estimate, err = Exceeds(t.Context(), k, z.Result, Effort{Seed: 1, Samples: 50}); err != nil || !z.Broken() {
		t.Errorf("%+v, %v: not broken", z, err)
	}
	for _, change := range []func(*Finding){
		func(z *Finding) { z.Result.Holds = false }, func(z *Finding) { z.Stated = 0 }, func(z *Finding) { z.Level = 0.9 }, func(z *Finding) { z.Effective = 3 }, func(z *Finding) { z.Low = 0 },
	} {
		sound := z
		if change(&sound); sound.Broken() {
			t.Errorf("%+v is broken", sound)
		}
	}
}

// The error is that of exact sums.
func TestErrorsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for range 200 {
		x, y := make([]float64, 50), make([]float64, 50)
		exact := new(big.Float).SetPrec(2000)
		for i := range x {
			x[i], y[i] = float64(float32(math.Ldexp(r.NormFloat64(), r.IntN(20)))), float64(float32(r.NormFloat64()))
			exact.Add(exact, new(big.Float).Mul(big.NewFloat(x[i]), big.NewFloat(y[i])))
		}
		s, _ := exact.Float32()
		want, _ := new(big.Float).Sub(big.NewFloat(float64(s)), exact).Float64()
		if got := errorOf(float64(s), x, y); math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	for _, c := range []struct{ e, limit, want float64 }{{0, 0, 0}, {-3, 2, 1.5}, {1, 0, math.Inf(1)}, {1, math.Inf(1), 0}} {
		if got := quotient(c.e, c.limit); got != c.want {
			t.Errorf("%v/%v = %v, want %v", c.e, c.limit, got, c.want)
		}
	}
	if got := quotient(math.Inf(1), 1); !math.IsNaN(got) {
		t.Errorf("an infinite error over 1 is %v", got)
	}
}

// Of what cannot be sampled a sentence says so.
func TestProblemsThatCannotBeSampled(t *testing.T) {
	u := bound.Uniform(0, 1)
	for want, change := range map[string]func(*bound.Problem){
		"M, N, K = 2, 1, 8":            func(k *bound.Problem) { k.M = 2 },
		"M, N, K = 1, 1, 0":            func(k *bound.Problem) { k.K = 0 },
		"unknown how to draw":          func(k *bound.Problem) { k.Y = bound.Distribution{} },
		"takes scales":                 func(k *bound.Problem) { k.Device = devices.BlackwellMXE4M3() },
		"not exact in binary64":        func(k *bound.Problem) { k.Device = devices.IEEEF64() },
		"SplitK = -1":                  func(k *bound.Problem) { k.SplitK = -1 },
		"the product of a plan":        func(k *bound.Problem) { *k, _ = k.Planned(plan.Plan{Order: plan.Run{Device: devices.HopperF16()}}) },
		"quantised or given":           func(k *bound.Problem) { k.Given = new(bound.Given) },
		"numbers of the device":        func(k *bound.Problem) { k.Device, k.Stochastic.Bits, k.Represented = devices.IEEEF16(), 32, true },
		"says nothing of this product": func(k *bound.Problem) { k.Device = devices.IEEEF16() },
	} {
		k := dot(devices.HopperF16(), 8, u, u)
		change(&k)
		_, err := Fails(t.Context(), k, bound.TruncatedRandomData, -3, Effort{})
		if err == nil || !contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	k := dot(devices.IEEEF16(), 8, u, u)
	k.Stochastic.Bits = 32
	if _, err := Fails(t.Context(), k, bound.RandomData, -3, Effort{}); err == nil || !contains(err.Error(), "takes the data as random") {
		t.Error(err)
	}
	for _, e := range []Effort{{Runs: 1}, {Runs: -1}, {Samples: -1}, {Moves: -2}, {Floor: 1}, {Floor: math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is taken", e)
				}
			}()
			e.filled()
		}()
	}
}

// Claimed are the bounds that hold with a probability, those of runs among
// them.
func TestClaimed(t *testing.T) {
	u := bound.Uniform(0, 1)
	names := func(k bound.Problem) (all []string) {
		list, err := Claimed(k, -10, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list {
			all = append(all, b.Name)
		}
		return all
	}
	k := dot(devices.HopperE4M3(), 32, u, u)
	if got := names(k); len(got) < 3 || !contains(join(got), "truncated-random-data") || !contains(join(got), "martingale-distribution") || contains(join(got), "gamma") {
		t.Error(got)
	}
	k = dot(devices.IEEEF16(), 32, u, u)
	k.Stochastic.Bits = 32
	if got := join(names(k)); !contains(got, "connolly-higham-mary") || contains(got, "random-data") {
		t.Error(got)
	}
}

func join(words []string) (s string) {
	for _, w := range words {
		s += w + " "
	}
	return s
}
