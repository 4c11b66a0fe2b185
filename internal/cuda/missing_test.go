//go:build cgo && linux

package cuda

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// required returns the functions that api.h requires, with their libraries.
func required(t *testing.T) map[string]library {
	t.Helper()
	text, err := os.ReadFile("api.h")
	if err != nil {
		t.Fatal(err)
	}
	libraries := map[string]library{"cuda": libcuda, "cublas": libcublas, "cublasLt": libcublasLt, "nvrtc": libnvrtc}
	functions := map[string]library{}
	for _, f := range regexp.MustCompile(`\tF\(lib_(\w+), [\w *]+, (\w+),`).FindAllStringSubmatch(string(text), -1) {
		functions[f[2]] = libraries[f[1]]
	}
	if n := len(functions); n < 50 || n != strings.Count(string(text), "\tF(") {
		t.Fatalf("%d functions in api.h", n)
	}
	return functions
}

// A library that lacks any one required function is skipped, and the error
// names the function.
func TestLoad_tells_every_function_that_is_missing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the fake once for every function")
	}
	for function, l := range required(t) {
		t.Run(function, func(t *testing.T) {
			forget(t)
			dir := t.TempDir()
			buildFake(t, dir, "-O0", "-D"+function+"=renamed")
			l.files = []string{"libfake.so.1"} // a name of its own, which no machine has
			if err := os.Symlink("fake.so", filepath.Join(dir, "libfake.so.1")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("ROUNDOFF_CUDA_PATH", dir)
			err := l.load()
			if want := "/libfake.so.1 (has no " + function + ")"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

// A call of a function that was not found does not succeed.
func TestNothingSucceedsBeforeALibraryIsOpen(t *testing.T) {
	if os.Getenv("NOTHING_IS_OPEN") != "" {
		if err := (Stream{}).Sync(); err == nil {
			t.Error("a stream of no driver was waited for")
		}
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestNothingSucceedsBeforeALibraryIsOpen$") // a new process
	c.Env = append(os.Environ(), "NOTHING_IS_OPEN=1")
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// A driver without the other libraries is a GPU: calls that need those
// libraries return an error, and Info lists which ones exist.
func TestDevice_without_libraries(t *testing.T) {
	forget(t)
	saved := [3]library{libcublas, libcublasLt, libnvrtc}
	defer func() { libcublas, libcublasLt, libnvrtc = saved[0], saved[1], saved[2] }()
	for _, l := range []*library{&libcublas, &libcublasLt, &libnvrtc} {
		l.files = []string{"libnosuch.so.1"}
	}
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	info, err := d.Info()
	if err != nil || len(info.Libraries) != 4 || info.Libraries[0].Err != nil {
		t.Fatalf("%+v, %v", info, err)
	}
	_, blasErr := d.NewBLAS()
	_, compileErr := Compile("a kernel", "kernel.cu")
	for _, err := range []error{info.Libraries[1].Err, info.Libraries[2].Err, info.Libraries[3].Err, blasErr, compileErr} {
		var missing *NotFoundError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), "libnosuch.so.1") {
			t.Errorf("error %v, want a NotFoundError", err)
		}
	}
}
