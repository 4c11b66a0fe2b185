package main

import (
	"slices"
	"strings"
	"testing"
)

// Promotion every 128 products leaves little of the error of long sums of fp8
// on Hopper.
func TestPredict(t *testing.T) {
	for flags, want := range map[string][]string{
		"":              {"hopper-wgmma-e4m3-binary32, K in one sum", "32768  -0.407"},
		" -promote 128": {"hopper-wgmma-e4m3-binary32, promoted every 128 products", "32768  -0.0004"},
		" -split-k 16":  {"K in 16 parts", "32768  -0.031"},
	} {
		status, said, errs := ask(t, "predict -in e4m3 -k 32768"+flags)
		if status != 0 {
			t.Errorf("%s: status %d, %s", flags, status, errs)
		}
		for _, want := range want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: said %q, want %q", flags, said, want)
			}
		}
	}
	if _, said, _ := ask(t, "predict -k 64,128 -dist U(-1,1)"); strings.Count(said, "\n") != 4 || !strings.Contains(said, "64   -     -          -") {
		t.Errorf("said %q, want two lines without a relative error", said)
	}
}

// What floor scales clip is a drift, of laws and of matrices in files; what is
// quantised and summed well is stored badly.
func TestPredictRecipe(t *testing.T) {
	t.Chdir(t.TempDir())
	numbers := make([]float64, 64*64)
	for i := range numbers {
		numbers[i] = (float64(i*2654435761%4096) + 0.5) / 4096
	}
	writeNumbers(t, ".", "a.npy", "(64, 64)", numbers...)
	for args, want := range map[string][]string{
		"predict -recipe mxe4m3-floor -device blackwell -k 512,4096": {"blackwell-tcgen05-mxe4m3-binary32, K in one sum, mxe4m3-floor", "4096  0.031 ", "-0.031", "error"},
		"predict -recipe mxe4m3-floor -device blackwell a.npy a.npy": {"\n64  0.03", "-0.03"},
		"predict -recipe torchao-e4m3-row -promote 128 -k 4096":      {"hopper-wgmma-e4m3-binary32, promoted every 128 products", "4096  0.000"},
		"predict -recipe torchao-e4m3-row -out bfloat16 -k 4096":     {"4096  0.0747", "0.00178"},
	} {
		status, said, errs := ask(t, args)
		if status != 0 {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
		for _, want := range want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: said %q, want %q", args, said, want)
			}
		}
	}
}

// The trace of an element shows its products, blocks and parts.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	numbers := make([]float64, 128)
	numbers[64], numbers[65], numbers[96] = 2, 0.5, 4
	a, b := writeNumbers(t, dir, "a.npy", "(2, 64)", numbers...), writeNumbers(t, dir, "b.npy", "(64, 1)", slices.Repeat([]float64{1}, 64)...)
	status, said, errs := ask(t, "trace -in e4m3 -promote 32 -row 1 -column 0 "+a+" "+b)
	if status != 0 {
		t.Fatal(errs)
	}
	for _, want := range []string{"x0 y0", "= block 0", "+ part 0", "= block 32", "+ part 32", "result 6.5, exact 6.5, error 0"} {
		if !strings.Contains(said, want) {
			t.Errorf("said %s, want %q", said, want)
		}
	}
}
