package roundoff_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// The matrix multiplication of the paper's section 4.2: fp16 inputs, fp32
// accumulation.
var gemm = roundoff.GEMM{M: 1024, K: 32768, N: 8, Block: 4, Roundoffs: roundoff.TensorCoreF32}

// Deterministic and probabilistic bounds for a matrix product on tensor cores.
// "The VIBEA bounds are tighter than the DBEA bounds by nearly an order of
// magnitude."
func Example() {
	λ := gemm.Lambda(roundoff.FailureOf(0.99), roundoff.Printed)
	dbea := gemm.Zeta(roundoff.DBEA)
	vibea := gemm.Zeta(roundoff.VIBEA{Lambda: λ})
	fmt.Printf("lambda  %.5f\n", λ)
	fmt.Printf("DBEA    %.3e\n", dbea)
	fmt.Printf("VIBEA   %.3e\n", vibea)
	fmt.Printf("ratio   %.1f\n", dbea/vibea)
	// Output:
	// lambda  11.38502
	// DBEA    2.446e-03
	// VIBEA   1.843e-04
	// ratio   13.3
}

// "u = β^(1-p)/2".
func ExampleUnitRoundoff() {
	for _, p := range []int{8, 11, 24, 53} {
		fmt.Printf("p = %2d  u = %.3e\n", p, roundoff.UnitRoundoff(p))
	}
	// Output:
	// p =  8  u = 3.906e-03
	// p = 11  u = 4.883e-04
	// p = 24  u = 5.960e-08
	// p = 53  u = 1.110e-16
}

// "If |δ_i| <= u and nu < 1, then |θ_n| <= γ_n = nu/(1-nu)."
func ExampleGamma() {
	u := roundoff.UnitRoundoff(11)
	for _, n := range []int{2, 1024, 2047, 2048} {
		fmt.Printf("%4d  %.4g\n", n, roundoff.Gamma(n, u))
	}
	// Output:
	//    2  0.0009775
	// 1024  1
	// 2047  2047
	// 2048  +Inf
}

// Unrestricted is finite where γ_n, which requires nu < 1, is +Inf.
func ExampleUnrestricted() {
	u := roundoff.UnitRoundoff(24)
	for _, n := range []int{32767, 1 << 24, 1 << 25} {
		fmt.Printf("%8d  %9.4g  %9.4g\n", n, roundoff.Gamma(n, u), roundoff.Unrestricted(n, u))
	}
	// Output:
	//    32767   0.001957   0.001955
	// 16777216       +Inf      1.718
	// 33554432       +Inf      6.389
}

// Compound beside Unrestricted: without reciprocals the bound is smaller. It is
// 0 for n = 0.
func ExampleCompound() {
	u := roundoff.UnitRoundoff(8)
	for _, n := range []int{0, 1, 100, 1000} {
		fmt.Printf("%4d  %.4g  %.4g\n", n, roundoff.Compound(n, u), roundoff.Unrestricted(n, u))
	}
	// Output:
	//    0  0  0
	//    1  0.003906  0.003922
	//  100  0.4768  0.479
	// 1000  48.34  49.09
}

// Two products multiplied together are one longer product: γ_j + γ_k + γ_jγ_k
// <= γ_(j+k).
func ExampleCompose() {
	u := roundoff.UnitRoundoff(11)
	fmt.Printf("%.6f\n", roundoff.Compose(roundoff.Gamma(3, u), roundoff.Gamma(5, u)))
	fmt.Printf("%.6f\n", roundoff.Gamma(8, u))
	// Output:
	// 0.003918
	// 0.003922
}

func ExampleLogMean() {
	u := roundoff.UnitRoundoff(24)
	fmt.Printf("%.5e  %.5e\n", roundoff.LogMean(u), -u*u/6)
	// Output:
	// -5.92119e-16  -5.92119e-16
}

// The variance of log(1+δ), for δ "distributed uniformly as U[-u, u]".
func ExampleLogVariance() {
	for _, p := range []int{11, 24, 53} {
		u := roundoff.UnitRoundoff(p)
		fmt.Printf("%2d  %.5e\n", p, roundoff.LogVariance(u))
	}
	// Output:
	// 11  7.94729e-08
	// 24  1.18424e-15
	// 53  4.10865e-33
}

// The printed formula of Lemma 2 loses all its digits to cancellation as u
// decreases.
func ExampleLogVariancePrinted() {
	for _, p := range []int{11, 24, 53} {
		u := roundoff.UnitRoundoff(p)
		ratio := roundoff.LogVariancePrinted(u) / roundoff.LogVariance(u)
		fmt.Printf("%2d  off by a factor of %.4g\n", p, ratio)
	}
	// Output:
	// 11  off by a factor of 1
	// 24  off by a factor of 0.9375
	// 53  off by a factor of 1.825e+32
}

