package roundoff_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A million steps of at most 1, each as likely up as down: with 99 %, not more than 3.3 √n.
func ExampleAzuma() {
	fmt.Printf("%.0f\n", roundoff.Azuma(1e6, roundoff.FailureOf(0.99)))
	// Output:
	// 3255
}

// Steps that are uniform on [-1, 1] have the variance 1/3.
func ExampleBernstein() {
	fmt.Printf("%.0f\n", roundoff.Bernstein(1e6/3, 1, roundoff.FailureOf(0.99)))
	// Output:
	// 1881
}

// All outputs of the paper's product at 99 %, if a rounding error is uniform, as rounding leaves
// it, or biased.
func ExampleErrorLaw() {
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

func ExampleErrorLaw_Theta() {
	law := roundoff.UniformErrors(0x1p-11)
	for _, n := range []int{1, 100, 10000} {
		fmt.Printf("%5d  %.2e\n", n, law.Theta(n, roundoff.FailureOf(0.99)))
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

// "a = 1.9, b = 2": a small bias.
func ExampleBetaErrors() {
	law := roundoff.BetaErrors(0x1p-24, 1.9, 2)
	fmt.Printf("%.4f u, %.3f u²\n", law.Mean/0x1p-24, law.Variance/0x1p-48)
	// Output:
	// 0.0256 u, 0.204 u²
}

func ExampleTypicalDensity() {
	for _, x := range []float64{0, 0.5, 0.75, 1} {
		fmt.Printf("%.2f  %.3f\n", x, roundoff.TypicalDensity(x))
	}
	// Output:
	// 0.00  0.750
	// 0.50  0.750
	// 0.75  0.194
	// 1.00  0.000
}

// Where γ_n has no value: 2^25 sums in binary32.
func ExampleSumOfNearest() {
	fmt.Println(roundoff.Gamma(1<<25, 0x1p-24), roundoff.SumOfNearest(1<<25, 0x1p-24))
	// Output:
	// +Inf 2
}

// The paper's product on three tensor cores that truncate.
func ExampleTruncation() {
	volta := roundoff.Truncation{Terms: 4, FractionBits: 23, Unit: 0x1p-24}
	ampere := roundoff.Truncation{Terms: 8, FractionBits: 24, Unit: 0x1p-24}
	hopper := roundoff.Truncation{Terms: 16, FractionBits: 25, Unit: 0x1p-24}
	for _, t := range []roundoff.Truncation{volta, ampere, hopper} {
		fmt.Printf("%.3e\n", t.Zeta(32768/t.Terms))
	}
	// Output:
	// 4.883e-03
	// 2.441e-03
	// 1.221e-03
}

func ExampleTruncation_Step() {
	fmt.Printf("%.3e\n", roundoff.Truncation{Terms: 16, FractionBits: 25, Unit: 0x1p-24}.Step())
	// Output:
	// 5.960e-07
}

func ExampleTruncation_Zeta() {
	t := roundoff.Truncation{Terms: 16, FractionBits: 25, Unit: 0x1p-11, Nearest: true}
	fmt.Printf("%.3f\n", t.Zeta(256))
	// Output:
	// 0.133
}

// A failure that float64 does not hold.
func ExampleHighamMaryLambdaAt() {
	fmt.Printf("%.3f\n", roundoff.HighamMaryLambdaAt(roundoff.FailureOf(0.99), 0x1p-24, 1))
	fmt.Printf("%.3f\n", roundoff.HighamMaryLambdaAt(-2000, 0x1p-24, 1))
	// Output:
	// 3.255
	// 63.257
}
