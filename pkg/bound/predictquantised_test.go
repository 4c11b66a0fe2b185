package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// emulatedError returns the errors of a quantised product that is computed on
// the device, in the parts of a [TypicalError], and their root mean square.
func emulatedError(t *testing.T, k Problem, a, b blas32.General) (e TypicalError, rms float64) {
	t.Helper()
	qa, err := k.Recipes.A.Quantise(a, quant.Left)
	if err != nil {
		t.Fatal(err)
	}
	qb, err := k.Recipes.B.Quantise(b, quant.Right)
	if err != nil {
		t.Fatal(err)
	}
	kernel := quant.EpilogueKernel(k.Machine)
	switch scaled := k.Device.ScaleBlock > 0; {
	case scaled:
		kernel = quant.AlphaKernel(k.Machine)
	case k.Recipes.within(scaled):
		kernel = quant.DeepGEMMKernel(k.Machine)
		kernel.Every, kernel.Machine.Promote = k.Promote, 0
	}
	d, err := kernel.Multiply(qa, qb)
	if err != nil {
		t.Fatal(err)
	}
	stored := kernel.Machine.Output
	kernel.Machine.Output = tcore.Format{}
	sums, err := kernel.Multiply(qa, qb)
	if err != nil {
		t.Fatal(err)
	}
	exact := matrix.Product64(matrix.Float64(a), matrix.Float64(b))
	quantised := matrix.Product64(qa.Values(), qb.Values())
	size := mean(sizes(matrix.Float64(a), matrix.Float64(b)).Data)
	part := func(to func(i int) float64, from []float64) ErrorPart {
		var s, ss float64
		for i, v := range from {
			e := (to(i) - v) / size
			s, ss = s+e, ss+e*e
		}
		n := float64(len(from))
		return ErrorPart{s / n, math.Sqrt(max(0, ss/n-s/n*s/n))}
	}
	e.Quantisation = part(func(i int) float64 { return quantised.Data[i] }, exact.Data)
	e.Accumulation = part(func(i int) float64 { return float64(sums.Data[i]) }, quantised.Data)
	if stored != (tcore.Format{}) {
		e.Storing = part(func(i int) float64 { return float64(d.Data[i]) }, matrix.Float64(sums).Data).Deviation
	}
	all := part(func(i int) float64 { return float64(d.Data[i]) }, exact.Data)
	return e, math.Hypot(all.Drift, all.Deviation)
}

// A quantisedCase is a product of which errors are predicted.
type quantisedCase struct {
	device  tcore.Device
	recipes string
	promote int
	output  tcore.Format
}

func (c quantisedCase) problem(t *testing.T, x, y Distribution, K int) Problem {
	t.Helper()
	left, right, two := strings.Cut(c.recipes, ",")
	if !two {
		right = left
	}
	a, errA := quant.Named(left)
	b, errB := quant.Named(right)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	return Problem{M: 64, N: 64, K: K, Represented: true, Recipes: &Recipes{a, b}, X: x, Y: y,
		Machine: tcore.Machine{Device: c.device, Promote: c.promote, Output: c.output}}
}

