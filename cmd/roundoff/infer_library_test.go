package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/foreign"
)

// boxes is a library of functions: a chain of FMAs of bfloat16 in binary32, and
// such as do not answer.
const boxes = `
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
static float number(uint64_t code) { uint32_t u = (uint32_t)code; float x; memcpy(&x, &u, 4); return x; }
uint64_t chain(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) {
	float s = number(c);
	for (size_t i = 0; i < k; i++) s = fmaf(number(x[i] << 16), number(y[i] << 16), s);
	uint32_t u; memcpy(&u, &s, 4);
	return s != s ? 0x7fc00000 : u;
}
uint64_t crash(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) { return *(volatile uint64_t *)k; }
uint64_t hang(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) { for (volatile int i = 1; i; ) ; return 0; }
uint64_t backwards(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) {
	float s = number(c);
	for (size_t i = k; i-- > 0; ) s = fmaf(number(x[i]), number(y[i]), s);
	uint32_t u; memcpy(&u, &s, 4);
	return u;
}
uint64_t wide(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) { return (uint64_t)1 << 40; }
`

// A function of a shared library is learnt as a program is; one that crashes,
// hangs or answers no code ends nothing but the question.
func TestInferLibrary(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	if _, err := foreign.Dot("/no/such/library", "f"); strings.Contains(err.Error(), "no cgo") {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "boxes.c"), filepath.Join(dir, "boxes.so")
	if err := os.WriteFile(source, []byte(boxes), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source, "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const formats = "--in bfloat16 --k 4 --library "
	status, stdout, stderr := inferRun(t, formats+library+" --function chain")
	if status != 0 || !strings.Contains(stdout, "Core: tcore.Chain{}}") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	const long = "--order --in binary32 --k 300 --library "
	status, stdout, stderr = inferRun(t, long+library+" --function backwards")
	if status != 0 || !strings.Contains(stdout, "(c + 299 + 298 + … + 0)") || !strings.Contains(stdout, "All of 200 random sums") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	for line, want := range map[string]string{
		formats + library + " --function crash":                    "failed, exit status 2",
		formats + library + " --function hang --timeout 1s":        "took longer than 1s for",
		formats + library + " --function wide":                     `is "10000000000", want a code of binary32`,
		formats + library:                                          "undefined symbol: dot",
		formats + source:                                           "invalid ELF header",
		formats + filepath.Join(dir, "none.so"):                    "no such file",
		"--serve":                                                  "want one of -command, -library",
		"--library x --device volta":                               "want one of -command, -library, -silicon and -device",
		"--serve --library " + library + " --function chain --k 0": "k = 0, want 1 to 65536",
	} {
		if status, _, stderr := inferRun(t, line); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}

// What is asked in a line that is none is told with its number.
func TestServe(t *testing.T) {
	sum := func(x, y []uint64, c uint64) uint64 { return x[0]*y[0] + x[1]*y[1] + c }
	var out strings.Builder
	if err := serve(sum, 2, strings.NewReader("2 3 4 5 f\n1 1 1 1 0\n"), &out); err != nil || out.String() != "26\n2\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	for in, want := range map[string]string{
		"1 2 3 4 5\n1 2 3":         "line 2 has 3 codes, want 2 of x, 2 of y and one of c",
		"1 2 3 4 5 6":              "line 1 has 6 codes",
		"1 2 3 4 five":             `line 1: "five" is no code in hexadecimal`,
		strings.Repeat("1", 1<<17): "token too long",
	} {
		if err := serve(sum, 2, strings.NewReader(in), &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
	}
}

// openBLAS is the dot product of OpenBLAS, and of a row and a column its GEMM.
const openBLAS = `
#include <cblas.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static uint64_t dot(size_t k, const uint64_t *x, const uint64_t *y, int gemm) {
	float *a = malloc(8 * k), *b = a + k, s = 0;
	for (size_t i = 0; i < k; i++) {
		uint32_t u = (uint32_t)x[i]; memcpy(a + i, &u, 4);
		u = (uint32_t)y[i]; memcpy(b + i, &u, 4);
	}
	if (gemm) cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, k, 1, a, k, b, 1, 0, &s, 1);
	else s = cblas_sdot(k, a, 1, b, 1);
	free(a);
	uint32_t u; memcpy(&u, &s, 4);
	return u;
}
uint64_t sdot(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) { return dot(k, x, y, 0); }
uint64_t sgemm(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) { return dot(k, x, y, 1); }
`

// The order in which OpenBLAS adds is found, whichever it is for this
// processor, and gives its bits.
func TestInferOrder_of_OpenBLAS(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "blas.c"), filepath.Join(dir, "blas.so")
	if err := os.WriteFile(source, []byte(openBLAS), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-lopenblas").CombinedOutput(); err != nil {
		t.Skipf("no OpenBLAS to compile with: %s", strings.SplitN(string(out), "\n", 2)[0])
	}
	for _, function := range []string{"sdot", "sgemm"} {
		for _, k := range []string{"1", "64", "512"} { // others end with terms that sdot adds in binary64
			status, stdout, stderr := inferRun(t, "--order --in binary32 --k "+k+" --library "+library+" --function "+function)
			if strings.Contains(stderr, "no cgo") {
				t.Skip(stderr)
			}
			if status != 0 || !strings.Contains(stdout, "All of 200 random sums") {
				t.Errorf("%s of %s: status %d, %s%s", function, k, status, stdout, stderr)
			}
			t.Logf("%s of %s: %s", function, k, stdout)
		}
	}
}
