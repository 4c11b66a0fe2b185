//go:build cgo && linux

package gpu

import (
	"errors"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
)

func TestMain(m *testing.M) { cudatest.Main(m) }

func open(t testing.TB) *GPU {
	t.Helper()
	g, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOpen(t *testing.T) {
	for _, c := range []struct{ name, variable, value string }{
		{"without_a_device", "FAKE_DEVICES", "0"},
		{"with_an_old_driver", "FAKE_DRIVER", "9020"},
		{"with_a_driver_that_does_not_start", "FAKE_FAIL", "cuInit:999"},
		{"with_a_device_that_is_taken", "FAKE_FAIL", "cuDevicePrimaryCtxRetain:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			if g, err := Open(); g != nil || !errors.Is(err, ErrNoGPU) {
				t.Errorf("%v, %v, want an error that is ErrNoGPU", g, err)
			}
		})
	}
}

func TestInfo_fails_with_the_driver(t *testing.T) {
	g := open(t)
	defer g.Close()
	for _, call := range []string{"cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute"} {
		t.Setenv("FAKE_FAIL", call+":1")
		if _, err := g.Info(); err == nil {
			t.Errorf("no error of %s", call)
		}
	}
}

func TestArchitecture(t *testing.T) {
	for c, want := range map[[2]int]string{{6, 1}: "", {7, 0}: "Volta", {7, 5}: "Turing", {8, 0}: "Ampere",
		{8, 6}: "Ampere", {8, 9}: "Ada", {9, 0}: "Hopper", {10, 0}: "Blackwell", {12, 0}: "RTX Blackwell"} {
		if got := architecture(c[0], c[1]); got != want {
			t.Errorf("%v is %q, want %q", c, got, want)
		}
	}
}
