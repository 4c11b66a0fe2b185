package bound_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Weights below 2^-14 are subnormal in binary16, and CDNA2 flushes them to
// zero. The effect is not a multiple of |A||B|, but it can be computed from the
// matrices.
func ExampleResult_Limit() {
	weights := []float64{0.9, 0.09, 0.009, 0.0009, 0.00009, 0.00004}
	a := blas64.General{Rows: 1, Cols: 6, Stride: 6, Data: weights}
	b := blas64.General{Rows: 6, Cols: 1, Stride: 1, Data: []float64{1, -1, 1, -1, 1, -1}}

	k := bound.Problem{M: 1, N: 1, K: 6, Machine: tcore.Machine{Device: devices.CDNA2F16()}}
	k.RangeX, k.RangeY = bound.RangesOf(a, b)
	results, err := bound.Evaluate(k, roundoff.FailureOf(0.99))
	if err != nil {
		panic(err)
	}
	for _, r := range results {
		if r.Bound == "gamma" {
			const size = 1.00003 // |A||B|
			fmt.Printf("%.1e × %v + %.1e = %.1e\n", r.Constant, size, r.Underflow, r.Limit(size))
		}
	}
	// Output:
	// 1.8e-07 × 1.00003 + 8.0e-05 = 8.0e-05
}

// If the sizes of attention weights are known, most of the possible effect of
// flushing disappears.
func ExampleRangesOf32() {
	k := bound.Problem{M: 1, N: 1, K: 4, Machine: tcore.Machine{Device: devices.CDNA2F16()}}
	underflow := func() float64 {
		results, err := bound.Evaluate(k, roundoff.FailureOf(0.99))
		if err != nil {
			panic(err)
		}
		return results[0].Underflow
	}
	fmt.Printf("%.0e for any numbers of binary16", underflow())
	row := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{0.5, 0.25, 0.125, 0}}
	column := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 1, 1, 1}}
	k.RangeX, k.RangeY = bound.RangesOf32(row, column)
	fmt.Printf(", %v for these\n", underflow())
	// Output:
	// 2e+01 for any numbers of binary16, 0 for these
}

// The range of a matrix contains the largest |x|.
func ExampleRangesOf() {
	a := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{-3, 0.25}}
	b := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{0.5, 2}}
	x, y := bound.RangesOf(a, b)
	fmt.Println(x.Max, y.Max)
	// Output:
	// 3 2
}
