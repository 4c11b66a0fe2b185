package roundoff_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// The sum of n = 10⁶ steps of mean zero and size at most 1 is at most 3.3 √n
// with probability 99 %.
func ExampleAzuma() {
	fmt.Printf("%.0f\n", roundoff.Azuma(1e6, roundoff.FailureOf(0.99)))
	// Output:
	// 3255
}

// The steps are uniform on [-1, 1], with variance 1/3.
func ExampleBernstein() {
	fmt.Printf("%.0f\n", roundoff.Bernstein(1e6/3, 1, roundoff.FailureOf(0.99)))
	// Output:
	// 1881
}

// The same steps: their sum is nearly normal.
func ExampleSymmetricTail() {
	steps := roundoff.Symmetric{Most: 1, Variance: 1. / 3, N: 1e6}
	fmt.Printf("%.0f\n", roundoff.SymmetricTail([]roundoff.Symmetric{steps}, roundoff.FailureOf(0.99)))
	// Output:
	// 1497
}

// Half of these numbers are 0, the others uniform on [-1, 1].
func ExampleSymmetric() {
	x := roundoff.Symmetric{Most: 1, Variance: 1. / 6, N: 1e6}
	fmt.Printf("%.0f\n", roundoff.SymmetricTail([]roundoff.Symmetric{x}, roundoff.FailureOf(0.99)))
	// Output:
	// 1058
}

// Bounds on all outputs of the paper's matrix product at 99 %, for four
// distributions of the rounding errors.
func ExampleErrorModel() {
	const u = 0x1p-24
	f := roundoff.FailureOf(0.99) - roundoff.Failure(9.01) // one of 8192
	fmt.Printf("uniform  %.2e\n", roundoff.UniformErrors(u).Theta(32767, f))
	fmt.Printf("typical  %.2e\n", roundoff.TypicalErrors(u).Theta(32767, f))
	fmt.Printf("Benford  %.2e\n", roundoff.BenfordErrors(u).Theta(32767, f))
	fmt.Printf("biased   %.2e\n", roundoff.BetaErrors(u, 1.9, 2).Theta(32767, f))
	// Output:
	// uniform  3.36e-05
	// typical  2.38e-05
	// Benford  2.48e-05
	// biased   7.64e-05
}

func ExampleErrorModel_Theta() {
	dist := roundoff.UniformErrors(0x1p-11)
	for _, n := range []int{1, 100, 10000} {
		fmt.Printf("%5d  %.2e\n", n, dist.Theta(n, roundoff.FailureOf(0.99)))
	}
	// Output:
	//     1  2.12e-03
	//   100  1.01e-02
	// 10000  9.75e-02
}

func ExampleUniformErrors() {
	fmt.Printf("%.3f u²\n", roundoff.UniformErrors(0x1p-11).Variance/0x1p-22)
	// Output:
	// 0.333 u²
}

func ExampleTypicalErrors() {
	fmt.Printf("%.3f u²\n", roundoff.TypicalErrors(0x1p-24).Variance/0x1p-48)
	// Output:
	// 0.167 u²
}

func ExampleBenfordErrors() {
	fmt.Printf("%.3f u²\n", roundoff.BenfordErrors(0x1p-24).Variance/0x1p-48)
	// Output:
	// 0.180 u²
}

// "a = 1.9, b = 2": the errors have a small bias.
func ExampleBetaErrors() {
	dist := roundoff.BetaErrors(0x1p-24, 1.9, 2)
	fmt.Printf("%.4f u, %.3f u²\n", dist.Mean/0x1p-24, dist.Variance/0x1p-48)
	// Output:
	// 0.0256 u, 0.204 u²
}

// A sum with 2^25 roundings in binary32, for which γ_n is +Inf.
func ExampleSumOfNearest() {
	fmt.Println(roundoff.Gamma(1<<25, 0x1p-24), roundoff.SumOfNearest(1<<25, 0x1p-24))
	// Output:
	// +Inf 2
}

