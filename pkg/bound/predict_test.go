package bound

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// eighths is uniform on k/8 for k = -8 ... 8. On most machines sums of such
// few-bit data lose nothing.
func eighths() Distribution {
	m := DataMoments{MaxAbs: 1}
	for k := -8.0; k <= 8; k++ {
		m.MeanSquare += k * k / 64 / 17
		m.MeanAbs += math.Abs(k) / 8 / 17
	}
	return FromMoments("k/8", m, func(r *rand.Rand) float64 { return float64(r.IntN(17)-8) / 8 })
}

// lognormal is the distribution of exp(N(0,1)).
func lognormal() Distribution {
	return FromMoments("log-normal", DataMoments{Mean: math.Exp(0.5), MeanSquare: math.Exp(2), MeanAbs: math.Exp(0.5), MaxAbs: math.Inf(1)}, func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) })
}

// measured returns the moments of the errors of the problem's product, computed
// on the device, over all outputs.
func measured(k Problem) truncation.Prediction {
	var t tally
	rng := rand.New(rand.NewPCG(0, 17))
	a, b := draw(rng, k.M, k.K, k.X), draw(rng, k.K, k.N, k.Y)
	for _, m := range []struct {
		x []float32
		f tcore.Format
	}{{a.Data, k.Device.A}, {b.Data, k.Device.B}} {
		for i, x := range m.x {
			m.x[i] = float32(m.f.Round(float64(x), k.Device.Convert))
		}
	}
	d := blas32.General{Rows: k.M, Cols: k.N, Stride: k.N, Data: make([]float32, k.M*k.N)}
	if p, ok := k.Plan(); ok {
		p.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	} else {
		k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
	}
	s := make([]float64, k.N)
	for i := range k.M {
		clear(s)
		for l, x := range a.Data[i*k.K : (i+1)*k.K] {
			x := float64(x)
			for j, y := range b.Data[l*k.N : (l+1)*k.N] {
				s[j] += x * float64(y)
			}
		}
		for j, s := range s {
			t.add(float64(d.Data[i*k.N+j])-s, s)
		}
	}
	p := k.ProductMoments()
	if p.Mean == 0 {
		t.e, t.p = 0, 0
	}
	m := t.moments(t.p/t.n, false)
	p.Variance = (t.pp/t.n - t.p/t.n*t.p/t.n) / float64(k.K)
	return m.Prediction(p, k.K)
}

// compared returns the quantities of a prediction that tests compare: the mean
// and the deviation of the relative error or, for sums of mean zero, the slope
// of the error and the deviation of the backward error.
func compared(p truncation.Prediction) (mean, deviation float64) {
	if math.IsNaN(p.Mean) {
		return p.Slope, p.BackwardDeviation
	}
	return p.Mean, p.Deviation
}

var whole = flag.Bool("whole", false, "predict the longest sums, and quantise for all laws: half an hour")

// longest returns lengths, the last of them only for -whole.
func longest(lengths ...int) []int {
	if *whole {
		return lengths
	}
	return lengths[:len(lengths)-1]
}

// Predicted means and deviations agree with those of products computed on the
// device to 20 % plus u/20, and means also to within four standard errors of
// the measured ones.
func TestPredict(t *testing.T) {
	units := []tcore.Device{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16(), devices.HopperE4M3(), devices.HopperBF16(),
		devices.AmpereTF32(), devices.HopperF16F16(), devices.HopperMMAE4M3(), devices.CDNA3F16(), devices.IEEEF16()}
	data := []Distribution{Uniform(-1, 1), Normal(0, 1), Uniform(0, 1), Uniform(1, 2), eighths(), lognormal()}
	lengths := longest(256, 4096, 32768)
	if testing.Short() {
		units = []tcore.Device{devices.VoltaF16(), devices.HopperF16(), devices.HopperE4M3(), devices.HopperBF16()}
		data = []Distribution{Uniform(-1, 1), Uniform(0, 1), eighths()}
		lengths = []int{512}
	}
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%-34s %-10s %6s  %9s %7s  %9s %7s\n", "device", "data", "K", "mean, β", "", "deviation", "")
	}
	for _, d := range units {
		for _, x := range data {
			for _, K := range lengths {
				k := Problem{M: 64, N: 64, K: K, Machine: tcore.Machine{Device: d}, X: x, Y: x}
				if top := float64(K) * x.Mean() * x.Mean(); top > 65504 && d.C.Precision == 11 {
					continue // the sum overflows binary16
				}
				if _, slow := d.Core.(tcore.TwoStage); slow && K > 4096 {
					continue
				}
				checkPrediction(t, k)
			}
		}
	}
}

