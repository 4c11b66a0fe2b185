package quantisation_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// matrix returns a matrix of the numbers that next returns.
func matrix(rows, cols int, next func() float64) blas64.General {
	m := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
	for i := range m.Data {
		m.Data[i] = next()
	}
	return m
}

// nearest returns x in e4m3.
func nearest(x blas64.General) blas64.General {
	i := -1
	return matrix(x.Rows, x.Cols, func() float64 { i++; return tcore.E4M3.Round(x.Data[i], tcore.ToNearestEven) })
}

// The error of a quantised product is Â dB + dA B. Random signs would make it
// √V; that of normal data is, that of constants is 23 times as large.
func ExampleKnownProduct() {
	r := rand.New(rand.NewPCG(1, 0))
	for _, data := range []struct {
		name string
		next func() float64
	}{{"N(0,1)", r.NormFloat64}, {"0.3", func() float64 { return 0.3 }}} {
		a, b := matrix(1, 256, data.next), matrix(256, 1, data.next)
		p, err := quantisation.Known(a, b, nearest(a), nearest(b))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-6s  |E| = %.2f <= %.2f,  √V = %.2f,  z = %.1f\n", data.name, math.Abs(p.Error().Data[0]),
			p.Elementwise().Data[0], math.Sqrt(p.Variance().Data[0]), p.Standardised().Data[0])
	}
	// Output:
	// N(0,1)  |E| = 0.27 <= 7.12,  √V = 0.54,  z = 0.5
	// 0.3     |E| = 1.96 <= 1.96,  √V = 0.08,  z = 23.1
}

// Eight products with random vectors tell the norms of the rows of E to about a
// quarter. Without what the means of the data make of E half of it is left.
func ExampleKnownProduct_means() {
	r := rand.New(rand.NewPCG(2, 0))
	a, b := matrix(2, 1024, r.Float64), matrix(1024, 500, r.Float64)
	p, err := quantisation.Known(a, b, nearest(a), nearest(b))
	if err != nil {
		fmt.Println(err)
		return
	}
	E, estimate := p.Error(), p.RowSquares(8, 1)
	L, R := p.MeanPart()
	for i := range 2 {
		squares, without := 0.0, 0.0
		for j := range 500 {
			e := E.Data[i*500+j]
			squares += e * e
			rest := e - L.Data[2*i]*R.Data[j] - L.Data[2*i+1]*R.Data[500+j]
			without += rest * rest
		}
		fmt.Printf("row %d: norm %.1f, estimate %.1f, without the means %.1f\n", i, math.Sqrt(squares), math.Sqrt(estimate[i]), math.Sqrt(without))
	}
	// Output:
	// row 0: norm 7.8, estimate 8.3, without the means 4.0
	// row 1: norm 5.9, estimate 6.1, without the means 3.8
}

// Of products with many outputs the largest error is found some rows at a time.
func ExampleKnownProduct_Rows() {
	r := rand.New(rand.NewPCG(3, 0))
	a, b := matrix(1000, 16, r.Float64), matrix(16, 100, r.Float64)
	p, err := quantisation.Known(a, b, nearest(a), nearest(b))
	if err != nil {
		fmt.Println(err)
		return
	}
	largest := 0.0
	for lo := 0; lo < 1000; lo += 50 {
		for _, e := range p.Rows(lo, lo+50).Error().Data {
			largest = max(largest, math.Abs(e))
		}
	}
	fmt.Printf("%.3f\n", largest)
	// Output:
	// 0.217
}

