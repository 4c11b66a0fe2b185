package main

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// askWords runs a command line whose words may have spaces.
func askWords(t *testing.T, words ...string) (status int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), words, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestPlanList(t *testing.T) {
	_, out, _ := ask(t, "plan list")
	_, data, _ := ask(t, "plan list -json")
	var list plansListed
	if err := json.Unmarshal([]byte(data), &list); err != nil || len(list.Plans) != len(plan.Forms()) {
		t.Fatalf("%v, %s", err, data)
	}
	for _, e := range list.Libraries {
		if _, err := library.FindPlan(e.Name); err != nil || !strings.Contains(out, e.Name+" ") {
			t.Errorf("%s: %v, or not in the list", e.Name, err)
		}
	}
	for _, p := range list.Plans {
		if !strings.Contains(out, p.Name+" ") || !strings.Contains(out, p.String()) {
			t.Errorf("%s is not in the list", p.Name)
		}
		status, said, errs := ask(t, "plan explain -k 777 -plan "+p.Name)
		if status != 0 || said != p.String()+"\n\n"+plan.Explain(p, 777) {
			t.Errorf("%s: %s, %s", p.Name, said, errs)
		}
	}
}

func TestPlanExplainInJSON(t *testing.T) {
	status, out, errs := askWords(t, "plan", "explain", "-json", "-k", "300", "-plan", "hopper-wgmma-e4m3-binary32 | every 128")
	var z explained
	if err := json.Unmarshal([]byte(out), &z); err != nil || status != 0 {
		t.Fatalf("%v, %s", err, errs)
	}
	if z.K != 300 || z.Size.Instructions != 10 || z.Plan.String() != "hopper-wgmma-e4m3-binary32 | every 128" || z.Text != plan.Explain(z.Plan, 300) {
		t.Errorf("%+v", z)
	}
}

// gemm and trace compute what the plan computes.
func TestProductsByPlans(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	rng := rand.New(rand.NewPCG(7, 8))
	const m, n, k = 5, 7, 300
	a, b := fill(plan.Forms()[0].Device().A, m, k, false, uniform(rng)), fill(plan.Forms()[0].Device().A, k, n, true, uniform(rng))
	for path, z := range map[string]blas32.General{at("A.npy"): a, at("B.npy"): b} {
		if err := saveMatrix(path, z); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"split-groups", "lanes", "hopper-wgmma-binary16-binary32 | every 64 | lanes 2 vector 10 > bfloat16"} {
		p, err := findPlan("plan", text, question.PlannedProduct{})
		if err != nil {
			t.Fatal(err)
		}
		status, out, errs := askWords(t, "gemm", "-plan", text, "-compare", "hopper", at("A.npy"), at("B.npy"), "-o", at("D.npy"))
		if status != 0 || !strings.Contains(out, "hopper-wgmma-binary16-binary32") || !strings.Contains(out, p.Name) {
			t.Fatalf("%s: %s, %s", text, out, errs)
		}
		got, err := readNumbers(at("D.npy"))
		if err != nil {
			t.Fatal(err)
		}
		want := matrix.New(m, n)
		p.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
		for i, v := range want.Data {
			if got.Data[i] != float64(v) {
				t.Fatalf("%s: element %d is %v, want %v", text, i, got.Data[i], v)
			}
		}
		x, y := make([]float64, k), make([]float64, k)
		for l := range k {
			x[l], y[l] = float64(a.Data[3*k+l]), float64(b.Data[l*n+2])
		}
		status, out, errs = askWords(t, "trace", "-row", "3", "-column", "2", "-plan", text, at("A.npy"), at("B.npy"))
		if status != 0 || out != p.Trace(x, y).String() {
			t.Errorf("%s: %s, %s", text, out, errs)
		}
	}
}

// A library's plan is that for the shape of the files, and the kind that -in
// names; what is to be said of it is said on standard error.
func TestProductsByLibraries(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(7, 9))
	const m, n, k = 1, 16, 640
	a, b := fill(tcore.BFloat16, m, k, false, uniform(rng)), fill(tcore.BFloat16, k, n, true, uniform(rng))
	for path, z := range map[string]blas32.General{"A.npy": a, "B.npy": b} {
		if err := saveMatrix(path, z); err != nil {
			t.Fatal(err)
		}
	}
	profile, _, err := library.FindProfile("13.1", "h100")
	if err != nil {
		t.Fatal(err)
	}
	config, err := library.ParseConfig("13,0,1,0,0,0,0")
	if err != nil {
		t.Fatal(err)
	}
	for out, format := range map[string]tcore.Format{"": {}, "binary32": tcore.Binary32} {
		planned, err := profile.PlanWith(library.Shape{M: m, N: n, K: k}, library.BF16, config, library.Options{Output: format})
		if err != nil {
			t.Fatal(err)
		}
		words := []string{"gemm", "-library", "cublaslt-13.1", "-device", "h100", "-config", "13,0,1,0,0,0,0", "-in", "bfloat16"}
		if out != "" {
			words = append(words, "-out", out)
		}
		if status, _, errs := askWords(t, append(words, "A.npy", "B.npy", "-o", "D.npy")...); status != 0 {
			t.Fatal(errs)
		}
		got, err := readNumbers("D.npy")
		if err != nil {
			t.Fatal(err)
		}
		want := matrix.New(m, n)
		planned.Plan.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
		for i, v := range want.Data {
			if got.Data[i] != float64(v) {
				t.Errorf("out %q: element %d is %v, want %v", out, i, got.Data[i], v)
			}
		}
	}
	if status, _, errs := ask(t, "trace -library cublaslt-13.1 -device h800 -config 13,0,1,0,0,0,0 A.npy B.npy"); status != 0 || !strings.Contains(errs, "note: h800 was not measured") {
		t.Errorf("status %d, %s", status, errs)
	}
	if status, _, errs := ask(t, "gemm -library cublaslt-13.1 -device h100 -config 66,0,1,0,0,0,35 -ta A.npy B.npy -o D.npy"); status != 1 || !strings.Contains(errs, "they do not fit") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// What would take all memory is refused, with the flag, and no file is left.
