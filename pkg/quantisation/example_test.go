package quantisation_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Of known weights the mean error of each column is known. Here the numbers of
// the second column are those that e4m3 rounds down most.
func ExampleGiven() {
	const K = 256
	b := blas64.General{Rows: K, Cols: 2, Stride: 2, Data: make([]float64, 2*K)}
	bhat := b
	bhat.Data = make([]float64, 2*K)
	for k := range K {
		b.Data[2*k], b.Data[2*k+1] = 1+float64(k)/K, 1.0624
		for j := range 2 {
			bhat.Data[2*k+j] = tcore.E4M3.Round(b.Data[2*k+j], tcore.ToNearestEven)
		}
	}
	a := quantisation.Factor{Law: quantisation.Uniform(0, 1), Format: tcore.E4M3}
	for _, e := range (quantisation.Given{A: a, M: 1024, B: b, BHat: bhat}).Errors(roundoff.FailureOf(0.99)) {
		fmt.Printf("drift %.1f, deviation %.2f, bound %.1f\n", math.Abs(e.Mean), e.Deviation, e.Size())
	}
	// Output:
	// drift 0.0, deviation 0.37, bound 1.9
	// drift 8.0, deviation 0.36, bound 9.9
}

// What FP8 costs a product of 4096 terms at 99 %, as parts of K E|ab|: at worst
// 2u = 12.5 %, on random data thirty times less.
func ExampleProduct() {
	x := quantisation.Factor{Law: quantisation.Uniform(-1, 1), Format: tcore.E4M3}
	p := quantisation.Product{A: x, B: x, M: 1024, K: 4096, N: 8}
	e := p.Errors(roundoff.FailureOf(0.99))
	size := float64(p.K) / 4
	fmt.Printf("deviation %.2g, bound %.2g\n", e.Deviation/size, e.Size()/size)
	// Output:
	// deviation 0.0007, bound 0.0034
}

// Products of many lengths are bounded from one cumulant generating function.
func ExampleProduct_Cumulant() {
	x := quantisation.Factor{Law: quantisation.Normal(0, 1), Format: tcore.E4M3}
	p := quantisation.Product{A: x, B: x, M: 1024, K: 512, N: 8}
	f := roundoff.FailureOf(0.99)
	c := p.Cumulant(f)
	for p.K <= 4096 {
		size := float64(p.K) * 2 / math.Pi
		fmt.Printf("K = %4d of %d: %.3f\n", p.K, p.Reach(), p.ErrorsOf(c, f).Size()/size)
		p.K *= 2
	}
	// Output:
	// K =  512 of 4096: 0.014
	// K = 1024 of 4096: 0.009
	// K = 2048 of 4096: 0.007
	// K = 4096 of 4096: 0.005
}

// Scales of OCP clip the greatest number of a block, and positive data drift:
// by 3 % in MXFP8, 12 % in MXFP4. Scales that are rounded up do not clip.
func ExampleQuantised() {
	for _, name := range []string{"mxe4m3-floor", "mxe4m3-rceil", "mxe2m1-floor", "mxe2m1-rceil"} {
		r, _ := quant.Named(name)
		x, err := quantisation.Quantised(quantisation.Uniform(0, 1), r)
		if err != nil {
			fmt.Println(err)
			return
		}
		c := quantisation.NewCumulant(x, x)
		fmt.Printf("%-12s  blocks of %d, drift %5.1f %%\n", name, c.Length(), 100*math.Abs(c.Mean())/0.25)
	}
	// Output:
	// mxe4m3-floor  blocks of 32, drift   3.1 %
	// mxe4m3-rceil  blocks of 32, drift   0.0 %
	// mxe2m1-floor  blocks of 32, drift  12.1 %
	// mxe2m1-rceil  blocks of 32, drift   0.0 %
}

// A bound is between the mean error less Below and the mean error plus Above.
func ExampleErrors() {
	r, _ := quant.Named("mxe4m3-floor")
	x, _ := quantisation.Quantised(quantisation.Uniform(0, 1), r)
	e := quantisation.Product{A: x, B: x, M: 1024, K: 32768, N: 8}.Errors(roundoff.FailureOf(0.99))
	fmt.Printf("%.1f - %.1f <= E <= %.1f + %.1f, |E| <= %.1f\n", e.Mean, e.Below, e.Mean, e.Above, e.Size())
	// Output:
	// -254.0 - 21.1 <= E <= -254.0 + 20.5, |E| <= 275.1
}

