//go:build cgo && linux

package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
)

func TestOpen_without_a_GPU(t *testing.T) {
	for _, c := range []struct{ name, variable, value, want string }{
		{"tells_an_old_driver", "FAKE_DRIVER", "10020", "supports CUDA 10.2, want 11.0 or later"},
		{"tells_no_device", "FAKE_DEVICES", "0", "no device 0, the driver has 0"},
		{"tells_why_the_driver_does_not_start", "FAKE_FAIL", "cuInit:100", "cuInit(0) returned 100, CUDA_ERROR_NO_DEVICE: made to fail"},
		{"does_not_know_every_code", "FAKE_FAIL", "cuInit:12345", "cuInit(0) returned 12345, an unknown code"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			d, err := Open(0)
			if d != nil || !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v, want an error that is ErrNoGPU with %q", d, err, c.want)
			}
		})
	}
	t.Run("tells_where_it_looked", func(t *testing.T) {
		forget(t)
		saved := libcuda
		defer func() { libcuda = saved }()
		libcuda.files = []string{"libnosuch.so.1"}
		d, err := Open(0)
		var missing *NotFoundError
		if d != nil || !errors.Is(err, ErrNoGPU) || !errors.As(err, &missing) || !strings.Contains(err.Error(), "/usr/local/cuda/lib64") {
			t.Errorf("%v, %v, want an error that is ErrNoGPU and a NotFoundError", d, err)
		}
	})
	if _, err := Open(-1); !errors.Is(err, ErrNoGPU) {
		t.Errorf("device -1: %v", err)
	}
}

// everything uses every function of the package and frees all that it made.
func everything() (err error) {
	d, err := Open(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if _, err := d.Info(); err != nil {
		return err
	}
	ptx, err := Compile("a kernel", "kernel.cu", "--gpu-architecture=compute_90a")
	if err != nil {
		return err
	}
	if want := "fake ptx, 1 options, --gpu-architecture=compute_90a"; string(ptx) != want {
		return fmt.Errorf("compiled to %q, want %q", ptx, want)
	}
	return d.Do(func() (err error) {
		free := func(f func() error) { err = errors.Join(err, f()) }
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		defer free(s.Destroy)
		m, err := d.LoadModule(ptx)
		if err != nil {
			return err
		}
		defer free(m.Unload)
		f, err := m.Function("fill")
		if err != nil {
			return err
		}
		p, err := d.Alloc(64)
		if err != nil {
			return err
		}
		defer free(func() error { return d.Free(p) })
		h, err := d.HostAlloc(64)
		if err != nil {
			return err
		}
		defer free(func() error { return d.HostFree(h) })
		if err := d.ToDevice(p, h, s); err != nil {
			return err
		}
		if err := d.Launch(f, [3]int{2, 1, 1}, [3]int{4, 1, 1}, 0, s, p, uint64(1000), uint32(3)); err != nil {
			return err
		}
		if err := errors.Join(d.ToHost(h, p, s), s.Sync()); err != nil {
			return err
		}
		if h[56] != (1000+7*3)%256 {
			return fmt.Errorf("the kernel wrote %v", h)
		}
		return nil
	})
}

// If any call fails, the error names it, and all resources are freed.
func TestEveryCall_fails_with_its_name_and_leaves_nothing(t *testing.T) {
	if err := everything(); err != nil {
		t.Fatal(err)
	}
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for call := 1; ; call++ {
		t.Setenv("FAKE_FAIL", fmt.Sprintf("%d:3", call))
		err := everything()
		n := cudatest.Calls(t, d)
		if alive := cudatest.Alive(t, d); alive != 1 {
			t.Fatalf("call %d: %d objects alive after %v, want the context", call, alive, err)
		}
		if call > n {
			if err != nil || n < 30 {
				t.Errorf("%d calls and %v, want 30 or more that fail", n, err)
			}
			return
		}
		var e *Error
		if err == nil {
			continue // reported in Info
		}
		if !errors.As(err, &e) || e.Code != 3 || e.Name == "" || !strings.HasPrefix(e.Call, "cu") && !strings.HasPrefix(e.Call, "nvrtc") {
			t.Errorf("call %d: error %v, want an Error with code 3", call, err)
		}
	}
}

func TestInfo(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct{ name, fail, library string }{
		{"tells_all_libraries", "", ""},
		{"tells_that_cuBLAS_fails", "cublasCreate_v2:1", "libcublas"},
		{"tells_that_cuBLAS_has_no_version", "cublasGetVersion_v2:1", "libcublas"},
		{"tells_that_NVRTC_fails", "nvrtcVersion:1", "libnvrtc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("FAKE_FAIL", c.fail)
			info, err := d.Info()
			if err != nil || info.Name != "Fake GPU 0" || info.Major != 9 || info.Multiprocessors != 132 || len(info.Libraries) != 4 {
				t.Fatalf("%+v, %v", info, err)
			}
			for _, l := range info.Libraries {
				if (l.Err != nil) != (l.Name == c.library) {
					t.Errorf("%s: %v", l.Name, l.Err)
				}
				if l.Err == nil && (l.Version != "12.8" && l.Version != "12.8.3" || l.Path == "") {
					t.Errorf("%+v, want version 12.8", l)
				}
			}
		})
	}
}

