package bound_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// What 13 bits lose of 4096 products of one sign is far from nothing.
func ExampleProblem_LeastLoss() {
	k := bound.Problem{M: 16, N: 16, K: 4096, Machine: tcore.Machine{Device: devices.HopperE4M3()}, X: bound.Uniform(0, 1), Y: bound.Uniform(0, 1)}
	fmt.Printf("at least %.2g of about %.4g\n", k.LeastLoss(roundoff.FailureOf(0.99)), 4096*k.ProductMoments().Mean)
	// Output: at least 47 of about 1024
}