// The same of sums that leave the tensor core every so many products, or whose
// K is split, with a last part that is shorter as well.
func TestPredictParts(t *testing.T) {
	data := []Distribution{Uniform(-1, 1), Normal(0, 1), Uniform(0, 1), Uniform(1, 2)}
	lengths := longest(136, 1000, 4096, 32768)
	if testing.Short() {
		data, lengths = []Distribution{Uniform(-1, 1), Uniform(0, 1)}, lengths[:2]
	}
	exact := Problem{M: 64, N: 64, K: 4096, Machine: tcore.Machine{Device: devices.HopperE4M3(), Promote: 32}, X: Uniform(1, 2), Y: Uniform(1, 2)}
	if p, err := Predict(exact); err != nil || p.Mean != 0 || p.Deviation != 0 || measured(exact).Deviation != 0 {
		t.Errorf("sums of few-bit products: %+v, %v, want no error", p, err)
	}
	for i, m := range []tcore.Machine{
		{Device: devices.HopperE4M3(), Promote: 128}, {Device: devices.HopperE4M3(), Promote: 32}, {Device: devices.HopperE4M3(), SplitK: 3},
		{Device: devices.HopperE4M3(), Promote: 1 << 20}, {Device: devices.AdaE4M3(), Promote: 512}, {Device: devices.BlackwellF16(), Promote: 128},
		{Device: devices.VoltaF16(), Promote: 64}, {Device: devices.HopperF16(), SplitK: 8}, {Device: devices.HopperBF16(), Promote: 256},
		{Device: devices.IEEEF16(), Promote: 16},
	} {
		for j, x := range data {
			for l, K := range lengths {
				if rarely(4, i, j+2*l) {
					continue
				}
				checkPrediction(t, Problem{M: 64, N: 64, K: K, Machine: m, X: x, Y: x})
			}
		}
	}
}

func checkPrediction(t *testing.T, k Problem) {
	p, err := Predict(k)
	if err != nil {
		t.Error(err)
		return
	}
	q := measured(k)
	got, gotDeviation := compared(p)
	want, wantDeviation := compared(q)
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%-34s %-10s %6d  %9.2e %+6.1f%%  %9.2e %+6.1f%%\n", fmt.Sprint(k.Name, k.Device.Name, " ", k.parts()), k.X, k.K,
			want, 100*(got/want-1), wantDeviation, 100*(gotDeviation/wantDeviation-1))
	}
	format := newStepper(k).sums
	nothing := format.UnitRoundoff() / 20
	if _, ok := k.Device.Core.(tcore.Split); ok {
		nothing *= 10 // sums of few-bit products in binary32 are nearly exact: their last bits are mostly 0
	}
	// Outputs of one row or column are not independent: the effective number of
	// samples is taken as the number of rows.
	noise := wantDeviation / math.Sqrt(float64(k.M))
	if m := k.ProductMoments(); m.Mean == 0 {
		noise *= m.Abs * math.Sqrt(float64(k.K)/m.Variance) // the standard error of the slope
	}
	if math.Abs(got-want) > 0.2*math.Abs(want)+4*noise+nothing {
		t.Errorf("%s %s, %s, K = %d: mean or slope %v, want %v ± %v", k.Name, k.Device.Name, k.X, k.K, got, want, noise)
	}
	if math.Abs(gotDeviation-wantDeviation) > 0.2*wantDeviation+nothing {
		t.Errorf("%s %s, %s, K = %d: deviation %v, want %v", k.Name, k.Device.Name, k.X, k.K, gotDeviation, wantDeviation)
	}
}

