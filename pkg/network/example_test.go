package network_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// linear writes a network of one linear layer, of 2 outputs and 3 inputs, and
// opens it.
func linear() *network.Model {
	header := `{"fc.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"fc.steps":{"dtype":"I64","shape":[0,2],"data_offsets":[24,24]}}`
	data := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	for i := range 6 {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i)))
	}
	path := filepath.Join(os.TempDir(), "example.safetensors")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		panic(err)
	}
	defer os.Remove(path)
	m, err := network.Open(path)
	if err != nil {
		panic(err)
	}
	return m
}

// field writes a field of bytes as Protocol Buffers have it.
func field(number byte, parts ...string) string {
	body := strings.Join(parts, "")
	return string([]byte{number<<3 | 2, byte(len(body))}) + body
}

// halves writes a network y = xW, where W = (1/2, 1/4)ᵀ, and opens it.
func halves() *network.Model {
	tensor := "\x08\x02\x08\x01\x10\x01" + field(8, "W") + field(9, "\x00\x00\x00\x3f\x00\x00\x80\x3e") // 2 × 1, of binary32
	node := field(1, "x") + field(1, "W") + field(2, "y") + field(3, "layer") + field(4, "MatMul")
	graph := field(1, node) + field(5, tensor) + field(11, field(1, "x")) + field(12, field(1, "y"))
	path := filepath.Join(os.TempDir(), "example.onnx")
	if err := os.WriteFile(path, []byte(field(7, graph)), 0o666); err != nil {
		panic(err)
	}
	defer os.Remove(path)
	m, err := network.Open(path)
	if err != nil {
		panic(err)
	}
	return m
}

// A network is computed with its products rounded to bfloat16: 3.005 becomes
// 3.
func ExampleModel_Run() {
	m := halves()
	defer m.Close()
	x := map[string]network.Tensor{"x": {Shape: []int{1, 2}, Data: []float32{6, 0.02}}}
	exact, err := m.Run(x, network.Exactly)
	fmt.Println(exact["y"].Data, err)
	rounded, err := m.Run(x, func(node string, a, b blas32.General) (blas32.General, error) {
		z, err := network.Exactly(node, a, b)
		tcore.BFloat16.RoundSlice32(z.Data, z.Data)
		return z, err
	})
	fmt.Println(rounded["y"].Data, err)
	// Output:
	// [3.005] <nil>
	// [3] <nil>
}

func ExampleModel_Inputs() {
	m := halves()
	defer m.Close()
	fmt.Println(m.Inputs(), m.Outputs())
	// Output: [{x [] false}] [y]
}

func ExampleModel_Outputs() {
	m := linear()
	defer m.Close()
	fmt.Println(m.Outputs(), m.Inputs()) // a file without a graph has none
	// Output: [] []
}

func ExampleInput() {
	in := network.Input{Name: "bytes", Shape: []int{-1, 2048}, Integer: true}
	fmt.Println(in.Name, in.Shape)
	// Output: bytes [-1 2048]
}

// Elements lie row by row.
func ExampleTensor() {
	x := network.Tensor{Shape: []int{2, 3}, Data: []float32{1, 2, 3, 4, 5, 6}}
	fmt.Println(x.Data[1*3+0])
	// Output: 4
}

// A Multiply that counts the products of a network.
func ExampleMultiply() {
	m := halves()
	defer m.Close()
	count := 0
	var counting network.Multiply = func(node string, a, b blas32.General) (blas32.General, error) {
		count += a.Rows * a.Cols * b.Cols
		return network.Exactly(node, a, b)
	}
	_, err := m.Run(map[string]network.Tensor{"x": {Shape: []int{4, 2}, Data: make([]float32, 8)}}, counting)
	fmt.Println(count, err)
	// Output: 8 <nil>
}

// Sums are rounded once: 2²⁴ + 1 + 1 is not 2²⁴.
func ExampleExactly() {
	a := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1 << 24, 1, 1}}
	b := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 1, 1}}
	d, err := network.Exactly("", a, b)
	fmt.Println(d.Data[0]-1<<24, err)
	// Output: 2 <nil>
}

// A linear layer multiplies activations of 3 columns by its weights, which the
// file has transposed.
func ExampleOpen() {
	m := linear()
	defer m.Close()
	for _, p := range m.Products {
		b, err := p.Weights()
		fmt.Println(p.Name, p.K, p.N, b.Data, err)
	}
	_, err := network.Open("model.pt")
	fmt.Println(err)
	// Output:
	// fc.weight 3 2 [0 3 1 4 2 5] <nil>
	// model.pt: want a file named .onnx or .safetensors
}

func ExampleModel() {
	m := linear()
	fmt.Println(filepath.Base(m.Path), len(m.Products), m.Close())
	// Output: example.safetensors 1 <nil>
}

func ExampleModel_Close() {
	m := linear()
	fmt.Println(m.Close())
	_, err := m.Products[0].Weights()
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}

func ExampleProduct() {
	m := linear()
	defer m.Close()
	p := m.Products[0]
	fmt.Println(p.Name, p.Operator, p.K, p.N, p.Window == nil)
	// Output: fc.weight tensor 3 2 true
}

func ExampleProduct_Weights() {
	m := linear()
	defer m.Close()
	b, err := m.Products[0].Weights()
	fmt.Println(b.Rows, b.Cols, b.Data, err)
	// Output: 3 2 [0 3 1 4 2 5] <nil>
}

// A convolution of 3×3 over 64 channels has sums of 576 terms.
func ExampleWindow() {
	w := network.Window{Kernel: []int{3, 3}, Strides: []int{1, 1}, Pads: []int{1, 1, 1, 1}}
	fmt.Println(64 * w.Kernel[0] * w.Kernel[1])
	// Output: 576
}

func ExampleLeft() {
	m := linear()
	defer m.Close()
	fmt.Println(m.Left)
	// Output: [{fc.steps tensor integers I64, of which the file tells no scale}]
}
