package roundoff_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// numbers are binary16 numbers all over [1, 2).
func numbers() (x, weight []float64) {
	for i := range 128 {
		x, weight = append(x, 1+float64(i*1031%1024/8*8+i%8)/1024), append(weight, 1)
	}
	return x, weight
}

// What is known of a sum of 32768 products of positive numbers on two tensor cores before it is
// computed: the error is nearly certain, and linear in K.
func ExampleChain() {
	x, w := numbers()
	law := roundoff.ValueProducts(x, w, x, w, -14, -14)
	one := roundoff.FailureOf(0.99) - roundoff.Failure(math.Log(8192)) // of 8192 outputs
	for _, t := range []roundoff.Truncation{
		{Terms: 4, FractionBits: 23, Unit: 0x1p-24},  // Volta
		{Terms: 16, FractionBits: 25, Unit: 0x1p-24}, // Hopper
	} {
		c := roundoff.NewChain(t, law, 32768/t.Terms)
		p := c.Predict()
		fmt.Printf("relative error %.2e ± %.1e, at 99 %% all 8192 within %.2e\n",
			p.RelativeMean(), p.Relative, c.BackwardBound(one))
	}
	// Output:
	// relative error -6.56e-04 ± 2.6e-06, at 99 % all 8192 within 6.76e-04
	// relative error -1.93e-04 ± 1.0e-06, at 99 % all 8192 within 2.01e-04
}

// When the last d bits of a product are cut off, the mean loss is not half a unit less half a
// bit: products end in more zeros than random numbers do.
func ExampleDiscardMean() {
	for _, d := range []int{1, 2, 3, 4, 10} {
		fmt.Printf("%2d  %.4f\n", d, roundoff.DiscardMean(d))
	}
	// Output:
	//  1  0.1250
	//  2  0.2500
	//  3  0.3438
	//  4  0.4062
	// 10  0.4971
}

func ExampleDiscardSquare() {
	fmt.Printf("%.4f %.4f %.4f\n", roundoff.DiscardSquare(1), roundoff.DiscardSquare(4), roundoff.DiscardSquare(20))
	// Output:
	// 0.0625 0.2549 0.3333
}

// A loss varies a little more than its variance says, but never much more than a uniform one.
func ExampleDiscardProxy() {
	for _, d := range []int{1, 2, 3, 6, 20} {
		fmt.Printf("%2d  %.4f\n", d, roundoff.DiscardProxy(d))
	}
	// Output:
	//  1  0.0568
	//  2  0.0829
	//  3  0.0901
	//  6  0.0862
	// 20  0.0842
}

// Two products of 4-bit numbers, 1.125 × 1.25 and 1.5 × 1.75, aligned at a quarter.
func ExampleProducts_Discard() {
	p := roundoff.PairProducts([]float64{1.125, 1.5}, []float64{1.25, 1.75}, -6, -6)
	d := p.Discard(0, 2)
	fmt.Printf("mean loss %v, mean square %v\n", d.Mean, d.Square)
	// Output:
	// mean loss 0.140625, mean square 0.02001953125
}

// The greatest exponent of four products of numbers that are 1 or 2.
func ExampleProducts_MaxExponent() {
	even := []float64{1, 1}
	p := roundoff.ValueProducts([]float64{1, 2}, even, []float64{1, 2}, even, -14, -14)
	fmt.Println(p.MaxExponent(4))
	// Output:
	// [0 1 2] [0.00390625 0.3125 0.68359375]
}

func ExamplePairProducts() {
	p := roundoff.PairProducts([]float64{1, -2}, []float64{3, 1.5}, -14, -14)
	fmt.Printf("mean %v, of sizes %v, variance %v\n", p.Mean, p.AbsMean, p.Variance)
	// Output:
	// mean 0, of sizes 3, variance 9
}

// The products of two numbers that are 1 or, three times as often, 2.
func ExampleValueProducts() {
	x, p := []float64{1, 2}, []float64{1, 3}
	fmt.Println(roundoff.ValueProducts(x, p, x, p, -14, -14).Mean)
	// Output:
	// 3.0625
}

// A sample of data of mean zero has a mean that is not zero, by chance.
func ExampleProducts_Symmetric() {
	p := roundoff.PairProducts([]float64{1, -2, 1}, []float64{1, 1, 2}, -14, -14)
	fmt.Printf("%.3f %.3f\n", p.Mean, p.Symmetric().Mean)
	// Output:
	// 0.333 0.000
}

// The bound is for one sum; for N of them, a failure is N times less likely.
func ExampleChain_ErrorBound() {
	x, w := numbers()
	law := roundoff.ValueProducts(x, w, x, w, -14, -14).Symmetric()
	c := roundoff.NewChain(roundoff.Truncation{Terms: 8, FractionBits: 24, Unit: 0x1p-24}, law, 512) // Ampere
	for _, n := range []float64{1, 8192} {
		fmt.Printf("%4.0f  %.2e\n", n, c.ErrorBound(roundoff.FailureOf(0.99)-roundoff.Failure(math.Log(n))))
	}
	// Output:
	//    1  3.65e-03
	// 8192  7.11e-03
}

// The same, relative to the sum of the sizes of the products.
func ExampleChain_BackwardBound() {
	x, w := numbers()
	law := roundoff.ValueProducts(x, w, x, w, -14, -14).Symmetric()
	c := roundoff.NewChain(roundoff.Truncation{Terms: 8, FractionBits: 24, Unit: 0x1p-24}, law, 512)
	fmt.Printf("%.2e\n", c.BackwardBound(roundoff.FailureOf(0.99)))
	// Output:
	// 4.34e-07
}

// The error of a sum of mean zero is drawn towards zero, in proportion to the sum.
func ExampleChain_Predict() {
	x, w := numbers()
	law := roundoff.ValueProducts(x, w, x, w, -14, -14).Symmetric()
	p := roundoff.NewChain(roundoff.Truncation{Terms: 8, FractionBits: 24, Unit: 0x1p-24}, law, 512).Predict()
	fmt.Printf("error 0 ± %.1e, with a slope of %.1e on the sum\n", p.Deviation, p.Slope)
	// Output:
	// error 0 ± 9.1e-04, with a slope of -5.9e-06 on the sum
}
