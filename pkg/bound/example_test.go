package bound_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat/distuv"
)

// paper returns the matrix product of the paper's section 4.2, on a device.
func paper(d tcore.Device) bound.Problem {
	return bound.Problem{M: 1024, N: 8, K: 32768, Machine: tcore.Machine{Device: d}}
}

var at99 = roundoff.FailureOf(0.99)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// The paper's theorem is valid on the machine that it describes, but not on a
// tensor core that truncates. Another bound is valid there.
func Example() {
	for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.HopperF16()} {
		for _, r := range must(bound.Evaluate(paper(d), at99)) {
			if r.Bound == "vibea" || r.Bound == "truncation" {
				fmt.Printf("%-10s  %.2e  %-5v  %s\n", r.Bound, r.Constant, r.Holds, r.Why)
			}
		}
	}
	// Output:
	// truncation  NaN  false  paper-f32 does not truncate
	// vibea       1.87e-04  true   taking rounding errors as independent and uniform
	// truncation  1.22e-03  true   always
	// vibea       1.67e-04  false  hopper-wgmma-binary16-binary32 truncates: its errors exceed u and have one sign
}

// The tightest bound depends on what is known of the data.
func ExampleTightest() {
	k := paper(devices.PaperCoreF32())
	for _, d := range []bound.Distribution{bound.Distribution{}.Named("unknown"), bound.Uniform(0, 1), bound.Uniform(-1, 1)} {
		k.X, k.Y = d, d
		best, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
		fmt.Printf("%-8s %.2e  %s\n", d, best.Constant, best.Bound)
	}
	// Output:
	// unknown  2.39e-05  typical
	// U(0,1)   2.47e-05  typical
	// U(-1,1)  2.34e-06  random-data
}

// The bounds that always hold and need no knowledge of the data.
func ExampleEvaluate() {
	for _, r := range must(bound.Evaluate(paper(devices.PaperCoreF32()), at99)) {
		if r.Holds && r.Confidence == roundoff.Never {
			fmt.Printf("%-12s  %.3e  %s\n", r.Bound, r.Constant, r.Source)
		}
	}
	// Output:
	// dbea          2.446e-03  Bhola & Duraisamy 2024, theorem on tensor cores, deterministic
	// gamma         1.957e-03  Higham 2002, Lemma 3.1
	// unrestricted  1.955e-03  derived from the definition of θ_n
	// linear        1.953e-03  Jeannerod & Rump 2013
}

func ExampleResult() {
	r, _ := bound.Tightest(must(bound.Evaluate(paper(devices.AmpereF16()), at99)))
	fmt.Printf("%s %.3e, %v\n", r.Bound, r.Constant, r.Confidence)
	// Output:
	// truncation 2.441e-03, always
}

// The order of summation changes the bound more than any probabilistic
// assumption does.
func ExampleProblem_order() {
	k := paper(devices.IEEEF16())
	for _, k.Order = range []tcore.Order{tcore.InSequence, tcore.InPairs, tcore.Compensated} {
		r, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
		fmt.Printf("%-12s %.1e  %s\n", k.Order, r.Constant, r.Bound)
	}
	// Output:
	// in sequence  2.4e-05  typical
	// in pairs     8.9e-07  unrestricted
	// compensated  3.9e-06  compensated
}

// Splitting K shortens the chains. An output in binary16 costs one rounding.
func ExampleProblem() {
	k := paper(devices.HopperF16())
	for _, k.SplitK = range []int{1, 16} {
		for _, k.Output = range []tcore.Format{tcore.Binary32, tcore.Binary16} {
			r, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
			fmt.Printf("%2d  %s  %.2e\n", k.SplitK, k.Output.Name, r.Constant)
		}
	}
	// Output:
	//  1  binary32  1.22e-03
	//  1  binary16  1.71e-03
	// 16  binary32  7.72e-05
	// 16  binary16  5.66e-04
}

