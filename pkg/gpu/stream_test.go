//go:build cgo && linux

package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// streams are the three kernels and their counterparts in package tcore, on the
// same operands.
func streams(g *GPU, n int) map[string]func(ctx context.Context, passes int) (got, want []float32, took time.Duration, err error) {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	x := [3][]float32{}
	for i := range x {
		x[i] = make([]float32, n)
		for j := range x[i] {
			x[i][j] = float32(rng.NormFloat64())
		}
	}
	x[2][0] = float32(math.Inf(1))
	a, b := make([]uint16, n), make([]uint16, n)
	tcore.EncodeSlice16(a, x[0])
	tcore.EncodeSlice16(b, x[1])
	got, want := make([]float32, n), make([]float32, n)
	return map[string]func(context.Context, int) ([]float32, []float32, time.Duration, error){
		"mac": func(ctx context.Context, passes int) ([]float32, []float32, time.Duration, error) {
			tcore.StreamMAC(want, x[0], x[1], x[2])
			took, err := g.StreamMAC(ctx, got, x[0], x[1], x[2], passes)
			return got, want, took, err
		},
		"fma": func(ctx context.Context, passes int) ([]float32, []float32, time.Duration, error) {
			tcore.StreamFMA(want, x[0], x[1], x[2])
			took, err := g.StreamFMA(ctx, got, x[0], x[1], x[2], passes)
			return got, want, took, err
		},
		"mpfma": func(ctx context.Context, passes int) ([]float32, []float32, time.Duration, error) {
			tcore.StreamMPFMA(want, a, b, x[2])
			took, err := g.StreamMPFMA(ctx, got, a, b, x[2], passes)
			return got, want, took, err
		},
	}
}

// The results equal those of package tcore for one element, for less than a
// block of threads, for a partly filled last block, and for more elements than
// fit into the stage.
func TestStream_is_that_of_tcore(t *testing.T) {
	g := open(t)
	defer g.Close()
	for _, n := range []int{1, 100, 257, 1000, 5<<20 + 3} {
		if n > 1<<20 && testing.Short() {
			continue
		}
		for name, run := range streams(g, n) {
			before := cudatest.Products(t, g.device)
			got, want, took, err := run(t.Context(), 3)
			if err != nil || took != time.Millisecond {
				t.Fatalf("%s of %d: %v, %v", name, n, took, err)
			}
			if passes := cudatest.Products(t, g.device) - before; passes != 4 {
				t.Errorf("%s of %d: %d passes, want one to warm up and 3", name, n, passes)
			}
			for i := range got {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%s of %d: element %d is %v, want %v", name, n, i, got[i], want[i])
				}
			}
		}
	}
}

// If any call fails, the error names it, and no memory stays in use.
func TestStream_fails_and_leaves_nothing(t *testing.T) {
	g := open(t)
	defer g.Close()
	idle := cudatest.Alive(t, g.device)
	for name, run := range streams(g, 300) {
		for call := 1; ; call++ {
			t.Setenv("FAKE_FAIL", fmt.Sprintf("%d:2", call))
			_, _, _, err := run(t.Context(), 2)
			n := cudatest.Calls(t, g.device)
			if alive := cudatest.Alive(t, g.device); alive != idle {
				t.Fatalf("%s, call %d: %d objects alive, want %d, after %v", name, call, alive, idle, err)
			}
			if call > n {
				if err != nil || n < 40 {
					t.Errorf("%s: %d calls and %v, want 40 or more that fail", name, n, err)
				}
				break
			}
			var e *cuda.Error
			if !errors.As(err, &e) || e.Code != 2 {
				t.Errorf("%s, call %d: error %v, want an Error with code 2", name, call, err)
			}
			if !strings.HasPrefix(fmt.Sprint(err), "gpu: "+name+" of 300 elements: cu") && call > 1 && call < n {
				t.Errorf("%s, call %d: error %q does not tell what was computed", name, call, err)
			}
		}
		t.Setenv("FAKE_FAIL", "")
	}
}

func TestStream_stops_between_passes(t *testing.T) {
	g := open(t)
	defer g.Close()
	run := streams(g, 10)["fma"]
	before := cudatest.Products(t, g.device)
	_, _, _, err := run(&endsAfter{Context: t.Context(), after: 2}, 5)
	if done := cudatest.Products(t, g.device) - before; !errors.Is(err, context.Canceled) || done != 2 {
		t.Errorf("%d passes, %v", done, err)
	}
}

func TestStream_panics(t *testing.T) {
	g := open(t)
	defer g.Close()
	x := make([]float32, 3)
	for want, call := range map[string]func(){
		"gpu: StreamMAC: d, a, b, c have 3, 2, 3, 3 elements":   func() { g.StreamMAC(t.Context(), x, x[:2], x, x, 1) },
		"gpu: StreamFMA: d, a, b, c have 0, 0, 0, 0 elements":   func() { g.StreamFMA(t.Context(), nil, nil, nil, nil, 1) },
		"gpu: StreamMPFMA: d, a, b, c have 3, 1, 1, 3 elements": func() { g.StreamMPFMA(t.Context(), x, []uint16{1}, []uint16{1}, x, 1) },
		"gpu: StreamFMA: passes = 0, want passes >= 1":          func() { g.StreamFMA(t.Context(), x, x, x, x, 0) },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, want) {
					t.Errorf("panic %q, want %q", r, want)
				}
			}()
			call()
		}()
	}
}

// If the kernel or the copy of its results does nothing, d contains neither
// results nor those of an earlier pass.
func TestStream_shows_what_was_not_computed(t *testing.T) {
	g := open(t)
	defer g.Close()
	for name, run := range streams(g, 100) {
		for _, call := range []string{"cuLaunchKernel", "cuMemcpyDtoHAsync_v2"} {
			t.Run(name+"/"+call, func(t *testing.T) {
				if _, _, _, err := run(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				t.Setenv("FAKE_NOTHING", call)
				got, _, _, err := run(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range got {
					if x == x {
						t.Fatalf("element %d is %v, want NaN", i, x)
					}
				}
			})
		}
	}
}
