package bound_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The matrix product of the paper's section 4.2, on a machine.
func paper(d tcore.Device) bound.Kernel {
	return bound.Kernel{M: 1024, N: 8, K: 32768, Kernel: tcore.Kernel{Device: d}}
}

// The tightest bound that holds is another one on another machine.
func Example() {
	for _, d := range []tcore.Device{tcore.PaperCoreF32, tcore.HopperF16} {
		results, err := bound.Evaluate(paper(d), roundoff.FailureOf(0.99))
		if err != nil {
			panic(err)
		}
		best, _ := bound.Tightest(results)
		fmt.Printf("%s: %s, %.2e, %s\n", d.Name, best.Bound, best.Constant, best.Why)
	}
	// Output:
	// paper-f32: higham-mary, 7.58e-05, taking rounding errors as independent, of mean zero
	// hopper-wgmma-binary16-binary32: truncation, 1.22e-03, factors being normal numbers or zero
}