// Predicted errors of quantised products are within 20 % of those of products
// that are quantised and computed on the device, of known laws and of given
// matrices.
func TestPredictQuantised(t *testing.T) {
	cases := []quantisedCase{
		{device: devices.HopperE4M3(), recipes: "torchao-e4m3-row"},
		{device: devices.HopperE4M3(), recipes: "te-e4m3-tensor", promote: 128},
		{device: devices.BlackwellE4M3(), recipes: "torchao-e4m3-row-power", output: tcore.BFloat16},
		{device: devices.BlackwellMXE4M3(), recipes: "mxe4m3-floor"},
		{device: devices.HopperE4M3(), recipes: "deepgemm-1x128,deepgemm-128x128", promote: 128},
		{device: devices.BlackwellNVF4(), recipes: "nvfp4-torchao-one-level"},
	}
	laws := []Distribution{Uniform(-1, 1), Uniform(0, 1)}
	lengths := []int{256}
	if !testing.Short() {
		cases = append(cases,
			quantisedCase{device: devices.AdaE4M3(), recipes: "deepgemm-row"},
			quantisedCase{device: devices.BlackwellE4M3(), recipes: "deepgemm-1x128-ue8m0,deepgemm-128x128-ue8m0", promote: 128, output: tcore.BFloat16},
			quantisedCase{device: devices.AdaE5M2(), recipes: "te-e5m2-1x128", promote: 64},
			quantisedCase{device: devices.HopperE5M2(), recipes: "torchao-e5m2-row"},
			quantisedCase{device: devices.HopperE4M3(), recipes: "te-e4m3-tensor-power,torchao-e4m3-row"},
			quantisedCase{device: devices.BlackwellMXE4M3(), recipes: "te-mxe4m3", output: tcore.BFloat16},
		)
		laws = append(laws, Normal(0, 1), laplace(), Normal(1, 1))
		lengths = []int{256, 2048}
	}
	for i, c := range cases {
		for j, x := range laws {
			if testing.Short() && i%2 != j {
				continue
			}
			k := c.problem(t, x, x, lengths[(i+j)%len(lengths)])
			rng := rand.New(rand.NewPCG(11, uint64(k.K)))
			a, b := draw(rng, k.M, k.K, k.X), draw(rng, k.K, k.N, k.Y)
			e, rms := emulatedError(t, k, a, b)
			p, err := PredictQuantised(k)
			if err != nil {
				t.Error(err)
				continue
			}
			compareTypical(t, "law", k, p, e, rms)
			k.Given = &Given{A: matrix.Float64(a), B: matrix.Float64(b)}
			if p, err = PredictQuantised(k); err != nil {
				t.Error(err)
				continue
			}
			compareTypical(t, "given", k, p, e, rms)
		}
	}
}

func compareTypical(t *testing.T, known string, k Problem, p, e TypicalError, rms float64) {
	t.Helper()
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%-5s %-36s %-28v %-8v %5d  %+6.1f%%  q %+.1e %.1e (%+.1e %.1e) acc %+.1e %.1e (%+.1e %.1e) store %.1e (%.1e)\n",
			known, k.Device.Name, k.Recipes, k.X, k.K, 100*(p.RMS()/rms-1),
			p.Quantisation.Drift, p.Quantisation.Deviation, e.Quantisation.Drift, e.Quantisation.Deviation,
			p.Accumulation.Drift, p.Accumulation.Deviation, e.Accumulation.Drift, e.Accumulation.Deviation, p.Storing, e.Storing)
	}
	const nothing = 0x1p-24 // sums of few-bit products in binary32 are nearly exact: their last bits are mostly 0
	// Outputs of one row or column are not independent: the effective number of
	// samples is taken as the number of rows.
	mean := func(deviation float64) float64 { return 4*deviation/math.Sqrt(float64(k.M)) + nothing }
	for _, part := range []struct {
		name              string
		got, want, beside float64
	}{
		{"error", p.RMS(), rms, 0},
		{"drift of quantisation", p.Quantisation.Drift, e.Quantisation.Drift, mean(e.Quantisation.Deviation)},
		{"quantisation", p.Quantisation.Deviation, e.Quantisation.Deviation, 0},
		{"drift of accumulation", p.Accumulation.Drift, e.Accumulation.Drift, mean(e.Accumulation.Deviation)},
		{"accumulation", p.Accumulation.Deviation, e.Accumulation.Deviation, nothing},
	} {
		if math.Abs(part.got-part.want) > 0.2*math.Abs(part.want)+part.beside {
			t.Errorf("%s: %s, %v, %v, K = %d: %s %.3g, want %.3g", known, k.Device.Name, k.Recipes, k.X, k.K, part.name, part.got, part.want)
		}
	}
	if k.Output != (tcore.Format{}) && math.Abs(p.Storing/e.Storing-1) > 0.2 {
		t.Errorf("%s: %v, %v: storing %.3g, want %.3g", known, k.Recipes, k.X, p.Storing, e.Storing)
	}
}