// The second probability of failure, e^-2000, underflows in float64.
func ExampleHighamMaryLambda_rare() {
	fmt.Printf("%.3f\n", roundoff.HighamMaryLambda(roundoff.FailureOf(0.99), 0x1p-24, 1))
	fmt.Printf("%.3f\n", roundoff.HighamMaryLambda(-2000, 0x1p-24, 1))
	// Output:
	// 3.255
	// 63.257
}

// The last probability of failure, e^-2000, underflows in float64.
func ExampleGEMM_Lambda_rare() {
	for _, f := range []roundoff.Failure{roundoff.FailureOf(0.99), -100, -2000} {
		fmt.Printf("%v  %.2f\n", f, gemm.Lambda(f, roundoff.Corrected))
	}
	// Output:
	// 99 %  11.53
	// 1 - 3.7e-44  75.20
	// 1 - 2.6e-869  1341.88
}

func ExampleGEMM_HighamMaryLambda_rare() {
	fmt.Printf("%.3f\n", gemm.HighamMaryLambda(-100))
	// Output:
	// 15.543
}

func ExampleGEMM_ZetaPerEvent() {
	f := roundoff.FailureOf(0.99)
	fmt.Printf("%.3e\n", gemm.ZetaPerEvent(roundoff.TypicalErrors, f))
	// Output:
	// 4.811e-05
}

// Rounding to nearest, u = 2^-24, and stochastic rounding, u = 2^-23.
func ExampleMeanIndependent() {
	m := roundoff.MeanIndependent{Lambda: 4}
	fmt.Printf("%.3e  %v\n", m.Theta(1000, 0x1p-24), m.Failure(1000, 0x1p-24))
	fmt.Printf("%.3e  %v\n", m.Theta(1000, 0x1p-23), m.Failure(1000, 0x1p-23))
	// Output:
	// 7.539e-06  99.93 %
	// 1.508e-05  99.93 %
}

func ExampleMeanIndependent_Theta() {
	fmt.Printf("%.3f\n", roundoff.MeanIndependent{Lambda: 3}.Theta(1000, 0x1p-10))
	// Output:
	// 0.098
}

func ExampleMeanIndependent_Failure() {
	fmt.Println(roundoff.MeanIndependent{Lambda: 3}.Failure(1000, 0x1p-10))
	// Output:
	// 97.78 %
}

func ExampleMeanIndependentLambda() {
	fmt.Printf("%.3f\n", roundoff.MeanIndependentLambda(roundoff.FailureOf(0.99), 1))
	// Output:
	// 3.255
}

// For a sum with a million roundings, Chebyshev's inequality gives the smaller
// bound at 90 %, Azuma's at 99.9 %.
func ExampleChebyshev() {
	const n, u = 1000000, 0x1p-23
	for _, p := range []float64{0.9, 0.99, 0.999} {
		f := roundoff.FailureOf(p)
		m := roundoff.MeanIndependent{Lambda: roundoff.MeanIndependentLambda(f, n)}
		fmt.Printf("%v  %.2e  %.2e\n", f, roundoff.Chebyshev(n, u, f), m.Theta(n, u))
	}
	// Output:
	// 90 %  3.77e-04  6.91e-04
	// 99 %  1.19e-03  7.37e-04
	// 99.9 %  3.77e-03  7.81e-04
}

// Sums of 32768 terms, sequential and pairwise.
func ExampleTree() {
	f := roundoff.FailureOf(0.99)
	for _, h := range []int{32767, roundoff.PairwiseHeight(32768)} {
		fmt.Printf("%5d  %.2e\n", h, roundoff.Tree(float64(h), h, 32767, 0x1p-24, f))
	}
	// Output:
	// 32767  3.74e-05
	//    15  7.99e-07
}

func ExamplePairwiseHeight() {
	fmt.Println(roundoff.PairwiseHeight(1), roundoff.PairwiseHeight(1000), roundoff.PairwiseHeight(1024))
	// Output:
	// 0 10 10
}

