//go:build unix

package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// If AS_COMMAND is set, the test binary runs as the command roundoff, with
// limits if it is "limited".
func TestMain(m *testing.M) {
	switch os.Getenv("AS_COMMAND") {
	case "":
		if len(os.Args) > 2 && os.Args[2] == "--serve" { // infer has started it to ask a shared library
			main()
		}
	case "limited":
		limited()
		fallthrough
	default:
		main()
	}
	os.Exit(m.Run())
}

// asCommand makes the test binary the command roundoff in PATH, which uses the
// fake GPU.
func asCommand(t *testing.T) {
	t.Helper()
	fakeGPU(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "roundoff")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("AS_COMMAND", "1")
	t.Setenv("ROUNDOFF_DEVICE", "gpu")
}

// The experiments of package paper run the command on the (fake) GPU and read
// back its records.
func TestGPUExperiment_is_what_the_notebooks_ask_for(t *testing.T) {
	asCommand(t)
	small := paper.DefaultGEMM
	small.M, small.N, small.K = 40, 5, 96
	for _, of := range []paper.Distribution{paper.UniformSymmetric, paper.UniformUnit} {
		small.Distribution = of
		r, err := small.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Run("product_"+of.Name, func(t *testing.T) {
			t.Setenv("FAKE_SPLITK", "3")
			s, err := r.OnGPU()
			if err != nil || !s.Measured || s.GPU != "Fake GPU 0, compute capability 9.0" || s.Architecture != "Hopper" ||
				s.Library != "cuBLAS 12.8.3" || len(s.Products) != 2 {
				t.Fatalf("%+v, %v", s, err)
			}
			classic, lt := s.Products[0], s.Products[1]
			if classic.Call != "cublasGemmEx" || classic.Algorithm != "" || classic.RecordedProduct.SplitK != 0 {
				t.Errorf("%+v", classic.RecordedProduct)
			}
			if lt.Call != "cublasLtMatmul" || lt.Algorithm != "66, tile 20, stages 36, cluster 3" || lt.RecordedProduct.SplitK != 3 || lt.Nanoseconds != 1e6 {
				t.Errorf("%+v", lt.RecordedProduct)
			}
			for _, p := range s.Products {
				for i, e := range p.Errors {
					if e > 0x1p-24 { // the fake GPU rounds exact sums once
						t.Fatalf("%s, output %d: error %v", p.Call, i, e)
					}
				}
			}
		})
		t.Run("without_a_GPU", func(t *testing.T) {
			t.Setenv("FAKE_DEVICES", "0")
			if s, err := r.OnGPU(); err != nil || !s.Missed || !s.Emulated() {
				t.Errorf("%+v, %v", s, err)
			}
		})
		t.Run("with_a_GPU_that_fails", func(t *testing.T) {
			t.Setenv("FAKE_FAIL", "cublasLtMatmul:13")
			if _, err := r.OnGPU(); err == nil || !strings.Contains(err.Error(), "product of 40 × 96 by 96 × 5, binary16: cublasLtMatmul(") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("profile", func(t *testing.T) {
		saved := paper.DefaultGPUProfile
		defer func() { paper.DefaultGPUProfile = saved }()
		paper.DefaultGPUProfile.Elements = 1000
		s, err := paper.Profile{Elements: 1 << 12, Repeats: 1, Seed: 1}.Run().OnGPU()
		if err != nil || !s.Measured || len(s.GPU) != 3 {
			t.Fatalf("%+v, %v", s, err)
		}
		for i, k := range s.Record.Kernels {
			if k.Equal != 1000 || s.GPU[i].Rate != 2*1000/1e-3 {
				t.Errorf("%s: %d equal, %v flop/s", s.GPU[i].Name, k.Equal, s.GPU[i].Rate)
			}
		}
		t.Setenv("FAKE_FAIL", "cuLaunchKernel:700")
		if _, err := (paper.Profile{Elements: 1, Repeats: 1}).Run().OnGPU(); err == nil || !strings.Contains(err.Error(), "cuLaunchKernel(") {
			t.Errorf("%v", err)
		}
	})
}

func TestGPUExperiment_writes_all_records(t *testing.T) {
	fakeGPU(t)
	dir := filepath.Join(t.TempDir(), "new")
	var stdout, stderr bytes.Buffer
	args := []string{"gpu", "experiment", "-m", "2", "-n", "2", "-k", "16", "-elements", "10", "-seed", "5", dir}
	if status := run(t.Context(), args, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	var said []string
	for _, name := range []string{"gemm-symmetric-2x16x2-5.json", "gemm-positive-2x16x2-5.json", "profile-10-5.json"} {
		said = append(said, filepath.Join(dir, name)+"\n  ")
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	said = append(said, "cublasGemmEx: ", " of 4 outputs have the bits of hopper-wgmma-binary16-binary32, K in 1 parts\n", "cublasLtMatmul: ",
		"  mac: 10 of 10 results have the bits of the processor's\n", "  mpfma: 10 of 10 ")
	for _, want := range said {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q, want %q in it", stdout.String(), want)
		}
	}
	for want, args := range map[string][]string{
		"want a folder":                    {"gpu", "experiment"},
		"-k 0, want 1 to":                  {"gpu", "experiment", "-k", "0", dir},
		"-m 9223372036854775807, want":     {"gpu", "experiment", "-m", "9223372036854775807", dir},
		"-elements 40000001, want":         {"gpu", "experiment", "-elements", "40000001", dir},
		`no experiment "gemm", want gemm-`: {"gpu", "experiment", dir, "gemm"},
	} {
		stderr.Reset()
		if status := run(t.Context(), args, &stdout, &stderr); status != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: status %d, %q, want 2 and %q", args, status, stderr.String(), want)
		}
	}
}

// No record is written of results that the GPU did not compute, even if its
// libraries report success.
func TestGPUExperiment_records_nothing_that_was_not_computed(t *testing.T) {
	fakeGPU(t)
	for call, experiment := range map[string]string{
		"cublasGemmEx": "gemm-symmetric", "cublasLtMatmul": "gemm-positive", "cuMemcpyDtoHAsync_v2": "gemm-positive", "cuMemcpyHtoDAsync_v2": "gemm-positive",
		"cuLaunchKernel": "profile",
	} {
		t.Run(call, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("FAKE_NOTHING", call)
			status, out, errs := ask(t, "gpu experiment -m 4 -n 4 -k 64 -elements 100 "+dir+" "+experiment)
			if status != 1 || out != "" || !strings.Contains(errs, experiment+": ") || !strings.Contains(errs, "the GPU did not compute it: ") {
				t.Errorf("status %d, %q, %q", status, out, errs)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("it wrote %v", left)
			}
		})
	}
	t.Run("too_large_a_product", func(t *testing.T) {
		if status, _, errs := ask(t, "gpu experiment -m 65536 -k 65536 "+t.TempDir()); status != 1 || !strings.Contains(errs, "A is 65536 × 65536 and B 65536 × 8, want 1 to 160000000 elements") {
			t.Errorf("status %d, %q", status, errs)
		}
	})
}

// The limits of plausible accept the results of all devices of the catalogue,
// and reject zeros.
func TestPlausible(t *testing.T) {
	for _, d := range devices.All() {
		if d.A != tcore.Binary16 || d.B != tcore.Binary16 || d.C != tcore.Binary32 {
			continue
		}
		for _, k := range []int{1, 2, 3, 5, 17, 1000, 32768} {
			results, err := bound.Evaluate(bound.Problem{M: 1, N: 1, K: k, Machine: tcore.Machine{Device: d}}, roundoff.FailureOf(0.99))
			if err != nil {
				t.Fatal(err)
			}
			least := math.Inf(1)
			for _, r := range results {
				if r.Holds && r.Confidence == roundoff.Never {
					least = math.Min(least, r.Constant)
				}
			}
			if !(least <= float64(k+2)*0x1p-22) {
				t.Errorf("%s, K = %d: %v, more than is taken for possible, %v", d.Name, k, least, float64(k+2)*0x1p-22)
			}
		}
	}
	e := paper.DefaultGEMM
	e.M, e.N, e.K, e.Distribution = 16, 16, 4096, paper.UniformSymmetric
	a, b := e.Operands()
	p, err := newPlausible(a, b)
	if err != nil {
		t.Fatal(err)
	}
	d := blas32.General{Rows: e.M, Cols: e.N, Stride: e.N, Data: make([]float32, e.M*e.N)}
	if err := p.check(d); err == nil || !strings.Contains(err.Error(), "row 0, column 0 is 0, and no rounding takes that farther than ") {
		t.Errorf("of zeros: %v", err)
	}
	for _, device := range []tcore.Device{devices.HopperF16(), devices.VoltaF16(), devices.PaperCoreF32()} {
		tcore.Machine{Device: device, SplitK: 3}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		if err := p.check(d); err != nil {
			t.Errorf("%s: %v", device.Name, err)
		}
	}
}

// near accepts fused and unfused multiply-adds, and rejects errors of twice
// what rounding can explain.
func TestNear(t *testing.T) {
	e := paper.DefaultProfile
	e.Elements = 1000
	a, b, c, _, _ := e.Operands()
	mac, fma := make([]float32, e.Elements), make([]float32, e.Elements)
	tcore.StreamMAC(mac, a, b, c)
	tcore.StreamFMA(fma, a, b, c)
	if equalBits(mac, fma) == len(mac) {
		t.Fatal("the two are the same")
	}
	if err := errors.Join(near(mac, fma, a, b, c), near(fma, mac, a, b, c)); err != nil {
		t.Error(err)
	}
	size := math.Abs(float64(a[7])*float64(b[7])) + math.Abs(float64(c[7]))
	for _, wrong := range []float32{fma[7] + float32(0x1p-21*size), fma[7] - float32(0x1p-21*size), float32(math.NaN())} {
		got := slices.Clone(fma)
		got[7] = wrong
		if err := near(got, fma, a, b, c); err == nil || !strings.Contains(err.Error(), "result 7 is ") {
			t.Errorf("%v for %v: %v", wrong, fma[7], err)
		}
	}
}