// "|θ̃_n| <= γ̃_n(λ)", a constant that grows like √n.
func ExampleGammaTilde() {
	u := roundoff.UnitRoundoff(24)
	for _, n := range []int{100, 10000, 1000000} {
		fmt.Printf("%7d  %.3e  %.3e\n", n, roundoff.Gamma(n, u), roundoff.GammaTilde(n, u, 4))
	}
	// Output:
	//     100  5.961e-06  2.384e-06
	//   10000  5.964e-04  2.384e-05
	// 1000000  6.338e-02  2.385e-04
}

// In half precision the first-order constant is smaller than the constant that
// the lemma proves.
func ExampleGammaTildeLinear() {
	u := roundoff.UnitRoundoff(11)
	fmt.Printf("linear    %.4f\n", roundoff.GammaTildeLinear(32768, u, 4))
	fmt.Printf("rigorous  %.4f\n", roundoff.GammaTilde(32768, u, 4))
	// Output:
	// linear    0.3536
	// rigorous  0.4353
}

// The exact mean of log(1+δ) gives a smaller constant that is still a bound.
func ExampleGammaTildeMoment() {
	u := roundoff.UnitRoundoff(11)
	fmt.Printf("%.4f\n", roundoff.GammaTildeMoment(32768, u, 4))
	// Output:
	// 0.4260
}

func ExampleFailureOf() {
	f := roundoff.FailureOf(0.99)
	fmt.Printf("%.4f  %v\n", float64(f), f)
	// Output:
	// -4.6052  99 %
}

func ExampleFailure() {
	fmt.Println(roundoff.FailureOf(0.99))
	fmt.Println(roundoff.Failure(-38))
	fmt.Println(roundoff.Failure(0.1))
	fmt.Println(roundoff.Never)
	// Output:
	// 99 %
	// 1 - 3.1e-17
	// vacuous
	// always
}

func ExampleFailure_Confidence() {
	p, ok := roundoff.FailureOf(0.99).Times(10).Confidence()
	fmt.Printf("%.2f %v\n", p, ok)
	p, ok = roundoff.FailureOf(0.99).Times(100).Confidence()
	fmt.Println(p, ok)
	// Output:
	// 0.90 true
	// NaN false
}

func ExampleFailure_Vacuous() {
	fmt.Println(roundoff.VIBEAFailure(1, 0x1p-24, 1).Vacuous())
	fmt.Println(roundoff.VIBEAFailure(0.9, 0x1p-24, 1).Vacuous())
	// Output:
	// false
	// true
}

func ExampleFailure_String() {
	fmt.Println(roundoff.FailureOf(0.98754).String())
	// Output:
	// 98.75 %
}

// Ten bounds, each of which holds with probability 99.9 %.
func ExampleFailure_Times() {
	fmt.Println(roundoff.FailureOf(0.999).Times(10))
	// Output:
	// 99 %
}

func ExampleFailure_Plus() {
	fmt.Println(roundoff.FailureOf(0.99).Plus(roundoff.FailureOf(0.9)))
	// Output:
	// 89 %
}

// "... with probability at least P_B(λ, u, n)."
func ExampleVIBEAFailure() {
	u := roundoff.UnitRoundoff(24)
	for _, λ := range []float64{0.5, 2, 4, 8} {
		fmt.Printf("%.1f  %v\n", λ, roundoff.VIBEAFailure(λ, u, 32768))
	}
	// Output:
	// 0.5  vacuous
	// 2.0  99.47 %
	// 4.0  1 - 1.3e-10
	// 8.0  1 - 2.4e-40
}

// The λ of one product of n = 1, 2, 100 and very many factors.
func ExampleLambda() {
	u := roundoff.UnitRoundoff(24)
	for _, p := range []float64{0.90, 0.95, 0.99} {
		fmt.Printf("%.2f", p)
		for _, n := range []int{1, 2, 100, 1 << 40} {
			fmt.Printf("  %.3f", roundoff.Lambda(roundoff.FailureOf(p), u, n))
		}
		fmt.Println()
	}
	// Output:
	// 0.90  2.729  2.286  1.517  1.413
	// 0.95  3.222  2.663  1.696  1.568
	// 0.99  4.345  3.505  2.064  1.879
}