// What storing adds is that of rounding each sum, also by scales that are no
// powers of two.
func TestTypicalStoring(t *testing.T) {
	k := quantisedCase{device: devices.HopperE4M3(), recipes: "torchao-e4m3-row", output: tcore.Binary16}.problem(t, Distribution{}, Distribution{}, 64)
	rng := rand.New(rand.NewPCG(3, 0))
	x := make([]float64, 4000)
	for i := range x {
		x[i] = math.Ldexp(1+rng.Float64(), rng.IntN(40)-30)
	}
	of := func(f tcore.Format) (sum float64) {
		for _, v := range x {
			sum += square(v-f.Round(v, tcore.ToNearestEven)) / float64(len(x))
		}
		return sum
	}
	got, why := k.typicalStoring(x)
	if want := math.Sqrt(of(tcore.Binary16)); why != "" || math.Abs(got/want-1) > 0.05 {
		t.Errorf("binary16: %v, want %v; %s", got, want, why)
	}
	k.Output = tcore.Format{}
	got, _ = k.typicalStoring(x)
	if want := math.Sqrt(2 * of(tcore.Binary32)); math.Abs(got/want-1) > 0.05 {
		t.Errorf("scales alone: %v, want %v", got, want)
	}
	k.Recipes.B.Scale.Power, k.Recipes.A.Scale.Power = quant.Down, quant.Down
	if got, _ := k.typicalStoring(x); got != 0 {
		t.Errorf("powers of two: %v", got)
	}
	k.Output = tcore.Binary16
	if _, why := k.typicalStoring([]float64{0, 7e4}); why != "outputs reach 7e+04, binary16 ends at 6.55e+04" {
		t.Error(why)
	}
	if got, _ := k.typicalStoring([]float64{0}); math.Abs(got/(0x1p-24/math.Sqrt(12))-1) > 1e-12 {
		t.Errorf("zero: %v", got)
	}
}

// A recipe that rounds at random has an error of known mean and variance, once
// the matrices are given.
func TestPredictQuantisedAtRandom(t *testing.T) {
	k := quantisedCase{device: devices.HopperE4M3(), recipes: "torchao-e4m3-row"}.problem(t, Distribution{}, Distribution{}, 300)
	k.Recipes.A.Stochastic, k.Recipes.B.Stochastic = tcore.Stochastic{Seed: 1, Bits: 8}, tcore.Stochastic{Seed: 2, Bits: 8}
	rng := rand.New(rand.NewPCG(11, 1))
	a, b := draw(rng, k.M, k.K, Uniform(-1, 1)), draw(rng, k.K, k.N, Uniform(-1, 1))
	k.Given = &Given{A: matrix.Float64(a), B: matrix.Float64(b)}
	p, err := PredictQuantised(k)
	if err != nil {
		t.Fatal(err)
	}
	e, rms := emulatedError(t, k, a, b)
	compareTypical(t, "given", k, p, e, rms)
}

