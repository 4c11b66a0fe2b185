package roundoff_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

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