// The last probability of failure, e^-2000, underflows in float64.
func ExampleLambda_rare() {
	u := roundoff.UnitRoundoff(24)
	for _, f := range []roundoff.Failure{roundoff.FailureOf(0.99), -100, -2000} {
		fmt.Printf("%v  %.3f\n", f, roundoff.Lambda(f, u, 100))
	}
	// Output:
	// 99 %  2.064
	// 1 - 3.7e-44  12.211
	// 1 - 2.6e-869  142.725
}

func ExampleHighamMaryFailure() {
	fmt.Println(roundoff.HighamMaryFailure(4, 0x1p-24))
	// Output:
	// 99.93 %
}

func ExampleHighamMaryLambda() {
	u := roundoff.UnitRoundoff(24)
	for _, p := range []float64{0.90, 0.95, 0.99} {
		fmt.Printf("%.2f  %.3f\n", p, roundoff.HighamMaryLambda(roundoff.FailureOf(p), u, 1))
	}
	// Output:
	// 0.90  2.448
	// 0.95  2.716
	// 0.99  3.255
}

// Four analyses of one product of 1000 factors at u = 2^-11.
func ExampleAnalysis() {
	u := roundoff.UnitRoundoff(11)
	for _, an := range []roundoff.Analysis{
		roundoff.DBEA,
		roundoff.Unconditional,
		roundoff.HighamMary{Lambda: roundoff.HighamMaryLambda(roundoff.FailureOf(0.99), u, 1)},
		roundoff.VIBEA{Lambda: roundoff.Lambda(roundoff.FailureOf(0.99), u, 1000)},
	} {
		fmt.Printf("%.4f  %v\n", an.Theta(1000, u), an.Failure(1000, u))
	}
	// Output:
	// 0.9542  always
	// 0.6297  always
	// 0.0518  99 %
	// 0.0306  99 %
}

func ExampleVIBEA() {
	v := roundoff.VIBEA{Lambda: 4}
	fmt.Printf("%.3e  %v\n", v.Theta(1000, 0x1p-24), v.Failure(1000, 0x1p-24))
	// Output:
	// 7.539e-06  1 - 1.1e-9
}

func ExampleHighamMary() {
	h := roundoff.HighamMary{Lambda: 4}
	fmt.Printf("%.3e  %v\n", h.Theta(1000, 0x1p-24), h.Failure(1000, 0x1p-24))
	// Output:
	// 7.539e-06  99.93 %
}

// The three forms of γ̃_n(λ), at n = 100, u = 1/16 and λ = 2.
func ExampleForm() {
	for _, form := range []roundoff.Form{roundoff.Rigorous, roundoff.Linear, roundoff.Moment} {
		fmt.Printf("%.3f\n", roundoff.VIBEA{Lambda: 2, Form: form}.Theta(100, 1.0/16))
	}
	// Output:
	// 4.294
	// 1.250
	// 2.725
}

// "For a, b and c distributed uniformly as U[1, 2]": the largest bounds, at a =
// b = 2, c = 1. "DBEA results in tighter estimates than VIBEA in the case of
// without FMA and MPFMA."
func ExampleMACBound() {
	tc := roundoff.TensorCoreF32
	mac := roundoff.VIBEA{Lambda: roundoff.Lambda(roundoff.FailureOf(0.99), tc.High, 2)}
	mpfma := roundoff.VIBEA{Lambda: roundoff.Lambda(roundoff.FailureOf(0.99), tc.Low, 2)}
	row := func(name string, d, v roundoff.MACBound) {
		fmt.Printf("%-6s %.3e  %.3e  %v\n", name, d.Relative(2, 2, 1), v.Relative(2, 2, 1), v.Failure)
	}
	row("MAC", roundoff.MAC(tc.High, roundoff.DBEA), roundoff.MAC(tc.High, mac))
	row("FMA", roundoff.FMA(tc.High), roundoff.FMA(tc.High))
	row("MPFMA", roundoff.MPFMARepresented(tc, roundoff.DBEA), roundoff.MPFMARepresented(tc, mpfma))
	// Output:
	// MAC    1.073e-07  2.483e-07  99 %
	// FMA    5.960e-08  5.960e-08  always
	// MPFMA  7.821e-04  1.940e-03  99 %
}

// Cancellation in ab + c magnifies the bound.
func ExampleMACBound_Relative() {
	fma := roundoff.FMA(roundoff.UnitRoundoff(24))
	for _, c := range []float64{1, -0.999, -1} {
		fmt.Printf("%6.3f  %.3g\n", c, fma.Relative(1, 1, c))
	}
	// Output:
	//  1.000  5.96e-08
	// -0.999  0.000119
	// -1.000  +Inf
}