func TestDo(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("makes_the_context_current_and_only_inside", func(t *testing.T) {
		inside := func() error { _, _, err := d.MemInfo(); return err }
		if err := d.Do(inside); err != nil {
			t.Error(err)
		}
		var e *Error
		if err := inside(); !errors.As(err, &e) || e.Code != 201 {
			t.Errorf("outside: %v, want code 201", err)
		}
	})
	t.Run("refuses_a_closed_device", func(t *testing.T) {
		if err := errors.Join(d.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		if err := d.Do(func() error { return nil }); err == nil {
			t.Error("no error")
		}
	})
}

func TestCompile_tells_what_the_compiler_says(t *testing.T) {
	for _, call := range []string{"nvrtcGetProgramLogSize", "nvrtcGetProgramLog"} {
		t.Setenv("FAKE_FAIL", call+":4")
		_, err := Compile("an error", "kernel.cu")
		if err == nil || !strings.Contains(err.Error(), "NVRTC_ERROR_COMPILATION") || !strings.Contains(err.Error(), call+"() returned 4") {
			t.Errorf("%s fails: %v", call, err)
		}
	}
	t.Setenv("FAKE_FAIL", "")
	_, err := Compile("an error", "kernel.cu")
	if err == nil || !strings.Contains(err.Error(), "NVRTC_ERROR_COMPILATION") || !strings.Contains(err.Error(), "line 1: it says error") {
		t.Errorf("%v", err)
	}
}

// An argument is passed in as many bytes as its type has, at every position.
func TestLaunch_passes_every_type_of_argument(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, step := range []any{uint32(5), int32(5), float32(0x1p-149 * 5)} {
		err := d.Do(func() (err error) {
			m, err := d.LoadModule([]byte("fake ptx"))
			if err != nil {
				return err
			}
			defer m.Unload()
			f, err := m.Function("fill")
			if err != nil {
				return err
			}
			p, err := d.Alloc(16)
			if err != nil {
				return err
			}
			defer d.Free(p)
			h, err := d.HostAlloc(16)
			if err != nil {
				return err
			}
			defer d.HostFree(h)
			if err := d.Launch(f, [3]int{1, 1, 1}, [3]int{2, 1, 1}, 0, Stream{}, p, uint64(1<<40), step); err != nil {
				return err
			}
			if err := d.ToHost(h, p, Stream{}); err != nil {
				return err
			}
			if got := [2]uint64{binary.NativeEndian.Uint64(h), binary.NativeEndian.Uint64(h[8:])}; got != [2]uint64{1 << 40, 1<<40 + 5} {
				t.Errorf("%T: the kernel got %v", step, got)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%T: %v", step, err)
		}
	}
}

func TestModule_refuses_what_is_none(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Do(func() error {
		if _, err := d.LoadModule([]byte("nonsense")); err == nil {
			t.Error("nonsense is a module")
		}
		m, err := d.LoadModule([]byte("fake ptx"))
		if err != nil {
			return err
		}
		if _, err := m.Function("nosuch"); err == nil || !strings.Contains(err.Error(), "cuModuleGetFunction(nosuch) returned 500") {
			t.Errorf("a kernel nosuch: %v", err)
		}
		defer func() {
			if r := fmt.Sprint(recover()); !strings.Contains(r, "cuda: Launch: argument 0 is a string") {
				t.Errorf("panic %q", r)
			}
		}()
		defer m.Unload()
		return d.Launch(Function{}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, 0, Stream{}, "text")
	})
	if err != nil {
		t.Error(err)
	}
}
