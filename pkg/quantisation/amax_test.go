package quantisation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// randomBlock returns a block of uniform numbers, and what they are rounded to
// with s = amax / Aim.
func randomBlock(r *rand.Rand, f Factor) (x, rounded []float64) {
	amax := f.Least
	for range f.Length + f.Others {
		y := draw(r, f.Law)
		x, amax = append(x, y), max(amax, math.Abs(y))
	}
	s := amax / f.Aim
	for _, y := range x[:f.Length] {
		rounded = append(rounded, f.Format.Round(y/s, tcore.ToNearestEven)*s)
	}
	return x[:f.Length], rounded
}

// Of short blocks, exp(tΣq) has the mean of draws, be the greatest number in
// the block or not, in either factor or in both.
func TestScalesThatAreContinuous(t *testing.T) {
	number := 100_000.0
	if !testing.Short() {
		number = 2_000_000
	}
	for _, c := range []struct {
		length, othersA, othersB int
		least                    float64
	}{{1, 0, 2, 0}, {2, 0, 0, 0}, {2, 1, 0, 0}, {2, 2, 1, 0}, {3, 0, 0, 0}, {3, 1, 2, 0.7}, {2, 0, 0, 2}} {
		a := Factor{Law: Uniform(-0.4, 1), Format: tcore.E2M1, Length: c.length, Others: c.othersA, Aim: 6, Least: c.least}
		b := Factor{Law: Uniform(0, 2), Format: tcore.E2M1, Length: c.length, Others: c.othersB, Aim: 6}
		k := NewCumulant(a, b)
		name := fmt.Sprintf("L = %d, others %d and %d, least %v", c.length, c.othersA, c.othersB, c.least)
		within(t, name+": probability", k.total, 1, 1e-8)
		r := rand.New(rand.NewPCG(15, 16))
		ts := []float64{-4, -1, 1, 4}
		sums, squares := make([]float64, len(ts)), make([]float64, len(ts))
		for range int(number) {
			x, xhat := randomBlock(r, a)
			y, yhat := randomBlock(r, b)
			q := 0.0
			for l := range c.length {
				q += xhat[l]*yhat[l] - x[l]*y[l]
			}
			for i, τ := range ts {
				e := math.Exp(τ / k.unit * q)
				sums[i] += e / number
				squares[i] += e * e / number
			}
		}
		for i, τ := range ts {
			got, _, _ := k.At(τ / k.unit)
			within(t, fmt.Sprintf("%s: exp K(%v/unit)", name, τ), math.Exp(got), sums[i], 4.5*math.Sqrt((squares[i]-sums[i]*sums[i])/number))
		}
	}
}

// stepped returns a factor with so many scales in each binade in place of
// continuous ones: each is that of the middle of its numbers.
func (x Factor) stepped(binade int) Factor {
	for i := -8 * binade; i <= 3*binade; i++ {
		top, middle := math.Exp2(float64(i)/float64(binade)), math.Exp2((float64(i)-0.5)/float64(binade))
		x.Scales = append(x.Scales, Scale{middle / x.Aim, top})
	}
	x.Aim = 0
	return x
}

// Continuous scales are the limit of many: with twice as many steps, K(t) is
// nearer by half or more, with pairs that are cut, and elements in tiles, too.
func TestContinuousScalesAreALimit(t *testing.T) {
	for _, x := range []Factor{
		{Law: Uniform(-1, 1), Format: tcore.E4M3, Length: 16, Others: 16, Aim: 448},
		{Law: Normal(0, 1).Truncated(-6, 6), Format: tcore.E2M1, Length: 32, Aim: 6,
			shells: [][2]float64{{-1.5, 1.5}, {-3, 3}, {-4, 4}, {-6, 6}}},
	} {
		want := NewCumulant(x, x)
		τ := 1.5 / math.Sqrt(want.Variance()*float64(x.Length))
		k, _, _ := want.At(τ)
		var misses []float64
		for _, binade := range []int{10, 40} {
			y := x.stepped(binade)
			got, _, _ := NewCumulant(y, y).At(τ)
			misses = append(misses, math.Abs(got/k-1))
		}
		t.Logf("%s %s: K misses that of steps by %.2g", x.Law.Name, x.Format.Name, misses)
		if misses[1] > misses[0]/2 || misses[1] > 0.03 {
			t.Errorf("%s %s: with 10 and 40 scales in a binade K misses by %.2g", x.Law.Name, x.Format.Name, misses)
		}
	}
}

