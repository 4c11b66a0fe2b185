package quantisation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// within fails unless got and want differ by at most tolerance.
func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

// The sum of 96 moments is the mean of the exponentials, over all pairs of
// nodes.
func TestCumulantIsTheSumOfExponentials(t *testing.T) {
	for _, c := range []struct{ a, b Factor }{
		{Factor{Law: Uniform(-1, 1), Format: tcore.E4M3}, Factor{Law: Uniform(0, 1), Format: tcore.E5M2}},
		{Factor{Law: Normal(0, 1).Truncated(-6, 6), Format: tcore.E2M1}, Factor{Law: Normal(1, 2).Truncated(-9, 8), Format: tcore.BFloat16}},
		{Factor{Law: Laplace(0, 1).Truncated(-20, 20), Format: tcore.E4M3}, Factor{Law: Laplace(0, 3).Truncated(-60, 60), Format: tcore.E4M3}},
		{Factor{Law: Uniform(1e-30, 3e-30), Format: tcore.BFloat16}, Factor{Law: Uniform(-1e30, 1e20), Format: tcore.BFloat16}},
	} {
		k := NewCumulant(c.a, c.b)
		a, b := c.a.Law.nodes(c.a.Format, 1, nil), c.b.Law.nodes(c.b.Format, 1, nil)
		most := k.most / k.unit
		for _, τ := range []float64{-most, -most / 3, 0, 1e-3 * most, most / 2, most} {
			var sum [3]float64
			for _, x := range a {
				for _, y := range b {
					q := (x.x+x.delta)*y.delta + x.delta*y.x
					w := x.weight * y.weight * math.Exp(τ*q)
					sum[0] += w
					sum[1] += w * q
					sum[2] += w * q * q
				}
			}
			mean := sum[1] / sum[0]
			k0, k1, k2 := k.At(τ)
			name := fmt.Sprintf("%s %s, %s %s, t = %g", c.a.Law.Name, c.a.Format.Name, c.b.Law.Name, c.b.Format.Name, τ)
			within(t, name+": K", k0, math.Log(sum[0]), 1e-11*(1+math.Abs(k0)))
			within(t, name+": K′", k1, mean, 1e-10*math.Sqrt(k2))
			within(t, name+": K″", k2, sum[2]/sum[0]-mean*mean, 1e-9*k2)
		}
		k0, k1, _ := k.At(1.001 * most)
		if !math.IsInf(k0, 1) || !math.IsNaN(k1) {
			t.Errorf("beyond the moments K = %v, want +Inf", k0)
		}
	}
}

// Where pairs that are both extreme are cut, K(t) is that of the others.
func TestCumulantOfAStaircase(t *testing.T) {
	a, b := Factor{Law: Laplace(1, 1), Format: tcore.E4M3}, Factor{Law: Normal(0, 2), Format: tcore.E5M2}
	a.shells, b.shells = staircase(a.Law.Interval, b.Law.Interval, -9, steps)
	a.Law, b.Law = a.cut(), b.cut()
	k := NewCumulant(a, b)
	cuts := func(f Factor) (list []float64) {
		for _, interval := range f.shells {
			list = append(list, interval[:]...)
		}
		return list
	}
	as, bs := a.Law.nodes(a.Format, 1, cuts(a)), b.Law.nodes(b.Format, 1, cuts(b))
	left := func(x, y float64) bool {
		for i, interval := range a.shells {
			other := b.shells[steps-1-i]
			if interval[0] <= x && x <= interval[1] && other[0] <= y && y <= other[1] {
				return true
			}
		}
		return false
	}
	for _, part := range []float64{-1, -0.2, 0.5, 1} {
		τ := part * k.most / k.unit
		var sum, total, largest float64
		for _, x := range as {
			for _, y := range bs {
				if left(x.x, y.x) {
					q := (x.x+x.delta)*y.delta + x.delta*y.x
					sum += x.weight * y.weight * math.Exp(τ*q)
					total += x.weight * y.weight
					largest = max(largest, math.Abs(q))
				}
			}
		}
		got, _, _ := k.At(τ)
		within(t, fmt.Sprintf("K(%v)", τ), got, math.Log(sum/total), 1e-11*(1+math.Abs(got)))
		if largest > k.unit || largest < k.unit/2 {
			t.Errorf("|q| = %v, above %v or far below", largest, k.unit)
		}
	}
}

// K′ and K″ are derivatives, with blocks too, and mean and variance are those
// of a product.
func TestDerivatives(t *testing.T) {
	for _, r := range []quant.Recipe{quant.MX(tcore.E4M3, quant.FloorScale), quant.MX(tcore.E2M1, quant.EvenScale), quant.TorchaoNVFP4(false)} {
		x, err := Quantised(Uniform(0, 1), r)
		if err != nil {
			t.Fatal(err)
		}
		k := NewCumulant(x, x)
		sd := math.Sqrt(k.Variance())
		for _, τ := range []float64{-0.5 / sd, 0, 0.3 / sd} {
			h := 1e-4 / sd
			below, d0, _ := k.At(τ - h)
			k0, k1, k2 := k.At(τ)
			above, d1, _ := k.At(τ + h)
			within(t, r.Name+": K′", k1, (above-below)/(2*h), 1e-5*math.Sqrt(k2))
			within(t, r.Name+": K″", k2, (d1-d0)/(2*h), 1e-5*k2)
			if τ == 0 {
				within(t, r.Name+": K(0)", k0, 0, 0)
				within(t, r.Name+": K′(0)", k1, k.Mean()*float64(k.Length()), 1e-12)
				within(t, r.Name+": K″(0)", k2, k.Variance()*float64(k.Length()), 1e-12)
			}
		}
	}
}

