package truncation_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// The greatest exponent of four products of numbers that are 1 or 2.
func ExampleProductDistribution_MaxExponent() {
	even := []float64{1, 1}
	p := truncation.ValueProducts([]float64{1, 2}, even, []float64{1, 2}, even, -14, -14)
	fmt.Println(p.MaxExponent(4))
	// Output:
	// [0 1 2] [0.00390625 0.3125 0.68359375]
}

func ExamplePairProducts() {
	p := truncation.PairProducts([]float64{1, -2}, []float64{3, 1.5}, -14, -14)
	fmt.Printf("mean %v, of sizes %v, variance %v\n", p.Mean, p.AbsMean, p.Variance)
	// Output:
	// mean 0, of sizes 3, variance 9
}

// Two elements of one factor, each multiplied by three of the other: two
// independent samples, whatever the number of pairs.
func ExampleStarProducts() {
	x, y := []float64{1, 1, 1, 2, 2, 2}, []float64{3, 4, 5, 6, 7, 8}
	p := truncation.StarProducts(x, y, 3, -14, -14)
	p.Samples = 2
	fmt.Println(p.Mean, p.Samples, p.Partners)
	// Output:
	// 9 2 3
}

// The products of two numbers that are 1 or, three times as often, 2.
func ExampleValueProducts() {
	x, p := []float64{1, 2}, []float64{1, 3}
	fmt.Println(truncation.ValueProducts(x, p, x, p, -14, -14).Mean)
	// Output:
	// 3.0625
}

// A sample of data of mean zero has a mean that is not zero, by chance.
func ExampleProductDistribution_Symmetric() {
	p := truncation.PairProducts([]float64{1, -2, 1}, []float64{1, 1, 2}, -14, -14)
	fmt.Printf("%.3f %.3f\n", p.Mean, p.Symmetric().Mean)
	// Output:
	// 0.333 0.000
}

// fourBits returns the losses of products of four numbers of 4 bits when 6 bits
// are kept.
func fourBits() *truncation.Losses {
	even := []float64{1, 1, 1, 1}
	x := []float64{1.125, 1.5, 0.5625, 0.6875}
	return truncation.ValueProducts(x, even, x, even, -6, -6).Losses(6)
}

// Blocks of two products are aligned to 1. If a product has set the exponent,
// it has lost nothing, and the other one is smaller.
func ExampleLossesAt_Block() {
	l := fourBits().At(0, 0)
	for _, set := range []bool{false, true} {
		b := l.Block(2, set)
		fmt.Printf("%-5v  mean %.5f, deviation %.5f\n", set, b.Mean, math.Sqrt(b.Variance))
	}
	// Output:
	// false  mean 0.00781, deviation 0.00618
	// true   mean 0.00446, deviation 0.00568
}

// The moment generating function of what 64 products lose, aligned to 1,
// and Bennett's inequality for it.
func ExampleLossesAt_LogMoment() {
	l := fourBits().At(0, 0)
	b := l.Block(64, false)
	var c truncation.Cumulant
	c.Add(b.Variance, b.Largest)
	for _, θ := range []float64{20, 80} {
		fmt.Printf("%.2f %.2f\n", l.LogMoment(θ, 64, false), θ*b.Mean+c.At(θ))
	}
	// Output:
	// 5.25 5.28
	// 24.09 27.07
}

// What one in a hundred outputs loses, at most, if log E e^(θ loss) is at most
// θ + θ²/2.
func ExampleMixtureTail() {
	one, three := []float64{3}, []float64{2, 3, 4}
	fmt.Printf("%.2f %.2f\n", truncation.MixtureTail(one, []float64{7.5}, roundoff.FailureOf(0.99)),
		truncation.MixtureTail(three, []float64{4, 7.5, 12}, roundoff.FailureOf(0.99)))
	// Output:
	// 4.04 4.13
}

