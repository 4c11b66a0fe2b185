package quantisation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// twoLevels are recipes with a scale of the tensor besides those of blocks:
// with scales of 0, and with a least one.
func twoLevels() []quant.Recipe {
	return []quant.Recipe{quant.NVFP4(quant.Vector16), quant.TorchaoNVFP4(true), quant.ModelOptimizerNVFP4()}
}

// multiplicand draws a matrix of a law, and returns it beside what a recipe
// makes of it.
func multiplicand(t *testing.T, r *rand.Rand, l Law, recipe quant.Recipe, rows, K int) (x, hat []float32) {
	t.Helper()
	m := blas32.General{Rows: rows, Cols: K, Stride: K, Data: make([]float32, rows*K)}
	lo, hi := l.bounds()
	for i := range m.Data {
		x := draw(r, l)
		for x < lo || x > hi {
			x = draw(r, l)
		}
		m.Data[i] = float32(x)
	}
	q, err := recipe.Quantise(m, quant.Left)
	if err != nil {
		t.Fatal(err)
	}
	return m.Data, q.Dequantise().Data
}

// Of small products that package quant quantises, E has the mean and variance
// of the law, and exp(tE) its mean, over rows and columns alike: the greatest
// number of a small matrix is often in them.
func TestScalesOfTensors(t *testing.T) {
	draws := 30_000
	if !testing.Short() {
		draws = 100_000
	}
	nvfp4 := quant.NVFP4(quant.Vector16)
	tile, vector := quant.NVFP4(quant.Block{Along: 2, Across: 4}), quant.NVFP4(quant.Block{Along: 8, Across: 1})
	floor := quant.MX(tcore.E2M1, quant.FloorScale)
	floor.Block.Along = 8
	for i, c := range []struct {
		law     Law
		a, b    quant.Recipe
		M, K, N int
	}{
		{Uniform(0, 1), tile, tile, 4, 2, 8},
		{Uniform(0, 1), vector, vector, 6, 8, 1},
		{Uniform(-1, 1), nvfp4, quant.TorchaoNVFP4(true), 2, 48, 3},
		{Normal(0, 1).Truncated(-3, 3), vector, floor, 2, 24, 2},
		{Uniform(0, 1), vector, vector, 1, 8, 1},
		{Uniform(-0.4, 1), vector, vector, 2, 16, 2},
		{Uniform(0, 1), nvfp4, nvfp4, 2, 32, 1},
		{Normal(0, 1).Truncated(-3, 3), nvfp4, nvfp4, 3, 32, 2},
	} {
		if testing.Short() && i > 3 {
			break
		}
		a, errA := Quantised(c.law, c.a)
		b, errB := Quantised(c.law, c.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		k := Product{a, b, c.M, c.K, c.N}.Cumulant(-5)
		name := fmt.Sprintf("%s, %s × %s, %d × %d × %d", c.law.Name, c.a.Name, c.b.Name, c.M, c.K, c.N)
		within(t, name+": probability", k.total, 1, 1e-9)
		r := rand.New(rand.NewPCG(21, 22))
		deviation := math.Sqrt(k.Variance() * float64(c.K))
		ts := []float64{-1.5, -0.7, 0.7, 1.5}
		sums, squares := make([]float64, 2+len(ts)), make([]float64, 2+len(ts)) // of means over a product
		for range draws {
			x, xhat := multiplicand(t, r, c.law, c.a, c.M, c.K)
			y, yhat := multiplicand(t, r, c.law, c.b, c.N, c.K)
			means := make([]float64, len(sums))
			for i := range c.M {
				for j := range c.N {
					e := 0.0
					for l := range c.K {
						e += float64(xhat[i*c.K+l])*float64(yhat[j*c.K+l]) - float64(x[i*c.K+l])*float64(y[j*c.K+l])
					}
					means[0] += e / float64(c.M*c.N)
					means[1] += e * e / float64(c.M*c.N)
					for i, τ := range ts {
						means[2+i] += math.Exp(τ*e/deviation) / float64(c.M*c.N)
					}
				}
			}
			for i, x := range means {
				sums[i] += x / float64(draws)
				squares[i] += x * x / float64(draws)
			}
		}
		drift := k.Mean() * float64(c.K)
		want := []float64{drift, deviation*deviation + drift*drift}
		for _, τ := range ts {
			log, _, _ := k.At(τ / deviation)
			want = append(want, math.Exp(log))
		}
		for i, x := range want {
			what := [2]string{"mean", "mean square"}[min(i, 1)]
			if i > 1 {
				what = fmt.Sprintf("exp K(%v/deviation)", ts[i-2])
			}
			within(t, name+": "+what, x, sums[i], 4*math.Sqrt((squares[i]-sums[i]*sums[i])/float64(draws)))
		}
	}
}

// (AB)ᵀ is BᵀAᵀ, also where one factor has eight times as many elements as the
// other.
func TestScalesOfTensorsOfTransposedProducts(t *testing.T) {
	vector := quant.NVFP4(quant.Block{Along: 8, Across: 1})
	a, errA := Quantised(Uniform(-0.4, 1), vector)
	b, errB := Quantised(Uniform(0, 1), vector)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	c, d := Product{a, b, 8, 16, 1}.Cumulant(-5), Product{b, a, 1, 16, 8}.Cumulant(-5)
	for _, τ := range []float64{-1, 1} {
		got, _, _ := c.At(τ)
		want, _, _ := d.At(τ)
		within(t, "K", got, want, 1e-12)
	}
}

// Twice as many nodes for the greatest magnitudes change bounds by less than
// half a percent.
func TestNodesOfExtremesAreEnough(t *testing.T) {
	defer func(n func(int) int) { extremeNodes = n }(extremeNodes)
	few := extremeNodes
	for _, c := range []struct {
		law     Law
		M, K, N int
	}{
		{Uniform(-1, 1), 64, 64, 8}, {Normal(0, 1), 64, 64, 8}, {Normal(0, 1), 1024, 256, 8}, {Uniform(-0.3, 1), 1, 32, 1}, {Uniform(0, 1), 1024, 4096, 8}, {Normal(0, 1), 1024, 4096, 8}, {Laplace(0, 1), 1024, 256, 8},
	} {
		if testing.Short() && c.K > 64 {
			continue
		}
		x := measured{law: c.law, recipe: "nvfp4-te-1x16"}.factor(t)
		p := Product{x, x, c.M, c.K, c.N}
		extremeNodes = few
		e := p.Errors(roundoff.FailureOf(0.99))
		extremeNodes = func(n int) int { return 2 * few(n) }
		f := p.Errors(roundoff.FailureOf(0.99))
		t.Logf("%s, %d × %d × %d: %.5g, %.5g with twice as many", c.law.Name, c.M, c.K, c.N, e.Size(), f.Size())
		within(t, fmt.Sprintf("%s, %d × %d × %d: size", c.law.Name, c.M, c.K, c.N), e.Size()/f.Size(), 1, 5e-3)
	}
}

// The largest error of 1024 × 8 outputs is a part of the bound, and not a small
// one.
func TestTightnessWithScalesOfTensors(t *testing.T) {
	sizes := []int{256}
	if !testing.Short() {
		sizes = []int{256, 4096}
	}
	const M, N = 1024, 8
	for _, recipe := range twoLevels() {
		for i, l := range []Law{Uniform(-1, 1), Uniform(0, 1), Normal(0, 1)} {
			if testing.Short() && i != len(recipe.Name)%3 {
				continue
			}
			m := measured{law: l, recipe: recipe.Name}
			x := m.factor(t)
			for _, K := range sizes {
				bound := Product{x, x, M, K, N}.Errors(roundoff.FailureOf(0.99))
				r := rand.New(rand.NewPCG(1, uint64(K)))
				a, ahat := m.vectors(t, r, M, K)
				b, bhat := m.vectors(t, r, N, K)
				largest := largestError(a, ahat, b, bhat, K)
				τ := largest / bound.Size()
				t.Logf("%s %s, K = %d: τ = %.3f", l.Name, recipe.Name, K, τ)
				if τ > 1 || τ < 0.55 {
					t.Errorf("%s %s, K = %d: τ = %.3f, want 0.55 to 1", l.Name, recipe.Name, K, τ)
				}
			}
		}
	}
}

// One output of small products fails no oftener than it may, beyond chance.
func TestCoverageWithScalesOfTensors(t *testing.T) {
	outputs := 5_000
	if !testing.Short() {
		outputs = 100_000
	}
	const K = 128
	recipe := quant.NVFP4(quant.Vector16)
	for i, l := range []Law{Uniform(0, 1), Normal(0, 1), Uniform(-1, 1), Laplace(0, 1)} {
		if testing.Short() && i > 1 {
			break
		}
		x := measured{law: l, recipe: recipe.Name}.factor(t)
		confidences := []float64{0.9, 0.99}
		var bounds []Errors
		for _, c := range confidences {
			bounds = append(bounds, Product{x, x, 1, K, 1}.Errors(roundoff.FailureOf(c)))
		}
		r := rand.New(rand.NewPCG(23, 24))
		failures := make([]int, len(bounds))
		for range outputs {
			a, ahat := multiplicand(t, r, l, recipe, 1, K)
			b, bhat := multiplicand(t, r, l, recipe, 1, K)
			e := 0.0
			for k := range a {
				e += float64(ahat[k])*float64(bhat[k]) - float64(a[k])*float64(b[k])
			}
			for i, b := range bounds {
				if e < b.Mean-b.Below || e > b.Mean+b.Above {
					failures[i]++
				}
			}
		}
		t.Logf("%s: %v failures of %d", l.Name, failures, outputs)
		for i, c := range confidences {
			if mean := (1 - c) * float64(outputs); float64(failures[i]) > mean+4*math.Sqrt(mean) || i == 0 && float64(failures[i]) < mean/30 {
				t.Errorf("%s: %d of %d outputs fail at %v", l.Name, failures[i], outputs, c)
			}
		}
	}
}

// A scale of the tensor that is off by a part ε, where it finds those of blocks
// or where it multiplies, changes the mean of a product by less than the
// allowance for one rounding that is as large in each factor.
func TestAllowanceForScalesOfTensors(t *testing.T) {
	const ε, M, K, N = 1e-3, 64, 64, 64
	for _, l := range []Law{Uniform(0, 1), Normal(1, 1).Truncated(-5, 7)} {
		x := measured{law: l, recipe: "nvfp4-te-1x16"}.factor(t)
		exact := Product{x, x, M, K, N}.Cumulant(-5)
		size := l.size() * l.size()
		within(t, l.Name+": slack", exact.slack, 32*0x1p-24*size, 1e-9*size)
		for _, off := range [][2]float64{{1 + ε, 1}, {1, 1 + ε}, {1, 1 - ε}} {
			y := x
			y.Scales = slices.Clone(x.Scales)
			for i := range y.Scales {
				y.Scales[i].Value *= off[0]
				y.Scales[i].Top *= off[1]
			}
			within(t, fmt.Sprintf("%s, %v: mean", l.Name, off), Product{y, y, M, K, N}.Cumulant(-5).Mean(), exact.Mean(), 2*ε*size)
		}
	}
}

// Scales of 0 make their blocks zeros; where there is a least scale, small
// blocks have that.
func TestScalesOfZero(t *testing.T) {
	x := measured{law: Uniform(0, 1), recipe: "nvfp4-te-1x16"}.factor(t)
	least := x.Scales[0]
	if want := 6 * 0x1p-10; least.Top != want {
		t.Errorf("scales are 0 up to %v, want %v", least.Top, want)
	}
	for _, y := range []float64{0, least.Top / 2, least.Top} {
		if z := x.Format.Round(y/least.Value, tcore.ToNearestEven) * least.Value; z != 0 {
			t.Errorf("%v becomes %v, want 0", y, z)
		}
	}
	if next := x.Scales[1].Value; next != 0x1p-9 {
		t.Errorf("the next scale is %v, want 2^-9", next)
	}
	if got := (measured{law: Uniform(0, 1), recipe: "nvfp4-torchao"}).factor(t).Scales[0].Value; got != 0x1p-6 {
		t.Errorf("the least scale is %v, want 2^-6", got)
	}
}

// A Cumulant of blocks, and a product with a known matrix, have no scale of a
// tensor; a sum has whole blocks.
func TestScalesOfTensorsThatAreNotTaken(t *testing.T) {
	x := measured{law: Uniform(0, 1), recipe: "nvfp4-te-1x16"}.factor(t)
	ones := blas64.General{Rows: 16, Cols: 1, Stride: 1, Data: make([]float64, 16)}
	other := x
	other.Length = 8
	without := x
	without.Scales, without.Length = nil, 0
	for _, c := range []struct {
		want string
		call func()
	}{
		{"quantisation: Tensor = 2688, want 0, or a Product, which has the number of elements", func() { NewCumulant(x, x) }},
		{"quantisation: A.Tensor = 2688, want 0: a scale of the tensor is for two laws", func() { Given{x, 1, ones, ones}.Errors(-1) }},
		{"quantisation: K = 24, want a multiple of the length of blocks", func() { Product{x, x, 1, 24, 1}.Errors(-1) }},
		{"quantisation: blocks of 16 and 8 elements, want one length", func() { Product{x, other, 1, 32, 1}.Errors(-1) }},
		{"quantisation: len(a.Scales) = 0, want scales of blocks with Tensor", func() { Product{without, x, 1, 32, 1}.Errors(-1) }},
	} {
		panics.Want(t, c.want, c.call)
	}
}