// Where the sums of binary16 products of mean zero begin to drift, by the
// parameters of the machine alone. Volta cuts off only what alignment does.
func ExampleProblem_Accumulator() {
	for _, d := range []tcore.Device{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16()} {
		a, _ := paper(d).Accumulator()
		fmt.Printf("%d products, %d bits: drift from K = %.0f\n", a.Terms, a.FractionBits, a.DriftLength())
	}
	_, ok := paper(devices.CDNA2F16()).Accumulator()
	fmt.Println(ok)
	// Output:
	// 4 products, 23 bits: drift from K = +Inf
	// 8 products, 24 bits: drift from K = 133
	// 16 products, 25 bits: drift from K = 59
	// false
}

// With entries ~ U(0,1) products have the mean 1/4 and the variance 1/9 - 1/16,
// from which a closed form gives the mean error of a sum of 4096 of them.
func ExampleProblem_ProductMoments() {
	k := paper(devices.HopperF16())
	k.X, k.Y = bound.Uniform(0, 1), bound.Uniform(0, 1)
	p := k.ProductMoments()
	fmt.Printf("%.4f %.4f %.4f\n", p.Mean, p.Variance, p.Abs)
	a, _ := k.Accumulator()
	fmt.Printf("relative error %.1e\n", a.MeanError(p, 4096))
	// Output:
	// 0.2500 0.0486 0.2500
	// relative error -2.4e-05
}

func ExampleProblem_Length() {
	k := paper(devices.HopperF16())
	k.SplitK = 3
	fmt.Println(k.Length(), k.Blocks(), k.Outputs(), k.Chains())
	// Output:
	// 10928 683 8192 24576
}

func ExampleProblem_Blocks() {
	fmt.Println(paper(devices.VoltaF16()).Blocks())
	// Output:
	// 8192
}

func ExampleProblem_Outputs() {
	fmt.Println(paper(devices.VoltaF16()).Outputs())
	// Output:
	// 8192
}

func ExampleProblem_Chains() {
	k := paper(devices.VoltaF16())
	k.SplitK = 4
	fmt.Println(k.Chains())
	// Output:
	// 32768
}

// A bound consists of its assumptions and a formula.
func ExampleBound() {
	b := bound.IpsenZhou
	fmt.Println(b.Name, "by", b.Source)
	fmt.Println("needs", b.Needs)
	fmt.Println(b.Model.Note)
	// Output:
	// ipsen-zhou by Ipsen & Zhou 2020, for exact products
	// needs the sums of a run
	// taking each rounding error as of mean zero given the others
}

func ExampleCatalogue() {
	needs := map[bound.Knowledge]int{}
	for _, b := range bound.Catalogue() {
		needs[b.Needs]++
	}
	for _, n := range []bound.Knowledge{bound.Nothing, bound.Moments, bound.Sums} {
		fmt.Println(needs[n] > 0, n)
	}
	// Output:
	// true nothing of the data
	// true the distribution of the data
	// true the sums of a run
}

func ExampleFind() {
	b, ok := bound.Find("gamma")
	fmt.Println(b.Source, ok)
	// Output:
	// Higham 2002, Lemma 3.1 true
}

// The last number is λ, or NaN if the bound has none.
func ExampleValue() {
	k := paper(devices.PaperCoreF32())
	fmt.Printf("%.4v\n", bound.VIBEA.Constant(k, at99))
	fmt.Printf("%.4v\n", bound.Gamma.Constant(k, at99))
	// Output:
	// {0.0001867 +Inf 11.53 0}
	// {0.001957 +Inf NaN 0}
}

func ExampleInterval_Bound() {
	fmt.Println(bound.Interval{Centre: -3, Radius: 0.5}.Bound())
	// Output:
	// 3.5
}

func ExampleKnowledge_String() {
	fmt.Println(bound.Sums.String())
	// Output:
	// the sums of a run
}

// A model says what it assumes, and why a machine does not satisfy it.
func ExampleModel() {
	for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.VoltaF16()} {
		fmt.Printf("%s: %q\n", d.Name, bound.Independent.Fails(paper(d)))
	}
	// Output:
	// paper-f32: ""
	// volta-mma-binary16-binary32: "volta-mma-binary16-binary32 truncates: its errors exceed u and have one sign"
}

