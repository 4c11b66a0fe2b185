package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// layer returns a network y = xW in ONNX.
func layer(w blas32.General) []byte {
	message := func(number int, parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		return append(binary.AppendUvarint([]byte{byte(number<<3 | 2)}, uint64(len(body))), body...)
	}
	word := func(number int, s string) []byte { return message(number, []byte(s)) }
	var data []byte
	for _, x := range w.Data {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return message(7, message(11, word(1, "x")), message(12, word(1, "y")),
		message(5, []byte{8, byte(w.Rows), 8, byte(w.Cols), 16, 1}, word(8, "W"), message(9, data)),
		message(1, word(1, "x"), word(1, "W"), word(2, "y"), word(3, "only"), word(4, "MatMul")))
}

// savez returns a file of numpy.savez with these arrays.
func savez(arrays map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range arrays {
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// bytesFile returns a NumPy file of elements that are given as bytes.
func bytesFile(kind, shape string, data ...byte) []byte {
	return npyFile(dictionary(kind, "False", shape), data)
}

// A network is computed exactly and by every recipe, with exact sums and on the
// devices that take it; the table has the numbers of the JSON.
func TestAudit_run(t *testing.T) {
	dir := t.TempDir()
	model := placed(t, dir, "m.onnx", layer(numbered(64, 3)))
	x := make([]float64, 2*64)
	want := make([]float64, 2*3)
	for i := range x {
		x[i] = float64(i*5%13) - 6
		for j := range 3 {
			want[i/64*3+j] += x[i] * float64(numbered(64, 3).Data[i%64*3+j])
		}
	}
	inputs := placed(t, dir, "x.npz", savez(map[string][]byte{"x": npyFile(dictionary("<f8", "False", "(2, 64)"), x)}))
	line := "audit -recipe torchao-e4m3-row,te-mxe4m3,int8-row -device hopper-wgmma-e4m3-binary32,blackwell-tcgen05-mxe4m3-binary32 -promote 32 -run " + inputs + " "
	status, said, errs := ask(t, line+"-json "+model)
	var r runReport
	if err := json.Unmarshal([]byte(said), &r); status != 0 || err != nil {
		t.Fatal(status, err, errs)
	}
	for i, v := range want {
		if len(r.Outputs) != 1 || r.Outputs[0].Name != "y" || fmt.Sprint(r.Outputs[0].Shape) != "[2 3]" || r.Outputs[0].Data[i] != float32(v) {
			t.Fatalf("outputs %v, want %v", r.Outputs, want)
		}
	}
	status, table, errs := ask(t, line+model)
	found := ""
	for _, run := range r.Runs {
		found += fmt.Sprintf("%s %s %d; ", run.Recipe, run.Device, run.Promote)
		p := run.Products[0]
		row := strings.Join(strings.Fields(fmt.Sprintf("only 64 × 3 %.2e %.2e %.2e %.2e %.2e %.2e", p.Activations, p.Weights, p.Predicted, p.Alone, p.Inherited, p.Both)), " ")
		if !strings.Contains(strings.Join(strings.Fields(table), " "), row) || p.Inherited != 0 || p.Alone != p.Both || p.Alone == 0 || run.Changed[0].Rows != 2 {
			t.Errorf("status %d, %s, %s, want %s", status, table, errs, row)
		}
	}
	if want := "torchao-e4m3-row  0; torchao-e4m3-row hopper-wgmma-e4m3-binary32 0; torchao-e4m3-row hopper-wgmma-e4m3-binary32 32; " +
		"te-mxe4m3  0; te-mxe4m3 blackwell-tcgen05-mxe4m3-binary32 0; int8-row  0; "; found != want {
		t.Errorf("%s, want %s", found, want)
	}
}

// Integers and numbers of every type are read, of any shape.
func TestReadTensors(t *testing.T) {
	path := placed(t, t.TempDir(), "x.npz", savez(map[string][]byte{
		"a": bytesFile("<i4", "(1, 1, 2)", 255, 255, 255, 255, 0, 1, 0, 0), "b": bytesFile("|u1", "(2,)", 7, 255), "c": bytesFile("<i8", "(1,)", 254, 255, 255, 255, 255, 255, 255, 255),
		"d": bytesFile("|b1", "(2,)", 0, 1), "e": bytesFile("<f2", "(1,)", 0, 0x3c), "f": bytesFile("<i2", "(1,)", 0, 128), "g": bytesFile("<u2", "(1,)", 0, 128)}))
	x, err := readTensors(path)
	if want := "map[a:{[1 1 2] [-1 256] true} b:{[2] [7 255] true} c:{[1] [-2] true} d:{[2] [0 1] true} e:{[1] [1] false} f:{[1] [-32768] true} g:{[1] [32768] true}]"; err != nil || fmt.Sprint(x) != want {
		t.Errorf("%v, %v, want %s", x, err, want)
	}
}

func TestAudit_run_refuses(t *testing.T) {
	dir := t.TempDir()
	model := placed(t, dir, "m.onnx", layer(numbered(64, 3)))
	file := func(name string, data []byte) string {
		return placed(t, dir, name+".npz", savez(map[string][]byte{"x": data}))
	}
	good := file("good", npyFile(dictionary("<f8", "False", "(1, 64)"), make([]float64, 64)))
	for args, want := range map[string]string{
		"-run " + good + " -html " + dir + "/page": "want it without -html, -activations and -tolerance",
		"-run " + model:       "m.onnx: zip: not a valid zip file, want a file of numpy.savez",
		"-run " + dir + "/no": "no such file",
		"-run " + placed(t, dir, "y.npz", savez(map[string][]byte{"y": bytesFile("|u1", "(1,)", 1)})):                  `m.onnx: input "x" is missing`,
		"-run " + file("short", npyFile(dictionary("<f8", "False", "(1, 64)"), make([]float64, 63))):                   `short.npz: array "x": shape [1 64] for 504 bytes of data`,
		"-run " + file("long", npyFile(dictionary("<f8", "False", "(1, 64)"), make([]float64, 65))):                    `long.npz: array "x": 520 bytes of data, want those of [1 64] elements of <f8`,
		"-run " + file("text", bytesFile("<U1", "(1,)", 1, 0, 0, 0)):                                                   `elements of type "<U1", want integers or float16`,
		"-run " + file("columns", npyFile(dictionary("<f8", "True", "(2, 1)"), []float64{1, 2})):                       "columns are stored one after the other",
		"-run " + file("wide", npyFile(dictionary("<f8", "False", "(1, 3)"), make([]float64, 3))):                      `MatMul "only": a of shape [1 3] and b of [64 3]`,
		"-run " + file("nan", npyFile(dictionary("<f8", "False", "(1, 64)"), append(make([]float64, 63), math.NaN()))): `output "y": element 0 is NaN, want finite numbers`,
		"-promote 5 -device hopper-wgmma-e4m3-binary32 -run " + good:                                                   "-promote 5: ",
	} {
		if status, _, errs := ask(t, "audit "+args+" "+model); status == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errs, want)
		}
	}
	// A recipe whose errors are none to tell of says so in its place.
	if status, said, errs := ask(t, "audit -recipe int8-row -run "+good+" "+model); status != 0 || !strings.Contains(said, `int8-row, sums exact: `+model+`: "only": the product is 0`) {
		t.Errorf("status %d, %s, %s", status, said, errs)
	}
}