// Of blocks of two, all scales, numbers and errors can be gone through one by
// one, with all pairs of numbers and without those that are both extreme.
func TestBlocksOfTwo(t *testing.T) {
	t.Run("all pairs", func(t *testing.T) { blocksOfTwo(t, nil, nil) })
	t.Run("no extreme pairs", func(t *testing.T) {
		blocksOfTwo(t, [][2]float64{{0, 0.6}, {0, 1}}, [][2]float64{{0, 1.2}, {0, 2.5}})
	})
}

func blocksOfTwo(t *testing.T, shellsA, shellsB [][2]float64) {
	a := Factor{Law: Uniform(0.1, 1), Format: tcore.E2M1, Length: 2, Others: 1, Scales: []Scale{{0.0625, 0.5}, {0.125, 0.8}, {0.25, 3}}}
	b := Factor{Law: Normal(0.5, 1).Truncated(0.3, 2.5), Format: tcore.E2M1, Length: 2, Scales: []Scale{{0.25, 1.5}, {0.5, 2}}}
	a.shells, b.shells = shellsA, shellsB
	k := NewCumulant(a, b)
	cut := func(x, y float64) bool { return shellsA != nil && x > shellsA[0][1] && y > shellsB[0][1] }
	as, wa := blocksOf(a)
	bs, wb := blocksOf(b)
	for _, τ := range []float64{-3, 0.5, 4} {
		sum, total := 0.0, 0.0
		for i, x := range as {
			for j, y := range bs {
				if cut(x.x[0], y.x[0]) || cut(x.x[1], y.x[1]) {
					continue
				}
				total += wa[i] * wb[j]
				q := x.rounded[0]*y.rounded[0] - x.x[0]*y.x[0] + x.rounded[1]*y.rounded[1] - x.x[1]*y.x[1]
				sum += wa[i] * wb[j] * math.Exp(τ*q)
			}
		}
		got, _, _ := k.At(τ)
		within(t, fmt.Sprintf("K(%v)", τ), got, math.Log(sum/total), 4e-3*math.Abs(got))
	}
}

// A block of two numbers, and what they are rounded to.
type two struct{ x, rounded [2]float64 }

// blocksOf returns all blocks of two numbers of a law on positive numbers, and
// their probabilities. Of each cell there are two numbers, which have its mean
// and variance.
func blocksOf(f Factor) (list []two, weights []float64) {
	format := f.Format
	format.Overflow = tcore.Saturate
	var cuts []float64
	for _, interval := range f.shells {
		cuts = append(cuts, interval[:]...)
	}
	for _, s := range f.Scales {
		cuts = append(cuts, s.Top, -s.Top)
		for _, e := range codeEdges(f.Format, s.Value) {
			cuts = append(cuts, e, -e)
		}
	}
	nodes := f.Law.nodes(f.Format, 1, cuts)
	var coarse []node // two for each cell, of its mean and variance
	for i := 0; i < len(nodes); i += 6 {
		var w, x, square float64
		for _, n := range nodes[i : i+6] {
			w += n.weight
			x += n.weight * n.x
			square += n.weight * n.x * n.x
		}
		x /= w
		sd := math.Sqrt(square/w - x*x)
		coarse = append(coarse, node{x: x - sd, weight: w / 2}, node{x: x + sd, weight: w / 2})
	}
	for _, x := range coarse {
		for _, y := range coarse {
			below := 0.0 // the probability that the others are at most the Top before
			for i, scale := range f.Scales {
				p := two{x: [2]float64{x.x, y.x}}
				for j := range p.x {
					p.rounded[j] = format.Round(p.x[j]/scale.Value, tcore.ToNearestEven) * scale.Value
				}
				upTo := 1.0
				if last := i == len(f.Scales)-1; !last {
					inside := 0.0
					for _, n := range coarse {
						if math.Abs(n.x) <= scale.Top {
							inside += n.weight
						}
					}
					upTo = math.Pow(inside, float64(f.Others))
					if max(math.Abs(x.x), math.Abs(y.x)) > scale.Top {
						continue
					}
				}
				list, weights = append(list, p), append(weights, x.weight*y.weight*(upTo-below))
				below = upTo
			}
		}
	}
	return list, weights
}

// draw draws a number of a law.
func draw(r *rand.Rand, l Law) float64 {
	switch l.Name {
	case "N(0,1)":
		return r.NormFloat64()
	case "Laplace(0,1)":
		return r.ExpFloat64() * float64(1-2*r.IntN(2))
	}
	lo, hi := l.bounds()
	return lo + (hi-lo)*r.Float64()
}

