// Package cudatest builds the fake of NVIDIA's libraries, for tests on machines
// without a GPU. The fake is testdata/fake.c beside this folder, which says
// what the environment makes it do.
package cudatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ErrNoFake is why there is no fake: no cgo, no Linux, or no C compiler.
var ErrNoFake = errors.New("no fake of CUDA here: it takes cgo, Linux and a C compiler")

// Build builds the fake into the folder, under the names of all four libraries.
// They are one file, and so share what they know. The flags are for the
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

// source returns the path of the fake's source, in the module that the test
// runs in.
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

// Main is a TestMain: it builds the fake, has the libraries looked for there
// first, and runs the tests. Without the fake they do not run, and it says why.
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

// Device is what the fake is asked through.
type Device interface {
	Attribute(attribute int) (int, error)
}

// What the fake counts, as attributes of its device.
const (
	alive    = -1
	calls    = -2
	products = -3
)

// Alive returns how many objects and allocations of the fake are in use,
// contexts included.
func Alive(t testing.TB, d Device) int { return ask(t, d, alive) }

// Calls returns how often the fake was called since FAKE_FAIL changed.
func Calls(t testing.TB, d Device) int { return ask(t, d, calls) }

// Products returns how many products the fake has computed.
func Products(t testing.TB, d Device) int { return ask(t, d, products) }

func ask(t testing.TB, d Device, attribute int) int {
	t.Helper()
	n, err := d.Attribute(attribute)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