// Of stochastic rounding as well.
func ExampleStochasticProduct_Rows() {
	r := rand.New(rand.NewPCG(3, 0))
	a, err := quantisation.Rounded(matrix(1000, 16, r.Float64), tcore.E4M3, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := quantisation.Exact(matrix(16, 100, r.Float64))
	p, largest := quantisation.Stochastic(a, b), 0.0
	for lo := 0; lo < 1000; lo += 50 {
		largest = max(largest, slices.Max(p.Rows(lo, lo+50).SubGaussian(roundoff.FailureOf(0.99)).Data))
	}
	fmt.Printf("%.3f\n", largest)
	// Output:
	// 0.277
}

// Constants are no difficulty for stochastic rounding: given the data, variance
// and bounds of its error are known. Here one product of 256 numbers 0.3 in
// e4m3, and bounds of 99 %.
func ExampleStochasticProduct() {
	constant := func() float64 { return 0.3 }
	x, y := matrix(1, 256, constant), matrix(256, 1, constant)
	a, err := quantisation.Rounded(x, tcore.E4M3, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := quantisation.Rounded(y, tcore.E4M3, 8)
	p, f := quantisation.Stochastic(a, b), roundoff.FailureOf(0.99)
	bias, _ := p.Bias(x, y)
	fmt.Printf("mean of an element  %.5f\n", a.Mean().Data[0])
	fmt.Printf("bias of 8 bits      %.3f\n", bias.Data[0])
	fmt.Printf("√V                  %.3f\n", math.Sqrt(p.Variance().Data[0]))
	fmt.Printf("log E e^(5E)        %.3f\n", p.Cumulant(0, 0, 5))
	fmt.Printf("smoothed            %.3f\n", p.Smoothed(f).Data[0])
	fmt.Printf("tightest            %.3f\n", p.Tightest(f).Data[0])
	fmt.Printf("tilted              %.3f\n", p.Tilted(f).Data[0])
	fmt.Printf("Chernoff            %.3f\n", p.Chernoff(f).Data[0])
	fmt.Printf("sub-Gaussian        %.3f\n", p.SubGaussian(f).Data[0])
	fmt.Printf("Bernstein           %.3f\n", p.Bernstein(f).Data[0])
	fmt.Printf("norms alone         %.3f\n", quantisation.Hoeffding(2*tcore.E4M3.UnitRoundoff(),
		quantisation.SquaresByNorms(x, y, tcore.E4M3.MinNormal()).Data[0], f))
	// Output:
	// mean of an element  0.29993
	// bias of 8 bits      -0.011
	// √V                  0.104
	// log E e^(5E)        0.135
	// smoothed            0.271
	// tightest            0.271
	// tilted              0.291
	// Chernoff            0.340
	// sub-Gaussian        0.350
	// Bernstein           0.358
	// norms alone         1.245
}

// Weights that are stored exactly, and activations with a scale of 2.
func ExampleTwoPoint() {
	x := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1.2, 3.9}}
	scales := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{2, 2}}
	a, err := quantisation.Rounded(x, tcore.E2M1, quantisation.IdealBits)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _ = a.Times(scales)
	b, _ := quantisation.Exact(blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, -1}})
	fmt.Printf("%.3v: V = %.2f\n", a.Mean().Data, quantisation.Stochastic(a, b).Variance().Data[0])
	// Output:
	// [2.4 7.8]: V = 0.60
}

// From the norms of rows and columns: rounding to nearest has errors of at most
// u, of which it is assumed that their means are 0.
func ExampleHoeffding() {
	r := rand.New(rand.NewPCG(3, 0))
	a, b := matrix(1, 4096, r.NormFloat64), matrix(4096, 1, r.NormFloat64)
	f, least, u := roundoff.FailureOf(0.99), tcore.E4M3.MinNormal(), tcore.E4M3.UnitRoundoff()
	p, err := quantisation.Known(a, b, nearest(a), nearest(b))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("|E| = %.1f <= %.1f <= %.1f\n", math.Abs(p.Error().Data[0]),
		quantisation.Hoeffding(u, quantisation.Squares(a, b, least).Data[0], f),
		quantisation.Hoeffding(u, quantisation.SquaresByNorms(a, b, least).Data[0], f))
	// Output:
	// |E| = 1.6 <= 26.8 <= 47.7
}

// Of new rows about one in ten exceeds the bound that 999 others gave.
func ExampleConformal() {
	r := rand.New(rand.NewPCG(4, 0))
	a, b := matrix(1999, 64, r.NormFloat64), matrix(64, 16, r.NormFloat64)
	p, err := quantisation.Known(a, b, nearest(a), nearest(b))
	if err != nil {
		fmt.Println(err)
		return
	}
	maxima := quantisation.RowMaxima(p.Error())
	bound, err := quantisation.Conformal(maxima[:999], 0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	exceed := 0
	for _, v := range maxima[999:] {
		if v > bound {
			exceed++
		}
	}
	fmt.Printf("bound %.2f, exceeded by %d of 1000\n", bound, exceed)
	_, err = quantisation.Conformal(maxima[:99], 0.001) // too few
	fmt.Println(err)
	// Output:
	// bound 0.83, exceeded by 85 of 1000
	// quantisation: Conformal: n = 99 calibration rows, want n >= 999 for alpha = 0.001
}

// A number below least counts as least, as its error does; 0 has no error.
func ExampleSquares() {
	a := blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: []float64{3, 0.1, 0}}
	b := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{2, 4, 5}}
	fmt.Println(quantisation.Squares(a, b, 0.5).Data)
	// Output:
	// [40]
}

// One outlier in a row of A: the sum of its squares, 102, times the largest
// square of B.
func ExampleSquaresByNorms() {
	a := blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: []float64{10, 1, 1}}
	b := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, 1, 1}}
	fmt.Println(quantisation.Squares(a, b, 0).Data, quantisation.SquaresByNorms(a, b, 0).Data)
	// Output:
	// [102] [102]
}

func ExampleRowMaxima() {
	fmt.Println(quantisation.RowMaxima(blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{0.1, -0.3, 0, 0.2}}))
	// Output:
	// [0.3 0.2]
}
