package audit_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// Quantised to e4m3, normal factors of 1024 terms err by 4 % of the size of the
// result; what Hopper's accumulator adds is much less, and less again if sums
// leave it every 128 products.
func Example() {
	l, err := audit.NewLayer(audit.Normal(64, 1024, 1), audit.Normal(1024, 64, 2))
	if err != nil {
		panic(err)
	}
	r := quant.Torchao(tcore.E4M3, quant.PerVector, false)
	e, err := l.Errors(r, r, []tcore.Device{devices.HopperE4M3()}, 128)
	if err != nil {
		panic(err)
	}
	fmt.Printf("predicted %.3f, measured %.3f\n", e.Predicted, e.Measured)
	for _, d := range e.Devices {
		fmt.Printf("every %d: %.0e, at most %.1f\n", d.Promote, d.RMS, d.Bound)
	}
	// Output:
	// predicted 0.037, measured 0.037
	// every 0: 5e-04, at most 2.7
	// every 128: 1e-04, at most 0.3
}

func ExampleNewLayer() {
	_, err := audit.NewLayer(audit.Normal(1, 4, 1), pruned())
	fmt.Println(err)
	// Output: audit: the product of 1 × 4 and 4 × 2 is 0
}

// pruned returns a layer that was pruned to nothing.
func pruned() blas32.General {
	z := audit.Normal(4, 2, 1)
	clear(z.Data)
	return z
}

func ExampleLayer_Errors() {
	l, err := audit.NewLayer(audit.Normal(64, 1024, 1), audit.Normal(1024, 64, 2))
	if err != nil {
		panic(err)
	}
	e, err := l.Errors(quant.DeepGEMM(quant.Vector128, false), quant.DeepGEMM(quant.Tile128, false), nil, 0)
	fmt.Printf("of activations %.3f, of weights %.3f, %v\n", e.Activations, e.Weights, err)
	// Output: of activations 0.025, of weights 0.026, <nil>
}

// A column that is never used makes no difference to a scale of its own, and
// is lost under one of the whole matrix.
func ExampleStatisticsOf() {
	b := audit.Normal(100, 2, 1)
	for i := range 100 {
		b.Data[2*i] *= 1e-30
	}
	s := audit.StatisticsOf(b)
	fmt.Printf("kurtosis %.1f, dead %d\n", s.Kurtosis, s.Dead)
	// Output: kurtosis 4.8, dead 1
}

func ExampleNormal() {
	fmt.Println(audit.Normal(1, 3, 1).Data)
	// Output: [-0.8024826 0.42470706 -0.4985071]
}

func ExampleStatistics() {
	s := audit.StatisticsOf(blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{1, -1, 1, -1}})
	fmt.Println(s.Greatest, s.Kurtosis, s.Dead)
	// Output: 1 1 0
}

// Of a long product errors are told of some outputs.
func ExampleLayer() {
	_, err := audit.NewLayer(audit.Normal(1000, 2, 1), audit.Normal(2, 1000, 2))
	fmt.Println(audit.MostRows, audit.MostColumns, err)
	// Output: 256 256 <nil>
}

// Numbers that are all alike err alike. What all outputs have in common is the
// whole error, and no root of a sum of squares.
func ExampleErrors() {
	a, b := audit.Normal(16, 256, 1), audit.Normal(256, 16, 2)
	for i := range a.Data {
		a.Data[i], b.Data[i] = 0.3, 0.7
	}
	l, err := audit.NewLayer(a, b)
	if err != nil {
		panic(err)
	}
	r := quant.MXTransformerEngine(tcore.E4M3)
	e, err := l.Errors(r, r, nil, 0)
	fmt.Printf("in common %.3f, predicted %.3f, measured %.3f, at most %.3f, %v\n", e.Common, e.Predicted, e.Measured, e.Bound, err)
	// Output: in common 0.023, predicted 0.023, measured 0.023, at most 0.060, <nil>
}

// Products of 4-bit codes are added exactly.
func ExampleAccumulated() {
	l, err := audit.NewLayer(audit.Normal(16, 256, 1), audit.Normal(256, 16, 2))
	if err != nil {
		panic(err)
	}
	r := quant.NVFP4(quant.Vector16)
	e, err := l.Errors(r, r, []tcore.Device{devices.BlackwellNVF4()}, 0)
	d := e.Devices[0]
	fmt.Println(d.Device, d.RMS < 1e-7, d.Bound < 1e-4, d.TotalBound > d.Total, err)
	// Output: blackwell-tcgen05-f4ue4m3x16-binary32 true true true <nil>
}