// If all products have the same sign, the bound given their signs is that of a
// block.
func ExampleLossesAt_Signed() {
	l := fourBits().At(0, 0)
	fmt.Printf("%.5f %.5f\n", l.Signed(2, 0, true).Mean, l.Block(2, true).Mean)
	// Output:
	// 0.00446 0.00446
}

// The smaller a product is, the more bits it loses. A product of the exponent
// of the alignment loses nothing.
func ExampleLossesAt_Term() {
	one := []float64{1, 1}
	l := truncation.ValueProducts([]float64{1.25, 2.5}, one, []float64{1.25}, []float64{1}, -6, -6).Losses(4).At(2, 0)
	fmt.Println(l.Term(0, false).Mean, l.Term(1, false).Mean, l.Term(2, false).Mean)
	// Output:
	// 0.0625 0.125 0
}

// The mean loss of a block: estimated from 300 pairs, with 99 % confidence, and
// exact if the distribution is known.
func ExampleLosses_At() {
	p := truncation.ValueProducts([]float64{1.125, 1.75}, []float64{1, 1}, []float64{1.25, 1.5}, []float64{1, 1}, -6, -6)
	for _, p.Samples = range []float64{300, math.Inf(1)} {
		b := p.Losses(4).At(3, roundoff.FailureOf(0.99)).Block(8, false)
		fmt.Printf("%.3f ± %.3f\n", b.Mean, b.Error+b.Slack)
	}
	// Output:
	// 1.812 ± 0.403
	// 1.812 ± 0.000
}

// A [truncation.Cumulant] combines the bounds on several blocks.
func ExampleLossBound() {
	var c truncation.Cumulant
	mean := 0.0
	for E := range 4 {
		b := fourBits().At(E, 0).Block(2, false)
		mean += b.Mean
		c.Add(b.Variance, b.Largest)
	}
	fmt.Printf("%.3f ± %.3f\n", mean, c.Tail(1, 100, roundoff.FailureOf(0.99)))
	// Output:
	// 0.135 ± 0.527
}

// The mean loss of a symmetric distribution is 0.
func ExampleLosses_Symmetric() {
	l := fourBits()
	fmt.Printf("%.4f %.4f\n", l.At(1, 0).Block(2, false).Mean, l.Symmetric().At(1, 0).Block(2, false).Mean)
	// Output:
	// 0.0137 0.0000
}

// If it is known that no product is negative, not from a sample alone, no loss
// is farther from its mean than g.
func ExampleProductDistribution_OneSign() {
	p := truncation.PairProducts([]float64{1.25, 1.75}, []float64{1.5, 1.25}, -14, -14)
	fmt.Println(p.Losses(4).At(1, 0).Block(2, false).Largest, p.OneSign().Losses(4).At(1, 0).Block(2, false).Largest)
	// Output:
	// 0.15625 0.125
}

// The unit in the last place is two steps wide. Truncation to it loses half a
// step on average if the data have many bits. If they have few bits, it may
// lose a whole step every time.
func ExampleLosses_Rounding() {
	one := []float64{1, 1}
	few := truncation.ValueProducts([]float64{1, 2}, one, []float64{1}, []float64{1}, -14, -14)
	many := truncation.ValueProducts([]float64{1, 1 + 0x1p-10}, one, []float64{1, 1 + 0x1p-9}, one, -14, -14)
	f := roundoff.FailureOf(0.99)
	for _, p := range []*truncation.ProductDistribution{few, many} {
		fmt.Printf("%.3f steps\n", p.Losses(19).Rounding(8, 0, 0x1p-18, false, f).Mean/0x1p-19)
	}
	// Output:
	// 1.000 steps
	// 0.502 steps
}

// A bound on the sum of 1000 numbers of variance 1 and size at most 2, exceeded
// with probability at most 1/100.
func ExampleCumulant() {
	var c truncation.Cumulant
	for range 1000 {
		c.Add(1, 2)
	}
	f := roundoff.FailureOf(0.99)
	fmt.Printf("%.0f, %.0f if the variance is known beforehand\n", c.Tail(0.05, 0.2, f), roundoff.Bernstein(1000, 2, f))
	// Output:
	// 119, 107 if the variance is known beforehand
}

