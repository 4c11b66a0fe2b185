package plan_test

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Promoted every 128 products, sums of FP8 leave the 13 bits of Hopper's tensor
// core.
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

// Four lanes take products in turns, and are added in pairs.
func ExampleTree() {
	fma := tcore.Device{A: tcore.Binary16, B: tcore.Binary16, C: tcore.Binary32, Core: tcore.Chain{}}
	lanes := plan.Parts{Cut: plan.Cut{Lanes: 4, Vector: 1}, Each: plan.Run{Device: fma}, Merge: plan.Merge{Folds: plan.Butterfly(4)}}

	var text func(n *plan.Node) string
	text = func(n *plan.Node) string {
		if len(n.Parts) == 0 {
			return fmt.Sprint(n.Leaf)
		}
		words := make([]string, len(n.Parts))
		for i, part := range n.Parts {
			words[i] = text(part)
		}
		return "(" + strings.Join(words, " + ") + ")"
	}
	fmt.Println(text(plan.Tree(lanes, 8)))
	// Output:
	// (((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)))
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
