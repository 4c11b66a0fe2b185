package plan_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Promoted every 128 products, sums of FP8 leave the 13 bits of Hopper's tensor core.
func ExamplePlan() {
	chain := plan.Run{Device: devices.HopperE4M3()}
	promoted := plan.Parts{Cut: plan.Cut{Length: 128}, Each: chain}

	x := make([]float64, 1024)
	for i := range x {
		x[i] = 1.125
	}
	for _, order := range []plan.Order{chain, promoted} {
		fmt.Println(plan.Plan{Order: order, Output: tcore.Binary32}.Dot(x, x))
	}
	fmt.Println(1024 * 1.125 * 1.125)
	// Output:
	// 1283.5
	// 1296
	// 1296
}

// The orders that libraries have.
func ExampleForms() {
	for _, p := range plan.Forms()[:3] {
		fmt.Printf("%s: %v\n", p.Name, p)
	}
	// Output:
	// plain: hopper-wgmma-binary16-binary32 > binary16
	// split: hopper-wgmma-binary16-binary32 | every 2048 > binary16
	// split-blocks: hopper-wgmma-e4m3-binary32 | every 128 | every 2048 > binary16
}
