package audit_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/roundofflab/roundoff/pkg/audit"
	"github.com/roundofflab/roundoff/pkg/network"
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
		fmt.Printf("every %d: %.0e, at most %.2f\n", d.Promote, d.RMS, d.Bound)
	}
	// Output:
	// predicted 0.037, measured 0.037
	// every 0: 5e-04, at most 0.05
	// every 128: 1e-04, at most 0.02
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

// written writes a network y = xW, where W = (0.45, 0.5), and opens it.
func written() *network.Model {
	field := func(number byte, parts ...string) string {
		body := strings.Join(parts, "")
		return string([]byte{number<<3 | 2, byte(len(body))}) + body
	}
	weights := "\x08\x01\x08\x02\x10\x01" + field(8, "W") + field(9, "\x66\x66\xe6\x3e\x00\x00\x00\x3f") // 1 × 2, of binary32
	node := field(1, "x") + field(1, "W") + field(2, "y") + field(3, "layer") + field(4, "MatMul")
	path := filepath.Join(os.TempDir(), "example-audit.onnx")
	data := field(7, field(1, node), field(5, weights), field(11, field(1, "x")), field(12, field(1, "y")))
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		panic(err)
	}
	defer os.Remove(path)
	m, err := network.Open(path)
	if err != nil {
		panic(err)
	}
	return m
}

// A network of one layer, computed exactly and with its factors in e4m3, with a
// scale for each matrix: 0.45, whose scale is that of 0.5, becomes 0.464.
func ExampleRun() {
	m := written()
	defer m.Close()
	r, err := audit.NewRun(m, map[string]network.Tensor{"x": {Shape: []int{2, 1}, Data: []float32{1, -2}}})
	if err != nil {
		panic(err)
	}
	recipe := quant.Torchao(tcore.E4M3, quant.PerTensor, false)
	o, err := r.With(audit.Arithmetic{OnA: recipe, OnB: recipe})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f %.3f\n", r.Outputs["y"].Data, o.Outputs["y"].Data)
	for _, p := range o.Products {
		fmt.Printf("%s: alone %.3f, inherited %.3f, both %.3f\n", p.Node, p.Alone, p.Inherited, p.Both)
	}
	// Output:
	// [0.450 0.500 -0.900 -1.000] [0.464 0.500 -0.929 -1.000]
	// layer: alone 0.021, inherited 0.000, both 0.021
}

func ExampleNewRun() {
	m := written()
	defer m.Close()
	_, err := audit.NewRun(m, nil)
	fmt.Println(strings.HasSuffix(err.Error(), `input "x" is missing`))
	// Output: true
}

// A product that is 0 has no errors relative to it.
func ExampleRun_With() {
	m := written()
	defer m.Close()
	r, err := audit.NewRun(m, map[string]network.Tensor{"x": {Shape: []int{1, 1}, Data: []float32{0}}})
	if err != nil {
		panic(err)
	}
	_, err = r.With(audit.Arithmetic{OnA: quant.Integers(quant.PerTensor), OnB: quant.Integers(quant.PerTensor)})
	fmt.Println(strings.HasSuffix(err.Error(), "the product is 0, want one of which errors can be told"))
	// Output: true
}

func ExampleOutcome() {
	o := audit.Outcome{Products: []audit.Passed{{Node: "conv", Alone: 0.03, Inherited: 0.04, Both: 0.05}}}
	p := o.Products[0]
	fmt.Println(p.Node, math.Hypot(p.Alone, p.Inherited) == p.Both) // errors that have nothing to do with each other
	// Output: conv true
}

func ExamplePassed() {
	p := audit.Passed{Node: "conv", K: 1280, N: 512, Alone: 0.03}
	fmt.Printf("%s, %d × %d: %.2f\n", p.Node, p.K, p.N, p.Alone)
	// Output: conv, 1280 × 512: 0.03
}

// On Hopper sums leave the tensor core every 128 products.
func ExampleArithmetic() {
	recipe := quant.Torchao(tcore.E4M3, quant.PerVector, false)
	k, takes := quant.KernelOn(devices.HopperE4M3(), recipe, recipe, 128)
	x := audit.Arithmetic{OnA: recipe, OnB: recipe, Kernel: &k}
	fmt.Println(x.Kernel.Name, x.Kernel.Machine.Promote, takes)
	// Output: epilogue 128 true
}

// The greatest numbers of each matrix, 256 and 0.5, are kept; 0.45 is not.
func ExampleArithmetic_Multiply() {
	recipe := quant.Torchao(tcore.E4M3, quant.PerTensor, false)
	a := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{256}}
	b := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.5, 0.45}}
	d, err := audit.Arithmetic{OnA: recipe, OnB: recipe}.Multiply("", a, b)
	fmt.Println(d.Data, err)
	// Output: [128 118.85715] <nil>
}

func ExampleDecisions() {
	fmt.Println(audit.Decisions(network.Tensor{Shape: []int{2, 3}, Data: []float32{0.1, 0.7, 0.2, 0.5, 0.5, 0}}))
	// Output: [1 0]
}

func ExampleChanged() {
	x := network.Tensor{Shape: []int{2, 2}, Data: []float32{0.1, 0.9, 0.8, 0.2}}
	y := network.Tensor{Shape: []int{2, 2}, Data: []float32{0.4, 0.6, 0.3, 0.7}}
	fmt.Println(audit.Changed(x, y))
	// Output: 1
}