// The table "Unit roundoff for Tensor Cores".
func ExampleRoundoffs() {
	for _, r := range []roundoff.Roundoffs{roundoff.TensorCoreF32, roundoff.TensorCoreF16} {
		for _, u := range []float64{r.Low, r.High, r.Product, r.Accumulate, r.Output} {
			fmt.Printf("  2^%v", math.Log2(u))
		}
		fmt.Println()
	}
	// Output:
	//   2^-11  2^-24  2^-24  2^-24  2^-24
	//   2^-11  2^-11  2^-24  2^-11  2^-11
}

func printMAC(m roundoff.MACBound) {
	fmt.Printf("%.3e |ab| + %.3e |c|, %v\n", m.Product, m.Addend, m.Failure)
}

// The product and then the sum is rounded.
func ExampleMAC() {
	printMAC(roundoff.MAC(0x1p-24, roundoff.DBEA))
	printMAC(roundoff.MAC(0x1p-24, roundoff.VIBEA{Lambda: 4}))
	// Output:
	// 1.192e-07 |ab| + 5.960e-08 |c|, always
	// 3.372e-07 |ab| + 5.960e-08 |c|, 99.62 %
}

// "DBEA and VIBEA result in the same backward error bound, which always holds."
func ExampleFMA() {
	printMAC(roundoff.FMA(0x1p-24))
	// Output:
	// 5.960e-08 |ab| + 5.960e-08 |c|, always
}

// "(u + γ_2 + uγ_2) |a||b| + (2u + u²) |c|".
func ExampleFMARepresented() {
	printMAC(roundoff.FMARepresented(0x1p-24, roundoff.DBEA))
	printMAC(roundoff.FMARepresented(0x1p-24, roundoff.VIBEA{Lambda: 4}))
	// Output:
	// 1.788e-07 |ab| + 1.192e-07 |c|, always
	// 3.968e-07 |ab| + 1.192e-07 |c|, 99.62 %
}

// "ζ = ū + u_FMA + ū u_FMA".
func ExampleMPFMA() {
	printMAC(roundoff.MPFMA(roundoff.TensorCoreF32))
	// Output:
	// 1.192e-07 |ab| + 1.192e-07 |c|, always
}

// "... there is only a single rounding operation."
func ExampleMPFMASpecial() {
	printMAC(roundoff.MPFMASpecial(roundoff.TensorCoreF32.High))
	// Output:
	// 5.960e-08 |ab| + 5.960e-08 |c|, always
}

// "[γ_2 + ζ(1 + γ_2)] |a||b| + [u_high + ζ(1 + u_high)] |c|".
func ExampleMPFMARepresented() {
	printMAC(roundoff.MPFMARepresented(roundoff.TensorCoreF32, roundoff.DBEA))
	printMAC(roundoff.MPFMARepresented(roundoff.TensorCoreF32, roundoff.VIBEA{Lambda: 4}))
	// Output:
	// 9.776e-04 |ab| + 1.788e-07 |c|, always
	// 2.767e-03 |ab| + 1.788e-07 |c|, 99.62 %
}

// The accumulator c is already an fp32 number.
func ExampleMPFMARepresentedInputs() {
	printMAC(roundoff.MPFMARepresentedInputs(roundoff.TensorCoreF32, roundoff.DBEA))
	// Output:
	// 9.776e-04 |ab| + 1.192e-07 |c|, always
}

// A device with row 1 of the paper's Table 2 rounds once, not twice.
func ExampleMPFMASpecialRepresented() {
	printMAC(roundoff.MPFMARepresented(roundoff.TensorCoreF32, roundoff.DBEA))
	printMAC(roundoff.MPFMASpecialRepresented(roundoff.TensorCoreF32, roundoff.DBEA))
	// Output:
	// 9.776e-04 |ab| + 1.788e-07 |c|, always
	// 9.776e-04 |ab| + 1.192e-07 |c|, always
}

// Row 1 of the paper's Table 2, with an accumulator c that is already an fp32
// number.
func ExampleMPFMASpecialRepresentedInputs() {
	printMAC(roundoff.MPFMARepresentedInputs(roundoff.TensorCoreF32, roundoff.DBEA))
	printMAC(roundoff.MPFMASpecialRepresentedInputs(roundoff.TensorCoreF32, roundoff.DBEA))
	// Output:
	// 9.776e-04 |ab| + 1.192e-07 |c|, always
	// 9.776e-04 |ab| + 5.960e-08 |c|, always
}

