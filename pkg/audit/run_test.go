package audit

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// message is a field of Protocol Buffers that has others, or text.
func message(number int, parts ...[]byte) []byte {
	var body []byte
	for _, p := range parts {
		body = append(body, p...)
	}
	head := []byte{byte(number<<3 | 2)}
	for n := len(body); ; n >>= 7 {
		if n < 128 {
			return append(append(head, byte(n)), body...)
		}
		head = append(head, byte(n)|128)
	}
}

func text(number int, s string) []byte { return message(number, []byte(s)) }

// weights is a matrix that is stored.
func weights(name string, m blas32.General) []byte {
	var data []byte
	for _, x := range m.Data {
		b := math.Float32bits(x)
		data = append(data, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	shape := []byte{1 << 3, byte(m.Rows), 1 << 3, byte(m.Cols), 2 << 3, 1}
	return message(5, shape, text(8, name), message(9, data))
}

func operation(name, operator, output string, inputs ...string) []byte {
	parts := [][]byte{text(2, output), text(3, name), text(4, operator)}
	for _, i := range inputs {
		parts = append(parts, text(1, i))
	}
	return message(1, parts...)
}

// layers writes y = tanh(xV) W and opens it.
func layers(t *testing.T, v, w blas32.General) *network.Model {
	t.Helper()
	graph := message(7, message(11, text(1, "x")), message(12, text(1, "y")), weights("V", v), weights("W", w),
		operation("first", "MatMul", "h", "x", "V"), operation("bend", "Tanh", "g", "h"), operation("second", "MatMul", "y", "g", "W"))
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, graph, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := network.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func tensorOf(m blas32.General) network.Tensor {
	return network.Tensor{Shape: []int{m.Rows, m.Cols}, Data: m.Data}
}

// product64 is a product by three loops.
func product64(a, b blas32.General) blas32.General {
	z := matrix.New(a.Rows, b.Cols)
	for i := range a.Rows {
		for j := range b.Cols {
			s := 0.0
			for k := range a.Cols {
				s += float64(a.Data[i*a.Stride+k]) * float64(b.Data[k*b.Stride+j])
			}
			z.Data[i*z.Stride+j] = float32(s)
		}
	}
	return z
}

// over returns rms(x - y)/rms(y).
func over(x, y blas32.General) float64 {
	var errors, size float64
	for i, v := range y.Data {
		errors += math.Pow(float64(x.Data[i])-float64(v), 2)
		size += math.Pow(float64(v), 2)
	}
	return math.Sqrt(errors / size)
}

// The errors of two layers are those of the network written out: alone, passed
// on, and both; the first layer inherits none.
func TestRunWith(t *testing.T) {
	v, w, x := Normal(64, 96, 1), Normal(96, 40, 2), Normal(50, 64, 3)
	for i := range v.Data {
		v.Data[i] /= 8
	}
	recipe := quant.Torchao(tcore.E4M3, quant.PerVector, false)
	hopper, takes := quant.KernelOn(devices.HopperE4M3(), recipe, recipe, 32)
	if !takes || hopper.Machine.Promote != 32 || hopper.Name != "epilogue" {
		t.Fatalf("kernel %+v, %v", hopper, takes)
	}
	r, err := NewRun(layers(t, v, w), map[string]network.Tensor{"x": tensorOf(x)})
	if err != nil {
		t.Fatal(err)
	}
	tanh := func(m blas32.General) blas32.General {
		return matrix.Map(m, func(x float32) float32 { return float32(math.Tanh(float64(x))) })
	}
	for name, a := range map[string]Arithmetic{"exact sums": {OnA: recipe, OnB: recipe}, "Hopper": {OnA: recipe, OnB: recipe, Kernel: &hopper}} {
		multiply := func(a, b blas32.General) blas32.General {
			left, right, err := recipe.Factors(a, b)
			if err != nil {
				t.Fatal(err)
			}
			return product64(left, right)
		}
		if a.Kernel != nil {
			multiply = func(x, y blas32.General) blas32.General {
				p, _ := recipe.Quantise(x, quant.Left)
				q, _ := recipe.Quantise(y, quant.Right)
				d, err := hopper.Multiply(p, q)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
		}
		h, first := product64(x, v), multiply(x, v)
		g, noisy := tanh(h), tanh(first)
		y, z := product64(g, w), multiply(noisy, w)
		o, err := r.With(a)
		if err != nil {
			t.Fatal(err)
		}
		want := []Passed{{Node: "first", K: 64, N: 96, Alone: over(first, h), Both: over(first, h)},
			{Node: "second", K: 96, N: 40, Alone: over(multiply(g, w), y), Inherited: over(product64(noisy, w), y), Both: over(z, y)}}
		for i, p := range o.Products {
			u := want[i]
			near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-5*y }
			if p.Node != u.Node || p.K != u.K || p.N != u.N || !near(p.Alone, u.Alone) || !near(p.Inherited, u.Inherited) || !near(p.Both, u.Both) {
				t.Errorf("%s: %+v, want %+v", name, p, u)
			}
			// What outputs have in common of both parts adds up with its signs.
			if math.Abs(math.Hypot(p.Activations, p.Weights)/p.Predicted-1) > 2e-3 || p.Activations == 0 || p.Weights == 0 {
				t.Errorf("%s: %+v: the parts do not make the whole", name, p)
			}
			if math.Abs(p.Predicted/p.Alone-1) > 0.1 || math.Abs(math.Hypot(p.Alone, p.Inherited)/p.Both-1) > 0.1 {
				t.Errorf("%s: %+v: the prediction, or the root of the sum of squares, is far off", name, p)
			}
		}
		if len(o.Products) != 2 || o.Products[1].Inherited < 0.01 || over(blas32.General{Data: o.Outputs["y"].Data}, z) > 1e-5 {
			t.Errorf("%s: products %+v, or the outputs, are not those of the network", name, o.Products)
		}
		changed := 0
		for i := range y.Rows {
			if best(matrix.Row(y, i)) != best(matrix.Row(z, i)) {
				changed++
			}
		}
		if got := Changed(r.Outputs["y"], o.Outputs["y"]); got != changed || changed == 0 {
			t.Errorf("%s: %d decisions change, want %d, more than 0", name, got, changed)
		}
	}
}

// A product of two results inherits the errors of both: H H, with H = xV.
func TestRunWith_two_results(t *testing.T) {
	v, x := Normal(12, 12, 1), Normal(12, 12, 2)
	path := filepath.Join(t.TempDir(), "m.onnx")
	graph := message(7, message(11, text(1, "x")), message(12, text(1, "y")), weights("V", v), operation("first", "MatMul", "h", "x", "V"), operation("square", "MatMul", "y", "h", "h"))
	if err := os.WriteFile(path, graph, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := network.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r, err := NewRun(m, map[string]network.Tensor{"x": tensorOf(x)})
	if err != nil {
		t.Fatal(err)
	}
	recipe := quant.Torchao(tcore.E4M3, quant.PerVector, false)
	o, err := r.With(Arithmetic{OnA: recipe, OnB: recipe})
	if err != nil {
		t.Fatal(err)
	}
	a, b, err := recipe.Factors(x, v)
	if err != nil {
		t.Fatal(err)
	}
	h, rough := product64(x, v), product64(a, b)
	if got, want := o.Products[1].Inherited, over(product64(rough, rough), product64(h, h)); math.Abs(got/want-1) > 1e-5 {
		t.Errorf("inherited %v, want %v", got, want)
	}
}

func best(row []float32) (at int) {
	for i, v := range row {
		if v > row[at] {
			at = i
		}
	}
	return at
}

// What cannot be run, and errors that are not numbers, are errors that say so.
func TestRunRefuses(t *testing.T) {
	row := quant.Torchao(tcore.E4M3, quant.PerVector, false)
	x := map[string]network.Tensor{"x": tensorOf(Normal(2, 3, 1))}
	m := layers(t, Normal(3, 4, 1), Normal(4, 2, 1))
	if _, err := NewRun(m, nil); err == nil || !strings.Contains(err.Error(), `m.onnx: input "x" is missing`) {
		t.Error(err)
	}
	zero := layers(t, matrix.New(3, 4), Normal(4, 2, 1))
	r, err := NewRun(zero, x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.With(Arithmetic{OnA: row, OnB: row}); err == nil || !strings.Contains(err.Error(), `m.onnx: "first": the product is 0`) {
		t.Error(err)
	}
	if r, err = NewRun(m, x); err != nil {
		t.Fatal(err)
	}
	other := quant.AlphaKernel(tcore.Machine{Device: devices.BlackwellMXE4M3()})
	bad := row
	bad.Name, bad.Block.Along = "bad", -1
	for want, a := range map[string]Arithmetic{`MatMul "first": quant: recipe "torchao-e4m3-row"`: {row, row, &other}, `MatMul "first": quant: recipe "bad": Block`: {bad, row, nil}, `quant: recipe "bad"`: {row, bad, nil}} {
		if _, err := r.With(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := (&sums{squares: 1, Passed: Passed{Both: math.Inf(1)}}).passed(); err == nil || !strings.Contains(err.Error(), "an error of the product is +Inf") {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, message(7, message(11, text(1, "x")), message(12, text(1, "x"))), 0o666); err != nil {
		t.Fatal(err)
	}
	empty, err := network.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if _, err := NewRun(empty, x); err == nil || !strings.Contains(err.Error(), "m.onnx: no product of matrices is computed") {
		t.Error(err)
	}
}
