package network

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Model is a trained network in a file.
type Model struct {
	Path     string
	Products []Product // in the order of the file
	Left     []Left    // what multiplies and is not among Products
	file     *os.File
	graph    *graph // nil in files without one
}

// A Product is a product AB in a network: A are activations of K columns, B
// the weights.
type Product struct {
	Name     string  // of the node of the graph, or of the tensor
	Operator string  // of ONNX, such as Conv; "tensor" in files without a graph
	Input    string  // the name of the activations in the graph; empty without one
	Tensor   string  // the name of the weights
	K, N     int     // terms of each sum, and columns of the weights
	Groups   int     // of a convolution: N/Groups columns have activations in common
	Window   *Window // of a convolution in a graph
	weights  tensor  // N × K if transposed, else K × N
	across   bool    // weights are N × K
	path     string
}

// A Window says which activations a convolution multiplies, in the words of
// ONNX. A row of A then has the activations of all channels of a group, and of
// each channel those below the kernel, row by row.
type Window struct {
	Kernel    []int  `json:"kernel"`
	Strides   []int  `json:"strides"`
	Pads      []int  `json:"pads"`
	Dilations []int  `json:"dilations"`
	AutoPad   string `json:"auto_pad"`
}

// A Left is a node or a tensor that is not read as a product, and why.
type Left struct{ Name, Operator, Why string }

// Open reads the description of a network in a file named .onnx or
// .safetensors. Weights are read by [Product.Weights], until Close. The error
// names the file, and what is wrong with it.
//
// In a safetensors file, which has no graph, a tensor of two dimensions is
// taken for the weights of a product, N × K, as PyTorch stores those of a
// linear layer; one of more dimensions for those of a convolution. Tables of
// embeddings, which multiply nothing, look the same.
func Open(path string) (*Model, error) {
	read := map[string]func(*Model, int64) error{".onnx": readONNX, ".safetensors": readSafetensors}[filepath.Ext(path)]
	if read == nil {
		return nil, fmt.Errorf("%s: want a file named .onnx or .safetensors", path)
	}
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	m := &Model{Path: path, file: file}
	if err := read(m, size); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// openRegular opens a file that is neither a folder nor a pipe, and returns its
// size.
func openRegular(path string) (*os.File, int64, error) {
	status, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !status.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	return file, status.Size(), err
}

// Close closes the file.
func (m *Model) Close() error { return m.file.Close() }

// Weights returns B, K × N, rounded to binary32. A column of the weights of a
// convolution is one filter. The error names the file and the tensor, and the
// first element that is not finite.
func (p Product) Weights() (blas32.General, error) {
	data, err := p.weights.read()
	if err != nil {
		return blas32.General{}, fmt.Errorf("%s: %w", p.path, err)
	}
	for i, x := range data {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return blas32.General{}, fmt.Errorf("%s: tensor %q: element %d is %v in binary32, want finite numbers", p.path, p.Tensor, i, x)
		}
	}
	if p.across {
		data = gather(data, []int{p.K, p.N}, []int{1, p.K}, 0)
	}
	return blas32.General{Rows: p.K, Cols: p.N, Stride: p.N, Data: data}, nil
}

// add lists a product if its weights have elements.
func (m *Model) add(p Product) {
	if p.K < 1 || p.N < 1 {
		m.leave(p.Name, p.Operator, fmt.Sprintf("weights %q are %d × %d, empty", p.Tensor, p.K, p.N))
		return
	}
	p.Groups, p.path = max(p.Groups, 1), m.Path
	m.Products = append(m.Products, p)
}

func (m *Model) leave(name, operator, why string) {
	m.Left = append(m.Left, Left{name, operator, why})
}