// More nodes for the greatest magnitude change K(t) by less than 10^-6, and the
// probability of everything, by which it is divided, by little more.
func TestNodesOfAmaxAreEnough(t *testing.T) {
	defer func(l []float64) { levels = l }(levels)
	coarse := levels
	fine := []float64{30, 20, 14, 10, 7, 5, 3.5, 2, 1, 0.4, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6}
	for _, x := range []Factor{
		{Law: Uniform(-1, 1), Format: tcore.E4M3, Length: 128, Aim: 448},
		{Law: Uniform(0, 1), Format: quant.Int8, Length: 4096, Others: 4096 * 127, Aim: 127},
		{Law: Normal(0, 1).Truncated(-6, 6), Format: tcore.E4M3, Length: 128, Aim: 448},
		{Law: Normal(0, 1).Truncated(-7, 7), Format: tcore.E2M1, Length: 4096, Others: 4096 * 1023, Aim: 6},
		{Law: Laplace(0, 1).Truncated(-20, 20), Format: tcore.E4M3, Length: 1024, Aim: 448},
	} {
		if testing.Short() && x.Format.Name != tcore.E4M3.Name {
			continue
		}
		levels = coarse
		c := NewCumulant(x, x)
		levels = fine
		d := NewCumulant(x, x)
		τ := 2 / math.Sqrt(c.Variance()*float64(x.Length))
		k, _, _ := c.At(τ)
		want, _, _ := d.At(τ)
		name := fmt.Sprintf("%s %s, L = %d: ", x.Law.Name, x.Format.Name, x.Length)
		within(t, name+"K", k/want, 1, 1e-6)
		within(t, name+"probability", c.total/d.total, 1, 3e-6)
	}
}

// Where a density jumps below the greatest magnitude, or pairs are cut that are
// not rare, K(t) has kinks in amax, and three digits are right at worst.
func TestNodesOfAmaxAcrossJumps(t *testing.T) {
	defer func(l []float64) { levels = l }(levels)
	coarse := levels
	for _, x := range []Factor{
		{Law: Uniform(-0.3, 1), Format: tcore.E2M1, Length: 16, Aim: 6},
		{Law: Normal(0, 1).Truncated(-6, 6), Format: tcore.E4M3, Length: 16, Aim: 448, shells: [][2]float64{{-2, 2}, {-6, 6}}},
	} {
		levels = coarse
		c := NewCumulant(x, x)
		levels = []float64{30, 20, 14, 10, 7, 5, 3.5, 2, 1, 0.4, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6}
		d := NewCumulant(x, x)
		τ := 2 / math.Sqrt(c.Variance()*float64(x.Length))
		k, _, _ := c.At(τ)
		want, _, _ := d.At(τ)
		within(t, x.Law.Name+": K", k/want, 1, 5e-3)
		within(t, x.Law.Name+": probability", c.total/d.total, 1, 1e-6)
	}
}

// The greatest number of a block is exact.
func TestTheGreatestNumberIsExact(t *testing.T) {
	x := Factor{Law: Uniform(-1, 1), Format: tcore.E2M1, Length: 1, Aim: 6}
	y := Factor{Law: Uniform(-1, 1), Format: tcore.BFloat16}
	u := tcore.BFloat16.UnitRoundoff()
	within(t, "Var q / u²", NewCumulant(x, y).Variance()/(u*u), 1./63, 1e-9) // E a² E δ², a third of u²/21
}

// What 256 × 4096 × 256 products of recipes showed.
func TestDeviationOfContinuousScales(t *testing.T) {
	laws := [3]Law{Uniform(-1, 1), Normal(0, 1).Truncated(-6, 6), Laplace(0, 1).Truncated(-20, 20)}
	sizes := [3]float64{0.25, 2 / math.Pi, 1}
	for _, c := range []struct {
		a, b       string
		deviations [3]float64
	}{
		{"deepgemm-1x128", "deepgemm-128x128", [3]float64{.0479, .0580, .0727}},
		{"te-e4m3-tensor", "te-e4m3-tensor", [3]float64{.0481, .0589, .0747}},
		{"torchao-e4m3-row", "torchao-e4m3-row", [3]float64{.0481, .0589, .0747}},
		{"int8-row", "int8-row", [3]float64{.0074, .0194, .0409}},
	} {
		for i, l := range laws {
			if testing.Short() && i > 0 {
				break
			}
			a := measured{law: l, recipe: c.a}.factor(t).of(4096, 256)
			b := measured{law: l, recipe: c.b}.factor(t).of(4096, 256)
			k := NewCumulant(a, b)
			within(t, c.a+", "+l.Name+": deviation", math.Sqrt(k.Variance())/sizes[i], c.deviations[i], 1e-4+1e-2*c.deviations[i])
			within(t, c.a+", "+l.Name+": drift", k.Mean()/sizes[i], 0, 1e-4)
		}
	}
}

