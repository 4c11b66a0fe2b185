package network

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// port is an input or an output of a graph: its name, its type, its sizes, of
// which -1 has a name.
func port(number int, name string, kind int64, shape ...int64) []byte {
	var sizes [][]byte
	for _, s := range shape {
		if s < 0 {
			sizes = append(sizes, sub(1, word(2, "batch")))
		} else {
			sizes = append(sizes, sub(1, integer(1, s)))
		}
	}
	return sub(number, word(1, name), sub(2, sub(1, integer(1, kind), sub(2, sizes...))))
}

// untyped is one of which only the name is told.
func untyped(number int, name string) []byte { return sub(number, word(1, name)) }

func realOf(name string, v float32) []byte {
	return append(word(1, name), append(uvarint(2<<3|5), floats(v)...)...)
}

// versioned adds the version of the operators to a model.
func versioned(version int64, model []byte) []byte {
	return append(sub(8, integer(2, version)), model...)
}

func numbers32(shape []int, x ...float32) Tensor { return Tensor{shape, x, false} }

func whole32(shape []int, x ...float32) Tensor { return Tensor{shape, x, true} }

// randomly returns a tensor of N(0,1).
func randomly(rng *rand.Rand, shape ...int) Tensor {
	x := Tensor{Shape: shape}
	for range count(shape) {
		x.Data = append(x.Data, float32(rng.NormFloat64()))
	}
	return x
}

