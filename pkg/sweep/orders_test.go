package sweep

import (
	"math"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
)

// Alternating has products of one size and alternating signs: running sums are
// 0 every other time.
var alternating = Generator{Name: "alternating", Adverse: "every product takes back the one before it", Draw: func(m, n, k int, seed uint64) (a, b blas32.General) {
	a, b = Constant.Draw(m, n, k, seed)
	for l := 1; l < k; l += 2 {
		for i := range m {
			a.Data[i*k+l] = -a.Data[i*k+l]
		}
	}
	return a, b
}}

// modes are orders of all kinds that libraries use, for short sums.
func modes() (all []plan.Plan) {
	f16, e4m3, fma := devices.HopperF16(), devices.HopperE4M3(), plan.Run{Device: devices.IEEEF16()}
	run, groups := plan.Run{Device: f16}, plan.Run{Device: f16, Group: 8, Tile: 32}
	of := func(n int) plan.Cut { return plan.Cut{Length: n} }
	zero := plan.Merge{Zero: true}
	add := func(name string, o plan.Order) {
		all = append(all, plan.Plan{Name: name, Order: o, Output: tcore.Binary32})
	}
	add("plain", run)
	add("k_per_dot", groups)
	add("split", plan.Parts{Cut: of(64), Each: run})
	add("split_blocks", plan.Parts{Cut: of(256), Each: plan.Parts{Cut: of(128), Each: plan.Run{Device: e4m3}}})
	add("splitk_groups, in binary32", plan.Parts{Cut: of(64), Each: groups})
	add("splitk_groups, parts in binary16", plan.Parts{Cut: of(64), Each: groups, Merge: plan.Merge{Partial: tcore.Binary16}})
	add("splitk_groups, sums in binary16", plan.Parts{Cut: of(64), Each: groups, Merge: plan.Merge{Running: tcore.Binary16}})
	add("gemmsn", plan.Parts{Cut: plan.Cut{Count: 4}, Each: plan.Parts{Cut: of(16), Each: fma, Merge: zero}, Merge: zero})
	add("gemv13", plan.Parts{Cut: plan.Cut{Lanes: 32, Vector: 2}, Each: plan.Parts{Cut: of(4), Each: fma}, Merge: plan.Merge{Folds: plan.Butterfly(32)}})
	add("gemv_cslice", plan.Parts{Cut: plan.Cut{Lanes: 32}, Each: plan.Parts{Cut: of(16), Each: fma}})
	add("gemv14", plan.Parts{Cut: plan.Cut{Lanes: 2, Vector: 256}, Merge: plan.Merge{Folds: []int{128, 64, 32, 4, 1}}, Each: plan.Parts{
		Cut: plan.Cut{Lanes: 128, Vector: 2}, Merge: plan.Merge{Folds: plan.Butterfly(128)}, Each: plan.Parts{Cut: plan.Cut{Lanes: 2, Vector: 1}, Each: fma, Merge: zero}}})
	all = append(all, plan.Plan{Name: "stored", Order: plan.Parts{Cut: of(64), Each: run}, Output: tcore.BFloat16})
	return all
}

// On data of all kinds no error exceeds a bound that always holds for the order
// of a library, and those that hold with a probability fail no more often than
// they say.
func TestOrdersKeepTheirBounds(t *testing.T) {
	p := Plan{Orders: modes(), M: 8, N: 8, Ks: []int{33, 300}, Seeds: []uint64{1, 2, 3, 4}, Confidences: []float64{0.9}, Ranges: true, PerOutput: true,
		Data: []Generator{Symmetric, Positive, Normal, Constant, LowBits, Ties, Cancelling, alternating}}
	if testing.Short() {
		p.Data, p.Seeds = []Generator{Symmetric, Positive, Constant, alternating}, p.Seeds[:1]
	}
	rows := run(t, p)
	judged, holding := map[string]int{}, map[string]bool{}
	for _, r := range rows {
		if r.Bound != ErrorRow && r.Verdict == Holds {
			judged[r.Machine]++
			holding[r.Bound] = true
			if !(r.Largest >= 0 && r.Outputs > 0) {
				t.Errorf("%s, %s, %s: %+v", r.Machine, r.Data, r.Bound, r.Summary)
			}
		}
	}
	for _, o := range p.Orders {
		if judged[o.Name] < 2*len(p.Data) {
			t.Errorf("%s: %d bounds are judged", o.Name, judged[o.Name])
		}
	}
	for _, b := range []string{bound.Truncation.Name, bound.Gamma.Name, bound.TruncatedRandomData.Name, bound.RandomDataSharp.Name, bound.HallmanIpsen.Name} {
		if !holding[b] {
			t.Errorf("%s is judged nowhere", b)
		}
	}
	for _, r := range Violated(rows, Sure) {
		t.Errorf("%s of %s, %s, K = %d: %d of %d outputs", r.Bound, r.Machine, r.Data, r.K, r.Violations, r.Outputs)
	}
}