func TestPredictQuantisedRefuses(t *testing.T) {
	for _, tt := range []struct {
		want string
		edit func(*Problem)
	}{
		{"no recipe quantises its factors", func(k *Problem) { k.Recipes = nil }},
		{"recipe int8-row makes int8, hopper-wgmma-e4m3-binary32 takes e4m3", func(k *Problem) { k.Recipes.A = quant.Integers(quant.PerVector) }},
		{"has scales within a sum", func(k *Problem) { k.Recipes.A = quant.DeepGEMM(quant.Vector128, false) }},
		{"it takes the matrices, or distributions with a density", func(k *Problem) { k.X = eighths() }},
		{"outputs reach", func(k *Problem) { k.Output, k.X, k.Y = tcore.Binary16, Uniform(0, 1000), Uniform(0, 1000) }},
		{"its sums are in pairs", func(k *Problem) { k.Device.Core, k.Order = tcore.Chain{}, tcore.InPairs }},
		{"K = 100 is no multiple of 32, the length of blocks", func(k *Problem) {
			k.Device, k.K, k.Recipes = devices.BlackwellMXE4M3(), 100, &Recipes{quant.MX(tcore.E4M3, quant.FloorScale), quant.MX(tcore.E4M3, quant.FloorScale)}
		}},
		{"it has the sizes 64 × 256 × 64, and the matrices 2 × 3 × 4", func(k *Problem) { k.Given = &Given{A: matrix.New64(2, 3), B: matrix.New64(3, 4)} }},
		{"|A||B| is 0", func(k *Problem) { k.Given = &Given{A: matrix.New64(64, 256), B: matrix.New64(256, 64)} }},
		{"stochastic", func(k *Problem) { k.Recipes.A.Stochastic.Bits = 8 }},
	} {
		k := quantisedCase{device: devices.HopperE4M3(), recipes: "torchao-e4m3-row"}.problem(t, Uniform(0, 1), Uniform(0, 1), 256)
		tt.edit(&k)
		if p, err := PredictQuantised(k); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "bound: no prediction for "+k.Device.Name) {
			t.Errorf("%+v, %v, want an error with %q", p, err, tt.want)
		}
	}
}

// Where blocks of a matrix have scales of many sizes, as those of networks
// have, large ones count more.
func TestPredictQuantisedUnevenScales(t *testing.T) {
	for _, c := range []quantisedCase{
		{device: devices.HopperE4M3(), recipes: "deepgemm-1x128,deepgemm-128x128", promote: 128},
		{device: devices.HopperE4M3(), recipes: "torchao-e4m3-row"},
	} {
		k := c.problem(t, Uniform(-1, 1), Uniform(-1, 1), 1024)
		rng := rand.New(rand.NewPCG(12, 0))
		a, b := draw(rng, k.M, k.K, k.X), draw(rng, k.K, k.N, k.Y)
		even, err := PredictQuantised(known(k, a, b))
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Rows {
			row := matrix.Row(a, i)
			for l := 0; l < len(row); l += 128 {
				size := float32(math.Exp(2 * rng.NormFloat64()))
				for j := range row[l:][:128] {
					row[l+j] *= size
				}
			}
		}
		k = known(k, a, b)
		e, rms := emulatedError(t, k, a, b)
		p, err := PredictQuantised(k)
		if err != nil {
			t.Fatal(err)
		}
		compareTypical(t, "uneven", k, p, e, rms)
		if p.Accumulation.Deviation < 2*even.Accumulation.Deviation {
			t.Errorf("%v: %.3g, and %.3g for even scales", k.Recipes, p.Accumulation.Deviation, even.Accumulation.Deviation)
		}
	}
}

func known(k Problem, a, b blas32.General) Problem {
	k.Given = &Given{A: matrix.Float64(a), B: matrix.Float64(b)}
	return k
}

// The scale that stands for all is near those of a matrix that is drawn and
// quantised, whatever elements share one.
func TestTypicalCodes_have_typical_scales(t *testing.T) {
	const m, K = 256, 1024
	x := draw(rand.New(rand.NewPCG(13, 0)), m, K, Normal(0, 1))
	for _, name := range []string{"deepgemm-1x128", "deepgemm-128x128", "torchao-e4m3-row", "torchao-e4m3-tensor"} {
		r, err := quant.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := r.Quantise(x, quant.Left)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for i := range m {
			for j := range K {
				want += float64(q.Scale(i, j)) / (m * K)
			}
		}
		if _, got := typicalCodes(r, Normal(0, 1), m, K, 1); math.Abs(got/want-1) > 0.1 {
			t.Errorf("%s: scale %.4g, want %.4g", name, got, want)
		}
	}
}