// The error of 8192 sums of 4096 products ±1.5(1 + 2^-10) on a tensor core that
// keeps 25 bits of them. Alignment cuts off nothing: the whole error is that of
// truncating the sums.
func ExampleSum_ErrorBound() {
	p := truncation.PairProducts([]float64{1.5}, []float64{1 + 0x1p-10}, -14, -14).Symmetric()
	s := truncation.Sum{
		Accumulator: truncation.Accumulator{Terms: 16, FractionBits: 25, Unit: 0x1p-24},
		Losses:      p.Losses(25),
		LogMoment:   p.LogMoment,
		Largest:     1.5 * (1 + 0x1p-10),
	}
	f := roundoff.FailureOf(0.99)
	fmt.Printf("%.1e, deterministic %.1e\n", s.ErrorBound(4096, 8192, f), s.Zeta(256)*4096*s.Largest)
	fmt.Printf("%.1e calibrated\n", s.CalibratedBound(4096, 8192, f))
	// Output:
	// 1.0e-02, deterministic 9.4e-01
	// 3.0e-03 calibrated
}

// Sums of positive products lose in one direction: most of the bound on their
// error is drift, and little is room for luck.
func ExampleSum_ErrorAndDrift() {
	x, even := []float64{1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875}, []float64{1, 1, 1, 1, 1, 1, 1, 1}
	p := truncation.ValueProducts(x, even, x, even, -6, -6)
	s := truncation.Sum{
		Accumulator: truncation.Accumulator{Terms: 32, FractionBits: 13, Unit: 0x1p-14},
		Losses:      p.Losses(13),
		LogMoment:   p.LogMoment,
		Largest:     1.875 * 1.875,
	}
	bound, drift := s.ErrorAndDrift(1024, 1, roundoff.FailureOf(0.99))
	fmt.Printf("at most %.2g, %.2g in the mean\n", bound, drift)
	// Output: at most 36, 31 in the mean
}

// Whatever the products are, the sum comes out smaller.
func ExampleSum_LeastLoss() {
	x, even := []float64{1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875}, []float64{1, 1, 1, 1, 1, 1, 1, 1}
	p := truncation.ValueProducts(x, even, x, even, -6, -6)
	s := truncation.Sum{
		Accumulator: truncation.Accumulator{Terms: 32, FractionBits: 13, Unit: 0x1p-14},
		Losses:      p.Losses(13),
		LogMoment:   p.LogMoment,
		Largest:     1.875 * 1.875,
	}
	fmt.Printf("at least %.2g\n", s.LeastLoss(1024, 1, roundoff.FailureOf(0.99)))
	// Output: at least 21
}

// ψ(θ) is near θ²V/2 for small θ.
func ExampleCumulant_At() {
	var c truncation.Cumulant
	c.Add(4, 1)
	fmt.Printf("%.6f %.4f\n", c.At(0.01)/(0.01*0.01*4/2), c.At(1))
	// Output:
	// 1.003342 2.8731
}

// For ±1 the logarithm of the moment generating function is log cosh x.
func ExampleProductDistribution_LogMoment() {
	p := truncation.PairProducts([]float64{1}, []float64{1}, -14, -14).Symmetric()
	fmt.Printf("%.3f %.3f\n", p.LogMoment(0.5), math.Log(math.Cosh(0.5)))
	// Output:
	// 0.120 0.120
}

// If 1.25 × 1.25 is aligned to exponent 1 and 3 bits below that are kept, it
// loses a sixteenth.
func ExampleProductDistribution_Losses() {
	p := truncation.ValueProducts([]float64{1.25}, []float64{1}, []float64{1.25}, []float64{1}, -14, -14)
	l := p.Losses(3)
	fmt.Println(l.F, l.At(1, 0).Term(0, false).Mean)
	// Output:
	// 3 0.0625
}

