package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/paper"
)

// With AS_COMMAND the test binary is the command.
func TestMain(m *testing.M) {
	if os.Getenv("AS_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// asCommand has the test binary found as the command roundoff, which finds the fake GPU.
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

// From the experiment of package paper through the command to the libraries, and back.
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
					if e > 0x1p-24 { // the fake rounds exact sums once
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
	want := ""
	for _, name := range []string{"gemm-symmetric-2x16x2-5.json", "gemm-positive-2x16x2-5.json", "profile-10-5.json"} {
		want += filepath.Join(dir, name) + "\n"
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if stdout.String() != want {
		t.Errorf("%q, want %q", stdout.String(), want)
	}
	for want, args := range map[string][]string{
		"want a folder, and sizes of 1 or more": {"gpu", "experiment"},
		"sizes of 1 or more":                    {"gpu", "experiment", "-k", "0", dir},
		`no experiment "gemm", want gemm-`:      {"gpu", "experiment", dir, "gemm"},
	} {
		stderr.Reset()
		if status := run(t.Context(), args, &stdout, &stderr); status != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: status %d, %q, want 2 and %q", args, status, stderr.String(), want)
		}
	}
}
