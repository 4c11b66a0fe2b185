package truncation_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/truncation"
)

// The tensor cores of three generations, and the moments of products of numbers
// of U(0,1) and of U(-1,1).
var (
	voltaTC  = truncation.Accumulator{Terms: 4, FractionBits: 23, Unit: 0x1p-24}
	ampereTC = truncation.Accumulator{Terms: 8, FractionBits: 24, Unit: 0x1p-24}
	hopperTC = truncation.Accumulator{Terms: 16, FractionBits: 25, Unit: 0x1p-24}

	positive  = truncation.ProductMoments{Mean: 1.0 / 4, Variance: 1.0/9 - 1.0/16, Abs: 1.0 / 4}
	symmetric = truncation.ProductMoments{Variance: 1.0 / 9, Abs: 1.0 / 4}
)

// Every step draws the sum towards zero by a fraction of it: the relative error
// grows with K.
func ExampleRunningSum_Error() {
	const κ = 0x1p-24
	r := truncation.RunningSum{
		Terms:    16,
		Products: positive,
		Step: func(lo, hi float64) truncation.ErrorMoments {
			return truncation.ErrorMoments{Mean: -κ * (lo + hi) / 2}
		},
	}
	for _, K := range []int{1024, 4096, 16384} {
		fmt.Printf("%5d  %.3e\n", K, r.Error(K).Prediction(positive, K).Mean)
	}
	// Output:
	//  1024  -1.878e-06
	//  4096  -7.600e-06
	// 16384  -3.049e-05
}

func ExampleErrorMoments_Prediction() {
	e := truncation.ErrorMoments{Mean: -0.5, Variance: 0.01, Covariance: -0.02}
	p := e.Prediction(positive, 4096)
	fmt.Printf("relative %.2e ± %.1e, backward %.2e ± %.1e\n", p.Mean, p.Deviation, p.Backward, p.BackwardDeviation)
	// Output:
	// relative -4.88e-04 ± 9.8e-05, backward -4.88e-04 ± 9.8e-05
}

// Each generation loses about half of what the one before it lost.
func ExampleAccumulator_Delta() {
	for _, t := range []truncation.Accumulator{voltaTC, ampereTC, hopperTC} {
		fmt.Printf("%.3e\n", t.Delta())
	}
	// Output:
	// 1.192e-07
	// 6.706e-08
	// 3.539e-08
}

func ExampleBinadeTheta() {
	for _, sum := range []float64{1024, 1024 * 4. / 3, 2047} {
		fmt.Printf("%.3f\n", truncation.BinadeTheta(sum))
	}
	// Output:
	// 0.667
	// 0.750
	// 0.667
}

// The mean relative error of sums of 32768 products of numbers of U(0,1).
func ExampleAccumulator_MeanError() {
	for _, t := range []truncation.Accumulator{voltaTC, ampereTC, hopperTC} {
		fmt.Printf("%.3e\n", t.MeanError(positive, 32768))
	}
	// Output:
	// -6.510e-04
	// -3.662e-04
	// -1.933e-04
}

func ExampleAccumulator_Kappa() {
	fmt.Printf("%.2e %.2e %.2e\n", voltaTC.Kappa(), ampereTC.Kappa(), hopperTC.Kappa())
	// Output:
	// 0.00e+00 2.15e-08 3.22e-08
}

// Sums of mean zero are drawn towards zero, most by machines that align with
// more bits than the sum has.
func ExampleAccumulator_ErrorSlope() {
	for _, t := range []truncation.Accumulator{voltaTC, ampereTC, hopperTC} {
		fmt.Printf("%.2e\n", t.ErrorSlope(symmetric, 32768))
	}
	// Output:
	// -3.93e-06
	// -4.56e-05
	// -3.38e-05
}

// The standard deviation of the backward error does not grow with K where F =
// f.
func ExampleAccumulator_ErrorDeviation() {
	for _, t := range []truncation.Accumulator{voltaTC, ampereTC} {
		for _, K := range []int{4096, 32768, 262144} {
			fmt.Printf("%6d  %.2e\n", K, t.ErrorDeviation(symmetric, K)/(float64(K)*symmetric.Abs))
		}
	}
	// Output:
	//   4096  4.77e-08
	//  32768  4.77e-08
	// 262144  4.77e-08
	//   4096  1.35e-07
	//  32768  3.75e-07
	// 262144  1.06e-06
}

func ExampleAccumulator_DriftLength() {
	fmt.Printf("%.0f %.0f %.0f\n", voltaTC.DriftLength(), ampereTC.DriftLength(), hopperTC.DriftLength())
	// Output:
	// +Inf 133 59
}

// The lengths beyond which bounds for errors of mean zero, with λ = 7, fail on
// products of one sign.
func ExampleAccumulator_BreakdownLength() {
	for _, t := range []truncation.Accumulator{voltaTC, ampereTC, hopperTC} {
		fmt.Printf("%.0f\n", t.BreakdownLength(7, 0.7))
	}
	// Output:
	// 400
	// 1264
	// 4539
}

func ExampleGrowthRates() {
	power := func(x float64) string {
		if math.IsNaN(x) {
			return "-"
		}
		return fmt.Sprintf("K^%v", x)
	}
	fmt.Printf("%-14s %-17s %-9s %-9s %s\n", "products", "machine", "absolute", "backward", "relative")
	for _, g := range truncation.GrowthRates() {
		fmt.Printf("%-14v %-17v %-9s %-9s %s\n", g.Products, g.Sums, power(g.Absolute), power(g.Backward), power(g.Relative))
	}
	// Output:
	// products       machine           absolute  backward  relative
	// mean not zero  truncates, F > f  K^2       K^1       K^1
	// mean not zero  truncates, F = f  K^2       K^1       K^1
	// mean not zero  to nearest        K^1.5     K^0.5     K^0.5
	// mean zero      truncates, F > f  K^1.5     K^0.5     K^1
	// mean zero      truncates, F = f  K^1       K^0       K^0.5
	// mean zero      to nearest        K^1       K^0       -
}

func ExampleAccumulator_Kind() {
	fmt.Println(voltaTC.Kind())
	fmt.Println(hopperTC.Kind())
	// Output:
	// truncates, F = f
	// truncates, F > f
}