// one runs a graph of a single node with inputs a, b, c, … of any type.
func one(t testing.TB, version int64, operator string, x []Tensor, attributes ...[]byte) (Tensor, error) {
	t.Helper()
	var names []string
	var parts [][]byte
	inputs := map[string]Tensor{}
	for i, v := range x {
		name := string(rune('a' + i))
		names, inputs[name] = append(names, name), v
		kind := int64(1)
		if v.Integer {
			kind = 7
		}
		parts = append(parts, port(11, name, kind, slices.Repeat([]int64{-1}, len(v.Shape))...))
	}
	parts = append(parts, sub(1, op("node", operator, append(names, "-", "z"), attributes...)), untyped(12, "z"))
	m, err := open(t, "m.onnx", versioned(version, onnx(parts...)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(inputs, Exactly)
	return out["z"], err
}

// expect fails unless z is want, to a unit in the last place or so.
func expect(t *testing.T, what string, z Tensor, err error, want Tensor) {
	t.Helper()
	same := err == nil && slices.Equal(z.Shape, want.Shape) && z.Integer == want.Integer && len(z.Data) == len(want.Data)
	for i := range want.Data {
		same = same && math.Abs(float64(z.Data[i]-want.Data[i])) <= 2e-7*max(1, math.Abs(float64(want.Data[i])))
	}
	if !same {
		t.Errorf("%s = %v, %v, want %v", what, z, err, want)
	}
}

// Every operator computes what ONNX says of it, on numbers that one can follow.
func TestOperators(t *testing.T) {
	v := numbers32([]int{2, 3}, 1, -2, 3, 4, 0.25, -6)
	row, i3 := numbers32([]int{3}, 10, 20, 30), whole32([]int{2, 3}, 1, -2, 3, 4, 0, -6)
	axes := func(x ...float32) Tensor { return whole32([]int{len(x)}, x...) }
	for _, c := range []struct {
		operator   string
		x          []Tensor
		attributes [][]byte
		want       Tensor
	}{
		{"Add", []Tensor{v, row}, nil, numbers32([]int{2, 3}, 11, 18, 33, 14, 20.25, 24)},
		{"Sub", []Tensor{row, v}, nil, numbers32([]int{2, 3}, 9, 22, 27, 6, 19.75, 36)},
		{"Mul", []Tensor{v, numbers32([]int{2, 1}, 2, -1)}, nil, numbers32([]int{2, 3}, 2, -4, 6, -4, -0.25, 6)},
		{"Div", []Tensor{v, numbers32(nil, 2)}, nil, numbers32([]int{2, 3}, 0.5, -1, 1.5, 2, 0.125, -3)},
		{"Div", []Tensor{i3, whole32(nil, 4)}, nil, whole32([]int{2, 3}, 0, 0, 0, 1, 0, -1)},
		{"Pow", []Tensor{v, numbers32(nil, 2)}, nil, numbers32([]int{2, 3}, 1, 4, 9, 16, 0.0625, 36)},
		{"Max", []Tensor{v, numbers32(nil, 0), numbers32([]int{1}, 0.5)}, nil, numbers32([]int{2, 3}, 1, 0.5, 3, 4, 0.5, 0.5)},
		{"Min", []Tensor{v, numbers32(nil, 0)}, nil, numbers32([]int{2, 3}, 0, -2, 0, 0, 0, -6)},
		{"Equal", []Tensor{i3, whole32([]int{3}, 1, 0, -6)}, nil, whole32([]int{2, 3}, 1, 0, 0, 0, 1, 1)},
		{"Expand", []Tensor{row, axes(2, 1)}, nil, numbers32([]int{2, 3}, 10, 20, 30, 10, 20, 30)},
		{"Abs", []Tensor{v}, nil, numbers32([]int{2, 3}, 1, 2, 3, 4, 0.25, 6)},
		{"Neg", []Tensor{i3}, nil, whole32([]int{2, 3}, -1, 2, -3, -4, 0, 6)},
		{"Sqrt", []Tensor{numbers32([]int{2}, 4, 2)}, nil, numbers32([]int{2}, 2, 1.4142135)},
		{"Reciprocal", []Tensor{numbers32([]int{2}, 4, -3)}, nil, numbers32([]int{2}, 0.25, -1/3.)},
		{"Exp", []Tensor{numbers32([]int{2}, 0, 1)}, nil, numbers32([]int{2}, 1, math.E)},
		{"Tanh", []Tensor{numbers32([]int{2}, 0, 1)}, nil, numbers32([]int{2}, 0, 0.7615942)},
		{"Erf", []Tensor{numbers32([]int{2}, 0, 1)}, nil, numbers32([]int{2}, 0, 0.8427008)},
		{"Sigmoid", []Tensor{numbers32([]int{2}, 0, 1)}, nil, numbers32([]int{2}, 0.5, 0.7310586)},
		{"Relu", []Tensor{v}, nil, numbers32([]int{2, 3}, 1, 0, 3, 4, 0.25, 0)},
		{"Identity", []Tensor{i3}, nil, i3},
		{"ReduceSum", []Tensor{v, axes(-1)}, [][]byte{integerOf("keepdims", 0)}, numbers32([]int{2}, 2, -1.75)},
		{"ReduceSum", []Tensor{v}, nil, numbers32([]int{1, 1}, 0.25)},
		{"ReduceSum", []Tensor{v}, [][]byte{integerOf("noop_with_empty_axes", 1)}, v},
		{"ReduceMax", []Tensor{v}, [][]byte{integersOf("axes", 0)}, numbers32([]int{1, 3}, 4, 0.25, 3)},
		{"ReduceMean", []Tensor{v}, [][]byte{integersOf("axes", 1)}, numbers32([]int{2, 1}, 2/3., -1.75/3)},
		{"GlobalMaxPool", []Tensor{numbers32([]int{1, 2, 2, 1}, 1, 2, -3, -4)}, nil, numbers32([]int{1, 2, 1, 1}, 2, -3)},
		{"GlobalAveragePool", []Tensor{numbers32([]int{1, 2, 2}, 1, 2, -3, -4)}, nil, numbers32([]int{1, 2, 1}, 1.5, -3.5)},
		{"Constant", nil, [][]byte{integersOf("value_ints", 3, -1)}, axes(3, -1)},
		{"Constant", nil, [][]byte{integerOf("value_int", 3)}, whole32(nil, 3)},
		{"Constant", nil, [][]byte{realOf("value_float", 0.5)}, numbers32(nil, 0.5)},
		{"Constant", nil, [][]byte{append(word(1, "value"), sub(5, raw("k", []int64{1, 2}, 5, 6))...)}, numbers32([]int{1, 2}, 5, 6)},
		{"Shape", []Tensor{v}, nil, axes(2, 3)},
		{"Cast", []Tensor{v}, [][]byte{integerOf("to", 7)}, i3},
		{"Cast", []Tensor{v}, [][]byte{integerOf("to", 9)}, whole32([]int{2, 3}, 1, 1, 1, 1, 1, 1)},
		{"Cast", []Tensor{i3}, [][]byte{integerOf("to", 1)}, numbers32([]int{2, 3}, 1, -2, 3, 4, 0, -6)},
		{"Cast", []Tensor{numbers32([]int{1}, 1.0001)}, [][]byte{integerOf("to", 16)}, numbers32([]int{1}, 1)},
		{"Gather", []Tensor{v, whole32([]int{1, 2}, -1, 0)}, [][]byte{integerOf("axis", 1)}, numbers32([]int{2, 1, 2}, 3, 1, -6, 4)},
		{"Flatten", []Tensor{numbers32([]int{2, 1, 3}, 1, 2, 3, 4, 5, 6)}, nil, numbers32([]int{2, 3}, 1, 2, 3, 4, 5, 6)},
		{"Flatten", []Tensor{numbers32([]int{2, 1, 3}, 1, 2, 3, 4, 5, 6)}, [][]byte{integerOf("axis", 0)}, numbers32([]int{1, 6}, 1, 2, 3, 4, 5, 6)},
		{"Transpose", []Tensor{v}, nil, numbers32([]int{3, 2}, 1, 4, -2, 0.25, 3, -6)},
		{"Reshape", []Tensor{v, axes(3, -1)}, nil, numbers32([]int{3, 2}, 1, -2, 3, 4, 0.25, -6)},
		{"Squeeze", []Tensor{numbers32([]int{1, 2, 1}, 1, 2), axes(0)}, nil, numbers32([]int{2, 1}, 1, 2)},
		{"Unsqueeze", []Tensor{row, axes(0, 2)}, nil, numbers32([]int{1, 3, 1}, 10, 20, 30)},
		{"Slice", []Tensor{v, axes(1), whole32([]int{1}, 1<<24), axes(1)}, nil, numbers32([]int{2, 2}, -2, 3, 0.25, -6)},
		{"Concat", []Tensor{i3, i3}, [][]byte{integerOf("axis", -1)}, whole32([]int{2, 6}, 1, -2, 3, 1, -2, 3, 4, 0, -6, 4, 0, -6)},
	} {
		z, err := one(t, 15, c.operator, c.x, c.attributes...)
		expect(t, fmt.Sprint(c.operator, c.x), z, err, c.want)
	}
}

// A softmax is along one axis from version 13 of ONNX on, and along it and all
// that follow before.
func TestSoftmax(t *testing.T) {
	x := randomly(rand.New(rand.NewPCG(1, 0)), 2, 3, 4)
	for _, c := range []struct {
		version int64
		group   func(i, j, k int) [2]int
	}{{13, func(i, j, k int) [2]int { return [2]int{i, k} }}, {12, func(i, _, _ int) [2]int { return [2]int{i} }}} {
		sums, want := map[[2]int]float64{}, Tensor{Shape: x.Shape}
		place := func(at int) [2]int { return c.group(at/12, at/4%3, at%4) }
		for i, v := range x.Data {
			sums[place(i)] += math.Exp(float64(v))
		}
		for i, v := range x.Data {
			want.Data = append(want.Data, float32(math.Exp(float64(v))/sums[place(i)]))
		}
		z, err := one(t, c.version, "Softmax", []Tensor{x}, integerOf("axis", 1))
		expect(t, fmt.Sprint("softmax of version ", c.version), z, err, want)
	}
}

// Products of matrices are those of loops: stacked ones, repeated ones, rows
// and columns.
func TestMatMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for _, c := range []struct{ a, b, want []int }{
		{[]int{3, 4}, []int{4, 5}, []int{3, 5}}, {[]int{2, 3, 4}, []int{4, 5}, []int{2, 3, 5}}, {[]int{4}, []int{4, 5}, []int{5}},
		{[]int{2, 1, 3, 4}, []int{6, 4, 5}, []int{2, 6, 3, 5}}, {[]int{3, 4}, []int{4}, []int{3}}, {[]int{4}, []int{4}, nil}, {[]int{4}, []int{2, 4, 5}, []int{2, 5}},
	} {
		a, b := randomly(rng, c.a...), randomly(rng, c.b...)
		z, err := one(t, 15, "MatMul", []Tensor{a, b})
		want := Tensor{Shape: c.want}
		m, n := 1, 1
		if len(c.a) > 1 {
			m = c.a[len(c.a)-2]
		}
		if len(c.b) > 1 {
			n = c.b[len(c.b)-1]
		}
		matrices := func(s []int) int { return count(s[:max(0, len(s)-2)]) }
		batches := max(count(c.want)/(m*n), 1)
		for g := range batches {
			left, right := g*matrices(c.a)/batches, g%matrices(c.b) // of these shapes
			for i := range m {
				for j := range n {
					s := 0.0
					for k := range 4 {
						s += float64(a.Data[(left*m+i)*4+k]) * float64(b.Data[(right*4+k)*n+j])
					}
					want.Data = append(want.Data, float32(s))
				}
			}
		}
		expect(t, fmt.Sprint(c.a, " × ", c.b), z, err, want)
	}
}

func TestGemm(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	a, b, c := randomly(rng, 4, 3), randomly(rng, 5, 4), randomly(rng, 5)
	want := Tensor{Shape: []int{3, 5}}
	for i := range 3 {
		for j := range 5 {
			s := 0.0
			for k := range 4 {
				s += float64(a.Data[k*3+i]) * float64(b.Data[j*4+k])
			}
			want.Data = append(want.Data, float32(0.5*s+2*float64(c.Data[j])))
		}
	}
	z, err := one(t, 15, "Gemm", []Tensor{a, b, c}, integerOf("transA", 1), integerOf("transB", 1), realOf("alpha", 0.5), realOf("beta", 2))
	expect(t, "Gemm", z, err, want)
}

// A convolution is the sum over channels and places of the kernel, in one and
// two dimensions, with strides, zeros around, gaps and groups.
func TestConv(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for _, c := range []struct {
		x, w                     []int
		strides, pads, dilations []int64
		groups                   int
	}{
		{[]int{2, 4, 7}, []int{6, 4, 3}, []int64{1}, []int64{0, 0}, []int64{1}, 1},
		{[]int{2, 4, 9}, []int{6, 2, 3}, []int64{2}, []int64{1, 2}, []int64{2}, 2},
		{[]int{1, 3, 6, 5}, []int{3, 1, 3, 2}, []int64{2, 1}, []int64{1, 0, 2, 1}, []int64{1, 2}, 3},
		{[]int{2, 2, 5, 1}, []int{3, 2, 5, 1}, []int64{1, 1}, []int64{0, 0, 0, 0}, []int64{1, 1}, 1},
	} {
		x, w, bias := randomly(rng, c.x...), randomly(rng, c.w...), randomly(rng, c.w[0])
		z, err := one(t, 15, "Conv", []Tensor{x, w, bias}, integersOf("strides", c.strides...), integersOf("pads", c.pads...),
			integersOf("dilations", c.dilations...), integerOf("group", int64(c.groups)))
		expect(t, fmt.Sprint("convolution ", c), z, err, loops(x, w, bias, c.strides, c.pads, c.dilations, c.groups))
	}
}

// loops is a convolution of two dimensions, or of one.
func loops(x, w, bias Tensor, strides, pads, dilations []int64, groups int) Tensor {
	one := len(x.Shape) == 3
	if one {
		x.Shape, w.Shape = append(slices.Clone(x.Shape), 1), append(slices.Clone(w.Shape), 1)
		strides, pads, dilations = append(slices.Clone(strides), 1), []int64{pads[0], 0, pads[1], 0}, append(slices.Clone(dilations), 1)
	}
	out := func(k int) int {
		return (x.Shape[2+k]+int(pads[k]+pads[2+k])-(w.Shape[2+k]-1)*int(dilations[k])-1)/int(strides[k]) + 1
	}
	z := Tensor{Shape: []int{x.Shape[0], w.Shape[0], out(0), out(1)}}
	for n := range x.Shape[0] {
		for f := range w.Shape[0] {
			for i := range z.Shape[2] {
				for j := range z.Shape[3] {
					s := float64(0)
					for c := range w.Shape[1] {
						for k := range w.Shape[2] {
							for l := range w.Shape[3] {
								channel := f/(w.Shape[0]/groups)*w.Shape[1] + c
								row, col := i*int(strides[0])+k*int(dilations[0])-int(pads[0]), j*int(strides[1])+l*int(dilations[1])-int(pads[1])
								if row >= 0 && row < x.Shape[2] && col >= 0 && col < x.Shape[3] {
									s += float64(x.Data[((n*x.Shape[1]+channel)*x.Shape[2]+row)*x.Shape[3]+col]) * float64(w.Data[((f*w.Shape[1]+c)*w.Shape[2]+k)*w.Shape[3]+l])
								}
							}
						}
					}
					z.Data = append(z.Data, float32(s)+bias.Data[f])
				}
			}
		}
	}
	if one {
		z.Shape = z.Shape[:3]
	}
	return z
}

// perceptron is a network of two layers: y = relu(xV) Wᵀ + c.
func perceptron() []byte {
	return versioned(15, onnx(port(11, "x", 1, -1, 2), sub(5, raw("V", []int64{2, 3}, 1, 2, 3, -1, 1, -2)), sub(5, raw("W", []int64{1, 3}, 1, -1, 0.5)), sub(5, raw("c", []int64{1}, 8)),
		sub(1, op("first", "MatMul", []string{"x", "V", "-", "h"})), sub(1, op("bend", "Relu", []string{"h", "-", "r"})),
		sub(1, op("second", "Gemm", []string{"r", "W", "c", "-", "y"}, integerOf("transB", 1))), untyped(12, "y")))
}

// A run multiplies what Products describes, in their order: the activations are
// on the left, the weights on the right.
func TestRunMultipliesProducts(t *testing.T) {
	m, err := open(t, "m.onnx", perceptron())
	if err != nil {
		t.Fatal(err)
	}
	if in := m.Inputs(); !reflect.DeepEqual(in, []Input{{"x", []int{-1, 2}, false}}) || !slices.Equal(m.Outputs(), []string{"y"}) {
		t.Errorf("inputs %v, outputs %v", in, m.Outputs())
	}
	i := 0
	out, err := m.Run(map[string]Tensor{"x": numbers32([]int{2, 2}, 1, 2, 3, -1)}, func(node string, a, b blas32.General) (blas32.General, error) {
		w, err := m.Products[i].Weights()
		if err != nil || node != m.Products[i].Name || !reflect.DeepEqual(b, w) || a.Rows != 2 {
			t.Errorf("%s multiplies %v by %v, want %v, %v", node, a, b, w, err)
		}
		i++
		return Exactly(node, a, b)
	})
	expect(t, "the network", out["y"], err, numbers32([]int{2, 1}, 4, 12.5))
}

// What cannot be computed is an error that names the file, the node and the
// operator, or the input.
func TestRunRefuses(t *testing.T) {
	v, i3 := numbers32([]int{2, 3}, 1, 2, 3, 4, 5, 6), whole32([]int{2}, 1, 2)
	big := whole32([]int{1}, 1<<24)
	for want, c := range map[string]struct {
		operator   string
		x          []Tensor
		attributes [][]byte
	}{
		`LSTM "node": operator "LSTM" of domain "" is not computed`: {"LSTM", []Tensor{v}, nil},
		`shapes [2 3] and [2] do not fit`:                           {"Add", []Tensor{v, numbers32([]int{2}, 1, 2)}, nil},
		`integers: false and true, want both or none`:               {"Mul", []Tensor{v, i3}, nil},
		`3 inputs, want 2 to 2`:                                     {"Sub", []Tensor{v, v, v}, nil},
		`want matrices whose product is defined`:                    {"MatMul", []Tensor{v, v}, nil},
		`element 0 is 1.6777218e+07, want integers`:                 {"Add", []Tensor{big, whole32([]int{1}, 2)}, nil},
		`element 0 is +Inf, want integers`:                          {"Div", []Tensor{big, whole32([]int{1}, 0)}, nil},
		`axes [2] of shape [2 3]`:                                   {"ReduceMax", []Tensor{v}, [][]byte{integersOf("axes", 2)}},
		`index 2 along axis 0 of shape [2 3]`:                       {"Gather", []Tensor{v, i3}, nil},
		`want at most 134217728 elements`:                           {"Expand", []Tensor{v, whole32([]int{3}, 1<<24, 1<<24, 3)}, nil},
		`auto_pad SAME_UPPER is not computed`:                       {"Conv", []Tensor{numbers32([]int{1, 1, 1}, 1), numbers32([]int{1, 1, 1}, 1)}, [][]byte{append(word(1, "auto_pad"), word(4, "SAME_UPPER")...)}},
		`does not fit into [1]`:                                     {"Conv", []Tensor{numbers32([]int{1, 1, 1}, 1), numbers32([]int{1, 1, 2}, 1, 1)}, nil},
		`input 0 has integers, want binary32`:                       {"MatMul", []Tensor{i3, i3}, nil},
		`from shape [2 3] to [4 1]`:                                 {"Reshape", []Tensor{v, whole32([]int{2}, 4, -1)}, nil},
	} {
		_, err := one(t, 15, c.operator, c.x, c.attributes...)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "m.onnx: "+c.operator+` "node": `) {
			t.Errorf("%s: %v, want %s", c.operator, err, want)
		}
	}
	m, err := open(t, "m.onnx", perceptron())
	if err != nil {
		t.Fatal(err)
	}
	for want, x := range map[string]map[string]Tensor{
		`input "x" is missing`: {"y": v}, `input "x": shape [2 3], want [-1 2], -1 for any`: {"x": v},
		`input "x": integers: true, want false`: {"x": whole32([]int{1, 2}, 1, 2)}, `input "x": 1 elements of shape [1 2]`: {"x": numbers32([]int{1, 2}, 1)},
	} {
		if _, err := m.Run(x, Exactly); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	x := map[string]Tensor{"x": numbers32([]int{1, 2}, 1, 2)}
	for want, multiply := range map[string]Multiply{
		`MatMul "first": no`: func(string, blas32.General, blas32.General) (blas32.General, error) {
			return blas32.General{}, errors.New("no")
		},
		`MatMul "first": a product of 1 × 2, with stride 2 and 2 elements, want 1 × 3`: func(_ string, a, _ blas32.General) (blas32.General, error) { return a, nil },
	} {
		if _, err := m.Run(x, multiply); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	tables, err := open(t, "m.safetensors", tensors(t, map[string]shaped{"w": {"F32", []int{1, 1}, [2]int64{0, 4}}}, floats(1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Run(nil, Exactly); err == nil || !strings.Contains(err.Error(), "m.safetensors: a file without a graph") || tables.Inputs() != nil || tables.Outputs() != nil {
		t.Errorf("%v, inputs %v", err, tables.Inputs())
	}
}

// A node whose input no one computes before it is an error.
func TestRunOrder(t *testing.T) {
	m, err := open(t, "m.onnx", onnx(sub(1, op("n", "Relu", []string{"h", "-", "y"})), sub(1, op("o", "Relu", []string{"y", "-", "h"})), untyped(12, "y")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(nil, Exactly); err == nil || !strings.Contains(err.Error(), `Relu "n": "h" is neither stored nor computed before it is read`) {
		t.Error(err)
	}
}

// chain is a network of operators of most kinds.
func chain() []byte {
	return versioned(11, onnx(port(11, "x", 1, -1, 2), sub(5, list("p", 0, 2, -1)), sub(5, raw("w", []int64{3, 2, 1}, 1, 2, 3, 4, 5, 6)), sub(5, list("a", 0)),
		sub(1, op("r", "Reshape", []string{"x", "p", "-", "y"})), sub(1, op("c", "Conv", []string{"y", "w", "-", "u"}, integersOf("strides", 1), integersOf("pads", 1, 1))),
		sub(1, op("q", "ReduceMax", []string{"u", "-", "v"}, integersOf("axes", 2))), sub(1, op("t", "Transpose", []string{"v", "-", "k"})),
		sub(1, op("s", "Shape", []string{"v", "-", "d"})), sub(1, op("g", "Gather", []string{"d", "a", "-", "e"})), sub(1, op("b", "Softmax", []string{"k", "-", "z"})),
		sub(1, op("o", "Concat", []string{"z", "k", "-", "l"}, integerOf("axis", 0))), sub(1, op("f", "Expand", []string{"l", "e", "-", "m"})), untyped(12, "m")))
}

func TestRunOfManyOperators(t *testing.T) {
	m, err := open(t, "m.onnx", chain())
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(map[string]Tensor{"x": numbers32([]int{1, 2}, 1, 2)}, Exactly)
	expect(t, "the chain", out["m"], err, numbers32([]int{2, 3, 1}, 6.1289825e-06, 0.0024726081, 0.9975213, 5, 11, 17))
}

// A graph that is damaged gives an error or an output, of a size that it says.
func FuzzRun(f *testing.F) {
	f.Add(perceptron())
	f.Add(chain())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := open(t, "m.onnx", data)
		if err != nil {
			return
		}
		in := map[string]Tensor{}
		for _, i := range m.Inputs() {
			x := Tensor{Shape: []int{}, Integer: i.Integer}
			for _, s := range i.Shape {
				x.Shape = append(x.Shape, max(1, min(s, 3)))
			}
			x.Data = make([]float32, count(x.Shape[:min(len(x.Shape), 8)]))
			in[i.Name] = x
		}
		out, err := m.run(in, Exactly, 1<<10)
		for name, z := range out {
			if len(z.Data) != count(z.Shape) {
				t.Errorf("output %q of shape %v has %d elements, error %v", name, z.Shape, len(z.Data), err)
			}
		}
	})
}