// The generating function of a block is that of blocks which package quant
// quantises, for every rule of scales.
func TestBlocksAreThoseOfQuant(t *testing.T) {
	blocks := 1500
	if !testing.Short() {
		blocks = 60000
	}
	for _, l := range []Law{Uniform(0, 1), Uniform(-1, 1), Normal(0, 1)} {
		for _, name := range []string{"mxe4m3-floor", "mxe4m3-rceil", "mxe2m1-floor", "mxe2m1-ceil", "mxe2m1-even", "mxe5m2-floor", "mxe2m3-floor", "mxfp4-nvidia", "nvfp4-torchao-one-level", "deepseek-1x128-ue8m0",
			"deepseek-1x128", "deepgemm-1x32", "te-e5m2-1x128", "deepgemm-fp4-1x128", "int8-1x128"} {
			recipe, err := quant.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Quantised(l, recipe)
			if err != nil {
				t.Fatal(err)
			}
			bounded := f
			if l.Interval != nil {
				bounded.Law = l.Truncated(-6, 6)
			}
			k := NewCumulant(bounded, bounded)
			L := k.Length()
			r := rand.New(rand.NewPCG(1, 2))
			rows := blocks * 32 / L
			a, ahat := quantised(t, r, l, recipe, rows, L)
			b, bhat := quantised(t, r, l, recipe, rows, L)
			sd := math.Sqrt(k.Variance() * float64(L))
			var sum, squares, exps, exps2 float64
			for i := range rows {
				e := 0.0
				for j := range L {
					e += float64(ahat[i*L+j])*float64(bhat[i*L+j]) - float64(a[i*L+j])*float64(b[i*L+j])
				}
				sum += e
				squares += e * e
				x := math.Exp(e / sd)
				exps += x
				exps2 += x * x
			}
			n := float64(rows)
			mean := sum / n
			within(t, l.Name+" "+name+": mean", mean, k.Mean()*float64(L), 4.5*sd/math.Sqrt(n))
			within(t, l.Name+" "+name+": deviation", math.Sqrt(squares/n-mean*mean), sd, 6*sd/math.Sqrt(n))
			got, _, _ := k.At(1 / sd)
			m := exps / n
			within(t, l.Name+" "+name+": K(1/sd)", got, math.Log(m), 4.5*math.Sqrt((exps2/n-m*m)/n)/m)
		}
	}
}

// quantised returns rows of one block, and what a recipe makes of them.
func quantised(t *testing.T, r *rand.Rand, l Law, recipe quant.Recipe, rows, length int) (x, rounded []float32) {
	t.Helper()
	x = make([]float32, rows*length)
	for i := range x {
		x[i] = float32(draw(r, l))
	}
	q, err := recipe.Quantise(blas32.General{Rows: rows, Cols: length, Stride: length, Data: x}, quant.Left)
	if err != nil {
		t.Fatal(err)
	}
	return x, q.Dequantise().Data
}

// Thresholds of scales are those of package quant, for the recipes that are
// taken, and the others are errors that say why.
func TestScalesAreThoseOfQuant(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	taken, zeros := 0, 0
	for _, recipe := range quant.Recipes() {
		f, err := Quantised(Uniform(0, 1), recipe)
		if err != nil {
			if !strings.Contains(err.Error(), recipe.Name) {
				t.Errorf("%s: error %q does not name it", recipe.Name, err)
			}
			continue
		}
		taken++
		f = f.of(16, 2)
		for range 3000 {
			amax := float32(math.Exp2(-8 + 16*r.Float64()))
			if recipe.Scale.Least > 0 && f.Aim != 0 && r.IntN(2) == 0 {
				amax *= recipe.Scale.Least
			}
			block, unit := make([]float32, f.Length), 1.0
			block[f.Length-1] = -amax
			if f.Tensor != 0 { // another block has the greatest magnitude
				X := amax * float32(math.Exp2(22*r.Float64()))
				block, unit = append(block, X), float64(X)/f.Tensor
			}
			q, err := recipe.Quantise(blas32.General{Rows: 1, Cols: len(block), Stride: len(block), Data: block}, quant.Left)
			if err != nil {
				t.Fatal(err)
			}
			got := float64(q.Scale(0, 0))
			if f.Aim != 0 {
				within(t, fmt.Sprintf("%s: amax %v: scale", recipe.Name, amax), got, max(float64(amax), f.Least)/f.Aim, 3*0x1p-24*got)
				continue
			}
			i := 0
			for f.Scales[i].Top*unit < float64(amax) {
				i++
			}
			if got == 0 && i == 0 && f.Tensor != 0 && recipe.Scale.Range[0] == 0 {
				zeros++
				continue
			}
			if got != f.Scales[i].Value {
				t.Fatalf("%s: amax %v has scale %v, want %v", recipe.Name, amax, f.Scales[i].Value, got)
			}
		}
	}
	if taken < 66 || zeros < 100 {
		t.Errorf("%d recipes taken of %d, and %d scales of 0", taken, len(quant.Recipes()), zeros)
	}
}
