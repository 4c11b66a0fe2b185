package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A dropped tail and swapped rows of a product in files are told by name, with
// a status that fails a build; a sound product passes, however K is split.
func TestTolerance(t *testing.T) {
	t.Chdir(t.TempDir())
	numbers := func(n int, seed uint32) (z []float64) {
		x := seed
		for i := range n {
			x = x*1664525 + 1013904223
			z = append(z, float64(int32(x)>>21)/float64(int(1)<<(10+i*i%7))) // numbers of binary16
		}
		return z
	}
	a, b := numbers(20*300, 1), numbers(300*16, 2)
	writeNumbers(t, ".", "a.npy", "(20, 300)", a...)
	writeNumbers(t, ".", "b.npy", "(300, 16)", b...)
	for i := range 20 {
		clear(a[i*300+288 : (i+1)*300])
	}
	writeNumbers(t, ".", "short.npy", "(20, 300)", a...)
	for _, line := range []string{"gemm -split-k 3 a.npy b.npy -o d.npy", "gemm short.npy b.npy -o tail.npy", "gemm -device ampere -out binary16 -split-k 2 a.npy b.npy -o other.npy"} {
		if status, said, errs := ask(t, line); status != 0 {
			t.Fatalf("%s: status %d, %s%s", line, status, said, errs)
		}
	}
	for line, want := range map[string]struct {
		status int
		said   []string
	}{
		"a.npy b.npy":                                                        {0, []string{"hopper-wgmma-binary16-binary32, 20 × 300 × 16, K in at most 32 parts", "tolerance: ", "holds always"}},
		"a.npy b.npy d.npy":                                                  {0, []string{"all 320 outputs are within their tolerance"}},
		"-emulate bits a.npy b.npy d.npy":                                    {0, []string{"emulated: nearest to 3 parts of K", "all 320"}},
		"-emulate sums a.npy b.npy d.npy":                                    {0, []string{"all 320"}},
		"-confidence always a.npy b.npy tail.npy":                            {1, []string{"holds always", "320 outputs are beyond", "the last 12 of 300 products are missing, from 288 on"}},
		"-json -orders any a.npy b.npy d.npy":                                {0, []string{`"bound": "all-orders"`, `"beyond": 0`, `"orders": "any order of additions"`}},
		"-split-k 3 a.npy b.npy d.npy":                                       {0, []string{"3 parts of K", "all 320"}},
		"-want-device ampere -want-acc binary16 a.npy b.npy d.npy other.npy": {0, []string{"beside it ampere-mma-binary16-binary16", "all 320"}},
		"-emulate bits -device ampere a.npy b.npy d.npy":                     {1, []string{"outputs are beyond"}},
		"-device blackwell -in e2m1 -k 64 -orders any":                       {0, []string{"all-orders", "e2m1"}},
		"-device hopper-wgmma-binary16-binary16 -k 16,32 -json":              {0, []string{`"k": 32`, `"stored": 0.000488`}},
	} {
		status, said, errs := ask(t, "tolerance "+line)
		if status != want.status {
			t.Errorf("%s: status %d, want %d: %s%s", line, status, want.status, said, errs)
		}
		for _, w := range want.said {
			if !strings.Contains(said, w) {
				t.Errorf("%s: said %q, want %q", line, said, w)
			}
		}
	}
}

// The header compiles, and its constants are those of the table.
func TestToleranceHeader(t *testing.T) {
	dir := t.TempDir()
	header, program := filepath.Join(dir, "tolerances.h"), filepath.Join(dir, "program.c")
	if status, said, errs := ask(t, "tolerance -k 64,4096 -header "+header); status != 0 || said != "" {
		t.Fatalf("status %d, %s%s", status, said, errs)
	}
	text, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#define ROUNDOFF_HOPPER_WGMMA_BINARY16_BINARY32_K4096 0.000152", "_K64_UNDERFLOW ", "/* truncation */", "ROUNDOFF_CDNA3_", "ROUNDOFF_IEEE_FMA_BINARY64_BINARY64_K64 "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the header has no %s", want)
		}
	}
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no cc here")
	}
	source := fmt.Sprintf("#include %q\nint main(void) { return !(ROUNDOFF_HOPPER_WGMMA_BINARY16_BINARY32_K64 < ROUNDOFF_HOPPER_WGMMA_BINARY16_BINARY32_K4096); }\n", header)
	if err := os.WriteFile(program, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(dir, "program"), program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := exec.Command(filepath.Join(dir, "program")).Run(); err != nil {
		t.Error(err)
	}
}
