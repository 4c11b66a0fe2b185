package network_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/roundofflab/roundoff/pkg/network"
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
