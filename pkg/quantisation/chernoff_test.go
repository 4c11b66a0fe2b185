package quantisation

import (
	"fmt"
	"math"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// factors are some: symmetric, skew, with heavy tails, with a drift.
func factors(t *testing.T) map[string]Factor {
	t.Helper()
	floor, err := Quantised(Uniform(0, 1), quant.MX(tcore.E2M1, quant.FloorScale))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Factor{
		"U(-1,1)":       {Law: Uniform(-1, 1), Format: tcore.E4M3},
		"U(1,1.1)":      {Law: Uniform(1, 1.1), Format: tcore.BFloat16},
		"N(1,1)":        {Law: Normal(1, 1).Truncated(-5, 7), Format: tcore.E5M2},
		"Laplace":       {Law: Laplace(0, 1).Truncated(-20, 20), Format: tcore.Binary16},
		"MXFP4, U(0,1)": floor,
	}
}

// Chernoff's bound is the least over t, on both sides.
func TestChernoffIsTheLeast(t *testing.T) {
	for name, x := range factors(t) {
		c := NewCumulant(x, x)
		for _, K := range []int{32, 256, 4096, 1 << 20} {
			for _, f := range []roundoff.Failure{-1, -15, -100} {
				for _, sign := range []float64{1, -1} {
					n := float64(K / c.Length())
					least := math.Inf(1)
					const steps = 4000
					for i := 1; i <= steps; i++ {
						at := math.Pow(1e-4, float64(steps-i)/steps) * c.most / c.unit
						k, _, _ := c.At(sign * at * (1 - 1e-12))
						least = min(least, (n*k-float64(f))/at-sign*n*c.mean)
					}
					got := c.Chernoff(K, f, sign < 0)
					within(t, fmt.Sprintf("%s, K = %d, f = %v, side %v: x", name, K, f, sign), got, least, 1e-4*least)
				}
			}
		}
	}
}

// At the refined bound, the formula has at most the probability asked for, and
// nearly that, with the tilted law summed over all pairs of nodes.
func TestTiltedIsItsFormula(t *testing.T) {
	for name, x := range factors(t) {
		c := NewCumulant(x, x)
		if c.Length() > 1 {
			continue
		}
		list := x.Law.nodes(x.Format, 1, nil)
		for _, K := range []int{256, 4096} {
			const f = roundoff.Failure(-14)
			bound, chernoff := c.Tilted(K, f, false), c.Chernoff(K, f, false)
			if bound > chernoff {
				t.Errorf("%s, K = %d: %v is above Chernoff's %v", name, K, bound, chernoff)
			}
			if bound == chernoff {
				continue
			}
			// The t of the bound, by bisection.
			n := float64(K)
			lo, hi := 0.0, c.most/c.unit
			for range 60 {
				mid := (lo + hi) / 2
				if _, k1, _ := c.At(mid); n*(k1-c.mean) < bound {
					lo = mid
				} else {
					hi = mid
				}
			}
			k, k1, k2 := c.At(lo)
			third, fourth := 0.0, 0.0
			for _, a := range list {
				for _, b := range list {
					q := (a.x+a.delta)*b.delta + a.delta*b.x
					w := a.weight * b.weight * math.Exp(lo*q-k)
					third += w * math.Pow(math.Abs(q-k1), 3)
					fourth += w * math.Pow(q-k1, 4)
				}
			}
			s := math.Sqrt(n * k2)
			probability := func(r float64) float64 {
				y := lo * s / math.Sqrt2
				return n*(k-lo*k1) + math.Log(math.Exp(y*y)*math.Erfc(y)/2+2*0.469*r/math.Sqrt(n))
			}
			within(t, fmt.Sprintf("%s, K = %d: log P", name, K), probability(math.Sqrt(fourth/(k2*k2))), float64(f), 2e-3)
			if p := probability(third / math.Pow(k2, 1.5)); p > float64(f) {
				t.Errorf("%s, K = %d: log P = %v, want %v at most", name, K, p, f)
			}
		}
	}
}

// With many products both tend to those of a normal law: sqrt(2l), and its
// quantile.
func TestManyProductsAreNormal(t *testing.T) {
	x := Factor{Law: Uniform(-1, 1), Format: tcore.E4M3}
	c := NewCumulant(x, x)
	f := roundoff.Failure(math.Log(1e-6))
	const K = 1 << 30
	sd := math.Sqrt(K * c.Variance())
	within(t, "Chernoff", c.Chernoff(K, f, false)/sd, math.Sqrt(-2*float64(f)), 1e-3)
	within(t, "Tilted", c.Tilted(K, f, false)/sd, 4.753424, 2e-3) // P(z > 4.753424) = 1e-6
}

func TestErfcx(t *testing.T) {
	for _, x := range []float64{0, 1, 2.5, 5, 10, 19.99, 20, 26} {
		within(t, fmt.Sprintf("erfcx(%v)", x), erfcx(x), math.Exp(x*x)*math.Erfc(x), 1e-12)
	}
	within(t, "erfcx(1e9)", erfcx(1e9)*1e9*math.Sqrt(math.Pi), 1, 1e-15)
}

func TestPanicsNameTheArgument(t *testing.T) {
	good := Factor{Law: Uniform(-1, 1), Format: tcore.E4M3}
	blocks, err := Quantised(good.Law, quant.MX(tcore.E4M3, quant.FloorScale))
	if err != nil {
		t.Fatal(err)
	}
	others := blocks
	others.Length = 16
	rows := Factor{Law: good.Law, Format: tcore.E4M3, Length: All, Aim: 448}
	tensors := Factor{Law: good.Law, Format: tcore.E4M3, Length: 32, Others: All, Aim: 448}
	ones := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 1}}
	c := NewCumulant(blocks, blocks)
	for _, test := range []struct {
		want string
		call func()
	}{
		{"quantisation: hi - lo = 0, want 0 < hi - lo < +Inf", func() { Uniform(1, 1) }},
		{"quantisation: σ = -1, want 0 < σ < +Inf", func() { Normal(0, -1) }},
		{"quantisation: μ = NaN, want a finite number", func() { Laplace(math.NaN(), 1) }},
		{"quantisation: hi = 1, want an interval where the law has numbers", func() { Uniform(0, 1).Truncated(2, 3) }},
		{"quantisation: len(Knots) - 1 = -1, want len(Knots) - 1 >= 1", func() { NewCumulant(Factor{Format: tcore.E4M3}, good) }},
		{"quantisation: law N(0,1) is not bounded, want one that Law.Truncated returns", func() { NewCumulant(good, Factor{Law: Normal(0, 1), Format: tcore.E4M3}) }},
		{"quantisation: blocks of 32 and 16 elements, want one length", func() { NewCumulant(blocks, others) }},
		{"quantisation: a.Length = 3, want 0 without Scales", func() { NewCumulant(Factor{Law: good.Law, Format: tcore.E4M3, Length: 3}, good) }},
		{"quantisation: b.Others = -1, want b.Others >= 0", func() { NewCumulant(good, Factor{Law: good.Law, Format: tcore.E4M3, Others: -1}) }},
		{"quantisation: a.Scales.Top = 1, want positive and ascending", func() {
			NewCumulant(Factor{Law: good.Law, Format: tcore.E4M3, Length: 2, Scales: []Scale{{1, 1}, {2, 1}}}, good)
		}},
		{"quantisation: a.Format.Subnormals = 2, want a format with subnormals", func() { NewCumulant(Factor{Law: good.Law, Format: tcore.E8M0}, good) }},
		{"quantisation: the errors of these products are 0 in float64", func() {
			tiny := Factor{Law: Uniform(1e-200, 2e-200), Format: tcore.E4M3}
			NewCumulant(tiny, tiny)
		}},
		{"quantisation: Length = 9.223372036854776e+18, want that of a block, for which a Product has K", func() { NewCumulant(rows, rows) }},
		{"quantisation: Others = 9.223372036854776e+18, want their number, which a Product has", func() { NewCumulant(good, tensors) }},
		{"quantisation: a.Aim = -1, want 0 < a.Aim < +Inf", func() { NewCumulant(Factor{Law: good.Law, Format: tcore.E4M3, Length: 2, Aim: -1}, good) }},
		{"quantisation: a.Least = -1, want a finite number of at least 0", func() { NewCumulant(Factor{Law: good.Law, Format: tcore.E4M3, Length: 2, Aim: 1, Least: -1}, good) }},
		{"quantisation: b.Least = 1, want 0 without Aim", func() { NewCumulant(good, Factor{Law: good.Law, Format: tcore.E4M3, Least: 1}) }},
		{"quantisation: len(a.Scales) = 1, want 0 with Aim", func() {
			NewCumulant(Factor{Law: good.Law, Format: tcore.E4M3, Length: 2, Aim: 1, Scales: []Scale{{1, 1}}}, good)
		}},
		{"quantisation: K = 48, want a multiple of the length of blocks", func() { c.Chernoff(48, -1, false) }},
		{"quantisation: K = 0, want K >= 1", func() { c.Tilted(0, -1, false) }},
		{"quantisation: f = 0, want -Inf < f < 0", func() { c.Tilted(32, 0, false) }},
		{"quantisation: f = NaN, want -Inf < f < 0", func() { Product{A: good, B: good, M: 1, K: 1, N: 1}.Errors(roundoff.Failure(math.NaN())) }},
		{"quantisation: M = 0, want M >= 1", func() { Given{A: good, B: ones, BHat: ones}.Errors(-1) }},
		{"quantisation: f = 0, want -Inf < f < 0", func() { Given{good, 1, ones, ones}.Errors(0) }},
		{"quantisation: B.Rows = 0, want B.Rows >= 1", func() { Given{A: good, M: 1}.Errors(-1) }},
		{"quantisation: B̂ is 1 × 2, want 2 × 1 as B", func() { Given{good, 1, ones, blas64.General{Rows: 1, Cols: 2, Stride: 2}}.Errors(-1) }},
		{"quantisation: B.Rows = 2, want a multiple of the length of blocks", func() { Given{blocks, 1, ones, ones}.Errors(-1) }},
		{"quantisation: B̂ = NaN, want finite numbers", func() {
			Given{good, 1, ones, blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, math.NaN()}}}.Errors(-1)
		}},
		{"quantisation: N = 0, want N >= 1", func() { Product{A: good, B: good, M: 1, K: 1}.Errors(-1) }},
	} {
		panics.Want(t, test.want, test.call)
	}
}

