package plan_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Nine parts of blocks of 64, and what they are if a library starts from K/9
// rounded down: eight products are lost.
func ExampleCut_Lengths() {
	c := plan.Cut{Count: 9, Grain: 64}
	fmt.Println(c.Lengths(1160))
	c.Floor = true
	fmt.Println(c.Lengths(1160), "of 1160")
	// Output:
	// [192 192 192 192 192 192 8 0 0]
	// [128 128 128 128 128 128 128 128 128] of 1160
}

// The products that are left over come first, eight at a time.
func ExampleRun_Instructions() {
	r := plan.Run{Device: devices.HopperF16(), Group: 8, Tile: 32}
	fmt.Println(r.Instructions(64))
	fmt.Println(r.Instructions(67))
	// Output:
	// 8 false
	// 9 true
}