// The logarithm of the moment generating function is stored with the table of
// losses.
func ExampleLosses_LogMoment() {
	p := truncation.PairProducts([]float64{1}, []float64{1}, -14, -14).Symmetric()
	l := p.Losses(24)
	fmt.Println(l.LogMoment(2) == p.LogMoment(2))
	// Output:
	// true
}

// The bound that is calibrated on emulated tensor cores is tighter than the
// bound that is proved.
func ExampleSum_CalibratedBound() {
	p := truncation.PairProducts([]float64{1.5, 1.25}, []float64{1 + 0x1p-10, 1 + 0x1p-9}, -14, -14).Symmetric()
	s := truncation.Sum{
		Accumulator: truncation.Accumulator{Terms: 4, FractionBits: 23, Unit: 0x1p-24},
		Losses:      p.Losses(23),
		LogMoment:   p.LogMoment,
		Largest:     1.5 * (1 + 0x1p-10),
	}
	f := roundoff.FailureOf(0.99)
	fmt.Println(s.CalibratedBound(256, 1, f) < s.ErrorBound(256, 1, f))
	// Output:
	// true
}

// The error on CDNA3 of a sum of 4096 products of numbers ±1 and ±(1 + 2^-10),
// in blocks of eight: a bound with 99 % confidence, and the deterministic
// bound.
func ExampleTwoStageSum() {
	x, p := []float64{-1 - 0x1p-10, -1, 1, 1 + 0x1p-10}, []float64{1, 1, 1, 1}
	dist := truncation.ValueProducts(x, p, x, p, -14, -14)
	sum := truncation.TwoStageSum{
		Terms: 8, Parts: 1, Unit: 0x1p-24, Grid: 0x1p-20,
		Losses: dist.Losses(24), LogMoment: dist.LogMoment, Largest: 1.002,
	}
	fmt.Printf("%.2g, always %.2g\n", sum.ErrorBound(4096, 1, roundoff.FailureOf(0.99)), 4096*truncation.TwoStage(8, 512, 0x1p-24))
	// Output:
	// 0.0038, always 1.3
}

// The constant ζ of the paper's product, K = 32768, on three tensor cores that
// truncate.
func ExampleAccumulator() {
	volta := truncation.Accumulator{Terms: 4, FractionBits: 23, Unit: 0x1p-24}
	ampere := truncation.Accumulator{Terms: 8, FractionBits: 24, Unit: 0x1p-24}
	hopper := truncation.Accumulator{Terms: 16, FractionBits: 25, Unit: 0x1p-24}
	for _, t := range []truncation.Accumulator{volta, ampere, hopper} {
		fmt.Printf("%.3e\n", t.Zeta(32768/t.Terms))
	}
	// Output:
	// 4.883e-03
	// 2.441e-03
	// 1.221e-03
}

func ExampleAccumulator_Step() {
	fmt.Printf("%.3e\n", truncation.Accumulator{Terms: 16, FractionBits: 25, Unit: 0x1p-24}.Step())
	// Output:
	// 5.960e-07
}

func ExampleAccumulator_Zeta() {
	t := truncation.Accumulator{Terms: 16, FractionBits: 25, Unit: 0x1p-11, Nearest: true}
	fmt.Printf("%.3f\n", t.Zeta(256))
	// Output:
	// 0.133
}

// One step on Hopper that was aligned to exponent 3 and returned 12: 16 terms
// are truncated at 2^-22 and the sum at 2^-20.
func ExampleAccumulator_Error() {
	t := truncation.Accumulator{Terms: 16, FractionBits: 25, Unit: 0x1p-24}
	fmt.Println(t.Error(3, 12) / 0x1p-22)
	// Output:
	// 19
}

// The constant of CDNA3 for K = 32768, with 8 products in a step.
func ExampleTwoStage() {
	fmt.Printf("%.3e\n", truncation.TwoStage(8, 32768/8, 0x1p-24))
	// Output:
	// 2.448e-03
}
