//go:build cgo && linux

package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
)

func TestMain(m *testing.M) { cudatest.Main(m) }

func buildFake(t *testing.T, dir string, flags ...string) {
	t.Helper()
	if err := cudatest.Build(dir, flags...); err != nil {
		t.Fatal(err)
	}
}

// forget has the libraries loaded anew.
func forget(t *testing.T) {
	reset := func() {
		loadLock.Lock()
		defer loadLock.Unlock()
		clear(loaded)
	}
	reset()
	t.Cleanup(reset)
}

func TestLoad(t *testing.T) {
	build := func(t *testing.T, flags ...string) string {
		dir := t.TempDir()
		buildFake(t, dir, flags...)
		return dir
	}
	t.Run("finds_by_the_environment_first", func(t *testing.T) {
		forget(t)
		first, second := build(t), build(t)
		t.Setenv("ROUNDOFF_CUDA_PATH", "/no/such/folder:"+first)
		t.Setenv("CUDA_HOME", second)
		if err := libcuda.load(); err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(first, "libcuda.so.1"); libcuda.path() != want {
			t.Errorf("found %s, want %s", libcuda.path(), want)
		}
	})
	for _, c := range []struct{ name, variable, folder string }{
		{"finds_by_CUDA_HOME", "CUDA_HOME", "lib64"},
		{"finds_by_CUDA_PATH", "CUDA_PATH", "lib"},
		{"finds_in_a_virtual_environment", "VIRTUAL_ENV", "lib/python3.12/site-packages/nvidia/cublas/lib"},
		{"finds_in_a_conda_environment", "CONDA_PREFIX", "lib"},
	} {
		t.Run(c.name, func(t *testing.T) {
			forget(t)
			home := t.TempDir()
			dir := filepath.Join(home, c.folder)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			buildFake(t, dir)
			// A name of its own, which no machine has where the loader looks.
			l := library{libcublas.name, []string{"libfake.so.99", "libfake.so.98"}}
			if err := os.Symlink("fake.so", filepath.Join(dir, "libfake.so.98")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("ROUNDOFF_CUDA_PATH", "")
			t.Setenv(c.variable, home)
			if err := l.load(); err != nil || l.path() != filepath.Join(dir, "libfake.so.98") {
				t.Errorf("found %q, %v", l.path(), err)
			}
		})
	}
	for _, c := range []struct {
		name, file string
		content    string
		flags      []string
		want       string
	}{
		{"tells_what_it_tried", "", "", nil, "libfake.so.99 (cannot open shared object file"},
		{"tells_what_is_no_library", "libfake.so.99", "text, not an object file", nil, "/libfake.so.99 ("},
		{"tells_what_is_missing", "libfake.so.99", "", []string{"-DFAKE_WITHOUT_cublasGemmEx"}, "/libfake.so.99 (has no cublasGemmEx)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			forget(t)
			dir := t.TempDir()
			buildFake(t, dir, c.flags...)
			file := filepath.Join(dir, c.file)
			switch {
			case c.content != "":
				if err := os.WriteFile(file, []byte(c.content), 0o644); err != nil {
					t.Fatal(err)
				}
			case c.file != "":
				if err := os.Symlink("fake.so", file); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("ROUNDOFF_CUDA_PATH", dir)
			t.Setenv("CUDA_HOME", dir)
			if err := os.Mkdir(filepath.Join(dir, "lib64"), 0o755); err != nil {
				t.Fatal(err)
			}
			l := library{libcublas.name, []string{"libfake.so.99"}}
			err := l.load()
			var missing *NotFoundError
			if !errors.As(err, &missing) || missing.Library != "libcublas" {
				t.Fatalf("error %v, want a NotFoundError for libcublas", err)
			}
			for _, want := range []string{c.want, "libcublas not found; tried", filepath.Join(dir, "lib64")} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
			if l.path() != "" {
				t.Errorf("it is open as %s", l.path())
			}
		})
	}
	t.Run("does_without_an_optional_function", func(t *testing.T) {
		forget(t)
		t.Setenv("ROUNDOFF_CUDA_PATH", build(t, "-DFAKE_WITHOUT_cublasGetStatusString"))
		if err := loadBLAS(); err != nil {
			t.Fatal(err)
		}
		want := "cublasX(m 1) returned 15, CUBLAS_STATUS_NOT_SUPPORTED"
		if err := blasResult(15, "cublasX", "m %d", 1); err == nil || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	})
}
