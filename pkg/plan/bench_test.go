package plan_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/cputime"
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

type benchmarked struct {
	name  string
	order func(k int) plan.Order
}

// coreOrders are what libraries do around a tensor core.
func coreOrders() []benchmarked {
	run := plan.Run{Device: devices.HopperF16()}
	grouped := plan.Run{Device: devices.HopperF16(), Group: 16, Tile: 64}
	return []benchmarked{
		{"plain", func(int) plan.Order { return run }},
		{"split-4", func(k int) plan.Order { return split(k/4, run, plan.Merge{}) }},
		{"split_blocks", func(k int) plan.Order { return split(k/4, split(128, run, plan.Merge{}), plan.Merge{}) }},
		{"k_per_dot-16", func(int) plan.Order { return grouped }},
		{"k_per_dot-8", func(int) plan.Order { return plan.Run{Device: run.Device, Group: 8, Tile: 32} }},
		{"splitk_groups", func(k int) plan.Order { return split(k/4, grouped, plan.Merge{Running: tcore.Binary16}) }},
		{"promoted-128", func(int) plan.Order { return split(128, run, plan.Merge{}) }},
	}
}

// shaped is an order with the shape of its products.
type shaped struct {
	benchmarked
	m, k, n int
}

// scalarOrders are of FMAs, with the shapes that they are chosen for.
func scalarOrders() []shaped {
	run := plan.Run{Device: scalarUnits()[0].device}
	z := plan.Merge{Zero: true}
	gemmsn := benchmarked{"gemmsn", func(int) plan.Order {
		return plan.Parts{Cut: plan.Cut{Count: 2}, Each: split(256, run, z), Merge: z}
	}}
	lanes := func(w, v int) plan.Order {
		return plan.Parts{Cut: plan.Cut{Lanes: w, Vector: v}, Each: run, Merge: plan.Merge{Folds: plan.Butterfly(w)}}
	}
	gemv13 := benchmarked{"gemv13-32", func(int) plan.Order { return lanes(32, 1) }}
	slices := benchmarked{"gemv13-32-slices", func(int) plan.Order { return lanes(32, -64) }}
	single := benchmarked{"gemv13-1", func(int) plan.Order {
		return plan.Parts{Cut: plan.Cut{Lanes: 1, Vector: 1}, Each: split(512, run, plan.Merge{})}
	}}
	gemv14 := func(v int, run plan.Run, suffix string) benchmarked {
		return benchmarked{fmt.Sprintf("gemv14-%d%s", v, suffix), func(int) plan.Order {
			thread := plan.Parts{Cut: plan.Cut{Lanes: v, Vector: 1}, Each: run, Merge: z}
			block := plan.Parts{Cut: plan.Cut{Lanes: 128, Vector: v}, Each: thread, Merge: plan.Merge{Folds: plan.Butterfly(128)}}
			return plan.Parts{Cut: plan.Cut{Lanes: 8, Vector: 128 * v}, Each: block, Merge: plan.Merge{Folds: []int{128, 64, 32, 4, 1}}}
		}}
	}
	list := []shaped{
		{gemmsn, 8, 512, 4096},
		{gemv13, 1, 4096, 4096}, {gemv13, 4096, 4096, 1}, {slices, 1, 4096, 4096}, {slices, 4096, 4096, 1},
		{single, 1, 4096, 4096}, {gemv14(1, run, ""), 1, 4096, 4096}, {gemv14(2, run, ""), 4096, 4096, 1},
	}
	for _, u := range scalarUnits()[1:] { // factors of bfloat16 and binary32
		run := plan.Run{Device: u.device}
		gemv14 := gemv14(2, run, "-"+u.device.A.Name)
		gemv13 := benchmarked{"gemv13-1-" + u.device.A.Name, func(int) plan.Order { return split(512, run, plan.Merge{}) }}
		for _, b := range []benchmarked{gemv13, gemv14} {
			list = append(list, shaped{b, 1, 4096, 4096}, shaped{b, 4096, 4096, 1})
		}
	}
	return list
}

// factors returns uniform factors in binary16, and memory for their product.
func factors(m, k, n int) (a, b, d blas32.General) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b = matrix.New(m, k), matrix.New(k, n)
	for _, x := range [][]float32{a.Data, b.Data} {
		for i := range x {
			x[i] = 2*rng.Float32() - 1
		}
		tcore.Binary16.RoundSlice32(x, x)
	}
	return a, b, matrix.New(m, n)
}

// BenchmarkPlan times products on one thread, and on two where there are two.
func BenchmarkPlan(b *testing.B) {
	time := func(what benchmarked, m, k, n int, shape string) {
		for _, threads := range []int{1, 2} {
			if threads > runtime.NumCPU() {
				continue
			}
			b.Run(fmt.Sprintf("order=%s/n=%s/threads=%d", what.name, shape, threads), func(b *testing.B) {
				cputime.Speed(b, threads, float64(m)*float64(k)*float64(n), "MMAC/s", func() func() {
					x, y, d := factors(m, k, n)
					p := plan.Plan{Order: what.order(k), Output: tcore.Binary16}
					return func() { p.GEMM(blas.NoTrans, blas.NoTrans, 1, x, y, 0, blas32.General{}, d) }
				})
			})
		}
	}
	for _, n := range []int{512, 2048} {
		for _, o := range coreOrders() {
			time(o, n, n, n, fmt.Sprint(n))
		}
	}
	for _, o := range scalarOrders() {
		time(o.benchmarked, o.m, o.k, o.n, fmt.Sprintf("%dx%dx%d", o.m, o.k, o.n))
	}
}

// BenchmarkBesideDevice reports the speed of a plan over that of its device
// alone, by processor time. Both are timed in turn, on one thread.
func BenchmarkBesideDevice(b *testing.B) {
	for _, n := range []int{512, 2048} {
		for _, o := range coreOrders() {
			b.Run(fmt.Sprintf("order=%s/n=%d", o.name, n), func(b *testing.B) {
				if cputime.Named(b, "of-device") {
					return
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				x, y, d := factors(n, n, n)
				p := plan.Plan{Order: o.order(n), Output: tcore.Binary16}
				var planned, alone time.Duration
				for b.Loop() {
					start := cputime.Spent()
					p.GEMM(blas.NoTrans, blas.NoTrans, 1, x, y, 0, blas32.General{}, d)
					middle := cputime.Spent()
					p.Device().MultiplyAdd(x, y, blas32.General{}, d)
					planned += middle - start
					alone += cputime.Spent() - middle
				}
				b.ReportMetric(alone.Seconds()/planned.Seconds(), "of-device")
			})
		}
	}
}