// A scale that is off by a part ε changes the mean of a product by less than
// the allowance for one rounding that is as large in each factor.
func TestAllowanceForBinary32(t *testing.T) {
	const ε = 1e-3
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1, quant.Int8} {
		for _, l := range []Law{Uniform(-1, 1), Uniform(0, 1), Normal(0, 1).Truncated(-6, 6), Normal(1, 1).Truncated(-5, 7)} {
			if testing.Short() && (f.Name != tcore.E2M1.Name) {
				continue
			}
			x := Factor{Law: l, Format: f, Length: 128, Aim: f.Max()}
			exact := NewCumulant(x, x)
			size := l.size() * l.size()
			within(t, l.Name+" "+f.Name+": slack", exact.slack, 16*0x1p-24*size, 1e-9*size)
			for _, sign := range []float64{-1, 1} {
				y := x
				y.Aim *= 1 + sign*ε
				off := NewCumulant(y, y)
				within(t, l.Name+" "+f.Name+": mean", off.Mean(), exact.Mean(), 2*ε*size)
				within(t, l.Name+" "+f.Name+": variance", off.Variance()/exact.Variance(), 1, 16*ε)
			}
		}
	}
	x := Factor{Law: Uniform(0, 1), Format: tcore.E4M3, Length: 128, Aim: 448}
	c := NewCumulant(x, x)
	without := *c
	without.slack = 0
	within(t, "Chernoff", c.Chernoff(1280, -9, true)-without.Chernoff(1280, -9, true), 1280*0x1p-22, 1e-9)
	within(t, "Tilted", c.Tilted(1280, -9, false)-without.Tilted(1280, -9, false), 1280*0x1p-22, 1e-9)
}

// All stands for K and for the rest of a matrix.
func TestAll(t *testing.T) {
	const M, K, N = 48, 64, 6
	all := Factor{Law: Uniform(-1, 1), Format: tcore.E4M3, Length: All, Others: All, Aim: 448}
	a, b := all, all
	a.Length, a.Others, b.Length, b.Others = K, (M-1)*K, K, (N-1)*K
	f := roundoff.FailureOf(0.99)
	got, want := Product{all, all, M, K, N}.Errors(f), Product{a, b, M, K, N}.Errors(f)
	if got != want {
		t.Errorf("errors %v, want %v", got, want)
	}
	bs, bhat := measured{law: Uniform(-1, 1), format: tcore.E4M3}.columns(t, rand.New(rand.NewPCG(13, 14)), K, 1)
	if got, want := (Given{all, M, bs, bhat}).Errors(f)[0], (Given{a, M, bs, bhat}).Errors(f)[0]; got != want {
		t.Errorf("errors %v, want %v", got, want)
	}
}

// With two known numbers, mean and variance are those of points in all blocks.
func TestGivenContinuousScales(t *testing.T) {
	a := Factor{Law: Uniform(-0.4, 1), Format: tcore.E2M1, Length: 2, Others: 1, Aim: 6}
	b := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1.3, -0.4}}
	bhat := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1.5, -0.5}}
	e := Given{a, 1, b, bhat}.Errors(-3)[0]
	const number = 200_000
	r := rand.New(rand.NewPCG(17, 18))
	var mean, square float64
	for range number {
		x, rounded := randomBlock(r, a)
		q := rounded[0]*1.5 - x[0]*1.3 - rounded[1]*0.5 + x[1]*0.4
		mean += q / number
		square += q * q / number
	}
	sd := math.Sqrt(square - mean*mean)
	within(t, "Mean", e.Mean, mean, 4*sd/math.Sqrt(number))
	within(t, "Deviation", e.Deviation, sd, 4*sd/math.Sqrt(number))
}

// Matrices of one scale each keep their bounds, and come near them.
func TestOneScaleForAMatrix(t *testing.T) {
	const M, K, N = 1024, 256, 8
	for _, m := range []measured{{law: Uniform(0, 1), recipe: "te-e4m3-tensor"}, {law: Normal(0, 1), recipe: "int8-tensor"}, {law: Normal(0, 1), recipe: "te-e5m2-tensor-power"}} {
		if testing.Short() && m.recipe == "int8-tensor" {
			continue
		}
		r := rand.New(rand.NewPCG(19, 20))
		a, ahat := m.vectors(t, r, M, K)
		b, bhat := m.vectors(t, r, N, K)
		x := m.factor(t)
		bound := Product{x, x, M, K, N}.Errors(roundoff.FailureOf(0.99))
		largest := largestError(a, ahat, b, bhat, K)
		t.Logf("%s %s: τ = %.3f", m.law.Name, m.recipe, largest/bound.Size())
		if τ := largest / bound.Size(); τ > 1 || τ < 0.55 {
			t.Errorf("%s %s: τ = %.3f, want 0.55 to 1", m.law.Name, m.recipe, τ)
		}
	}
}

// largestError returns that of all products of rows of K numbers and what they
// are rounded to.
func largestError(a, ahat, b, bhat []float64, K int) float64 {
	largest := 0.0
	for i := 0; i < len(a); i += K {
		for j := 0; j < len(b); j += K {
			e := 0.0
			for k := range K {
				e += ahat[i+k]*bhat[j+k] - a[i+k]*b[j+k]
			}
			largest = max(largest, math.Abs(e))
		}
	}
	return largest
}