// The moments of a distribution have the names that gonum's distuv uses.
func ExampleDistribution() {
	d := bound.Uniform(0, 3).Named("weights")
	fmt.Println(d, d.Mean(), d.Variance(), d.MeanSquare(), d.MeanAbs(), d.MaxAbs(), d.Symmetric(), d.CanDraw())
	fmt.Printf("%.3f\n", d.StdDev())
	// Output:
	// weights 1.5 0.75 3 1.5 3 false true
	// 0.866
}

func ExampleDistribution_Check() {
	fmt.Println(bound.FromMoments("none", bound.DataMoments{Mean: 2, MeanSquare: 1, MeanAbs: 2, MaxAbs: 2}, nil).Check())
	// Output:
	// bound: none: variance -3, want it not negative
}

// Bounds use only the moments of a distribution. For a distribution that gonum
// does not have, the caller supplies them.
func ExampleFromMoments() {
	coin := bound.FromMoments("coin", bound.DataMoments{MeanSquare: 1, MeanAbs: 1, MaxAbs: 1, Symmetric: true},
		func(r *rand.Rand) float64 { return float64(2*r.IntN(2) - 1) })
	fmt.Println(coin, coin.StdDev())
	// Output:
	// coin 1
}

// Every distribution of gonum can describe data, including unbounded ones. Here
// is an error bound for sums of Laplace numbers on a machine that truncates.
func ExampleFromRander() {
	laplace := bound.FromRander("Laplace", func(src rand.Source) distuv.Rander { return distuv.Laplace{Scale: 1, Src: src} })
	p := bound.Problem{M: 64, N: 64, K: 4096, Machine: tcore.Machine{Device: devices.HopperF16()}, X: laplace, Y: laplace}
	fmt.Printf("E|x| = %.6f, none of a million beyond %.1f\n", laplace.MeanAbs(), laplace.Largest(1e6, at99))
	fmt.Printf("%.1e, whatever the data %.1e\n",
		bound.TruncatedRandomData.Constant(p, at99).Constant, bound.Truncation.Constant(p, at99).Constant)
	// Output:
	// E|x| = 1.000000, none of a million beyond 18.4
	// 2.2e-06, whatever the data 1.5e-04
}

func ExampleDistribution_Moments() {
	fmt.Printf("%+v\n", bound.Uniform(0, 1).Moments())
	// Output:
	// {Mean:0.5 MeanSquare:0.3333333333333333 MeanAbs:0.5 MaxAbs:1 Symmetric:false}
}

func ExampleDistribution_Largest() {
	fmt.Printf("%v %.2f\n", bound.Uniform(-1, 1).Largest(1000, at99), bound.Normal(0, 1).Largest(1000, at99))
	// Output:
	// 1 4.94
}

// A distribution is a distuv.Rander.
func ExampleDistribution_Rand() {
	d := bound.Uniform(0, 1)
	d.Src = rand.NewPCG(1, 2)
	fmt.Printf("%.3f %.3f\n", d.Rand(), d.Rand())
	// Output:
	// 0.676 0.461
}

func ExampleUniform() {
	fmt.Println(bound.Uniform(0, 2).Mean(), bound.Uniform(0, 2).MaxAbs())
	// Output:
	// 1 2
}

func ExampleNormal() {
	fmt.Printf("%.4f %v\n", bound.Normal(0, 1).MeanAbs(), bound.Normal(0, 1).MaxAbs())
	// Output:
	// 0.7979 +Inf
}

func ExampleParseDistribution() {
	d, err := bound.ParseDistribution("N(1, 0.5)")
	fmt.Println(d, d.MeanSquare(), err)
	_, err = bound.ParseDistribution("U(1,0)")
	fmt.Println(err)
	// Output:
	// N(1,0.5) 1.25 <nil>
	// bound: distribution "U(1,0)", want finite numbers, lo < hi at a finite distance, or deviation > 0
}

