// Package cudatest builds the fake of NVIDIA's libraries, for tests on machines
// without a GPU. The source of the fake is internal/cuda/testdata/fake.c, which
// lists the environment variables that control its behaviour.
package cudatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ErrNoFake is the error if the fake cannot be built: there is no cgo, no
// Linux, or no C compiler.
var ErrNoFake = errors.New("no fake of CUDA here: it takes cgo, Linux and a C compiler")

// Build builds the fake into the folder, under the names of all four libraries.
// They are one file and so share their state. The flags are passed to the
// compiler.
func Build(folder string, flags ...string) error {
	if !possible {
		return ErrNoFake
	}
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		if compiler, err = exec.LookPath("cc"); err != nil {
			return fmt.Errorf("%w: %w", ErrNoFake, err)
		}
	}
	source, err := source()
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "fake.so")
	args := append([]string{"-O1", "-shared", "-fPIC", "-o", file, source, "-lm"}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	for _, name := range []string{"libcuda.so.1", "libcublas.so.12", "libcublasLt.so.12", "libnvrtc.so.12"} {
		if err := os.Symlink("fake.so", filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// source returns the path of the fake's source, in the module in which the test
// runs.
func source() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, "internal", "cuda", "testdata", "fake.c")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return "", fmt.Errorf("cudatest: no internal/cuda/testdata/fake.c above the test: %w", err)
}

// Main is a TestMain. It builds the fake, makes package cuda search for the
// libraries in its folder first, and runs the tests. If the fake cannot be
// built, it runs no tests and prints the reason.
func Main(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "fakecuda")
	if err == nil {
		defer os.RemoveAll(folder)
		err = errors.Join(Build(folder), os.Setenv("ROUNDOFF_CUDA_PATH", folder))
	}
	switch {
	case errors.Is(err, ErrNoFake):
		fmt.Println("skipped:", err)
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Device gives access to the counters of the fake, which are attributes of its
// device.
type Device interface {
	Attribute(attribute int) (int, error)
}

// Counters of the fake, as attributes of its device.
const (
	alive    = -1
	calls    = -2
	products = -3
)

// Alive returns the number of objects and allocations of the fake that are in
// use, contexts included.
func Alive(t testing.TB, d Device) int { return ask(t, d, alive) }

// Calls returns the number of calls of the fake since FAKE_FAIL changed.
func Calls(t testing.TB, d Device) int { return ask(t, d, calls) }

// Products returns the number of products that the fake has computed.
func Products(t testing.TB, d Device) int { return ask(t, d, products) }

func ask(t testing.TB, d Device, attribute int) int {
	t.Helper()
	n, err := d.Attribute(attribute)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
