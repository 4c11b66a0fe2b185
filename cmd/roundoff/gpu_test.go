package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
)

// fakeGPU makes the libraries be loaded from a folder with the fake GPU, or
// skips the test.
func fakeGPU(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	switch err := cudatest.Build(dir); {
	case errors.Is(err, cudatest.ErrNoFake):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Setenv("ROUNDOFF_CUDA_PATH", dir)
}

func TestGPUInfo(t *testing.T) {
	fakeGPU(t)
	t.Run("tells_device_driver_and_libraries", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), []string{"gpu", "info"}, &stdout, &stderr); status != 0 {
			t.Fatalf("status %d: %s", status, stderr.String())
		}
		for _, want := range []string{"device              Fake GPU 0\n", "compute capability  9.0 Hopper\n", "multiprocessors     132\n",
			"memory              0.2 GiB\n", "driver              CUDA 12.8\n", "libcublasLt         12.8.3 in ", "libnvrtc            12.8 in "} {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%q, want %q in it", stdout.String(), want)
			}
		}
	})
	t.Run("exits_with_3_and_one_sentence_without_a_GPU", func(t *testing.T) {
		t.Setenv("FAKE_DEVICES", "0")
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), []string{"gpu", "info"}, &stdout, &stderr)
		if want := "roundoff gpu: no NVIDIA GPU: no device 0, the driver has 0\n"; status != 3 || stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("status %d, %q, %q, want 3 and %q", status, stdout.String(), stderr.String(), want)
		}
	})
	t.Run("exits_with_1_when_the_driver_fails", func(t *testing.T) {
		t.Setenv("FAKE_FAIL", "cuDeviceGetName:999")
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), []string{"gpu", "info"}, &stdout, &stderr); status != 1 || !strings.Contains(stderr.String(), "cuDeviceGetName() returned 999") {
			t.Errorf("status %d, %q", status, stderr.String())
		}
	})
	t.Run("tells_a_library_that_fails", func(t *testing.T) {
		t.Setenv("FAKE_FAIL", "cublasCreate_v2:1")
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), []string{"gpu", "info"}, &stdout, &stderr); status != 0 || !strings.Contains(stdout.String(), "CUBLAS_STATUS_NOT_INITIALIZED") {
			t.Errorf("status %d, %q", status, stdout.String())
		}
	})
}