func matrix(rng *rand.Rand, rows, cols int, d bound.Distribution) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	d.Src = rng
	for i := range m.Data {
		m.Data[i] = float32(d.Rand())
	}
	return m
}

// The sums of a run make the bounds much tighter, and its trace gives the error
// itself.
func ExampleEmulate() {
	rng := rand.New(rand.NewPCG(241118747, 0))
	d := bound.Uniform(-1, 1)
	k := bound.Problem{M: 4, N: 4, K: 4096, Machine: tcore.Machine{Device: devices.PaperCoreF32()}, X: d, Y: d}
	k.Run = must(bound.Emulate(k, matrix(rng, 4, 4096, d), matrix(rng, 4096, 4, d)))
	for _, r := range must(bound.Evaluate(k, at99)) {
		switch r.Bound {
		case "random-data", "half-ulp-bernstein", "exact":
			fmt.Printf("%.1e  %s\n", r.Constant, r.Bound)
		}
	}
	// Output:
	// 1.6e-06  random-data
	// 2.0e-07  half-ulp-bernstein
	// 1.1e-07  exact
}

// Intervals for the error from the trace of an emulation, from the fewest
// assumptions to the exact error.
func ExampleTruncationInterval() {
	rng := rand.New(rand.NewPCG(241118747, 0))
	d := bound.Uniform(0, 1)
	k := bound.Problem{M: 1, N: 1, K: 4096, Machine: tcore.Machine{Device: devices.HopperF16()}}
	for o := range must(bound.Emulate(k, matrix(rng, 1, 4096, d), matrix(rng, 4096, 1, d))) {
		for _, b := range []bound.Bound{bound.TruncationSums, bound.TruncationInterval, bound.MartingaleTrace, bound.Exact} {
			i := b.Interval(k, o, at99)
			fmt.Printf("%-20s %8.5f ± %.5f\n", b.Name, i.Centre, i.Radius)
		}
	}
	// Output:
	// truncation-sums       0.00000 ± 0.04865
	// truncation-interval  -0.02424 ± 0.02046
	// martingale-trace     -0.02355 ± 0.00199
	// exact                -0.02332 ± 0.00000
}

// The sums of one output, and Σ|xy|.
func ExampleEntry() {
	k := bound.Problem{M: 1, N: 1, K: 4, Machine: tcore.Machine{Device: devices.VoltaF16()}}
	x := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{4096, -1, 3, 0x1p-13}}
	y := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 1, 1, 1}}
	for o := range must(bound.Emulate(k, x, y)) {
		fmt.Println(o.Sums, o.Exponents, math.Floor(o.Abs))
	}
	// Output:
	// [4098] [12] 4100
}

// Four bounds by name.
func ExampleGamma() {
	k := paper(devices.IEEEF16())
	for _, b := range []bound.Bound{bound.Gamma, bound.Unrestricted, bound.Linear, bound.HallmanIpsen} {
		fmt.Printf("%-13s  %.3e\n", b.Name, b.Constant(k, at99).Constant)
	}
	// Output:
	// gamma          1.957e-03
	// unrestricted   1.955e-03
	// linear         1.953e-03
	// hallman-ipsen  5.911e-05
}

func ExampleProblem_Width() {
	fmt.Println(paper(devices.HopperF16()).Width(), paper(devices.IEEEF16()).Width())
	// Output:
	// 16 1
}

func ExampleResult_MarshalJSON() {
	r, _ := bound.Tightest(must(bound.Evaluate(paper(devices.HopperF16()), at99)))
	text, err := json.MarshalIndent(r, "", "  ")
	fmt.Printf("%s %v\n", text, err)
	// Output:
	// {
	//   "bound": "truncation",
	//   "constant": 0.001220703125,
	//   "absolute": null,
	//   "underflow": 0.003909108694642782,
	//   "lambda": null,
	//   "confidence": 1,
	//   "holds": true,
	//   "why": "always",
	//   "source": "derived from the arithmetic of Fasi et al. 2021 and Xie et al. 2025"
	// } <nil>
}