func ExampleGEMM() {
	fmt.Println(gemm.Blocks(), "blocks,", gemm.Outputs(), "outputs")
	// Output:
	// 8192 blocks, 8192 outputs
}

func ExampleGEMM_Blocks() {
	fmt.Println(roundoff.GEMM{M: 1, N: 1, K: 64, Block: 16, Roundoffs: roundoff.TensorCoreF32}.Blocks())
	// Output:
	// 4
}

func ExampleGEMM_Outputs() {
	fmt.Println(gemm.Outputs())
	// Output:
	// 8192
}

// The constant of the deterministic theorem, of the probabilistic one, and by
// the analysis of Higham and Mary.
func ExampleGEMM_Zeta() {
	λ := gemm.Lambda(roundoff.FailureOf(0.99), roundoff.Printed)
	fmt.Printf("%.3e\n", gemm.Zeta(roundoff.DBEA))
	fmt.Printf("%.3e\n", gemm.Zeta(roundoff.VIBEA{Lambda: λ}))
	fmt.Printf("%.3e\n", gemm.Zeta(roundoff.HighamMary{Lambda: gemm.HighamMaryLambda(roundoff.FailureOf(0.99))}))
	// Output:
	// 2.446e-03
	// 1.843e-04
	// 1.154e-04
}

// Storing an fp32 sum in fp32 is exact.
func ExampleGEMM_ZetaSharp() {
	fmt.Printf("%.3e\n", gemm.Zeta(roundoff.DBEA))
	fmt.Printf("%.3e\n", gemm.ZetaSharp(roundoff.DBEA))
	// Output:
	// 2.446e-03
	// 1.957e-03
}

// "... we must account for the initial change in precision."
func ExampleGEMM_ZetaRepresented() {
	λ := gemm.Lambda(roundoff.FailureOf(0.99), roundoff.Printed)
	fmt.Printf("%.3e\n", gemm.ZetaRepresented(roundoff.DBEA))
	fmt.Printf("%.3e\n", gemm.ZetaRepresented(roundoff.VIBEA{Lambda: λ}))
	// Output:
	// 3.426e-03
	// 1.161e-03
}

// The constants include the rounding of the inputs; the second counts only the
// roundings that occur.
func ExampleGEMM_ZetaSharpRepresented() {
	fmt.Printf("%.3e\n", gemm.ZetaRepresented(roundoff.DBEA))
	fmt.Printf("%.3e\n", gemm.ZetaSharpRepresented(roundoff.DBEA))
	// Output:
	// 3.426e-03
	// 2.936e-03
}

// The λ of Higham and Mary for all events of the theorem, and for its distinct
// events only.
func ExampleGEMM_Events() {
	f := roundoff.FailureOf(0.99)
	for _, union := range []roundoff.Union{roundoff.Corrected, roundoff.Deduplicated} {
		n := gemm.Events(union)
		fmt.Printf("%.0f events  %.3f\n", n, roundoff.HighamMaryLambda(f, gemm.Accumulate, n))
	}
	// Output:
	// 536870912 events  7.127
	// 268427264 events  7.029
}

// "... holds with a probability of at least ..."
func ExampleGEMM_Failure() {
	for _, λ := range []float64{8, 9, 10, 11, 12} {
		fmt.Printf("%2.0f  %v\n", λ, gemm.Failure(roundoff.VIBEA{Lambda: λ}, roundoff.Corrected))
	}
	// Output:
	//  8  vacuous
	//  9  56.09 %
	// 10  90.13 %
	// 11  97.78 %
	// 12  99.5 %
}

func ExampleGEMM_Lambda() {
	fmt.Printf("%.5f\n", gemm.Lambda(roundoff.FailureOf(0.99), roundoff.Printed))
	fmt.Printf("%.5f\n", gemm.Lambda(roundoff.FailureOf(0.99), roundoff.Corrected))
	// Output:
	// 11.38502
	// 11.53456
}

func ExampleGEMM_HighamMaryLambda() {
	fmt.Printf("%.3f\n", gemm.HighamMaryLambda(roundoff.FailureOf(0.99)))
	// Output:
	// 7.127
}

// The λ that the printed theorem gives for 99 % has a confidence of only 98.75
// %.
func ExampleUnion() {
	an := roundoff.VIBEA{Lambda: gemm.Lambda(roundoff.FailureOf(0.99), roundoff.Printed)}
	fmt.Println(gemm.Failure(an, roundoff.Printed))
	fmt.Println(gemm.Failure(an, roundoff.Corrected))
	// Output:
	// 99 %
	// 98.75 %
}