// Predictions agree with measurements by another emulator, on 10 products of
// 1024 × K × 8 with K = 256, 4096 and 32768: means or slopes, and deviations.
func TestPredictElsewhere(t *testing.T) {
	type numbers [3]float64
	for _, tt := range []struct {
		device          tcore.Device
		data            Distribution
		mean, deviation numbers
	}{
		{devices.VoltaF16(), Uniform(-1, 1), numbers{-1.81e-07, -1.04e-06, -3.42e-06}, numbers{3.74e-08, 4.43e-08, 4.67e-08}},
		{devices.AmpereF16(), Uniform(-1, 1), numbers{-3.98e-07, -5.82e-06, -4.51e-05}, numbers{4.02e-08, 1.38e-07, 3.80e-07}},
		{devices.HopperF16(), Uniform(-1, 1), numbers{-2.89e-07, -4.25e-06, -3.35e-05}, numbers{2.83e-08, 1.02e-07, 2.83e-07}},
		{devices.HopperE4M3(), Uniform(-1, 1), numbers{-4.80e-05, -1.88e-04, -1.03e-03}, numbers{1.46e-05, 2.49e-05, 3.29e-05}},
		{devices.VoltaF16(), Normal(0, 1), numbers{-1.57e-07, -8.63e-07, -2.95e-06}, numbers{4.55e-08, 5.22e-08, 5.55e-08}},
		{devices.AmpereF16(), Normal(0, 1), numbers{-3.92e-07, -5.74e-06, -4.51e-05}, numbers{4.78e-08, 1.62e-07, 4.48e-07}},
		{devices.HopperF16(), Normal(0, 1), numbers{-2.86e-07, -4.22e-06, -3.35e-05}, numbers{3.34e-08, 1.19e-07, 3.34e-07}},
		{devices.HopperE4M3(), Normal(0, 1), numbers{-4.89e-05, -1.94e-04, -9.18e-04}, numbers{2.07e-05, 3.26e-05, 4.11e-05}},
		{devices.VoltaF16(), Uniform(0, 1), numbers{-4.59e-06, -8.10e-05, -6.51e-04}, numbers{3.06e-07, 1.17e-06, 3.23e-06}},
		{devices.AmpereF16(), Uniform(0, 1), numbers{-2.40e-06, -4.52e-05, -3.66e-04}, numbers{1.75e-07, 6.74e-07, 1.87e-06}},
		{devices.HopperF16(), Uniform(0, 1), numbers{-1.12e-06, -2.35e-05, -1.93e-04}, numbers{9.96e-08, 3.82e-07, 1.06e-06}},
		{devices.HopperE4M3(), Uniform(0, 1), numbers{-1.70e-03, -6.61e-02, -4.07e-01}, numbers{2.47e-04, 1.10e-03, 1.58e-03}},
		{devices.VoltaF16(), Uniform(1, 2), numbers{-4.83e-06, -8.73e-05, -7.05e-04}, numbers{2.51e-07, 9.99e-07, 2.83e-06}},
		{devices.AmpereF16(), Uniform(1, 2), numbers{-2.50e-06, -4.87e-05, -3.96e-04}, numbers{1.50e-07, 5.85e-07, 1.65e-06}},
		{devices.HopperF16(), Uniform(1, 2), numbers{-1.12e-06, -2.53e-05, -2.09e-04}, numbers{9.58e-08, 3.48e-07, 9.76e-07}},
		{devices.HopperE4M3(), Uniform(1, 2), numbers{-1.03e-03, -6.92e-02, -5.53e-01}, numbers{2.72e-04, 8.60e-04, 7.35e-04}},
	} {
		if testing.Short() && tt.data.MaxAbs() != 1 {
			continue
		}
		lengths := []int{256, 4096, 32768}
		k := Problem{M: 1, N: 1, K: 1, Machine: tcore.Machine{Device: tt.device}, X: tt.data, Y: tt.data}
		predictions, err := PredictLengths(k, lengths)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range predictions {
			K := lengths[i]
			mean, deviation := compared(p)
			ε := 0.05
			if K == 256 && tt.device.A.Precision == 4 {
				ε = 0.12 // few sums, of few bits
			}
			if math.Abs(mean/tt.mean[i]-1) > ε {
				t.Errorf("%s, %s, K = %d: mean or slope %.3e, want %.3e", k.Device.Name, tt.data, K, mean, tt.mean[i])
			}
			if math.Abs(deviation/tt.deviation[i]-1) > max(ε, 0.08) {
				t.Errorf("%s, %s, K = %d: deviation %.3e, want %.3e", k.Device.Name, tt.data, K, deviation, tt.deviation[i])
			}
		}
	}
}

