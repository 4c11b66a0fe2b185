//go:build cgo && linux

package cuda

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
)

func TestMain(m *testing.M) { cudatest.Main(m) }

func buildFake(t *testing.T, dir string, flags ...string) {
	t.Helper()
	if err := cudatest.Build(dir, flags...); err != nil {
		t.Fatal(err)
	}
}

// forget makes the test search for and load the libraries again.
func forget(t *testing.T) {
	reset := func() {
		loadLock.Lock()
		defer loadLock.Unlock()
		clear(loaded)
		driver = 0
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
			l := library{libcublas.name, []string{"libfake.so.9", "libfake.so.8"}}
			if err := os.Symlink("fake.so", filepath.Join(dir, "libfake.so.8")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("ROUNDOFF_CUDA_PATH", "")
			t.Setenv(c.variable, home)
			if err := l.load(); err != nil || l.path() != filepath.Join(dir, "libfake.so.8") {
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
		{"tells_what_it_tried", "", "", nil, "libfake.so.9 (cannot open shared object file"},
		{"tells_what_is_no_library", "libfake.so.9", "text, not an object file", nil, "/libfake.so.9 ("},
		{"tells_what_is_missing", "libfake.so.9", "", []string{"-DFAKE_WITHOUT_cublasGemmEx"}, "/libfake.so.9 (has no cublasGemmEx)"},
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
			l := library{libcublas.name, []string{"libfake.so.9"}}
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
	t.Run("passes_over_what_the_driver_is_too_old_for", func(t *testing.T) {
		forget(t)
		dir := build(t)
		for _, name := range []string{"libfake.so.13", "libfake.so.12"} {
			if err := os.Symlink("fake.so", filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("ROUNDOFF_CUDA_PATH", dir)
		d, err := Open(0) // supports CUDA 12.8
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		l := library{libcublas.name, []string{"libfake.so.13"}}
		want := "libfake.so.13 (is for CUDA 13, the driver for 12.8)"
		if err := l.load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		l.files = append(l.files, "libfake.so.12")
		if err := l.load(); err != nil || l.path() != filepath.Join(dir, "libfake.so.12") {
			t.Errorf("found %q, %v", l.path(), err)
		}
	})
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

// A library that does not exist is never recorded as loaded, however many
// goroutines load it at once.
func TestLoadInParallel(t *testing.T) {
	forget(t)
	text := filepath.Join(t.TempDir(), "libtext.so.9")
	if err := os.WriteFile(text, []byte("text, not an object file"), 0o644); err != nil {
		t.Fatal(err)
	}
	times := 1000
	if testing.Short() {
		times = 100
	}
	var all sync.WaitGroup
	for range times {
		all.Go(func() {
			for path, want := range map[string]string{"libnone.so.9": "cannot open shared object file", text: "file too short"} {
				if wrong := libcublas.open(path); !strings.Contains(wrong, want) {
					t.Errorf("open(%s) says %q, want %q", path, wrong, want)
				}
			}
		})
	}
	all.Wait()
}

// A file on which the loader would wait, or which would end the process, is not
// passed to the loader.
func TestLoadOfBrokenFiles(t *testing.T) {
	forget(t)
	dir := t.TempDir()
	buildFake(t, dir)
	whole, err := os.ReadFile(filepath.Join(dir, "fake.so"))
	if err != nil {
		t.Fatal(err)
	}
	pipe, half, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "half"), filepath.Join(dir, "folder")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o644), os.WriteFile(half, whole[:len(whole)/2], 0o644), os.Mkdir(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "is no regular file", folder: "Is a directory", half: "not whole"} {
		if wrong := libcublas.open(path); !strings.Contains(wrong, want) {
			t.Errorf("open(%s) says %q, want %q", path, wrong, want)
		}
	}
	for n := 0; n < len(whole)*3/4; n += len(whole) / 50 {
		if err := os.WriteFile(half, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if wrong := libcublas.open(half); wrong == "" {
			t.Errorf("the first %d of %d bytes are a library", n, len(whole))
		}
	}
}

func TestADriverThatHangs(t *testing.T) {
	forget(t)
	dir := t.TempDir()
	buildFake(t, dir)
	t.Setenv("ROUNDOFF_CUDA_PATH", dir)
	t.Setenv("FAKE_HANG", "cuInit")
	before := patience
	patience = 100 * time.Millisecond
	defer func() { patience = before }()
	if _, err := Open(0); !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), "has not answered") {
		t.Errorf("error %v", err)
	}
}

// If a library ends the program, the exit status is not that of success.
func TestALibraryThatExits(t *testing.T) {
	if os.Getenv("FAKE_EXIT") != "" {
		Open(0)
		return
	}
	dir := t.TempDir()
	buildFake(t, dir)
	c := exec.Command(os.Args[0], "-test.run=^TestALibraryThatExits$")
	c.Env = append(os.Environ(), "FAKE_EXIT=cuInit", "ROUNDOFF_CUDA_PATH="+dir)
	said, err := c.CombinedOutput()
	if err == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(string(said), "a library of CUDA ended the program") {
		t.Errorf("%v, and said %q", err, said)
	}
}
