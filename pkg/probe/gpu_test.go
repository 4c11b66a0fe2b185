package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
	"github.com/roundofflab/roundoff/internal/panics"
)

// fakeLibraries makes the package search for the libraries in a folder with the
// fake, or skips the test.
func fakeLibraries(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	if err := cudatest.Build(folder); errors.Is(err, cudatest.ErrNoFake) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ROUNDOFF_CUDA_PATH", folder)
}

// If any call fails while a GPU is opened, all its resources are freed.
func TestOpenGPU_fails_and_leaves_nothing(t *testing.T) {
	fakeLibraries(t)
	other, err := OpenGPU(0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for call := 1; ; call++ {
		t.Setenv("FAKE_FAIL", fmt.Sprintf("%d:3", call))
		g, err := OpenGPU(0)
		n := cudatest.Calls(t, other.device)
		if err == nil {
			err = g.Close()
		} else if g != nil {
			t.Errorf("call %d: a GPU and %v", call, err)
		}
		if alive := cudatest.Alive(t, other.device); alive != 1 {
			t.Fatalf("call %d: %d objects alive after %v, want the other context", call, alive, err)
		}
		if call > n+1 { // Close is one more
			if err != nil || n < 15 {
				t.Errorf("%d calls and %v, want 15 or more that fail", n, err)
			}
			return
		}
	}
}

// filling returns a fake GPU and its kernel, which are closed when the test
// ends.
func filling(t *testing.T) (*GPU, Program) {
	t.Helper()
	fakeLibraries(t)
	g, err := OpenGPU(0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := g.Load("fake ptx", "fill")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.Close()
		g.Close()
	})
	return g, k
}

func TestLaunch_does_not_begin_when_it_is_over(t *testing.T) {
	g, k := filling(t)
	over, end := context.WithCancel(t.Context())
	end()
	before := cudatest.Calls(t, g.device)
	if err := k.Launch(over, 1, 1, nil, make([]byte, 8)); !errors.Is(err, context.Canceled) || cudatest.Calls(t, g.device) != before {
		t.Errorf("%v, %d calls", err, cudatest.Calls(t, g.device)-before)
	}
}

// On a fake of the libraries every call fails in turn: all resources are freed,
// and the error names the call.
func TestGPU_frees_everything(t *testing.T) {
	fakeLibraries(t)
	g, err := OpenGPU(0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if p := g.Provenance(); p.GPU != "Fake GPU 0, compute capability 9.0" || len(g.Instructions()) != 17 {
		t.Errorf("%+v, %d instructions", p, len(g.Instructions()))
	}
	launch := func() error {
		k, err := g.Load("fake ptx", "fill")
		if err != nil {
			return err
		}
		in := [][]byte{make([]byte, 1024), make([]byte, 512), make([]byte, 512)}
		err = k.Launch(t.Context(), 2, 32, in, make([]byte, 512))
		if first := k.Close(); first != nil {
			return errors.Join(err, first, k.Close())
		}
		return err
	}
	for call := 1; ; call++ {
		t.Setenv("FAKE_FAIL", fmt.Sprintf("%d:3", call))
		err := launch()
		n, alive := cudatest.Calls(t, g.device), cudatest.Alive(t, g.device)
		if alive != 1 {
			t.Fatalf("call %d: %d objects alive after %v, want the context", call, alive, err)
		}
		if call > n {
			if err != nil || n < 15 {
				t.Errorf("%d calls and %v, want 15 or more that fail", n, err)
			}
			break
		}
		if err == nil {
			t.Errorf("call %d: no error", call)
		}
	}
	t.Setenv("FAKE_FAIL", "")
	if _, err := g.Load("another text", "fill"); err == nil {
		t.Error("a text that is no PTX: no error")
	}
}

// If the kernel or the copy of its results does nothing, the results are NaNs
// and not those of an earlier launch.
func TestLaunch_shows_what_was_not_computed(t *testing.T) {
	_, k := filling(t)
	for _, call := range []string{"cuLaunchKernel", "cuMemcpyDtoHAsync_v2"} {
		t.Setenv("FAKE_NOTHING", call)
		out := make([]byte, 16)
		if err := k.Launch(t.Context(), 1, 1, [][]byte{make([]byte, 16), make([]byte, 16)}, out); err != nil || !bytes.Equal(out, bytes.Repeat([]byte{0xff}, 16)) {
			t.Errorf("%s: %v, %v", call, out, err)
		}
	}
}

// Every method of a GPU that was not opened panics with a message that contains
// the name of the method.
func TestGPU_that_was_not_opened(t *testing.T) {
	for _, g := range []*GPU{nil, {}} {
		for call, f := range map[string]func(){"Close": func() { g.Close() }, "Load": func() { g.Load("", "") }} {
			t.Run(call, func(t *testing.T) {
				panics.Want(t, "probe: "+call+": a GPU that was not opened, want one of OpenGPU", f)
			})
		}
	}
}
