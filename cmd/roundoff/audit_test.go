package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/question"
	"gonum.org/v1/gonum/blas/blas32"
)

// numbered returns a matrix of small numbers, none of them 0.
func numbered(rows, cols int) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = float32(i*7%11) - 5.3
	}
	return m
}

// safetensors returns a file of layers w0, w1 and so on, with these weights.
func safetensors(layers ...blas32.General) []byte {
	var data []byte
	header := map[string]any{}
	for i, m := range layers {
		begin := len(data)
		for j := range m.Cols {
			for k := range m.Rows {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(m.Data[k*m.Stride+j]))
			}
		}
		header[fmt.Sprint("w", i)] = map[string]any{"dtype": "F32", "shape": []int{m.Cols, m.Rows}, "data_offsets": []int{begin, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
}

// placed writes a file into a folder and returns its path.
func placed(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every product is told of, by every recipe, with the devices that take it, and
// the table has the numbers of the JSON.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	model := placed(t, dir, "net.safetensors", safetensors(numbered(200, 30), numbered(20, 3)))
	status, said, errs := ask(t, "audit -json "+model)
	var r auditReport
	if err := json.Unmarshal([]byte(said), &r); status != 0 || err != nil || len(r.Products) != 2 {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	for _, p := range r.Products {
		if p.Data != "N(0,1)" || len(p.Errors) != 6 {
			t.Errorf("%+v", p)
		}
		for _, e := range p.Errors {
			if e.Why != "" || !(e.Measured > 0) || math.Abs(e.Predicted/e.Measured-1) > 0.2 || !(e.Measured < e.Bound) || !(e.Common < e.Predicted) || (e.Recipe == "int8-row") != (e.Devices == nil) {
				t.Errorf("%s: %+v", p.Name, e)
			}
			for _, d := range e.Devices {
				if d.Bound == nil || d.TotalBound == nil || !(d.RMS < *d.Bound && d.Total < *d.TotalBound && *d.TotalBound < 1.01*(e.Bound+*d.Bound)) {
					t.Errorf("%s, %s: %+v", p.Name, e.Recipe, d)
				}
			}
		}
	}
	if w := r.Products[0]; w.K != 200 || w.N != 30 || w.Kurtosis > 2 || len(w.Errors[0].Devices) != 4 || w.Errors[0].Devices[1].Promote != 128 {
		t.Errorf("%+v", w)
	}
	status, said, errs = ask(t, "audit -tolerance 0.05 -worst 1 -recipe torchao-e4m3-row,mxe2m1-floor -device hopper-wgmma-e4m3-binary32 "+model)
	if status != 0 || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	worst := r.by(0)[0]
	for _, want := range []string{"2 products of activations and weights, 0 not audited", "independent N(0,1), 64 rows, seed 1; errors of at most 256 × 256 outputs of a product", "2 of 2\n", "0 of 2\n",
		"torchao-e4m3-row, the worst 1 of 2", fmt.Sprintf("%.2e   %.2e  %.1e", worst.Predicted, worst.Measured, worst.Bound), "hopper-wgmma-e4m3",
		fmt.Sprintf("%.1e  %.1e  %.1e  %.1e\n", worst.Devices[0].RMS, *worst.Devices[0].Bound, worst.Devices[0].Total, *worst.Devices[0].TotalBound)} {
		if !strings.Contains(said, want) {
			t.Errorf("said\n%s\nwant %q", said, want)
		}
	}
}

// Where no bound is known none is told.
func TestAudit_without_bound(t *testing.T) {
	if question.Known(math.Inf(1)) != nil || question.Known(math.NaN()) != nil || *question.Known(2) != 2 {
		t.Error("a bound that is not finite is told")
	}
	x := 0.5
	for want, d := range map[string]question.AuditedDevice{"5.0e-01 -": {RMS: x}, "3 overflow 3 overflow": {RMS: x, Overflow: 3}} {
		if got := d.Over(&d.RMS) + " " + d.Over(d.Bound); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Activations of a folder are taken for the product whose name they have, with
// whatever they are: the layer below is exact where they are codes.
func TestAudit_with_activations(t *testing.T) {
	dir := t.TempDir()
	b := numbered(4, 2)
	for i := range b.Data {
		b.Data[i] = float32(int(1) << (i % 3))
	}
	model := placed(t, dir, "net.safetensors", safetensors(b, numbered(20, 3)))
	folder := filepath.Join(dir, "activations")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	line := "audit -json -recipe deepgemm-row-ue8m0 -activations " + folder + " " + model
	if status, _, errs := ask(t, line); status != 1 || !strings.Contains(errs, "no file of a product, such as 000-w0.npy") {
		t.Errorf("status %d, %s", status, errs)
	}
	writeNumbers(t, folder, "000-w0.npy", "(2, 4)", 1, 2, -4, 0.5, 1, 1, 2, 0)
	status, said, errs := ask(t, line)
	var r auditReport
	if err := json.Unmarshal([]byte(said), &r); status != 0 || err != nil {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	if p := r.Products[0]; p.Data != "000-w0.npy" || p.Errors[0].Measured != 0 || p.Errors[0].Predicted != 0 || p.Errors[0].Devices[0].Total != 0 {
		t.Errorf("%+v", p)
	}
	if p := r.Products[1]; p.Data != "N(0,1)" || p.Errors[0].Measured == 0 {
		t.Errorf("%+v", p)
	}
	writeNumbers(t, folder, "001-w1.npy", "(1, 2)", 1, 2)
	if status, _, errs := ask(t, line); status != 1 || !strings.Contains(errs, "001-w1.npy is 1 × 2, want 20 columns for w1") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// What cannot be audited is said, and the rest is audited.
func TestAudit_refuses(t *testing.T) {
	dir := t.TempDir()
	bad := numbered(4, 2)
	bad.Data[3] = float32(math.NaN())
	good := placed(t, dir, "good.safetensors", safetensors(numbered(4, 2)))
	placed(t, dir, "nan.safetensors", safetensors(bad))
	placed(t, dir, "short.safetensors", safetensors(numbered(4, 2), numbered(1, 1))[:150])
	placed(t, dir, "empty.safetensors", append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "{}"...))
	placed(t, dir, "model.pt", nil)
	for args, want := range map[string]string{
		"audit":                                          "want one model",
		"audit " + good + " -tolerance nan":              "-tolerance NaN, want a number of at least 0",
		"audit " + good + " -promote -1":                 "-promote -1 and -worst 5, want at least 0",
		"audit " + good + " -recipe nvfp5":               `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"audit " + good + " -recipe int8-row:nvfp5":      `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"audit " + good + " -recipe int8-row,int8-row":   "-recipe names int8-row twice",
		"audit " + good + " -device pascal":              `no device "pascal", see roundoff devices`,
		"audit " + dir + "/nan.safetensors":              `nan.safetensors: tensor "w0": element 5 is NaN in binary32, want finite numbers`,
		"audit " + dir + "/short.safetensors":            `short.safetensors: tensor "w0": data_offsets [0 32], want them to begin at 0 and to end within`,
		"audit " + dir + "/empty.safetensors":            "no product of activations and weights",
		"audit " + dir + "/model.pt":                     "model.pt: want a file named .onnx or .safetensors",
		"audit " + good + " -html " + dir:                "is a folder, want a file",
		"audit " + dir + "/none.onnx":                    "none.onnx: no such file",
		"audit " + good + " -activations " + dir + "/no": "no file of a product, such as 000-w0.npy",
	} {
		if status, _, errs := ask(t, args); status == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errs, want)
		}
	}
	both := placed(t, dir, "both.safetensors", safetensors(numbered(4, 2), bad))
	status, said, errs := ask(t, "audit -recipe int8-row "+both)
	if status != 0 || !strings.Contains(said, "1 product of activations and weights, 1 not audited") || !strings.Contains(said, "  tensor w1: ") {
		t.Errorf("status %d, %s, %s", status, said, errs)
	}
}

// The worst comes first, what cannot be measured before it, and a tolerance is
// met by what is below it.
func TestAudit_order(t *testing.T) {
	r := &auditReport{}
	for i, x := range []float64{0.1, 0.3, 0, 0.2} {
		e := question.AuditedErrors{Measured: x}
		if x == 0 {
			e.Why = "no reason"
		}
		r.Products = append(r.Products, question.AuditedProduct{Name: fmt.Sprint(i), Errors: []question.AuditedErrors{e}})
	}
	names := ""
	for _, p := range r.by(0) {
		names += p.Name
	}
	var said bytes.Buffer
	r.writeSummary(&said, auditQuestion{recipes: []question.AuditRecipe{{Name: "r"}}, tolerance: 0.15})
	if want := "r       3.00e-01  2.00e-01  1              1 of 4\n"; names != "2130" || !strings.HasSuffix(said.String(), want) {
		t.Errorf("%s, %q, want %q", names, said.String(), want)
	}
}

// Activations of a convolution of several groups are refused: a column of the
// weights multiplies those of its group alone.
func TestAudit_of_groups(t *testing.T) {
	field := func(number int, parts ...[]byte) []byte { // of bytes, in the wire format
		body := bytes.Join(parts, nil)
		return append([]byte{byte(number<<3 | 2), byte(len(body))}, body...)
	}
	word := func(number int, s string) []byte { return field(number, []byte(s)) }
	var data []byte
	for _, x := range []float32{1, 2, 3, 4} {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	weights := field(5, []byte{8, 2, 8, 1, 8, 2, 16, 1}, word(8, "w"), field(9, data)) // [2 1 2] of binary32
	conv := field(1, word(1, "x"), word(1, "w"), word(2, "y"), word(3, "c"), word(4, "Conv"), field(5, word(1, "group"), []byte{3 << 3, 2}))
	dir := t.TempDir()
	model := placed(t, dir, "m.onnx", field(7, weights, conv))
	writeNumbers(t, dir, "000-c.npy", "(1, 2)", 1, 2)
	if status, said, errs := ask(t, "audit -recipe int8-row "+model); status != 0 || !strings.Contains(said, "2 × 2  2 ") {
		t.Errorf("status %d, %s, %s", status, said, errs)
	}
	if status, _, errs := ask(t, "audit -activations "+dir+" "+model); status != 1 || !strings.Contains(errs, "000-c.npy: activations of a convolution of 2 groups, want one") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// The page has a picture of every recipe and every product, asks nothing of any
// host, and is not left half written.
func TestAudit_page(t *testing.T) {
	dir := t.TempDir()
	model := placed(t, dir, "net.safetensors", safetensors(numbered(200, 30), numbered(20, 3)))
	path := filepath.Join(dir, "page.html")
	recipes := "int8-row,deepgemm-fp4-1x32-ue8m0:deepgemm-fp4-1x32-ue8m0"
	if status, _, errs := ask(t, "audit -tolerance 0.05 -recipe "+recipes+" -html "+path+" "+model); status != 0 {
		t.Fatalf("status %d, %s", status, errs)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "<figure"); n != 3 {
		t.Errorf("%d figures, want 3", n)
	}
	for _, want := range []string{"All products by int8-row", "All products by deepgemm-fp4-1x32-ue8m0:deepgemm", ">w0<", ">w1<", ">at most<", ">common<", "64 rows, seed 1", "at most 256 × 256 outputs"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if found := regexp.MustCompile(`(?i)(src|href)="(https?:)?//`).FindString(string(page)); found != "" {
		t.Errorf("the page asks a host: %s", found)
	}
	fresh := filepath.Join(dir, "fresh.html")
	if status, _, _ := ask(t, "audit -activations "+dir+" -html "+fresh+" "+model); status != 1 {
		t.Errorf("status %d", status)
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 2 {
		t.Errorf("files %v are left", left)
	}
}

// Names of a file may be anything: they neither command a terminal nor a page,
// and pictures have room for them.
func TestAudit_names(t *testing.T) {
	for _, name := range []string{"", "\x1b[31m\n", "<script>alert(1)</script>", strings.Repeat("W", 5000), strings.Repeat("網", 40), "\xff\xfe", "a\tb"} {
		dir := t.TempDir()
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		data := bytes.Replace(safetensors(numbered(20, 3)), []byte(`"w0"`), quoted, 1)
		binary.LittleEndian.PutUint64(data, binary.LittleEndian.Uint64(data)+uint64(len(quoted)-4))
		path := filepath.Join(dir, "page.html")
		status, said, errs := ask(t, "audit -recipe int8-row -html "+path+" "+placed(t, dir, "net.safetensors", data))
		page, err := os.ReadFile(path)
		if status != 0 || err != nil {
			t.Fatalf("%q: status %d, %s, %v", name, status, errs, err)
		}
		if strings.Contains(said, "\x1b") || strings.Contains(string(page), "<script>alert") || strings.Contains(string(page), "\x1b") {
			t.Errorf("%q is written as it is", name)
		}
	}
}
