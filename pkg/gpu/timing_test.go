//go:build cgo && linux

package gpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
)

func TestTime(t *testing.T) {
	g := open(t)
	defer g.Close()
	p := problem{m: 37, n: 21, k: 9, tA: blas.NoTrans, tB: blas.NoTrans}
	a, b, _, _ := p.matrices(1)
	const passes = 3

	t.Run("times_every_algorithm_the_chosen_one_first", func(t *testing.T) {
		for _, k := range kernels(g) {
			before := cudatest.Products(t, g.device)
			timings, err := k.Time(t.Context(), a, b, passes, 8)
			products := cudatest.Products(t, g.device) - before
			want := 1
			if !k.Classic {
				list, _ := k.Algorithms(p.m, p.n, p.k, 8)
				want = len(list)
			}
			if err != nil || len(timings) != want || products != 1+want*(passes+1) {
				t.Errorf("%s: %d timings of %d products, %v, want %d of %d", k.name(), len(timings), products, err, want, 1+want*(passes+1))
			}
			for i, timing := range timings {
				if timing.Chosen != (i == 0) || timing.Time <= 0 {
					t.Errorf("%s, %d: %+v", k.name(), i, timing)
				}
			}
		}
	})
	t.Run("fails_and_leaves_nothing", func(t *testing.T) {
		k := g.Routine(devices.HopperF16())
		idle := cudatest.Alive(t, g.device)
		for call := 1; ; call++ {
			t.Setenv("FAKE_FAIL", fmt.Sprintf("%d:2", call))
			_, err := k.Time(t.Context(), a, b, passes, 8)
			n := cudatest.Calls(t, g.device)
			if alive := cudatest.Alive(t, g.device); alive != idle {
				t.Fatalf("call %d: %d objects alive, want %d, after %v", call, alive, idle, err)
			}
			if call > n {
				if err != nil || n < 60 {
					t.Errorf("%d calls and %v, want 60 or more that fail", n, err)
				}
				break
			}
			if err != nil && !strings.HasPrefix(err.Error(), "gpu: time of 37 × 9 by 9 × 21, binary16: cu") {
				t.Errorf("call %d: error %q does not tell the shapes", call, err)
			}
		}
		t.Setenv("FAKE_FAIL", "")
	})
	t.Run("stops_between_passes", func(t *testing.T) {
		k := g.Routine(devices.HopperF16())
		before := cudatest.Products(t, g.device)
		_, err := k.Time(&endsAfter{Context: t.Context(), after: 2}, a, b, passes, 8)
		if done := cudatest.Products(t, g.device) - before; !errors.Is(err, context.Canceled) || done != 3 {
			t.Errorf("%d products, %v, want 3 and the end of the context", done, err)
		}
	})
	t.Run("wants_all_in_memory", func(t *testing.T) {
		k := g.Routine(devices.HopperF16())
		k.Workspace, k.MaxBytes = 1<<16, 1<<16+1600
		if _, err := k.Time(t.Context(), a, b, passes, 8); err == nil || !strings.Contains(err.Error(), "want all 37 × 21") {
			t.Error(err)
		}
	})
	t.Run("panics_without_passes", func(t *testing.T) {
		defer func() {
			if r := recover(); r != "gpu: Time: passes = 0, limit = 8, want at least 1" {
				t.Error(r)
			}
		}()
		g.Routine(devices.HopperF16()).Time(t.Context(), a, b, 0, 8)
	})
}

func TestKernel_Check_names_formats_that_do_not_go_together(t *testing.T) {
	g := open(t)
	defer g.Close()
	if err := g.Routine(devices.HopperF16()).Check(); err != nil {
		t.Error(err)
	}
	k := &Routine{GPU: g, A: tcore.Binary16, B: tcore.BFloat16, C: tcore.Binary32}
	if err := k.Check(); err == nil || err.Error() != "gpu: GEMM: A = binary16, B = bfloat16, C = binary32, Output = binary32 do not go together in cuBLASLt" {
		t.Error(err)
	}
}