// The generating function exists for an unbounded law only where it is cut.
func ExampleLaw_Truncated() {
	l := quantisation.Laplace(0, 1).Truncated(-20, 20)
	x := quantisation.Factor{Law: l, Format: tcore.E4M3}
	fmt.Printf("%.4f\n", math.Sqrt(quantisation.NewCumulant(x, x).Variance()))
	// Output:
	// 0.0749
}

// A law of your own: the triangular one on [-1, 1].
func ExampleLaw() {
	l := quantisation.Law{Name: "triangular", Density: func(x float64) float64 { return 1 - math.Abs(x) }, Knots: []float64{-1, 0, 1}}
	x := quantisation.Factor{Law: l, Format: tcore.BFloat16}
	const size = 1. / 9 // E|ab|
	c := math.Sqrt(quantisation.NewCumulant(x, x).Variance()) / size
	fmt.Printf("%.3f u\n", c/tcore.BFloat16.UnitRoundoff())
	// Output:
	// 0.878 u
}

// An interval that a normal number leaves with probability 1 % at most.
func ExampleNormal() {
	lo, hi := quantisation.Normal(1, 2).Interval(roundoff.FailureOf(0.99))
	fmt.Printf("[%.2f, %.2f]\n", lo, hi)
	// Output:
	// [-5.07, 7.07]
}

// Blocks of 16 with a scale of their own: 1/12 if no number is above 1/2, else
// 1/6.
func ExampleFactor() {
	x := quantisation.Factor{Law: quantisation.Uniform(0, 1), Format: tcore.E2M1, Length: 16,
		Scales: []quantisation.Scale{{Value: 1. / 12, Top: 0.5}, {Value: 1. / 6, Top: 1}}}
	c := quantisation.NewCumulant(x, x)
	fmt.Printf("%d products, deviation %.4f each\n", c.Length(), math.Sqrt(c.Variance()))
	// Output:
	// 16 products, deviation 0.0525 each
}

// With one scale for a whole row int8 has a sixth of the error of e4m3 on
// uniform numbers.
func ExampleAll() {
	for _, f := range []tcore.Format{tcore.E4M3, quant.Int8} {
		x := quantisation.Factor{Law: quantisation.Uniform(-1, 1), Format: f, Length: quantisation.All, Aim: f.Max()}
		e := quantisation.Product{A: x, B: x, M: 64, K: 4096, N: 8}.Errors(roundoff.FailureOf(0.99))
		fmt.Printf("%-4s  deviation %.2f, bound %.1f\n", f.Name, e.Deviation, e.Size())
	}
	// Output:
	// e4m3  deviation 0.77, bound 3.7
	// int8  deviation 0.12, bound 0.6
}

// For small t K(t) is nearly that of a normal law, t²V/2.
func ExampleCumulant_At() {
	x := quantisation.Factor{Law: quantisation.Uniform(-1, 1), Format: tcore.E4M3}
	c := quantisation.NewCumulant(x, x)
	t := 0.1 / math.Sqrt(c.Variance())
	k, k1, k2 := c.At(t)
	fmt.Printf("%.6f, %.4f sd, %.4f V\n", k, k1/math.Sqrt(c.Variance()), k2/c.Variance())
	// Output:
	// 0.005014, 0.1006 sd, 1.0166 V
}

// One output of a product leaves these bounds with probability 10^-6 at most on
// each side. Tilted has a factor that tends to 0.08, Smoothed one that is near
// it for short sums already. A normal number would have 4.753 sd.
func ExampleCumulant_Tightest() {
	x := quantisation.Factor{Law: quantisation.Uniform(-1, 1), Format: tcore.E4M3}
	c := quantisation.NewCumulant(x, x)
	f := roundoff.FailureOf(1 - 1e-6)
	for _, K := range []int{256, 4096, 32768} {
		sd := math.Sqrt(float64(K) * c.Variance())
		fmt.Printf("%5d: Chernoff %.3f sd, Tilted %.3f sd, Smoothed %.3f sd\n",
			K, c.Chernoff(K, f, false)/sd, c.Tilted(K, f, false)/sd, c.Smoothed(K, f, false)/sd)
		if c.Tightest(K, f, false) > c.Smoothed(K, f, false) {
			fmt.Println("not the least")
		}
	}
	// Output:
	//   256: Chernoff 5.330 sd, Tilted 5.015 sd, Smoothed 4.838 sd
	//  4096: Chernoff 5.261 sd, Tilted 4.833 sd, Smoothed 4.777 sd
	// 32768: Chernoff 5.257 sd, Tilted 4.784 sd, Smoothed 4.774 sd
}
