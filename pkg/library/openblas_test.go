package library

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/foreign"
	"github.com/roundofflab/roundoff/internal/vector"
	"github.com/roundofflab/roundoff/pkg/plan"
)

// sgemm computes 33 × 41 equal elements, and returns the one at a place that
// the position c names.
const sgemm = `
#include <cblas.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
enum { M = 33, N = 41 };
char *openblas_get_corename(void);
void openblas_set_num_threads(int);
uint64_t core(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) {
	const char *name = openblas_get_corename();
	return c < strlen(name) ? (uint64_t)name[c] : 0;
}
uint64_t element(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) {
	float *a = malloc(4 * M * k), *b = malloc(4 * N * k), *d = malloc(4 * M * N);
	for (size_t p = 0; p < k; p++) {
		uint32_t u = (uint32_t)x[p], v = (uint32_t)y[p];
		for (size_t i = 0; i < M; i++) memcpy(a + i * k + p, &u, 4);
		for (size_t j = 0; j < N; j++) memcpy(b + p * N + j, &v, 4);
	}
	openblas_set_num_threads(1);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, k, 1, a, k, b, N, 0, d, N);
	uint32_t z;
	memcpy(&z, d + c, 4);
	free(a); free(b); free(d);
	return z;
}
`

// OpenBLAS returns the bits of its plans: every element those of one of the two
// places, and both places are met.
func TestOpenBLAS(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "sgemm.c"), filepath.Join(dir, "sgemm.so")
	if err := os.WriteFile(source, []byte(sgemm), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-lopenblas").CombinedOutput(); err != nil {
		t.Skipf("no OpenBLAS to compile with: %s", strings.SplitN(string(out), "\n", 2)[0])
	}
	if vector.Detect().Bits >= 256 {
		t.Setenv("OPENBLAS_CORETYPE", "Haswell") // read when the library is opened
	}
	element, err := foreign.Dot(library, "element")
	if err != nil {
		t.Skip(err)
	}
	letter, err := foreign.Dot(library, "core")
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for i := uint64(0); letter(nil, nil, i) != 0; i++ {
		name += string(rune(letter(nil, nil, i)))
	}
	core, err := FindOpenBLASCore(name)
	if err != nil {
		t.Skip(err)
	}
	rng := rand.New(rand.NewPCG(4, 0))
	met := map[Place]int{}
	for _, k := range []int{1, 2, 7, 8, 33, 300, 320, 321, 333, 400, 512, 639, 640, 641, 1000, 1605, 5000} {
		x, y, xs, ys := make([]float64, k), make([]float64, k), make([]uint64, k), make([]uint64, k)
		for i := range x {
			a, b := float32(rng.NormFloat64()), float32(rng.NormFloat64())
			x[i], y[i] = float64(a), float64(b)
			xs[i], ys[i] = uint64(math.Float32bits(a)), uint64(math.Float32bits(b))
		}
		var want [2]float64
		for _, place := range []Place{OneChain, TwoChains} {
			p, err := core.Plan(Shape{33, 41, k}, FP32, place)
			if err != nil {
				t.Fatal(err)
			}
			want[place] = p.Dot(x, y)
		}
		for c := uint64(0); c < 33*41; c += 23 {
			got := float64(math.Float32frombits(uint32(element(xs, ys, c))))
			switch {
			case same(got, want[OneChain]) && same(got, want[TwoChains]):
			case same(got, want[OneChain]):
				met[OneChain]++
			case same(got, want[TwoChains]):
				met[TwoChains]++
			default:
				t.Fatalf("core %s, K = %d, element %d: %x, want %x", name, k, c, got, want)
			}
		}
	}
	if met[OneChain] == 0 || met[TwoChains] == 0 {
		t.Errorf("core %s: %v elements of the places, want some of both", name, met)
	}
	t.Logf("core %s: %v elements", name, met)
}

// Where parts begin, by the rule spelled out.
func TestOpenBLASParts(t *testing.T) {
	for k, want := range map[int][]int{
		320: nil, 321: {160}, 400: {200}, 639: {320}, 640: {320}, 641: {320, 480}, 1000: {320, 640, 824}, 960: {320, 640},
	} {
		for _, c := range OpenBLASCores() {
			if got := c.bounds(k); !slices.Equal(got, want) {
				t.Errorf("%s, K = %d: %v, want %v", c.Name, k, got, want)
			}
		}
	}
}

// Another core, place or format is refused.
func TestOpenBLASRefusals(t *testing.T) {
	var r *Refusal
	if _, err := FindOpenBLASCore("SkylakeX"); !errors.As(err, &r) || !strings.Contains(r.Nearest, "Haswell, Zen") {
		t.Errorf("%v, want the cores that are known", err)
	}
	if c, err := FindOpenBLASCore("haswell"); err != nil || c.Name != "Haswell" {
		t.Errorf("%v, %v", c, err)
	}
	s := Shape{8, 8, 8}
	if _, err := cores[0].Plan(s, FP16, OneChain); !errors.As(err, &r) || r.Nearest != "fp32" {
		t.Errorf("%v, want fp32", err)
	}
	for _, ask := range []func() (plan.Plan, error){
		func() (plan.Plan, error) { return cores[0].Plan(s, FP32, Place(2)) },
		func() (plan.Plan, error) { return OpenBLASCore{}.Plan(s, FP32, OneChain) },
		func() (plan.Plan, error) { return cores[0].Plan(Shape{8, 8, 0}, FP32, OneChain) },
	} {
		if _, err := ask(); err == nil || errors.As(err, &r) && r == err {
			t.Errorf("%v, want another error", err)
		}
	}
}