// What is told a sweep about orders that it cannot judge.
func TestOrdersRefused(t *testing.T) {
	for _, tt := range []struct {
		order plan.Order
		want  string
	}{
		{plan.Parts{Cut: plan.Cut{Length: 32}, Each: plan.Run{Device: devices.HopperE4M3()}, Merge: plan.Merge{Scale: plan.Fused}}, "scales"},
		{plan.Run{Device: devices.CDNA3F16(), Group: 1}, "Group = 1"},
	} {
		p := Plan{Orders: []plan.Plan{{Name: "x", Order: tt.order}}, M: 1, N: 1, Ks: []int{64}, Seeds: []uint64{1}, Confidences: []float64{0.9}, Data: []Generator{Symmetric}}
		if _, err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// A judge of two results of one product: they differ by no more than both
// bounds together, if both orders compute what they say.
func differ(t *testing.T, a, b blas32.General, x, y plan.Plan, each []bound.Result) bool {
	t.Helper()
	exact, err := trial.On(x.Device(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	p, q := exact.RunPlan(x), exact.RunPlan(y)
	for i, size := range exact.Sizes() {
		if math.Abs(p.D.Data[i]-q.D.Data[i]) > each[0].Limit(size)+each[1].Limit(size) {
			return true
		}
	}
	return false
}

// The bounds see that a kernel loses the last products, whichever order is
// compared with it, and raise no alarm where orders differ that lose none.
func TestLostTail(t *testing.T) {
	const k = 1160 // 9 × 128 + 8
	run := plan.Run{Device: devices.HopperF16()}
	lost := plan.Plan{Name: "lost", Order: plan.Parts{Cut: plan.Cut{Count: 9, Grain: 64, Floor: true}, Each: run}, Output: tcore.Binary32}
	whole := []plan.Plan{
		{Name: "plain", Order: run, Output: tcore.Binary32},
		{Name: "k_per_dot", Order: plan.Run{Device: run.Device, Group: 8, Tile: 32}, Output: tcore.Binary32},
		{Name: "split", Order: plan.Parts{Cut: plan.Cut{Count: 9, Grain: 64}, Each: run}, Output: tcore.Binary32},
		{Name: "promoted", Order: plan.Parts{Cut: plan.Cut{Length: 128}, Each: run}, Output: tcore.Binary32},
		{Name: "butterfly", Order: plan.Parts{Cut: plan.Cut{Lanes: 8, Vector: 16}, Each: run, Merge: plan.Merge{Folds: plan.Butterfly(8)}}, Output: tcore.Binary32},
		{Name: "sums in binary16", Order: plan.Parts{Cut: plan.Cut{Length: 256}, Each: run, Merge: plan.Merge{Running: tcore.Binary16}}, Output: tcore.Binary32},
	}
	problem := bound.Problem{M: 4, N: 4, K: k}
	f := roundoff.FailureOf(0.99)
	unknown := problem
	unknown.Machine = tcore.Machine{Device: run.Device, Output: tcore.Binary32}
	all := bound.AllOrders(unknown, bound.Orders{Running: tcore.Binary16}, f)[0]
	some := bound.AllOrders(unknown, bound.Orders{}, f)[0]
	of := func(p plan.Plan) bound.Result {
		z, err := problem.Planned(p)
		if err != nil {
			t.Fatal(err)
		}
		results, err := bound.Evaluate(z, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Bound == bound.Truncation.Name && r.Holds {
				return r
			}
		}
		t.Fatalf("%s: truncation does not hold", p.Name)
		return bound.Result{}
	}
	pairs, alarms, caught, missed := 0, 0, 0, 0
	for _, data := range []Generator{Symmetric, Positive, Normal, Constant, alternating} {
		for seed := range uint64(5) {
			a, b := data.Matrices(problem.M, problem.N, k, seed)
			for i, x := range whole {
				for _, y := range whole[:i] {
					pairs++
					if differ(t, a, b, x, y, []bound.Result{of(x), of(y)}) || differ(t, a, b, x, y, []bound.Result{all, all}) {
						alarms++
						t.Errorf("%s, seed %d: %s and %s are taken for different", data.Name, seed, x.Name, y.Name)
					}
				}
				if data.Name == alternating.Name || x.Name == "sums in binary16" {
					continue // what is lost is 0, or within the error of binary16
				}
				if differ(t, a, b, x, lost, []bound.Result{of(x), some}) {
					caught++
				} else {
					missed++
					t.Errorf("%s, seed %d: the lost products are not seen beside %s", data.Name, seed, x.Name)
				}
			}
		}
	}
	t.Logf("%d pairs of orders, %d false alarms; %d of %d losses are seen", pairs, alarms, caught, caught+missed)
}
