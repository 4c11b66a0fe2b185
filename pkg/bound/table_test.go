package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Constants of bounds that do not need a run, for the product of the paper's
// section 4.2 at 99 %, agree with an independent computation to the digits
// given.
func TestPaperProduct(t *testing.T) {
	symmetric, positive := Uniform(-1, 1), Uniform(0, 1)
	for _, c := range []struct {
		bound       string
		block       int
		represented bool
		data        Distribution
		constant    float64
		digits      int
		lambda      float64 // 0 if none is given
	}{
		{"dbea", 4, false, symmetric, 2.446e-3, 4, 0},
		{"dbea", 8, false, symmetric, 2.202e-3, 4, 0},
		{"dbea", 16, false, symmetric, 2.079e-3, 4, 0},
		{"dbea", 4, true, symmetric, 3.426e-3, 4, 0},
		{"linear", 4, false, symmetric, 1.953e-3, 4, 0},
		{"vibea-printed", 4, false, symmetric, 1.843e-4, 4, 11.385},
		{"vibea-printed", 4, true, symmetric, 1.161e-3, 4, 11.385},
		{"higham-mary-theorem", 4, false, symmetric, 1.154e-4, 4, 7.127},
		{"higham-mary-theorem", 4, true, symmetric, 1.09e-3, 3, 7.127},
		{"vibea-per-event", 4, false, symmetric, 6.76e-5, 3, 0},
		{"vibea-maximal", 4, false, symmetric, 3.36e-5, 3, 0},
		{"vibea-moment", 4, false, symmetric, 1.1282e-4, 5, 10.456},
		{"higham-mary", 4, false, symmetric, 7.585e-5, 4, 0},
		{"higham-mary-2020", 4, false, symmetric, 1.22e-5, 3, 0},
		{"higham-mary-2020", 4, false, positive, 9.06e-5, 3, 0},
	} {
		k := on(devices.PaperCoreF32())
		core := tcore.PaperF32
		core.Block = c.block
		k.Device.Core, k.Represented, k.X, k.Y = core, c.represented, c.data, c.data
		r := evaluate(t, k, at99)[c.bound]
		if b, _ := Find(c.bound); !c.represented { // before the mean of rounding to nearest is added
			r.Constant, _ = k.whole(b.Constant(k, at99).Constant)
		}
		if !isRounded(r.Constant, c.constant, c.digits) || c.lambda != 0 && math.Abs(r.Lambda-c.lambda) > 0.0005 {
			t.Errorf("%s, b = %d, represented %v, %s: %.5g with lambda %.5g, want %v and %v",
				c.bound, c.block, c.represented, c.data, r.Constant, r.Lambda, c.constant, c.lambda)
		}
	}
}

// isRounded reports whether want is x rounded to the given number of digits.
func isRounded(x, want float64, digits int) bool {
	unit := math.Pow(10, math.Floor(math.Log10(want))-float64(digits-1))
	return math.Abs(x-want) <= unit*0.5000001
}

// Constants of bounds that read the sums agree with an independent computation
// on other data of the same distributions: medians over the outputs for data of
// both signs, the largest for data of one sign. With -short, only 32 of the
// 8192 outputs are used.
func TestPaperProductSums(t *testing.T) {
	rows, slack := 128, 0.03
	if testing.Short() {
		rows, slack = 4, 0.15
	}
	nearest := map[string][2]float64{
		"running":             {6.5e-6, 9.9e-4},
		"running-half-ulp":    {4.7e-6, 6.6e-4},
		"ipsen-zhou":          {2.3e-7, 3.4e-5},
		"ipsen-zhou-half-ulp": {1.7e-7, 2.3e-5},
		"half-ulp-bernstein":  {9.7e-8, 1.3e-5},
	}
	for i, c := range []struct {
		device tcore.Device
		want   map[string][2]float64
	}{
		{devices.PaperCoreF32(), nearest},
		{devices.HopperF16(), map[string][2]float64{"L+1 terms": {3.1e-6, 4.4e-4}}},
		{devices.VoltaF16(), map[string][2]float64{"L+1 terms": {1.4e-5, 2.0e-3}}},
	} {
		for sign, d := range []Distribution{Uniform(-1, 1), Uniform(0, 1)} {
			if rarely(2, i, sign) {
				continue
			}
			constants := sumConstants(t, c.device, d, rows)
			for name, want := range c.want {
				x := constants[name]
				slices.Sort(x)
				got := []float64{x[len(x)/2], x[len(x)-1]}[sign]
				if !isRounded(got, want[sign], 2) && math.Abs(got/want[sign]-1) > slack {
					t.Errorf("%s, %s, %s: %.3g, want %v", name, c.device.Name, d, got, want[sign])
				}
			}
		}
	}
}

// sumConstants returns the backward constants of the outputs in the first rows
// of the product: of every bound that reads sums, and of the truncation bound
// by the formula of the independent computation, (L+1) 2^(E-F) + ulp(s) for
// every step.
func sumConstants(t *testing.T, d tcore.Device, data Distribution, rows int) map[string][]float64 {
	k := on(d)
	k.M = rows
	rng := rand.New(rand.NewPCG(241118747, 0))
	run, err := Emulate(k, draw(rng, rows, k.K, data), draw(rng, k.K, k.N, data))
	if err != nil {
		t.Fatal(err)
	}
	k.M = 1024 // all rows share the probability of failure
	constants := map[string][]float64{}
	for o := range run {
		for _, b := range Catalogue() {
			if b.Interval != nil {
				constants[b.Name] = append(constants[b.Name], o.relative(b.Interval(k, o, at99).Bound()))
			}
		}
		if c, ok := d.Core.(tcore.Fused); ok {
			sum := 0.0
			for i, s := range o.Sums {
				sum += math.Ldexp(float64(c.Terms+1), o.Exponents[i]-c.FractionBits) + 2*halfUlp(s, 24)
			}
			constants["L+1 terms"] = append(constants["L+1 terms"], o.relative(sum))
			if ours := constants["truncation-sums"]; ours[len(ours)-1] > o.relative(sum) {
				t.Errorf("%s: %v, looser than %v", d.Name, ours[len(ours)-1], o.relative(sum))
			}
		}
	}
	return constants
}
