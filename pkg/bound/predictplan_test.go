package bound

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// A prediction for the plan of a machine is that for the machine.
func TestPredictPlanOfMachine(t *testing.T) {
	for i, m := range []tcore.Machine{{Device: devices.HopperE4M3()}, {Device: devices.HopperE4M3(), Promote: 128}, {Device: devices.HopperF16(), SplitK: 8}} {
		for j, x := range []Distribution{Uniform(-1, 1), Uniform(0, 1)} {
			if rarely(2, i, j) {
				continue
			}
			k := Problem{M: 1, N: 1, K: 1000, Machine: m, X: x, Y: x}
			want, err := Predict(k)
			got, errGot := Predict(planOf(t, k))
			if err != nil || errGot != nil {
				t.Fatal(err, errGot)
			}
			for i, pair := range [][2]float64{{got.Mean, want.Mean}, {got.Deviation, want.Deviation}, {got.Slope, want.Slope}, {got.Backward, want.Backward}, {got.BackwardDeviation, want.BackwardDeviation}} {
				if !(math.Abs(pair[0]-pair[1]) <= 1e-12*math.Abs(pair[1])) && !(math.IsNaN(pair[0]) && math.IsNaN(pair[1])) {
					t.Errorf("%s, %d parts, %s: number %d is %v, want %v", m.Device.Name, k.parts(), x, i, pair[0], pair[1])
				}
			}
		}
	}
}

// Predictions agree with products computed as plans say, as closely as those of
// machines do ([TestPredict]).
func TestPredictPlans(t *testing.T) {
	fp8, fp16, fma := plan.Run{Device: devices.HopperE4M3()}, plan.Run{Device: devices.HopperF16()}, plan.Run{Device: devices.IEEEF32()}
	of := func(n int) plan.Cut { return plan.Cut{Length: n} }
	lanes := plan.Cut{Lanes: 32, Vector: 1}
	data := []Distribution{Uniform(-1, 1), Uniform(0, 1)}
	lengths := []int{1000, 4096}
	if testing.Short() {
		lengths = lengths[:1]
	}
	for i, tt := range []struct {
		name string
		plan.Order
	}{
		{"plain", fp16},
		{"groups of 8", plan.Run{Device: devices.HopperF16(), Group: 8, Tile: 32}},
		{"split 8", plan.Parts{Cut: plan.Cut{Count: 8, Grain: 64}, Each: fp16}},
		{"promoted", plan.Parts{Cut: of(128), Each: fp8, Merge: plan.Merge{Zero: true}}},
		{"split, promoted", plan.Parts{Cut: of(512), Each: plan.Parts{Cut: of(128), Each: fp8}}},
		{"split, parts in binary16", plan.Parts{Cut: of(256), Each: fp16, Merge: plan.Merge{Partial: tcore.Binary16}}},
		{"butterfly", plan.Parts{Cut: lanes, Each: fma, Merge: plan.Merge{Folds: plan.Butterfly(32)}}},
		{"lanes of parts", plan.Parts{Cut: lanes, Each: plan.Parts{Cut: of(16), Each: fma}, Merge: plan.Merge{Folds: plan.Butterfly(32)}}},
	} {
		for j, x := range data {
			for _, n := range lengths {
				if rarely(2, i, j) {
					continue
				}
				k, err := Problem{M: 64, N: 64, K: n, X: x, Y: x}.Planned(plan.Plan{Name: tt.name, Order: tt.Order, Output: tcore.Binary32})
				if err != nil {
					t.Fatal(err)
				}
				checkPrediction(t, k)
			}
		}
	}
	for _, m := range []plan.Merge{{Scale: plan.Fused}, {Running: tcore.BFloat16}} {
		p := plan.Plan{Order: plan.Parts{Cut: of(128), Each: fp8, Merge: m}}
		if k, err := (Problem{M: 1, N: 1, K: 256, X: data[0], Y: data[0]}).Planned(p); err != nil {
			t.Error(err)
		} else if _, err := Predict(k); err == nil {
			t.Errorf("%+v is predicted", m)
		}
	}
}
