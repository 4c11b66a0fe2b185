package plan_test

import (
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

var hopper = plan.Run{Device: devices.HopperF16()}

// Every error of Check names the field and its value.
func TestCheckNamesTheField(t *testing.T) {
	scaled := devices.BlackwellMXE4M3()
	wide := tcore.Device{Name: "wide", A: tcore.Binary64, B: tcore.Binary64, C: tcore.Binary64, Core: tcore.Chain{}}
	parts := func(c plan.Cut, m plan.Merge) plan.Order { return plan.Parts{Cut: c, Each: hopper, Merge: m} }
	eight := plan.Cut{Length: 8}
	for want, order := range map[string]plan.Order{
		"plan: Order = nil, want a Run or Parts":                 nil,
		"plan: Order is a *plan.Run, want a Run or Parts":        &plan.Run{Device: devices.HopperF16()},
		"plan: Order.Each = nil, want a Run or Parts":            plan.Parts{Cut: eight},
		"plan: Order.Each is a *plan.Parts, want a Run or Parts": plan.Parts{Cut: eight, Each: &plan.Parts{}},

		"plan: Order.Device has no core, want a device of package devices":                                                  plan.Run{},
		"plan: Order.Device = \"" + scaled.Name + "\", want a device without scales":                                        plan.Run{Device: scaled},
		"plan: Order.Device = \"wide\" has results of binary64, want binary32 or less":                                      plan.Run{Device: wide},
		"plan: Order.Device = \"\", which computes nothing: tcore: Dot: device \"\" takes 0 terms at once, want at least 1": plan.Run{Device: tcore.Device{Core: tcore.Fused{}}},
		"plan: Order.Group = 17, want 0 to 16, the products that device \"hopper-wgmma-binary16-binary32\" adds at once":    plan.Run{Device: hopper.Device, Group: 17},
		"plan: Order.Group = -1, want 0 to 16, the products that device \"hopper-wgmma-binary16-binary32\" adds at once":    plan.Run{Device: hopper.Device, Group: -1},
		"plan: Order.Tile = 12, want a multiple of 8, the products of an instruction":                                       plan.Run{Device: hopper.Device, Group: 8, Tile: 12},
		"plan: Order.Tile = -16, want a multiple of 16, the products of an instruction":                                     plan.Run{Device: hopper.Device, Tile: -16},

		"plan: Order.Cut has 0 of Length, Count, Lanes, At, Halves and Head, want one":               parts(plan.Cut{}, plan.Merge{}),
		"plan: Order.Cut has 2 of Length, Count, Lanes, At, Halves and Head, want one":               parts(plan.Cut{Length: 1, Count: 1}, plan.Merge{}),
		"plan: Order.Cut.Length = -3, which does not fit the other fields":                           parts(plan.Cut{Length: -3}, plan.Merge{}),
		"plan: Order.Cut.Count = -3, which does not fit the other fields":                            parts(plan.Cut{Count: -3}, plan.Merge{}),
		"plan: Order.Cut.Lanes = -3, which does not fit the other fields":                            parts(plan.Cut{Lanes: -3}, plan.Merge{}),
		"plan: Order.Cut.Grain = -3, which does not fit the other fields":                            parts(plan.Cut{Count: 3, Grain: -3}, plan.Merge{}),
		"plan: Order.Cut.Grain = 3, which does not fit the other fields":                             parts(plan.Cut{Length: 8, Grain: 3}, plan.Merge{}),
		"plan: Order.Cut.Vector = 3, which does not fit the other fields":                            parts(plan.Cut{Length: 8, Vector: 3}, plan.Merge{}),
		"plan: Order.Cut.Nominal = 9, which does not fit the other fields":                           parts(plan.Cut{Lanes: 8, Vector: 3, Nominal: 9}, plan.Merge{}),
		"plan: Order.Cut.Floor is for a Count of parts":                                              parts(plan.Cut{Length: 8, Floor: true}, plan.Merge{}),
		"plan: Order.Cut.At[0] = 0, want ascending numbers from 1 on":                                parts(plan.Cut{At: []int{0}}, plan.Merge{}),
		"plan: Order.Cut.At[1] = 4, want ascending numbers from 1 on":                                parts(plan.Cut{At: []int{4, 4}}, plan.Merge{}),
		"plan: Order.Merge.Folds = [4 2], want descending numbers down to 1":                         parts(eight, plan.Merge{Folds: []int{4, 2}}),
		"plan: Order.Merge.Folds = [2 4 1], want descending numbers down to 1":                       parts(eight, plan.Merge{Folds: []int{2, 4, 1}}),
		"plan: Order.Merge.Folds = [0 1], want descending numbers down to 1":                         parts(eight, plan.Merge{Folds: []int{0, 1}}),
		"plan: Order.Merge.Scale = Scale(3), want a constant of package plan":                        parts(eight, plan.Merge{Scale: 3}),
		"plan: Order.Merge.Scale = fused with folds or formats, want it alone":                       parts(eight, plan.Merge{Scale: plan.Fused, Partial: tcore.Binary16}),
		"plan: Order.Merge.Scale = fused second, want parts of one Length, which scales belong to":   parts(plan.Cut{Count: 3}, plan.Merge{Scale: plan.FusedSecond}),
		"plan: Order.Each.Merge.Scale = fused in parts of parts, want scales in the outermost alone": split(8, split(8, hopper, plan.Merge{Scale: plan.Fused}), plan.Merge{}),
		"plan: Order.Merge.Partial = binary64, want numbers of binary32":                             parts(eight, plan.Merge{Partial: tcore.Binary64}),
		"plan: Order.Merge.Running = binary64, want numbers of binary32":                             parts(eight, plan.Merge{Running: tcore.Binary64}),
	} {
		if err := (plan.Plan{Order: order}).Check(); err == nil || err.Error() != want {
			t.Errorf("Check: %v, want %s", err, want)
		}
	}
	for want, p := range map[string]plan.Plan{
		"plan: Output = binary64, want binary32 or less": {Order: hopper, Output: tcore.Binary64},
	} {
		if err := p.Check(); err == nil || err.Error() != want {
			t.Errorf("Check: %v, want %s", err, want)
		}
	}
	none := tcore.Format{Name: "none"}
	for _, p := range []plan.Plan{{Order: hopper, Output: none}, {Order: parts(eight, plan.Merge{Partial: none})}, {Order: parts(eight, plan.Merge{Running: none})}} {
		if p.Check() == nil {
			t.Errorf("a format without numbers is allowed in %+v", p)
		}
	}
}

// Calls that do not fit panic with the argument and its value.
func TestPanics(t *testing.T) {
	p, x := plan.Plan{Name: "p", Order: hopper}, []float64{1, 2}
	deep := plan.Plan{Name: "deep", Order: split(8, hopper, plan.Merge{Scale: plan.Fused})}
	a, b, d, none := matrix.New(2, 3), matrix.New(3, 4), matrix.New(2, 4), blas32.General{}
	s := plan.Scales{A: matrix.New(2, 1), B: matrix.New(1, 4)}
	gemm := func(p plan.Plan, tA, tB blas.Transpose, a, b blas32.General, beta float32, c, d blas32.General) func() {
		return func() { p.GEMM(tA, tB, 1, a, b, beta, c, d) }
	}
	n, y := blas.NoTrans, blas.Trans
	for want, call := range map[string]func(){
		`plan: GEMM: plan "deep" has scales, want GEMMScaled`:            gemm(deep, n, n, a, b, 0, none, d),
		`plan: GEMMScaled: plan "p" has no scales, want GEMM`:            func() { p.GEMMScaled(1, a, b, s, 0, none, d) },
		`plan: Dot: plan "deep" has scales, want DotScaled`:              func() { deep.Dot(x, x) },
		`plan: DotScaled: plan "p" has no scales, want Dot`:              func() { p.DotScaled(x, x, nil, nil) },
		`plan: DotScaled: 2 scales, want 1 for 2 products`:               func() { deep.DotScaled(x, x, []float32{1, 1}, []float32{1}) },
		`plan: DotScaled: 0 scales, want 1 for 2 products`:               func() { deep.DotScaled(x, x, []float32{1}, nil) },
		`plan: Dot: 2 and 1 factors, want as many of both, at least one`: func() { p.Dot(x, x[:1]) },
		`plan: Dot: 0 and 0 factors, want as many of both, at least one`: func() { p.Dot(nil, nil) },
		`plan: GEMM: a has 2 columns, b has 3 rows`:                      gemm(p, y, n, a, b, 0, none, d),
		`plan: GEMM: transpose of a = C, want NoTrans or Trans`:          gemm(p, blas.ConjTrans, n, a, b, 0, none, d),
		`plan: GEMM: transpose of b = C, want NoTrans or Trans`:          gemm(p, n, blas.ConjTrans, a, b, 0, none, d),
		`plan: GEMM: d is 4 × 2, want 2 × 4`:                             gemm(p, n, n, a, b, 0, none, matrix.New(4, 2)),
		`plan: GEMM: c is 0 × 0, want 2 × 4`:                             gemm(p, n, n, a, b, 1, none, d),
		`plan: GEMM: a is 0 × 0, want at least 1 × 1`:                    gemm(p, n, n, none, b, 0, none, d),
		`plan: GEMM: b has 11 elements, want at least 12`:                gemm(p, n, n, a, blas32.General{Rows: 3, Cols: 4, Stride: 4, Data: b.Data[1:]}, 0, none, d),
		`plan: GEMMScaled: scales of A is 2 × 2, want 2 × 1`:             func() { deep.GEMMScaled(1, a, b, plan.Scales{A: matrix.New(2, 2), B: s.B}, 0, none, d) },
		`plan: GEMMScaled: scales of B is 4 × 1, want 1 × 4`:             func() { deep.GEMMScaled(1, a, b, plan.Scales{A: s.A, B: matrix.New(4, 1)}, 0, none, d) },
		`plan: Order = nil, want a Run or Parts`:                         gemm(plan.Plan{}, n, n, a, b, 0, none, d),
		`plan: Order.Cut has 0 of Length, Count, Lanes, At, Halves and Head, want one`: func() {
			plan.Plan{Order: plan.Parts{Each: hopper, Merge: plan.Merge{Scale: plan.Fused}}}.DotScaled(x, x, nil, nil)
		},
		`plan: order <nil>, want a Run or Parts`:      func() { plan.Plan{}.Device() },
		`plan: n = 6, want a power of two`:            func() { plan.Butterfly(6) },
		`plan: n = 0, want a power of two`:            func() { plan.Butterfly(0) },
		`plan: k = 0, want k >= 1`:                    func() { plan.Tree(hopper, 0) },
		`plan: Order.Each = nil, want a Run or Parts`: func() { plan.Tree(plan.Parts{Cut: plan.Cut{Length: 1}}, 1) },
		`plan: Promote = 3, want a multiple of 16, the products that device "hopper-wgmma-binary16-binary32" adds at once`: func() {
			plan.Of(tcore.Machine{Device: hopper.Device, Promote: 3}, 9)
		},
	} {
		panics.Want(t, want, call)
	}
}

// Machines that no order describes are refused, with why.
func TestMachinesThatAreNoPlans(t *testing.T) {
	chain := scalarUnits()[2].device
	for want, m := range map[string]tcore.Machine{
		`plan: machine "m" rounds stochastically, want one that rounds to nearest or truncates`:              {Name: "m", Device: chain, Stochastic: tcore.Stochastic{Bits: 8}},
		`plan: machine "m" adds in the order in pairs, want in sequence`:                                     {Name: "m", Device: chain, Order: tcore.InPairs},
		`plan: Order.Device has no core, want a device of package devices`:                                   {Name: "m"},
		`plan: Order.Device = "ampere-mma-binary64-binary64" has results of binary64, want binary32 or less`: {Name: "m", Device: devices.AmpereF64()},
	} {
		if _, err := plan.Of(m, 5); err == nil || err.Error() != want {
			t.Errorf("Of: %v, want %s", err, want)
		}
	}
}
