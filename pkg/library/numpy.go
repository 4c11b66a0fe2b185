package library

import (
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// NumPy's loop adds up to so many terms in lanes.
const (
	numPyBlock = 128
	numPyLanes = 8
)

// numPySum is a sum of x, as products x × 1.
var numPySum = Entry{
	"numpy-sum",
	"np.sum of contiguous binary32, as products with 1: halves of halves, rounded down to multiples of 8, until there are at most 128; " +
		"those in eight lanes that are added in pairs, and then what 8 does not divide; a sum of negative zeros alone is +0 here",
	"NumPy 2024",
	func(_ Shape, k Kind) (plan.Plan, error) {
		// Neighbouring lanes are added first, so that lanes are halves, the outer ones
		// of four in a row.
		var lanes plan.Order = plan.Run{Device: fma(FP32)}
		for v := 1; v < numPyLanes; v *= 2 {
			lanes = plan.Parts{Cut: plan.Cut{Lanes: 2, Vector: v}, Each: lanes, Merge: left}
		}
		block := plan.Parts{Cut: plan.Cut{Head: numPyLanes}, Each: lanes, Merge: left}
		return plan.Plan{
			Order:  plan.Parts{Cut: plan.Cut{Halves: numPyLanes, Most: numPyBlock}, Each: block, Merge: left},
			Output: tcore.Binary32,
		}, only(FP32, k)
	},
}