// "As if computed in twice the working precision."
func ExampleCompensatedSum() {
	fmt.Printf("%.2e\n", roundoff.CompensatedSum(1000, 0x1p-24))
	// Output:
	// 6.32e-08
}

// The products are of numbers from U(-1, 1), then from U(0, 1). The bound is
// divided by K E|p|.
func ExampleRandomData() {
	for _, μ := range []float64{0, 0.25} {
		for _, K := range []int{256, 4096, 65536} {
			e, λ := roundoff.RandomData(K, 0x1p-24, μ, 1, roundoff.FailureOf(0.99))
			fmt.Printf("%.2f  %5d  %.2f  %.1e\n", μ, K, λ, e/(float64(K)*0.25))
		}
	}
	// Output:
	// 0.00    256  4.66  5.2e-06
	// 0.00   4096  5.22  6.5e-06
	// 0.00  65536  5.73  7.8e-06
	// 0.25    256  4.66  9.6e-06
	// 0.25   4096  5.22  2.6e-05
	// 0.25  65536  5.73  9.5e-05
}

func ExampleRandomDataSharp() {
	for _, K := range []int{256, 4096, 65536} {
		e, _ := roundoff.RandomDataSharp(K, 0x1p-24, 0, 1.0/9, 1, roundoff.FailureOf(0.99))
		fmt.Printf("%5d  %.1e\n", K, e/(float64(K)*0.25))
	}
	// Output:
	//   256  1.1e-06
	//  4096  1.1e-06
	// 65536  1.2e-06
}

func ExampleParseConfidence() {
	for _, s := range []string{"0.99", "1-1e-400", "1"} {
		fmt.Println(roundoff.ParseConfidence(s))
	}
	// Output:
	// 99 % <nil>
	// 1 - 1e-400 <nil>
	// vacuous roundoff: confidence "1", want a number between 0 and 1, as 0.99 or 1-1e-400
}

// A sum of 100 independent numbers uniform on [0, 1] has mean 50, and is below
// 33.7 with probability at most 10⁻⁶.
func ExampleLeastSum() {
	fmt.Printf("%.1f\n", roundoff.LeastSum(100, 1./2, 1./3, roundoff.FailureOf(1-1e-6)))
	// Output:
	// 33.7
}

// Two named events share a probability of failure of 1 %.
func ExampleFailure_Account() {
	account := roundoff.FailureOf(0.99).Account(map[string]float64{"sizes": 1. / 4, "errors": 3. / 4})
	fmt.Println(account.Spend("sizes"), account.Spend("errors"))
	// Output:
	// 99.75 % 99.25 %
}

// A share cannot be spent twice.
func ExampleAccount_Spend() {
	account := roundoff.FailureOf(0.99).Account(map[string]float64{"sizes": 1})
	fmt.Println(account.Spend("sizes"))
	defer func() { fmt.Println(recover()) }()
	account.Spend("sizes")
	// Output:
	// 99 %
	// roundoff: the share of the failure for "sizes" is spent
}

func ExampleAccount_Unspent() {
	account := roundoff.FailureOf(0.99).Account(map[string]float64{"sizes": 1. / 4, "errors": 3. / 4})
	account.Spend("errors")
	fmt.Println(account.Unspent())
	// Output:
	// [sizes]
}

// For a confidence of 99 % in a thousand outputs together, each output needs a
// higher one.
func ExampleFailure_Split() {
	fmt.Println(roundoff.FailureOf(0.99).Split(1000))
	// Output:
	// 1 - 1e-5
}

// The factor √(2 log(2/ζ)) of Azuma's and of Hoeffding's inequality is 3.26 at
// 99 %.
func ExampleFailure_TwoSidedLog() {
	fmt.Printf("%.2f\n", math.Sqrt(2*roundoff.FailureOf(0.99).TwoSidedLog()))
	// Output:
	// 3.26
}