// Some machines meet a tolerance of 0.3 % for these K. Volta meets it for
// longer sums as well if parts of 8192 products are added in binary32.
func ExampleAdvise() {
	k := bound.Problem{M: 1024, N: 8, K: 32768, Represented: true}
	devices := []tcore.Device{devices.VoltaF16(), devices.HopperF16(), devices.HopperBF16(), devices.CDNA2F32()}
	for _, a := range must(bound.Advise(k, 3e-3, at99, devices)) {
		most, share := a.Tightest.Parts.Largest()
		fmt.Printf("%-30s %-5v for K = %d to %-8d parts of %-4d %.1f times the bytes, %.1f the time, by %s, %.0f %% by %s\n",
			a.Device.Name, a.Meets(), a.LeastK, a.LargestK, a.Promote, a.BytesRatio, a.TimeRatio, a.Tightest.Bound, 100*share, most)
	}
	// Output:
	// hopper-wgmma-binary16-binary32 true  for K = 1 to 54256    parts of 0    1.0 times the bytes, 1.0 the time, by truncation, 56 % by accumulation
	// cdna2-mfma-binary32-binary32   true  for K = 1 to 16777215 parts of 0    2.0 times the bytes, 10.3 the time, by typical, 100 % by accumulation
	// volta-mma-binary16-binary32    false for K = 1 to 13564    parts of 8192 1.0 times the bytes, 7.9 the time, by truncation, 83 % by accumulation
	// hopper-wgmma-bfloat16-binary32 false for K = 0 to 0        parts of 0    1.0 times the bytes, 1.0 the time, by truncation, 87 % by conversion
}

// The parts of the bound on what a Hopper GPU returns in binary16.
func ExampleParts_Sum() {
	k := bound.Problem{M: 1, N: 1, K: 4096, Machine: tcore.Machine{Device: devices.HopperF16(), Promote: 128, Output: tcore.Binary16}, Represented: true}
	r, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
	p := r.Parts
	fmt.Printf("%.1e converted, %.1e summed, %.1e added, %.1e stored\n", p.Conversion, p.Accumulation, p.Merging, p.Storing)
	fmt.Printf("%.4e = %.4e\n", p.Sum(), r.Constant)
	// Output:
	// 9.8e-04 converted, 4.8e-06 summed, 1.8e-06 added, 4.9e-04 stored
	// 1.4722e-03 = 1.4722e-03
}

// What binary16 loses of a short sum is lost before it is added.
func ExampleParts_Largest() {
	p := bound.Parts{Conversion: 9.8e-4, Accumulation: 2e-5}
	name, share := p.Largest()
	fmt.Printf("%.0f %% %s\n", 100*share, name)
	// Output: 98 % conversion
}

func ExamplePeakOf() {
	p, _ := bound.PeakOf(devices.HopperF16())
	fmt.Printf("%s: %v Tflop/s (%s)\n", p.GPU, p.Tflops, p.Source)
	_, ok := bound.PeakOf(devices.RTXBlackwellF16())
	fmt.Println(ok)
	// Output:
	// H100 SXM5: 989.4 Tflop/s (NVIDIA H100 Tensor Core GPU Architecture, 2022)
	// false
}

// The moments of a given matrix.
func ExampleMomentsOf() {
	d, err := bound.MomentsOf("x", blas64.General{Rows: 1, Cols: 4, Stride: 4, Data: []float64{3, -1, 1, 1}})
	fmt.Println(d.Mean(), d.MeanSquare(), d.MeanAbs(), d.MaxAbs(), err)
	_, err = bound.MomentsOf("x", blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{0, math.NaN()}})
	fmt.Println(err)
	// Output:
	// 1 3 1.5 3 <nil>
	// bound: x[0, 1] = NaN, want a finite number
}