// Recipes whose scales are not those of independent blocks are errors.
func TestRecipesThatAreNotTaken(t *testing.T) {
	stochastic := quant.MX(tcore.E2M1, quant.FloorScale)
	stochastic.Stochastic.Bits = 8
	margin := quant.MX(tcore.E2M1, quant.FloorScale)
	margin.Scale.Margin = 1
	aim := quant.MX(tcore.E2M1, quant.FloorScale)
	aim.Scale.Aim = 4
	aimed := quant.NVFP4(quant.Vector16)
	aimed.Tensor.Aim = 6 * 256
	rounded := quant.DeepSeek(false)
	rounded.Scale.Stored = tcore.BFloat16
	for _, c := range []struct {
		recipe quant.Recipe
		want   string
	}{
		{quant.Integers(quant.Block{Along: 0, Across: 2}), "quantisation: recipe int8-2x0: one scale for 2 whole vectors, want one or all"},
		{quant.FourOverSix(quant.Absolute), "quantisation: recipe nvfp4-4over6-mae: blocks choose between two scales by their errors, want one of amax"},
		{aimed, "quantisation: recipe nvfp4-te-1x16: a scale of the tensor besides those of blocks, want amax of it in binary32 and numbers of e4m3 for blocks"},
		{quant.Delayed(tcore.E4M3, 1, 0), "quantisation: recipe te-e4m3-delayed: amax 1 of the past, want that of the block"},
		{rounded, "quantisation: recipe deepseek-1x128: scales are neither powers of two nor numbers of e4m3 or binary32"},
		{stochastic, "quantisation: recipe mxe2m1-floor: stochastic rounding, want rounding to nearest"},
		{margin, "quantisation: recipe mxe2m1-floor: margin 1, want 0"},
		{aim, "quantisation: recipe mxe2m1-floor: aim 4 and factor 0, want 0"},
	} {
		if _, err := Quantised(Uniform(0, 1), c.recipe); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// A bound takes a fraction of a second.
func BenchmarkErrors(b *testing.B) {
	for _, c := range []struct {
		law    Law
		format tcore.Format
		recipe string
	}{{Uniform(-1, 1), tcore.E4M3, ""}, {Normal(0, 1), tcore.BFloat16, ""}, {Normal(0, 1), tcore.Format{}, "mxe4m3-floor"}, {Normal(0, 1), tcore.Format{}, "nvfp4-torchao-one-level"},
		{Uniform(-1, 1), tcore.Format{}, "deepseek-1x128"}, {Normal(0, 1), tcore.Format{}, "deepseek-1x128"}, {Normal(0, 1), tcore.Format{}, "torchao-e4m3-row"}, {Normal(0, 1), tcore.Format{}, "int8-tensor"},
		{Uniform(-1, 1), tcore.Format{}, "nvfp4-te-1x16"}, {Normal(0, 1), tcore.Format{}, "nvfp4-te-1x16"}} {
		b.Run(c.law.Name+"/"+c.format.Name+c.recipe, func(b *testing.B) {
			x := Factor{Law: c.law, Format: c.format}
			if c.recipe != "" {
				r, err := quant.Named(c.recipe)
				if err != nil {
					b.Fatal(err)
				}
				if x, err = Quantised(c.law, r); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				Product{x, x, 1024, 4096, 8}.Errors(roundoff.FailureOf(0.99))
			}
		})
	}
}