func TestPlansThatAreTooLarge(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := saveMatrix("A.npy", blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"ieee-fma-binary16-binary32 | parts 16777216":                                      "takes 16777216 accumulators and 16777215 additions for K = 2, want at most 1",
		"ieee-fma-binary16-binary32 | every 1 + folds 16777216,1":                          "takes 2 accumulators and 16777215 additions for K = 2",
		"ieee-fma-binary16-binary32 | every 1 | lanes 16777216 | lanes 16777216":           "accumulators",
		"hopper-wgmma-binary16-binary32 | evry 1":                                          `-plan "hopper-wgmma-binary16-binary32 | evry 1": column 34, "evry": want every`,
		"hopper-wgmma-binary16-binary32 | every 8 + " + strings.Repeat("hexadecimal ", 99): "\"...: column 44, \"hexadecimal\": want folds",
	} {
		for _, command := range [][]string{{"gemm", "-o", "D.npy"}, {"trace"}} {
			status, out, errs := askWords(t, append(command, "-plan", text, "A.npy", "A.npy")...)
			if status != 1 || out != "" || !strings.Contains(errs, want) {
				t.Errorf("%v %s: status %d, %q, %q, want %q", command, text, status, out, errs, want)
			}
		}
	}
	if _, err := os.Stat("D.npy"); err == nil {
		t.Error("D.npy is left")
	}
}

// -o writes the picture, and says what it says without.
func TestPlanExplainDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, begins := range map[string]string{"p.svg": "<svg", "p.png": "\x89PNG"} {
		status, out, errs := ask(t, "plan explain -plan lanes -k 999 -o "+name)
		_, want, _ := ask(t, "plan explain -plan lanes -k 999")
		data, err := os.ReadFile(name)
		if err != nil || status != 0 || out != want || !bytes.HasPrefix(data, []byte(begins)) {
			t.Errorf("%s: status %d, %v, %q, %s", name, status, err, data[:min(20, len(data))], errs)
		}
	}
}

// diff tells an input whose results differ, in words and in JSON.
func TestPlanDiff(t *testing.T) {
	status, out, errs := askWords(t, "plan", "diff", "-json", "-plan", "plain", "-with", "hopper-wgmma-binary16-binary32 | every 64 > binary16", "-k", "128")
	var z compared
	if err := json.Unmarshal([]byte(out), &z); err != nil || status != 0 || z.Example == nil {
		t.Fatalf("%v, %s, %s", err, out, errs)
	}
	x, y := make([]float64, 128), make([]float64, 128)
	for i, at := range z.Example.At {
		x[at], y[at] = z.Example.X[i], z.Example.Y[i]
	}
	if d, e := z.Plan.Dot(x, y), z.With.Dot(x, y); d == e || d != *z.Example.Plan || e != *z.Example.With || z.Equal || z.Of != 1024 {
		t.Errorf("%v and %v, %+v", d, e, z)
	}
	size := 0.0
	for i := range x {
		size += math.Abs(x[i] * y[i])
	}
	if most := *z.Most*size + *z.Underflow; math.Abs(*z.Example.Plan-*z.Example.With) > most || *z.Most > 2e-3 {
		t.Errorf("the example differs by more than %v, or it is too much", most)
	}
	if _, out, _ = ask(t, "plan diff -plan plain -with lanes -k 300"); !strings.Contains(out, "they differ by at most ") {
		t.Error(out)
	}
	if _, out, _ = askWords(t, "plan", "diff", "-k", "100", "-plan", "plain", "-with", "hopper-wgmma-binary16-binary32 | parts 9 floor"); !strings.Contains(out, "not bounded: ") || !strings.Contains(out, "loses ") {
		t.Error(out)
	}
	if _, out, _ = ask(t, "plan diff -plan plain -with split-blocks -k 300"); !strings.Contains(out, "not bounded: factors of binary16 and binary16 and of e4m3 and e4m3") {
		t.Error(out)
	}
	_, out, _ = ask(t, "plan diff -plan plain -with split -k 128")
	if out != "For K = 128 both compute the same, whatever the products are.\n" {
		t.Errorf("%q", out)
	}
	for text, want := range map[string]string{
		"ieee-fma-binary16-binary32 | parts 16777216":      "-with ",
		"ieee-fma-binary16-binary32 | lanes 3 + butterfly": `-with "ieee-fma-binary16-binary32 | lanes 3 + butterfly": column 40`,
	} {
		if status, _, errs := askWords(t, "plan", "diff", "-plan", "plain", "-with", text, "-k", "128"); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q", text, status, errs)
		}
	}
}
