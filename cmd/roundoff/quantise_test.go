package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Codes, scales and numbers of a matrix are written as NumPy reads them, and
// what was lost is told.
func TestQuantise(t *testing.T) {
	dir := t.TempDir()
	x := writeNumbers(t, dir, "x.npy", "(2, 3)", 7, 0.1, -1, 0, 0, 0)
	path := func(name string) string { return filepath.Join(dir, name) }
	status, said, errs := ask(t, "quantise -recipe mxe2m1-floor -codes "+path("c.npy")+" -scales "+path("s.npy")+" -values "+path("v.npy")+" "+x)
	if status != 0 || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	for _, want := range []string{
		"2 × 3 as A by mxe2m1-floor (torchao", "2 scales of e8m0 for 1×32, from 5.877e-39 to 1",
		"relative error 0.142, drift of magnitudes -0.14, clipped 16.7 %, flushed to zero 16.7 %, NaN 0 %",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	}
	for name, want := range map[string][]float64{"s.npy": {1, 0x1p-127}, "v.npy": {6, 0, -1, 0, 0, 0}} {
		m, err := readNumbers(path(name))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want {
			if m.Data[i] != v {
				t.Errorf("%s: element %d is %v, want %v", name, i, m.Data[i], v)
			}
		}
	}
	codes, err := os.ReadFile(path("c.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(codes, []byte("'descr': '|V1'")) || !bytes.HasSuffix(codes, []byte{7, 0, 10, 0, 0, 0}) {
		t.Errorf("codes are %q", codes)
	}
}

// Without a recipe the command lists them; a recipe that there is not is
// refused, and no file is written when one of them cannot be.
func TestQuantise_refuses(t *testing.T) {
	if status, said, _ := ask(t, "quantise"); status != 0 || !strings.Contains(said, "nvfp4-te-1x16") {
		t.Errorf("status %d, %s", status, said)
	}
	dir := t.TempDir()
	x := writeNumbers(t, dir, "x.npy", "(1, 1)", 1)
	for args, want := range map[string]string{
		"quantise -recipe nvfp5 " + x:                                                          `-recipe: no recipe "nvfp5", see roundoff quantise`,
		"quantise -recipe int8-row":                                                            "want one file",
		"quantise -recipe int8-row -side c " + x:                                               `-side "c", want a or b`,
		"quantise -recipe int8-row -stochastic 33 " + x:                                        "-stochastic 33, want 0 to 32",
		"quantise -recipe int8-row no.npy":                                                     "open no.npy",
		"quantise -recipe int8-row -codes " + dir + "/c.npy -values " + dir + "/no/v.npy " + x: "no such file",
	} {
		if status, _, errs := ask(t, args); status == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, errs, want)
		}
	}
	if files, _ := filepath.Glob(dir + "/*"); len(files) != 1 {
		t.Errorf("files %v are left", files)
	}
}