// The predictions for long sums agree with the closed forms and the growth
// rates of package truncation.
func TestGrowth(t *testing.T) {
	const K, longer = 1 << 16, 1 << 19
	units := []tcore.Device{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16(), devices.IEEEF16()}
	if testing.Short() {
		units = units[:2]
	}
	for _, d := range units {
		for _, x := range []Distribution{Uniform(0, 1), Uniform(-1, 1)} {
			k := Problem{M: 1, N: 1, K: K, Machine: tcore.Machine{Device: d}, X: x, Y: x}
			both, err := PredictLengths(k, []int{K, longer})
			if err != nil {
				t.Fatal(err)
			}
			p, q := both[0], both[1]
			machine := truncation.Accumulator{Terms: 1, FractionBits: 60, Unit: 0x1p-24, Nearest: true}
			if c, ok := d.Core.(tcore.Fused); ok {
				machine = k.truncation(c)
			}
			dist := distributionOf(x, machine)
			power := func(a, b float64) float64 { return math.Log(b/a) / math.Log(longer/K) }
			near := func(what string, got, want float64) {
				if !math.IsNaN(want) && math.Abs(got-want) > 0.08 {
					t.Errorf("%s, %s: %s grows as K^%.3f, want K^%v", d.Name, x, what, got, want)
				}
			}
			if x.Mean() == 0 {
				near("the backward error", power(p.BackwardDeviation, q.BackwardDeviation), dist.Backward)
				near("the slope", power(p.Slope, q.Slope), dist.Relative)
			} else if machine.Nearest {
				near("the relative error", power(p.Deviation, q.Deviation), dist.Relative)
			} else {
				near("the relative error", power(p.Mean, q.Mean), dist.Relative)
			}

			moments := k.ProductMoments()
			closed := func(what string, got, want, ε float64) {
				if math.Abs(got-want) > ε*math.Abs(want) {
					t.Errorf("%s, %s: %s %.3e, in closed form %.3e", d.Name, x, what, want, got)
				}
			}
			switch {
			case x.Mean() == 0:
				closed("deviation", machine.ErrorDeviation(moments, longer)/(longer*moments.Abs), q.BackwardDeviation, 0.04)
				if !machine.Nearest {
					closed("slope", machine.ErrorSlope(moments, longer), q.Slope, 0.1)
				}
			case !machine.Nearest:
				closed("mean", machine.MeanError(moments, longer), q.Mean, 0.02) // where the relative error is 0.01
			}
		}
	}
}

func distributionOf(x Distribution, machine truncation.Accumulator) truncation.GrowthRate {
	for _, g := range truncation.GrowthRates() {
		if (g.Products == truncation.OfMeanZero) == (x.Mean() == 0) && g.Sums == machine.Kind() {
			return g
		}
	}
	panic("no distribution")
}

