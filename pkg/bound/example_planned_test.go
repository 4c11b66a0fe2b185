package bound_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// promoted adds e4m3 products in slices of 4096, each promoted every 128.
var promoted = plan.Plan{Name: "split, promoted", Order: plan.Parts{Cut: plan.Cut{Length: 4096}, Each: plan.Parts{
	Cut: plan.Cut{Length: 128}, Each: plan.Run{Device: devices.HopperE4M3()}}}, Output: tcore.BFloat16}

// Where an error comes from, if a library promotes FP8 sums and splits K: from
// the chains of 128 products.
func ExampleProblem_Planned() {
	chain := bound.Problem{M: 64, N: 64, K: 16384, Machine: tcore.Machine{Device: devices.HopperE4M3(), Output: tcore.BFloat16}}
	planned := must(chain.Planned(promoted))
	for _, k := range []bound.Problem{chain, planned} {
		for _, r := range must(bound.Evaluate(k, at99)) {
			if r.Bound == "truncation" {
				fmt.Printf("%.2g: accumulation %.2g, merging %.2g, storing %.2g\n", r.Constant, r.Parts.Accumulation, r.Parts.Merging, r.Parts.Storing)
			}
		}
	}
	// Output:
	// 2.1: accumulation 2.1, merging 0, storing 0.012
	// 0.02: accumulation 0.016, merging 2.1e-06, storing 0.004
}

// The plan of a problem is the one that it was given.
func ExampleProblem_Plan() {
	k := bound.Problem{M: 1, N: 1, K: 300}
	_, ok := k.Plan()
	fmt.Println(ok)
	p, ok := must(k.Planned(promoted)).Plan()
	fmt.Println(p.Name, ok)
	// Output:
	// false
	// split, promoted true
}

// Two kernels whose split of K is not known may differ by twice the bound for
// all orders. If their plans are known, they may differ by less.
func ExampleAllOrders() {
	k := bound.Problem{M: 64, N: 64, K: 4096, Machine: tcore.Machine{Device: devices.HopperF16(), Output: tcore.Binary32}}
	for _, r := range bound.AllOrders(k, bound.Orders{}, at99) {
		fmt.Printf("%.2g  %-5v  %s\n", r.Constant, r.Holds, r.Bound)
	}
	split := plan.Plan{Order: plan.Parts{Cut: plan.Cut{Count: 8, Grain: 64}, Each: plan.Run{Device: k.Device}}, Output: tcore.Binary32}
	best, _ := bound.Tightest(must(bound.Evaluate(must(k.Planned(split)), at99)))
	fmt.Printf("%.2g  split by 8\n", best.Constant)
	// Output:
	// 0.00061  true   all-orders
	// 2e-05  false  all-orders-random
	// 1.9e-05  split by 8
}

// Full instructions lose less than single products. Merges that round to
// bfloat16 have a bound of some use where K is in few parts.
func ExampleOrders() {
	k := bound.Problem{M: 1, N: 1, K: 4096, Machine: tcore.Machine{Device: devices.HopperF16(), Output: tcore.Binary32}}
	for _, o := range []bound.Orders{{}, {Group: 16}, {Group: 16, Runs: 8, Partial: tcore.BFloat16}} {
		fmt.Printf("%.2g\n", bound.AllOrders(k, o, at99)[0].Constant)
	}
	// Output:
	// 0.00061
	// 0.00024
	// 0.032
}
