package trial_test

import (
	"math"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
)

// Every bound that is reported valid for an order of summation, a split of K, a
// narrower D or stochastic rounding is satisfied by the measured errors, and
// each of these options changes the result.
func TestBoundsHoldOnTheMachineMeasured(t *testing.T) {
	at99 := roundoff.FailureOf(0.99)
	stochastic := tcore.Stochastic{Seed: 3, Bits: 32}
	plain := map[string][]float64{}
	for _, d := range []tcore.Device{devices.IEEEF32(), devices.IEEEF16(), devices.IEEEF64()} {
		for _, m := range []tcore.Machine{
			{Device: d}, {Device: d, Order: tcore.InPairs}, {Device: d, Order: tcore.Compensated}, {Device: d, Stochastic: stochastic},
			{Device: d, SplitK: 7}, {Device: d, Promote: 128}, {Device: d, SplitK: 7, Order: tcore.InPairs, Stochastic: stochastic}, {Device: d, Output: tcore.BFloat16, Order: tcore.Compensated},
		} {
			for _, data := range []sweep.Generator{sweep.Symmetric, sweep.Positive} {
				p := bound.Problem{M: 8, N: 8, K: 2000, Machine: m, X: data.X, Y: data.Y}
				run, err := trial.Run(p, data, 5)
				if err != nil {
					t.Fatal(err)
				}
				largest := slices.Max(run.Backward())
				results, err := bound.Evaluate(p, at99)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range results {
					if r.Holds && largest > r.Constant*(1+1e-9) {
						t.Errorf("%s, %v, %+v, %s: %v exceeds %s, %v", d.Name, m.Order, m, data.Name, largest, r.Bound, r.Constant)
					}
				}
				name := d.Name + data.Name
				if plain[name] == nil {
					plain[name] = run.D.Data
				} else if slices.Equal(plain[name], run.D.Data) {
					t.Errorf("%+v, %s: as in sequence", m, data.Name)
				}
				if m.Order == tcore.Compensated && m.Output == (tcore.Format{}) && largest > 2*d.C.UnitRoundoff()*(1+math.Ldexp(1, -10)) {
					t.Errorf("%s, %s: compensated %v, want about u", d.Name, data.Name, largest)
				}
			}
		}
	}
}