// The predicted errors of sums of positive products, and of sums of mean zero.
func ExamplePredict() {
	for _, d := range []tcore.Device{devices.VoltaF16(), devices.HopperF16(), devices.HopperE4M3(), devices.IEEEF16()} {
		k := bound.Problem{M: 1, N: 1, K: 4096, Machine: tcore.Machine{Device: d}}
		k.X, k.Y = bound.Uniform(0, 1), bound.Uniform(0, 1)
		positive := must(bound.Predict(k))
		k.X, k.Y = bound.Uniform(-1, 1), bound.Uniform(-1, 1)
		symmetric := must(bound.Predict(k))
		fmt.Printf("%-30s  relative %8.1e ± %.0e  backward %.0e\n", d.Name,
			positive.Mean, positive.Deviation, symmetric.BackwardDeviation)
	}
	// Output:
	// volta-mma-binary16-binary32     relative -8.1e-05 ± 1e-06  backward 4e-08
	// hopper-wgmma-binary16-binary32  relative -2.3e-05 ± 4e-07  backward 1e-07
	// hopper-wgmma-e4m3-binary32      relative -6.6e-02 ± 1e-03  backward 2e-05
	// ieee-fma-binary16-binary32      relative -1.6e-08 ± 8e-07  backward 2e-08
}

// The returned error says why there is no prediction for a machine.
func ExamplePredict_none() {
	k := bound.Problem{M: 1, N: 1, K: 4096, Machine: tcore.Machine{Device: devices.BlackwellNVF4()}}
	_, err := bound.Predict(k)
	fmt.Println(err)
	// Output:
	// bound: no prediction for blackwell-tcgen05-f4ue4m3x16-binary32: nothing is known of its scales
}

// Promotion every 128 products repairs sums of fp8 on Hopper.
func ExamplePredict_promote() {
	for _, promote := range []int{0, 128} {
		k := bound.Problem{M: 1, N: 1, K: 32768, Machine: tcore.Machine{Device: devices.HopperE4M3(), Promote: promote}}
		k.X, k.Y = bound.Uniform(0, 1), bound.Uniform(0, 1)
		p := must(bound.Predict(k))
		fmt.Printf("promote %3d  relative %8.1e ± %.0e\n", promote, p.Mean, p.Deviation)
	}
	// Output:
	// promote   0  relative -4.1e-01 ± 2e-03
	// promote 128  relative -4.6e-04 ± 9e-06
}

// Predictions for many lengths cost little more than one for the longest.
func ExamplePredictLengths() {
	k := bound.Problem{M: 1, N: 1, K: 1, Machine: tcore.Machine{Device: devices.AmpereF16()}, X: bound.Uniform(-1, 1), Y: bound.Uniform(-1, 1)}
	lengths := []int{256, 4096, 65536}
	for i, p := range must(bound.PredictLengths(k, lengths)) {
		fmt.Printf("%5d  slope %.0e\n", lengths[i], p.Slope)
	}
	// Output:
	//   256  slope -4e-07
	//  4096  slope -6e-06
	// 65536  slope -9e-05
}

// A device with fp8 factors does not meet a tolerance of 0.001.
func ExampleAdvice() {
	k := bound.Problem{M: 16, N: 16, K: 256, Represented: true}
	for _, a := range must(bound.Advise(k, 1e-3, at99, []tcore.Device{devices.IEEEF32(), devices.HopperE4M3()})) {
		fmt.Println(a.Device.Name, a.Meets())
	}
	// Output:
	// ieee-fma-binary32-binary32 true
	// hopper-wgmma-e4m3-binary32 false
}

// Of given matrices it is known what their conversion to 8 bits loses.
func ExampleGiven() {
	a := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1.0625, 1}} // halfway between 1 and 1.125
	b := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 1}}
	k := bound.Problem{M: 1, N: 1, K: 2, Machine: tcore.Machine{Device: devices.BlackwellE4M3()}, Represented: true}
	worst, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
	k.Given = &bound.Given{A: a, B: b}
	known, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
	fmt.Printf("%.3g, at worst %.3g\n", known.Parts.Conversion, worst.Parts.Conversion)
	// Output:
	// 0.0303, at worst 0.129
}
