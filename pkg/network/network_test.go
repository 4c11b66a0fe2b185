package network

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// check opens a model and compares its products with lines: name, operator,
// input, size, and the weights row by row.
func check(t *testing.T, name string, data []byte, want ...string) *Model {
	t.Helper()
	m, err := open(t, name, data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range m.Products {
		b, err := p.Weights()
		if err != nil {
			t.Fatal(err)
		}
		if b.Rows != p.K || b.Cols != p.N {
			t.Errorf("%s is %d × %d, its weights %d × %d", p.Name, p.K, p.N, b.Rows, b.Cols)
		}
		got = append(got, fmt.Sprintf("%s %s(%s) %dx%d/%d %v", p.Name, p.Operator, p.Input, p.K, p.N, p.Groups, b.Data))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return m
}

// The weights of every type are the numbers that its bytes stand for, and the
// product of a linear layer takes them transposed.
func TestSafetensors(t *testing.T) {
	d64 := make([]byte, 0, 16)
	for _, v := range []float64{0.5, -0x1p-30} {
		d64 = binary.LittleEndian.AppendUint64(d64, math.Float64bits(v))
	}
	data := append([]byte{}, d64...)
	data = append(data, floats(1, 2, 3, 4, 5, 6)...)
	data = append(data, 0x00, 0x3c, 0x00, 0xc0) // 1, -2 in binary16
	data = append(data, 0x80, 0x3f, 0x40, 0xc0) // 1, -3 in bfloat16
	data = append(data, 0x38, 0xfe, 0x3c, 0xc0) // 1, -448 in e4m3; 1, -2 in e5m2
	data = append(data, 7, 9, 0, 0, 0, 0)
	m := check(t, "m.safetensors", tensors(t, map[string]shaped{
		"a": {"F64", []int{1, 2}, [2]int64{0, 16}}, "b": {"F32", []int{2, 3}, [2]int64{16, 40}}, "c": {"F16", []int{2, 1}, [2]int64{40, 44}},
		"d": {"BF16", []int{1, 1, 2}, [2]int64{44, 48}}, "e": {"F8_E4M3", []int{1, 2}, [2]int64{48, 50}}, "f": {"F8_E5M2", []int{1, 2}, [2]int64{50, 52}},
		"g": {"I8", []int{1, 2}, [2]int64{52, 54}}, "h": {"F32", []int{1}, [2]int64{54, 58}}, "i": {"F32", []int{0, 4}, [2]int64{58, 58}}, "j": {"C64", []int{0, 4}, [2]int64{58, 58}},
	}, data),
		"a tensor() 2x1/1 [0.5 -9.313226e-10]", "b tensor() 3x2/1 [1 4 2 5 3 6]", "c tensor() 1x2/1 [1 -2]",
		"d tensor() 2x1/1 [1 -3]", "e tensor() 2x1/1 [1 -448]", "f tensor() 2x1/1 [1 -2]")
	if fmt.Sprint(m.Left) != `[{g tensor integers I8, of which the file tells no scale} {i tensor weights "i" are 4 × 0, empty} {j tensor elements of type "C64" are not read}]` {
		t.Errorf("left %v", m.Left)
	}
}

// Every operator that multiplies by weights is a product, with the activations
// as its left factor.
func TestONNX(t *testing.T) {
	w := sub(5, raw("w", []int64{2, 3}, 1, 2, 3, 4, 5, 6))
	filters := sub(5, raw("f", []int64{4, 1, 1, 2}, 1, 2, 3, 4, 5, 6, 7, 8))
	gates := sub(5, raw("g", []int64{2, 1, 2}, 1, 2, 3, 4))
	inner := sub(1, op("in", "MatMul", []string{"z", "w", "-", "y6"}))
	branch := append(word(1, "then_branch"), sub(6, inner)...)
	foreign := append(op("far", "MatMulNBits", []string{"x", "w", "-", "y9"}), word(7, "com.microsoft")...)
	m := check(t, "m.onnx", onnx(w, filters, gates,
		sub(1, op("m", "MatMul", []string{"x", "w", "-", "y"})),
		sub(1, op("left", "MatMul", []string{"w", "x", "-", "y1"})),
		sub(1, op("", "Gemm", []string{"x", "w", "-", "y2"}, integerOf("transB", 1))),
		sub(1, op("c", "Conv", []string{"x", "f", "-", "y3"}, integerOf("group", 2), integersOf("strides", 2, 1), append(word(1, "auto_pad"), word(4, "VALID")...))),
		sub(1, op("l", "LSTM", []string{"x", "g", "g", "-", "y4"})),
		sub(1, op("both", "MatMul", []string{"x", "y", "-", "y5"})),
		sub(1, op("if", "If", []string{"x", "-", "y6"}, branch)),
		sub(1, op("q", "QLinearConv", []string{"x", "-", "y7"})),
		sub(1, op("r", "Relu", []string{"x", "-", "y8"})),
		sub(1, foreign),
	),
		"m MatMul(x) 2x3/1 [1 2 3 4 5 6]",
		"left MatMul(x) 3x2/1 [1 4 2 5 3 6]",
		"y2 Gemm(x) 3x2/1 [1 4 2 5 3 6]",
		"c Conv(x) 2x4/2 [1 3 5 7 2 4 6 8]",
		"l input of direction 0 LSTM(x) 2x1/1 [1 2]", "l input of direction 1 LSTM(x) 2x1/1 [3 4]",
		"l state of direction 0 LSTM() 2x1/1 [1 2]", "l state of direction 1 LSTM() 2x1/1 [3 4]",
		"in MatMul(z) 2x3/1 [1 2 3 4 5 6]")
	if got := fmt.Sprintf("%+v", *m.Products[3].Window); got != "{Kernel:[1 2] Strides:[2 1] Pads:[] Dilations:[] AutoPad:VALID}" {
		t.Errorf("window %s", got)
	}
	if got := fmt.Sprint(m.Left); got != `[{both MatMul computed by the network: neither factor is stored} {q QLinearConv quantised already, to integers} {far MatMulNBits an operator of "com.microsoft"}]` {
		t.Errorf("left %s", got)
	}
}

// Weights are followed through the operators that move and scale numbers.
func TestMoves(t *testing.T) {
	x := make([]float32, 24)
	for i := range x {
		x[i] = float32(i)
	}
	parts := [][]byte{
		sub(5, raw("x", []int64{2, 3, 4}, x...)),
		sub(5, list("axes1", 0)), sub(5, list("starts", -2)), sub(5, list("ends", math.MaxInt64)), sub(5, list("minus", 6, -1)),
		sub(5, append(append(append(dims(3, 2), integer(2, 3)...), word(8, "codes")...), sub(9, []byte{1, 0xff, 3, 4, 5, 6})...)),
		sub(5, raw("scales", []int64{3}, 0.5, 2, 10)),
		sub(5, append(append(append(dims(3), integer(2, 3)...), word(8, "zeros")...), sub(5, []byte{0, 1, 2})...)),
		sub(5, append(append(append(dims(2, 2), integer(2, 10)...), word(8, "half")...), sub(5, uvarint(0x3c00), uvarint(0x4000), uvarint(0xc000), uvarint(0x3800))...)),
	}
	node := func(name, operator string, inputs []string, attributes ...[]byte) {
		parts = append(parts, sub(1, op(name, operator, append(inputs, "-", name), attributes...)))
	}
	node("t", "Transpose", []string{"x"}, integersOf("perm", 2, 0, 1)) // 4 × 2 × 3
	node("s", "Slice", []string{"t", "starts", "ends", "axes1"})       // the last two of 4
	node("r", "Reshape", []string{"s", "minus"})                       // 6 × 2
	node("u", "Unsqueeze", []string{"r", "axes1"})
	node("q", "Squeeze", []string{"u"}, integersOf("axes", 0))
	node("j", "Concat", []string{"q", "q"}, integerOf("axis", 1)) // 6 × 4
	node("i", "Identity", []string{"j"})
	node("d", "DequantizeLinear", []string{"codes", "scales", "zeros"}, integerOf("axis", 0))
	node("h", "Cast", []string{"half"}, integerOf("to", 1))
	parts = append(parts, sub(1, op("k", "Constant", []string{"-", "k"}, append(word(1, "value"), sub(5, raw("", []int64{1, 2}, 8, 9))...))))
	for _, name := range []string{"i", "d", "h", "k"} {
		node("by "+name, "MatMul", []string{"a", name})
	}
	want := "by i MatMul(a) 6x4/1 ["
	for _, k := range []int{2, 3} { // t[k][i][j] = x[i][j][k], six numbers in rows of two, each row twice
		for row := range 3 {
			at := func(c int) int { n := 2*row + c; return n/3*12 + n%3*4 + k }
			want += fmt.Sprintf("%d %d %d %d ", at(0), at(1), at(0), at(1))
		}
	}
	check(t, "m.onnx", onnx(parts...), strings.TrimSuffix(want, " ")+"]",
		"by d MatMul(a) 3x2/1 [0.5 -0.5 4 6 30 40]", "by h MatMul(a) 2x2/1 [1 2 -2 0.5]", "by k MatMul(a) 1x2/1 [8 9]")
}

// gather agrees with digits of the index counted one by one.
func TestGather(t *testing.T) {
	data := []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	shape, steps := []int{2, 3, 2}, []int{1, 4, 2}
	var want []float32
	for n := range 12 {
		want = append(want, data[n/6*1+n/2%3*4+n%2*2])
	}
	if got := gather(data, shape, steps, 0); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Long tensors are read in pieces, and lists of numbers to their end.
func TestLongTensors(t *testing.T) {
	x := make([]float32, 20000)
	for i := range x {
		x[i] = float32(i)
	}
	m, err := open(t, "m.onnx", onnx(sub(5, raw("w", []int64{2, 10000}, x...)), sub(1, op("m", "MatMul", []string{"a", "w", "-", "y"}))))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := m.Products[0].Weights(); err != nil || !slices.Equal(b.Data, x) {
		t.Errorf("%v", err)
	}
	long := append(append(append(dims(2, 2), integer(2, 4)...), word(8, "w")...), sub(5, uvarint(300), uvarint(301))...) // 4 bytes, two numbers
	if m, err = open(t, "m.onnx", onnx(sub(5, long), sub(1, op("m", "MatMul", []string{"a", "w", "-", "y"})))); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Products[0].Weights(); err == nil || !strings.HasSuffix(err.Error(), `tensor "w": 2 elements, want those of shape [2 2]`) {
		t.Error(err)
	}
}

// outside is a model whose weights lie in another file.
func outside(pairs ...string) []byte {
	w := append(append(append(dims(2, 2), integer(2, 1)...), word(8, "w")...), integer(14, 1)...)
	for i := 0; i < len(pairs); i += 2 {
		w = append(w, sub(13, word(1, pairs[i]), word(2, pairs[i+1]))...)
	}
	return onnx(sub(5, w), sub(1, op("m", "MatMul", []string{"x", "w", "-", "y"})))
}

func TestDataOutside(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("w.bin", append([]byte{1, 2, 3, 4}, floats(1, 2, 3, 4)...))
	m, err := Open(write("m.onnx", outside("location", "w.bin", "offset", "4", "length", "16")))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if b, err := m.Products[0].Weights(); err != nil || !slices.Equal(b.Data, []float32{1, 2, 3, 4}) {
		t.Errorf("%v, %v", b, err)
	}
	for want, pairs := range map[string][]string{
		"no such file": {"location", "none.bin"},
		`tensor "w": data in "../w.bin", want a file below`:                {"location", "../w.bin"},
		`tensor "w": data in "/etc/passwd", want a file below`:             {"location", "/etc/passwd"},
		"offset 8 and length -1 in":                                        {"location", "w.bin", "offset", "8"},
		"length 15 in":                                                     {"location", "w.bin", "length", "15"},
		`offset "-1" of the data in "w.bin", want a number of bytes`:       {"location", "w.bin", "offset", "-1"},
		`length "99999999999999999999" of the data in "w.bin", want a num`: {"location", "w.bin", "length", "99999999999999999999"},
		"is not a regular file":                                            {"location", "."},
	} {
		if _, err := Open(write("bad.onnx", outside(pairs...))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", pairs, err, want)
		}
	}
}

// What is damaged is said with the file, the tensor and the value.
func TestDamaged(t *testing.T) {
	model := func(w []byte) []byte {
		return onnx(sub(5, w), sub(1, op("m", "MatMul", []string{"x", "w", "-", "y"})))
	}
	good := model(raw("w", []int64{1, 2}, 1, 2))
	deep := sub(1, op("m", "MatMul", nil))
	for range 40 {
		deep = sub(1, op("if", "If", nil, append(word(1, "b"), sub(6, deep)...)))
	}
	one := func(s shaped) []byte { return tensors(t, map[string]shaped{"w": s}, floats(1, 2)) }
	for want, file := range map[string]struct {
		name string
		data []byte
	}{
		"m.bin: want a file named .onnx or .safetensors":                                                  {"m.bin", nil},
		"m.onnx: 0 bytes without a graph, want an ONNX model":                                             {"m.onnx", nil},
		"m.onnx: byte 2: a field of 43 bytes in a message of which 41 are left":                           {"m.onnx", good[:len(good)-2]},
		"m.onnx: byte 0: a field of type 7, want 0, 1, 2 or 5":                                            {"m.onnx", []byte{0x0f}},
		"m.onnx: byte 0: the tag 0 of no field":                                                           {"m.onnx", []byte{0}},
		"m.onnx: byte 1: a number that does not end":                                                      {"m.onnx", []byte{0x08, 0x80}},
		"m.onnx: more than 4194304 fields":                                                                {"m.onnx", bytes.Repeat([]byte{0x08, 0x00}, 1<<22+1)},
		"more than 32 deep":                                                                               {"m.onnx", onnx(deep)},
		`tensor "w": shape [-1 2], want sizes of at least 0`:                                              {"m.onnx", model(raw("w", []int64{-1, 2}, 1, 2))},
		`tensor "w": shape [4194304 4194304], want at most 2^40`:                                          {"m.onnx", model(raw("w", []int64{1 << 22, 1 << 22}, 1, 2))},
		`tensor "w": 8 bytes of data, want those of [3 2] elements of F32`:                                {"m.onnx", model(raw("w", []int64{3, 2}, 1, 2))},
		"m.safetensors: 0 bytes, want at least the 8 of a safetensors file":                               {"m.safetensors", nil},
		"m.safetensors: a header of 9223372036854775807 bytes, want at most 100000000 and the 0":          {"m.safetensors", []byte{255, 255, 255, 255, 255, 255, 255, 127}},
		"m.safetensors: header: unexpected end of JSON input":                                             {"m.safetensors", header("{")},
		`tensor "w": data_offsets [-1 -1], want them to begin at 0 and to end within the 0 bytes of data`: {"m.safetensors", header(`{"w":{}}`)},
		`tensor "w": data_offsets [0 9], want them to begin at 0 and to end within the 8`:                 {"m.safetensors", one(shaped{"F32", []int{1, 2}, [2]int64{0, 9}})},
		`tensor "w": data_offsets [4 8], want them to begin at 0`:                                         {"m.safetensors", one(shaped{"F32", []int{1, 1}, [2]int64{4, 8}})},
		`tensor "w": data_offsets [0 8], want 12 bytes for [1 3] elements of F32`:                         {"m.safetensors", one(shaped{"F32", []int{1, 3}, [2]int64{0, 8}})},
		`tensor "w": shape [1 -2], want sizes of at least 0`:                                              {"m.safetensors", one(shaped{"F32", []int{1, -2}, [2]int64{0, 8}})},
		`tensor "w": shape [1099511627776 1099511627776], want at most 2^40`:                              {"m.safetensors", one(shaped{"F32", []int{1 << 40, 1 << 40}, [2]int64{0, 8}})},
		`tensor "w": json: cannot unmarshal string into Go struct field entry.shape of type int64`:        {"m.safetensors", header(`{"w":{"dtype":"F32","shape":["x"],"data_offsets":[0,0]}}`)},
		`tensor "w": 2 bytes of data, want those of [2 2] elements of I8`:                                 {"m.onnx", model(append(append(append(dims(2, 2), integer(2, 3)...), word(8, "w")...), sub(5, []byte{1, 2})...))},
	} {
		if _, err := open(t, file.name, file.data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", file.name, err, want)
		}
	}
	if _, err := Open(t.TempDir() + "/none.onnx"); err == nil || !strings.Contains(err.Error(), "none.onnx") {
		t.Error(err)
	}
}

// Numbers that are not finite are named when the weights are read, and those
// that cannot be followed when the model is.
func TestWeightsThatAreNone(t *testing.T) {
	m, err := open(t, "m.onnx", onnx(sub(5, raw("w", []int64{1, 2}, 1, float32(math.NaN()))), sub(1, op("m", "MatMul", []string{"x", "w", "-", "y"}))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Products[0].Weights(); err == nil || !strings.HasSuffix(err.Error(), `m.onnx: tensor "w": element 1 is NaN in binary32, want finite numbers`) {
		t.Error(err)
	}
	w := sub(5, raw("w", []int64{2, 1}, 1, 2))
	multiply := sub(1, op("m", "MatMul", []string{"x", "v", "-", "y"}))
	for want, node := range map[string][]byte{
		`Transpose "n": perm [0 0] of 2 axes`:                    op("n", "Transpose", []string{"w", "-", "v"}, integersOf("perm", 0, 0)),
		`Reshape "n": from shape [2 1] to [3]`:                   op("n", "Reshape", []string{"w", "-", "v"}, integersOf("shape", 3)),
		`Reshape "n": shape "x" is not stored`:                   op("n", "Reshape", []string{"w", "x", "-", "v"}),
		`Squeeze "n": axis 0 of shape [2 1]`:                     op("n", "Squeeze", []string{"w", "-", "v"}, integersOf("axes", 0)),
		`Unsqueeze "n": axes [0 0] of a tensor of 4`:             op("n", "Unsqueeze", []string{"w", "-", "v"}, integersOf("axes", 0, 0)),
		`Slice "n": starts [], ends [], axes [], steps []`:       op("n", "Slice", []string{"w", "-", "v"}),
		`Concat "n": axis 2 of 2`:                                op("n", "Concat", []string{"w", "-", "v"}, integerOf("axis", 2)),
		`Cast "n": to type 6 of ONNX`:                            op("n", "Cast", []string{"w", "-", "v"}, integerOf("to", 6)),
		`Identity "n": its input is its output`:                  op("n", "Identity", []string{"v", "-", "v"}),
		`weights "v" of shape [2], want 2 dimensions`:            op("n", "Squeeze", []string{"w", "-", "v"}),
		`DequantizeLinear "n": "" is not stored`:                 op("n", "DequantizeLinear", []string{"w", "-", "v"}),
		`weights "v" of shape [1 2 1], a product of several mat`: op("n", "Unsqueeze", []string{"w", "-", "v"}, integersOf("axes", 0)),
	} {
		m, err := open(t, "m.onnx", onnx(w, sub(1, node), multiply))
		if err != nil || len(m.Left) != 1 || !strings.Contains(m.Left[0].Why, want) {
			t.Errorf("left %v, %v, want %s", m.Left, err, want)
		}
	}
}

// A small file that would stand for weights larger than itself, over and over,
// is refused.
func TestWeightsThatGrow(t *testing.T) {
	parts := [][]byte{sub(5, raw("v0", []int64{1, 2}, 1, 2))}
	for i := range 40 {
		parts = append(parts, sub(1, op("c", "Concat", []string{fmt.Sprint("v", i), fmt.Sprint("v", i), "-", fmt.Sprint("v", i+1)})))
	}
	m, err := open(t, "m.onnx", onnx(append(parts, sub(1, op("m", "MatMul", []string{"x", "v40", "-", "y"})))...))
	if err != nil || len(m.Left) != 1 || !strings.Contains(m.Left[0].Why, "bytes that there are") {
		t.Errorf("left %v, %v", m.Left, err)
	}
}

func FuzzONNX(f *testing.F) {
	f.Add(outside("location", "w.bin"))
	f.Add(onnx(sub(5, raw("w", []int64{2, 3}, 1, 2, 3, 4, 5, 6)), sub(5, list("p", 3, -1)),
		sub(1, op("m", "MatMul", []string{"x", "w", "-", "y"})), sub(1, op("r", "Reshape", []string{"w", "p", "-", "v"})),
		sub(1, op("g", "Gemm", []string{"x", "v", "-", "z"}, integerOf("transB", 1))), sub(1, op("t", "Transpose", []string{"w", "-", "u"})),
		sub(1, op("c", "Concat", []string{"w", "w", "-", "j"}, integerOf("axis", 0))), sub(1, op("o", "MatMul", []string{"u", "x", "-", "k"})),
		sub(1, op("i", "If", []string{"x", "-", "l"}, append(word(1, "b"), sub(6, sub(1, op("n", "Conv", []string{"x", "w", "-", "z"})))...)))))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "m.onnx", data) })
}

func FuzzSafetensors(f *testing.F) {
	f.Add(tensors(f, map[string]shaped{"w": {"F32", []int{1, 2}, [2]int64{0, 8}}, "v": {"BF16", []int{2, 1, 1}, [2]int64{8, 12}}}, floats(1, 2, 3)))
	f.Add(header(`{"__metadata__":{"a":"b"}}`))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "m.safetensors", data) })
}

// readAll reads all weights of a model, if it is one: they have the sizes that
// their products tell, and no more elements than there are bytes.
func readAll(t *testing.T, name string, data []byte) {
	m, err := open(t, name, data)
	if err != nil {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("error %v names no file", err)
		}
		return
	}
	for _, p := range m.Products {
		b, err := p.Weights()
		if err == nil && (len(b.Data) != p.K*p.N || len(b.Data) > len(data)) {
			t.Errorf("%+v has weights of %d elements, from %d bytes", p, len(b.Data), len(data))
		}
	}
}