func TestPredictRefuses(t *testing.T) {
	good := Problem{M: 1, N: 1, K: 256, Machine: tcore.Machine{Device: devices.HopperF16()}, X: Uniform(0, 1), Y: Uniform(0, 1)}
	for _, tt := range []struct {
		want string
		edit func(*Problem)
	}{
		{"nothing is known of its scales", func(k *Problem) { k.Device = devices.BlackwellMXE4M3() }},
		{"its sums do not fit binary32", func(k *Problem) { k.Device = devices.HopperF64() }},
		{"its result is rounded to binary16", func(k *Problem) { k.Device, k.Promote = devices.HopperF16F16(), 128 }},
		{"and a part of", func(k *Problem) {
			k.Device, k.Promote, k.K, k.X, k.Y = devices.HopperBF16(), 128, 1<<20, Uniform(0, 0x1p58), Uniform(0, 0x1p58)
		}},
		{"its parts have 2097152 products, more than 1048576", func(k *Problem) { k.SplitK, k.K = 2, 1<<22 }},
		{"its sums are in pairs", func(k *Problem) { k.Device, k.Order = devices.IEEEF16(), tcore.InPairs }},
		{"its rounding is stochastic", func(k *Problem) { k.Device, k.Stochastic = devices.IEEEF16(), tcore.Stochastic{Bits: 32} }},
		{"its factors are rounded before", func(k *Problem) { k.Represented = true }},
		{"its result is rounded to binary16", func(k *Problem) { k.Output = tcore.Binary16 }},
		{"it takes numbers drawn from the distributions of A and B", func(k *Problem) { k.X = Distribution{} }},
		{"it takes numbers drawn from the distributions of A and B", func(k *Problem) { k.Y = FromMoments("drawn by nobody", k.Y.Moments(), nil) }},
		{"overflow", func(k *Problem) { k.X = Uniform(0, 1e6) }},
		{"overflow", func(k *Problem) { k.Device, k.K = devices.HopperF16F16(), 1<<20 }},
		{"want it not negative", func(k *Problem) { k.X = but(k.X, func(m *DataMoments) { m.MeanSquare = 0.2 }) }},
	} {
		k := good
		tt.edit(&k)
		if p, err := Predict(k); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v, %v, want an error with %q", p, err, tt.want)
		}
	}
}

// Every distribution of products has a finite prediction, except that what is
// divided by E s is NaN where E s = 0.
func TestPredictReturns(t *testing.T) {
	constant := func(x float64) Distribution {
		return FromMoments(fmt.Sprint(x), DataMoments{Mean: x, MeanSquare: x * x, MeanAbs: math.Abs(x), MaxAbs: math.Abs(x)}, func(*rand.Rand) float64 { return x })
	}
	sparse := FromMoments("sparse", DataMoments{MeanSquare: 0.001, MeanAbs: 0.001, MaxAbs: 1}, func(r *rand.Rand) float64 {
		if r.IntN(1000) > 0 {
			return 0
		}
		return float64(2*r.IntN(2) - 1)
	})
	for _, x := range []Distribution{constant(1), constant(-1.5), sparse, Uniform(-1, 0), Normal(1, 1), Normal(1e-3, 1), Uniform(1, 1.001)} {
		lengths := []int{1, 40, 5000}
		k := Problem{M: 1, N: 1, K: 1, Machine: tcore.Machine{Device: devices.HopperF16()}, X: x, Y: x}
		predictions, err := PredictLengths(k, lengths)
		if err != nil {
			t.Error(err)
		}
		for i, p := range predictions {
			if s := p.Slope + p.Backward + p.BackwardDeviation; math.IsNaN(s-s) || (x.Mean() != 0) == math.IsNaN(p.Mean+p.Deviation) {
				t.Errorf("%s, K = %d: %+v", x, lengths[i], p)
			}
		}
	}
}
