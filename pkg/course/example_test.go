package course_test

import (
	"fmt"
	"math"
	"math/big"

	"github.com/roundofflab/roundoff/pkg/course"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Examples of checks show the message for a wrong answer. The right answers are
// left to the students.

// said prints the beginning of the message with which a check panics.
func said(check func()) {
	defer func() { fmt.Printf("%.90v\n", recover()) }()
	check()
}

// another is a chart of other data.
func another() *viz.Chart {
	c := viz.NewChart("another", "Another.", "")
	c.Panel("", viz.Axis{}, viz.Axis{}).EDF(viz.Series{Label: "another"}, []float64{1, 2})
	return c
}

// unperturbed returns zero perturbations.
func unperturbed(tcore.Format, float64, float64, float64) (first, second *big.Rat) {
	return new(big.Rat), new(big.Rat)
}

// An answer that is the spacing at 1, twice the unit roundoff, is wrong.
func ExampleCheckUnitRoundoff() {
	said(func() { course.CheckUnitRoundoff(func(p int) float64 { return math.Ldexp(1, 1-p) }) })
	// Output: course: UnitRoundoff(1) = 1, want 0.5
}

// An answer that assumes that every integer is a number of the format is wrong.
func ExampleCheckFirstGap() {
	said(func() { course.CheckFirstGap(func(tcore.Format) float64 { return math.Inf(1) }) })
	// Output: course: FirstGap of a format with p=1 = +Inf, want 3
}

// The spacing at 1 is not the spacing everywhere.
func ExampleCheckUlp() {
	said(func() { course.CheckUlp(func(f tcore.Format, _ float64) float64 { return 2 * f.UnitRoundoff() }, 1) })
	// Output: course: Ulp(e5m2, 1.52587890625e-05) = 0.25, want 1.52587890625e-05
}

// Returning x unchanged is not rounding.
func ExampleCheckRoundNormal() {
	said(func() { course.CheckRoundNormal(func(_ tcore.Format, x float64) float64 { return x }, 1) })
	// Output: course: Round(e5m2, 1.2384231908738745) = 1.2384231908738745, want 1.25
}

// Ties are rounded to even, not toward 0.
func ExampleCheckRoundTies() {
	said(func() {
		course.CheckRoundTies(func(f tcore.Format, x float64) float64 { return f.Round(x, tcore.ToZero) }, 1)
	})
	// Output: course: Round(e5m2, 0.04296875) = 0.0390625, want 0.046875
}

// There are nonzero numbers below the least normal number.
func ExampleCheckRoundSubnormal() {
	said(func() { course.CheckRoundSubnormal(func(tcore.Format, float64) float64 { return 0 }, 1) })
	// Output: course: Round(e5m2, 1.52587890625e-05) = 0, want 1.52587890625e-05
}

// A number that is too large does not always round to the greatest number.
func ExampleCheckRoundOverflow() {
	said(func() {
		course.CheckRoundOverflow(func(f tcore.Format, x float64) float64 { return math.Copysign(f.Max(), x) })
	})
	// Output: course: Round(e5m2, 61440) = 57344, want +Inf
}

// 1 is a number of every format and has no rounding error.
func ExampleCheckWorst() {
	said(func() { course.CheckWorst(func(tcore.Format) float64 { return 1 }) })
	// Output: course: Worst(binary32) = 1, whose error is 0 u; there is a larger one
}

// For most numbers double rounding makes no difference.
func ExampleCheckDoubleRounding() {
	said(func() { course.CheckDoubleRounding(func(narrow, wide tcore.Format) float64 { return 1 }) })
	// Output: course: DoubleRounding(e5m2, binary16) = 1, which becomes 1 either way
}

// A chart without the series that were asked for.
func ExampleCheckSpacing() {
	said(func() { course.CheckSpacing(another) })
	// Output: viz: x axis: label is empty
}

// The error of a sum is not always 0.
func ExampleCheckTwoSum() {
	said(func() {
		course.CheckTwoSum(func(add course.Add, a, b float64) (s, e float64) { return add(a, b), 0 }, 1)
	})
	// Output: course: TwoSum(add, 1, 0.00048828125) = 1, 0, which do not add up to a + b
}

// The first number is not the sum.
func ExampleCheckRecursive() {
	said(func() { course.CheckRecursive(func(_ course.Add, x []float64) float64 { return x[0] }, 1) })
	// Output: course: Recursive(add, [-0.0210723876953125 0.58056640625]) calls add 0 times, too few
}

// The first number is not the sum.
func ExampleCheckPairwise() {
	said(func() { course.CheckPairwise(func(_ course.Add, x []float64) float64 { return x[0] }, 1) })
	// Output: course: Pairwise(add, [-0.0210723876953125 0.58056640625]) calls add 0 times, too few
}

// The first number is not the sum.
func ExampleCheckBlocked() {
	said(func() { course.CheckBlocked(func(_ course.Add, b int, x []float64) float64 { return x[0] }, 1) })
	// Output: course: Blocked(add, 1, [-0.0210723876953125 0.58056640625]) calls add 0 times, too few
}

// The first number is not the sum.
func ExampleCheckCompensated() {
	said(func() { course.CheckCompensated(func(_ course.Add, x []float64) float64 { return x[0] }, 1) })
	// Output: course: Compensated(add, [-0.0210723876953125 0.58056640625]) calls add 0 times, too few
}

// One rounding is not all that a sum errs by.
func ExampleCheckRecursiveConstant() {
	said(func() { course.CheckRecursiveConstant(func(n int, u float64) float64 { return u }) })
	// Output: course: RecursiveConstant(2, 5.960464477539063e-08) = 5.960464477539063e-08, want 5.960464
}

// One rounding is not all that a sum errs by.
func ExampleCheckPairwiseConstant() {
	said(func() { course.CheckPairwiseConstant(func(n int, u float64) float64 { return u }) })
	// Output: course: PairwiseConstant(2, 5.960464477539063e-08) = 5.960464477539063e-08, want 5.9604648
}

// One rounding is not all that a sum errs by.
func ExampleCheckBlockedConstant() {
	said(func() { course.CheckBlockedConstant(func(n, b int, u float64) float64 { return u }) })
	// Output: course: BlockedConstant(2, 1, 5.960464477539063e-08) = 5.960464477539063e-08, want 5.96046
}

// One rounding is not all that a sum errs by.
func ExampleCheckProbabilisticConstant() {
	said(func() { course.CheckProbabilisticConstant(func(n int, u, confidence float64) float64 { return u }) })
	// Output: course: ProbabilisticConstant(2, 5.960464477539063e-08, 0.5) = 5.960464477539063e-08, want
}

// A computed sum has an error.
func ExampleCheckBackwardError() {
	said(func() { course.CheckBackwardError(func(sum float64, x []float64) float64 { return 0 }, 1) })
	// Output: course: BackwardError(-1, [-2.091796875]) = 0, want 0.5219421101774043
}

// A chart without the series that were asked for.
func ExampleCheckGrowth() {
	said(func() { course.CheckGrowth(another) })
	// Output: viz: x axis: label is empty
}

// The absolute error is not the relative one.
func ExampleCheckRelativeError() {
	said(func() {
		course.CheckRelativeError(func(computed float64, exact *big.Rat) *big.Rat { return new(big.Rat).Sub(course.Rat(computed), exact) }, 1)
	})
	// Output: course: RelativeError(-3.600007105543467, 98/45) = -5.7777848833212451, want -2.6530644872
}

// An FMA has one rounding error.
func ExampleCheckFMADelta() {
	said(func() {
		course.CheckFMADelta(func(tcore.Format, float64, float64, float64) *big.Rat { return new(big.Rat) }, 1)
	})
	// Output: course: FMADelta(binary16, 1.23828125, -1.0498046875, 1.3095703125) = 0, want -0.000396667
}

// Without an FMA there are two rounding errors.
func ExampleCheckMACDeltas() {
	said(func() {
		course.CheckMACDeltas(func(tcore.Format, float64, float64, float64) (d1, d2 *big.Rat) { return new(big.Rat), new(big.Rat) }, 1)
	})
	// Output: course: δ₁ of MACDeltas(binary16, 1.23828125, -1.0498046875, 1.3095703125) = 0, want -0.00
}

// Without perturbations the computed number is not exact.
func ExampleCheckBackwardFMA() {
	said(func() { course.CheckBackwardFMA(unperturbed, 1) })
	// Output: course: BackwardFMA(binary16, 1.23828125, -1.0498046875, 1.3095703125): (a+Δa)b + (c+Δc) =
}

// Without perturbations the computed number is not exact.
func ExampleCheckBackwardMAC() {
	said(func() { course.CheckBackwardMAC(unperturbed, 1) })
	// Output: course: BackwardMAC(binary16, 1.23828125, -1.0498046875, 1.3095703125): (a+Δa)b + (c+Δc) =
}

// Without perturbations the computed number is not exact.
func ExampleCheckBackwardRepresented() {
	said(func() { course.CheckBackwardRepresented(unperturbed, 1) })
	// Output: course: BackwardRepresented(binary16, 1.2384231908738745, -1.0499991118070666, 1.309721511
}

// The result is rounded to its format.
func ExampleCheckMixedFMA() {
	said(func() { course.CheckMixedFMA(func(_ tcore.Format, a, b, c float64) float64 { return a*b + c }, 1) })
	// Output: course: MixedFMA(binary32, 1.2384231908738745, -1.0499991118070666, 1.3097215110418636) =
}

// A bound is not 0.
func ExampleCheckForwardBound() {
	said(func() {
		course.CheckForwardBound(func(roundoff.MACBound, float64, float64, float64) float64 { return 0 }, 1)
	})
	// Output: course: ForwardBound({Product: 0.23842319087387442, Addend: 0.50092138792625}, -0.45000088
}

// In 1 × 1 + 1 nothing cancels.
func ExampleCheckCancellation() {
	said(func() { course.CheckCancellation(func(tcore.Format) (a, b, c float64) { return 1, 1, 1 }) })
	// Output: course: Cancellation(binary16) = 1, 1, 1: two roundings give 2 of 2, which is not wrong by
}

// A chart without the series that were asked for.
func ExampleCheckErrors() {
	said(func() { course.CheckErrors(another) })
	// Output: viz: x axis: label is empty
}

// Of four samples, one is 0 and two are equal.
func ExampleDistribution() {
	fmt.Println(course.Distribution([]float64{2, 0, 1, 2}))
	// Output: [1 2] [0.5 1]
}

// The greatest exponent is not always 0.
func ExampleCheckExponent() {
	said(func() { course.CheckExponent(func(x, y []float64, c float64) int { return 0 }, 1) })
	// Output: course: Exponent([1.5 -9.0859375 0.09149169921875 0.0731201171875 0.045501708984375 0.9062
}

// The result of a truncation is a multiple of the unit.
func ExampleCheckCut() {
	said(func() { course.CheckCut(func(v, unit float64) float64 { return v }, 1) })
	// Output: course: Cut(-6.3861525665558e-05, 0.0625) = -6.3861525665558e-05, want 0
}

// c alone is not the sum of a block.
func ExampleCheckBlock() {
	said(func() { course.CheckBlock(func(x, y []float64, c float64, F int) float64 { return c }, 1) })
	// Output: course: Block([-0.2203369140625 -0.0220184326171875 -21.203125 -0.0419921875], [0.32324218
}

// An inner product is not always 0.
func ExampleCheckDot() {
	said(func() { course.CheckDot(func(x, y []float64, L, F int) float64 { return 0 }, 1) })
	// Output: course: Dot([-0.2203369140625 -0.0220184326171875 -21.203125 -0.0419921875], [0.3232421875
}

// The number of fraction bits differs between devices.
func ExampleCheckFractionBits() {
	said(func() { course.CheckFractionBits(func(func(x, y []float64, c float64) float64) int { return 23 }) })
	// Output: course: FractionBits(turing-mma-binary16-binary32) = 23, want 24
}

// The constant grows with the number of blocks and is not 0.
func ExampleCheckTruncationConstant() {
	said(func() { course.CheckTruncationConstant(func(L, F, q int) float64 { return 0 }) })
	// Output: course: TruncationConstant(1, 13, 1) = 0, want 0.00012218952178955078
}

// One product is exact and violates no bound.
func ExampleCheckViolation() {
	said(func() { course.CheckViolation(func() (x, y []float64) { return []float64{1}, []float64{1} }) })
	// Output: course: Violation(): the error 0 does not exceed 1.94e-07
}

// A chart without the series that were asked for.
func ExampleCheckDrift() {
	said(func() { course.CheckDrift(another) })
	// Output: viz: x axis: label is empty
}

// Without a grader, Answer panics.
func ExampleAnswer() {
	said(func() { course.Answer("CheckUlp", func(f tcore.Format, x float64) float64 { return 0 }) })
	// Output: course: nobody waits for an answer to CheckUlp: ROUNDOFF_EXAMINATION is not set
}

func ExampleRat() {
	fmt.Println(course.Rat(0.75), course.Rat(0.1).Denom().BitLen()-1)
	// Output: 3/4 55
}

func ExampleOperands() {
	a, b, c := course.Operands(2, 1)
	fmt.Println(a, b, c)
	// Output: [1.238423228263855 1.4894630908966064] [1.500921368598938 1.7500168085098267] [1.0499991178512573 1.5725764036178589]
}

func ExampleBinades() {
	x := course.Binades()
	fmt.Println(len(x), x[0], x[len(x)-1])
	// Output: 41 1.3642420526593924e-12 1.649267441664e+12
}

func ExampleAdder() {
	add := course.Adder(tcore.Binary16)
	fmt.Println(add(2048, 1), add(2048, 3))
	// Output: 2048 2052
}

func ExampleUniform() {
	fmt.Println(course.Uniform(tcore.E5M2, 4, 1))
	// Output: [0.25 0.5 0.046875 0.5]
}

func ExampleFused() {
	fmt.Println(course.Fused(4, 20).Name)
	// Output: L=4 F=20
}

func ExampleBackwardDot() {
	fmt.Println(course.BackwardDot(1.5, []float64{1, 1}, []float64{1, 1}))
	// Output: 0.25
}

func ExampleLengths() {
	fmt.Println(course.Lengths())
	// Output: [64 256 1024 4096 16384]
}
