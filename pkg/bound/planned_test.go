package bound

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// planOf returns the problem with the plan of its machine in its place.
func planOf(t *testing.T, k Problem) Problem {
	t.Helper()
	p, err := plan.Of(k.Machine, k.K)
	if err != nil {
		t.Fatal(err)
	}
	z, err := k.Planned(p)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Every bound says the same of a machine and of its plan: of every device, in
// one part, with split K, with promotion, and where the last part is short.
func TestPlannedIsTheMachine(t *testing.T) {
	compared := 0
	drawn := map[string]bool{"volta-mma-binary16-binary32": true, "hopper-wgmma-e4m3-binary32": true, "ieee-fma-binary16-binary32": true, "paper-f32": true}
	for _, d := range devices.All() {
		if d.ScaleBlock > 0 || d.C.Precision > 24 {
			continue
		}
		w := d.BlockTerms()
		for _, m := range []tcore.Machine{{Device: d}, {Device: d, SplitK: 8}, {Device: d, Promote: 4 * w}, {Device: d, SplitK: 3, Output: tcore.Binary16}} {
			for _, length := range []int{1, 100, 128 * w} {
				for _, data := range []Distribution{{}, Uniform(0, 1)} {
					if data.told() && (!drawn[d.Name] || testing.Short() && length != 100) {
						continue // these bounds take their time
					}
					k := Problem{M: 4, N: 3, K: length, Machine: m, X: data, Y: data, Represented: length == 100}
					compared += compareResults(t, k, planOf(t, k))
				}
			}
		}
	}
	if compared < 3000 {
		t.Errorf("%d constants are compared", compared)
	}
}

func compareResults(t *testing.T, k, z Problem) (compared int) {
	t.Helper()
	f := roundoff.FailureOf(0.99)
	want, err := Evaluate(k, f)
	got, errGot := Evaluate(z, f)
	if err != nil || errGot != nil {
		t.Fatal(err, errGot)
	}
	near := func(x, y float64) bool {
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-13*math.Abs(y)
	}
	for i, r := range want {
		q := got[i]
		if q.Bound != r.Bound || q.Holds != r.Holds || q.Why != r.Why || q.Confidence != r.Confidence || !near(q.Constant, r.Constant) ||
			!near(q.Absolute, r.Absolute) || !near(q.Underflow, r.Underflow) || !near(q.Lambda, r.Lambda) || !near(q.Parts.Merging, r.Parts.Merging) ||
			!near(q.Parts.Storing, r.Parts.Storing) || !near(q.Parts.Conversion, r.Parts.Conversion) || !near(q.Parts.Drift, r.Parts.Drift) {
			t.Errorf("%s, SplitK %d, Promote %d, K = %d, %s: %+v, want %+v", k.Device.Name, k.SplitK, k.Promote, k.K, r.Bound, q, r)
		}
		if r.Holds {
			compared++
		}
	}
	return compared
}

// What is done to the sums of chains, counted by hand.
func TestMergesAreCounted(t *testing.T) {
	const u, h, b = 0x1p-24, 0x1p-11, 0x1p-8
	fma := plan.Run{Device: devices.IEEEF32()}
	cut := func(n int) plan.Cut { return plan.Cut{Length: n} }
	compose := func(c ...float64) float64 {
		z := 1.0
		for _, c := range c {
			z *= 1 + c
		}
		return z - 1
	}
	for _, tt := range []struct {
		name  string
		order plan.Order
		k     int
		want  float64
		chain int
	}{
		{"one chain", fma, 7, 0, 7},
		{"one part", plan.Parts{Cut: cut(7), Each: fma}, 7, 0, 7},
		{"three parts", plan.Parts{Cut: cut(3), Each: fma}, 7, 2 * u, 3},
		{"from +0", plan.Parts{Cut: cut(3), Each: fma, Merge: plan.Merge{Zero: true}}, 7, 2 * u, 3},
		{"parts that are empty", plan.Parts{Cut: plan.Cut{Count: 8, Grain: 4}, Each: fma}, 7, u, 4},
		{"butterfly of 8", plan.Parts{Cut: plan.Cut{Lanes: 8, Vector: 1}, Each: fma, Merge: plan.Merge{Folds: []int{4, 2, 1}}}, 80, compose(u, u, u), 10},
		{"butterfly of 5 of 8", plan.Parts{Cut: plan.Cut{Lanes: 8, Vector: 1}, Each: fma, Merge: plan.Merge{Folds: []int{4, 2, 1}}}, 5, compose(u, u, u), 1},
		{"butterfly of 2 of 8", plan.Parts{Cut: plan.Cut{Lanes: 8, Vector: 1}, Each: fma, Merge: plan.Merge{Folds: []int{4, 2, 1}}}, 2, u, 1},
		{"fold of 8 by 3", plan.Parts{Cut: plan.Cut{Lanes: 8, Vector: 1}, Each: fma, Merge: plan.Merge{Folds: []int{3, 1}}}, 8, compose(2*u, 2*u), 1},
		{"nested", plan.Parts{Cut: cut(8), Each: plan.Parts{Cut: cut(2), Each: fma}}, 32, compose(3*u, 3*u), 2},
		{"partial", plan.Parts{Cut: cut(8), Each: fma, Merge: plan.Merge{Partial: tcore.Binary16}}, 32, compose(h, 3*u), 8},
		{"partial of one", plan.Parts{Cut: cut(8), Each: fma, Merge: plan.Merge{Partial: tcore.Binary16}}, 8, h, 8},
		{"running", plan.Parts{Cut: cut(8), Each: fma, Merge: plan.Merge{Running: tcore.BFloat16}}, 32, compose(u, u, u, b, b, b, b), 8},
		{"running, of parts of that format", plan.Parts{Cut: cut(8), Each: fma, Merge: plan.Merge{Partial: tcore.BFloat16, Running: tcore.BFloat16}}, 32, compose(b, u, u, u, b, b, b), 8},
		{"running butterfly", plan.Parts{Cut: plan.Cut{Lanes: 4, Vector: 1}, Each: fma, Merge: plan.Merge{Folds: []int{2, 1}, Running: tcore.Binary16}}, 4, compose(u, h, h, u, h), 1},
		{"scaled", plan.Parts{Cut: cut(8), Each: fma, Merge: plan.Merge{Scale: plan.Fused}}, 32, compose(u, 4*u), 8},
		{"scaled of one", plan.Parts{Cut: cut(8), Each: fma, Merge: plan.Merge{Scale: plan.FusedSecond}}, 8, compose(u, u), 8},
	} {
		k, err := Problem{M: 1, N: 1, K: tt.k}.Planned(plan.Plan{Order: tt.order})
		if err != nil {
			t.Fatal(err)
		}
		if got := k.merging(); math.Abs(got-tt.want) > 1e-12*tt.want || k.Length() != tt.chain {
			t.Errorf("%s: merging %v, chains of %d, want %v and %d", tt.name, got, k.Length(), tt.want, tt.chain)
		}
	}
}

// A plan that loses products has no bound, and says how many are lost.
func TestLostProducts(t *testing.T) {
	p := plan.Plan{Order: plan.Parts{Cut: plan.Cut{Count: 9, Grain: 64, Floor: true}, Each: plan.Run{Device: devices.HopperF16()}}}
	for _, tt := range []struct{ k, lost int }{{1160, 8}, {1152, 0}} {
		k, err := Problem{M: 1, N: 1, K: tt.k, X: Uniform(0, 1), Y: Uniform(0, 1)}.Planned(p)
		if err != nil {
			t.Fatal(err)
		}
		results, err := Evaluate(k, roundoff.FailureOf(0.99))
		if err != nil {
			t.Fatal(err)
		}
		best, ok := Tightest(results)
		if ok != (tt.lost == 0) {
			t.Errorf("K = %d: %+v holds: %v", tt.k, best, ok)
		}
		if _, err := Predict(k); (err == nil) != (tt.lost == 0) {
			t.Errorf("K = %d: %v", tt.k, err)
		}
		for _, r := range results {
			if want := fmt.Sprintf("the plan loses %d of %d products: D is the sum of the others", tt.lost, tt.k); r.Bound == "truncation" && tt.lost > 0 && r.Why != want {
				t.Errorf("%s, want %s", r.Why, want)
			}
		}
	}
}

// Sums whose parts have scales keep their bounds, whether the scales are known
// or nothing is subnormal.
func TestScaledParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	of := func(v float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(v) }
	most := 0.0
	for trial := range 4000 {
		n, d, always := 1+rng.IntN(2), devices.IEEEF32(), Unrestricted.Name
		if trial%10 == 0 {
			n, d, always = 1+rng.IntN(600), devices.HopperE4M3(), Truncation.Name
		}
		m := plan.Merge{Scale: []plan.Scale{plan.Fused, plan.FusedSecond}[trial%2]}
		p := plan.Plan{Order: plan.Parts{Cut: plan.Cut{Length: 128}, Each: plan.Run{Device: d}, Merge: m}, Output: tcore.Binary32}
		x, y := fewBits(rng, n, tcore.E4M3), fewBits(rng, n, tcore.E4M3)
		if d.A == tcore.Binary32 {
			for i := range x {
				x[i], y[i] = float64(1+rng.Float32()/8), float64(1+rng.Float32()/8)
			}
		}
		sx, sy, greatest := make([]float32, (n+127)/128), make([]float32, (n+127)/128), [2]float64{}
		for i := range sx {
			sx[i], sy[i] = float32(math.Exp2(4*rng.Float64())), float32(math.Exp2(-8*rng.Float64()))
			greatest = [2]float64{max(greatest[0], float64(sx[i])), max(greatest[1], float64(sy[i]))}
		}
		e, size := of(-p.DotScaled(x, y, sx, sy)), 0.0
		for i := range x {
			scale := float64(sx[i/128]) * float64(sy[i/128])
			e.Add(e, of(0).Mul(of(x[i]*y[i]), of(scale)))
			size += math.Abs(x[i]*y[i]) * scale
		}
		z, _ := e.Float64()
		k, err := Problem{M: 1, N: 1, K: n, RangeX: Range{Scale: greatest[0]}, RangeY: Range{Scale: greatest[1]}}.Planned(p)
		if err != nil {
			t.Fatal(err)
		}
		results, err := Evaluate(k, roundoff.FailureOf(0.99))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Bound == always {
				if !r.Holds || r.Why != "if no product with a scale is subnormal or overflows" || !(r.Underflow >= 0) {
					t.Fatalf("%+v", r)
				}
				if most = max(most, math.Abs(z)/r.Limit(size)); most > 1 {
					t.Fatalf("K = %d: error %v, bound %v", n, z, r.Limit(size))
				}
			}
		}
	}
	if most < 0.7 { // without one of the roundings the bound would be exceeded
		t.Errorf("at most %v of the bound", most)
	}
	p := plan.Plan{Order: plan.Parts{Cut: plan.Cut{Length: 128}, Each: plan.Run{Device: devices.HopperE4M3()}, Merge: plan.Merge{Scale: plan.Fused}}}
	known := Problem{M: 1, N: 1, K: 256, RangeX: Range{Scale: 1}, RangeY: Range{Scale: 1}}
	one, _ := known.Planned(p)
	known.RangeX.Scale, known.RangeY.Scale = 16, 0.5
	eight, _ := known.Planned(p)
	if a, b := one.underflow(0.5), eight.underflow(0.5); !(a > 0 && b == 8*a) {
		t.Errorf("underflow changes %v, and %v where scales are 8 times as large", a, b)
	}
	k, _ := Problem{M: 1, N: 1, K: 256}.Planned(p)
	if got := k.assumed(); got != "if no factor, sum or product with a scale is subnormal or overflows" {
		t.Error(got)
	}
}

// Short instructions make steps of their own, on a device of as short blocks.
func TestPlannedSteps(t *testing.T) {
	run := plan.Run{Device: devices.HopperF16(), Group: 8, Tile: 32}
	for _, tt := range []struct {
		order                        plan.Order
		k, length, steps, parts, all int
	}{
		{run, 64, 64, 8, 1, 8},
		{run, 67, 67, 9, 1, 8},
		{run, 76, 76, 10, 1, 8},
		{plan.Parts{Cut: plan.Cut{Length: 67}, Each: run}, 200, 67, 9, 3, 8},
		{plan.Run{Device: run.Device}, 67, 67, 5, 1, 16},
	} {
		k, err := Problem{M: 1, N: 1, K: tt.k}.Planned(plan.Plan{Order: tt.order})
		if err != nil {
			t.Fatal(err)
		}
		if k.Length() != tt.length || k.Blocks() != tt.steps || k.parts() != tt.parts || k.Width() != tt.all {
			t.Errorf("K = %d: %d in %d steps, %d parts, blocks of %d, want %+v", tt.k, k.Length(), k.Blocks(), k.parts(), k.Width(), tt)
		}
	}
}
