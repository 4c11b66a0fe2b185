//go:build cgo && linux

package cuda

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
)

// makers are the calls that make or find an object for later calls.
var makers = []string{
	"cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuEventCreate", "cuModuleLoadData", "cuModuleGetFunction", "cuMemAlloc_v2", "cuMemHostAlloc",
	"cublasCreate_v2", "cublasLtCreate", "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatmulPreferenceCreate", "nvrtcCreateProgram",
}

// algorithms returns the algorithms of cuBLASLt for a product. It also makes an
// event.
func algorithms() (list []Algorithm, err error) {
	d, err := Open(0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	err = d.Do(func() (err error) {
		b, err := d.NewBLAS()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Destroy()) }()
		e, err := d.NewEvent()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.Destroy()) }()
		list, err = b.Algorithms(Product{M: 16, N: 16, K: 16, A: Real16, B: Real16, D: Real32, LDA: 16, LDB: 16, LDD: 16, Compute: Compute32}, 1<<20, 3)
		return err
	})
	return list, err
}

// If any call reports success and does nothing, there is no panic and all
// resources are freed; if the call makes an object, an error says that it did
// not.
func TestSuccessOfNothing(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for call := range required(t) {
		if call == "cuCtxPopCurrent_v2" {
			continue // a thread that keeps its context cannot be distinguished from one that has it
		}
		t.Run(call, func(t *testing.T) {
			t.Setenv("FAKE_NOTHING", call)
			_, of := algorithms()
			err := errors.Join(everything(), of)
			if slices.Contains(makers, call) && (err == nil || !strings.Contains(err.Error(), "succeeded and gave nothing")) {
				t.Errorf("error %v", err)
			}
			if alive := cudatest.Alive(t, d); alive != 1 {
				t.Errorf("%d objects alive after %v, want the context", alive, err)
			}
		})
	}
}

// Properties that no device can have are an error of Info.
func TestInfo_of_no_device(t *testing.T) {
	for _, c := range []struct{ name, variable, value, want string }{
		{"no_version", "FAKE_DRIVER", "-5", "supports CUDA -5, which is no version, want 11.0 or later"},
		{"a_memory_without_end", "FAKE_MEMORY", "-1", "cuDeviceTotalMem says 18446744073709551615 bytes"},
		{"no_memory", "FAKE_NOTHING", "cuDeviceTotalMem_v2", "cuDeviceTotalMem says 0 bytes"},
		{"no_capability", "FAKE_NOTHING", "cuDeviceGetAttribute", "compute capability 0.0 and 0 multiprocessors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			if err := everything(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	t.Run("a_name_that_moves_the_cursor", func(t *testing.T) {
		t.Setenv("FAKE_NAME", "\x1b[2J\"Größe\"\x07")
		d, err := Open(0)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if info, err := d.Info(); err != nil || info.Name != `\x1b[2J"Größe"\a` {
			t.Errorf("%q, %v", info.Name, err)
		}
	})
	t.Run("memory_that_is_free_and_not_there", func(t *testing.T) {
		d, err := Open(0)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		t.Setenv("FAKE_MEMORY", "-9")
		err = d.Do(func() error { _, _, err := d.MemInfo(); return err })
		if err == nil || !strings.Contains(err.Error(), "cuMemGetInfo says 18446744073709551607 of 18446744073709551607 bytes are free") {
			t.Errorf("error %v", err)
		}
	})
}

// The time between two events must be one that work can take.
func TestSince_of_no_work(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Do(func() error {
		s, errStream := d.NewStream()
		start, errStart := d.NewEvent()
		end, errEnd := d.NewEvent()
		if err := errors.Join(errStream, errStart, errEnd, start.Record(s), end.Record(s)); err != nil {
			return err
		}
		_, err := end.Since(start)
		return errors.Join(err, start.Destroy(), end.Destroy(), s.Destroy())
	})
	if err == nil || err.Error() != "cuEventElapsedTime says 0 ms" {
		t.Errorf("error %v", err)
	}
}
