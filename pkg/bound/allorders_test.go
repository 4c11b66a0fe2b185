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

// allOrdersOf returns the bound that always holds.
func allOrdersOf(t *testing.T, d tcore.Device, k int, o Orders) Result {
	t.Helper()
	r := AllOrders(Problem{M: 1, N: 1, K: k, Machine: tcore.Machine{Device: d, Output: tcore.Binary32}}, o, roundoff.FailureOf(0.99))[0]
	if !r.Holds {
		t.Fatalf("%s: %s", d.Name, r.Why)
	}
	return r
}

// share returns the error of a plan over the bound, against a sum in exact
// arithmetic.
func share(p plan.Plan, r Result, x, y []float64) float64 {
	of := func(v float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(v) }
	e, size := of(-p.Dot(x, y)), 0.0
	for i := range x {
		e.Add(e, of(0).Mul(of(x[i]), of(y[i])))
		size += math.Abs(x[i] * y[i])
	}
	z, _ := e.Float64()
	if z == 0 {
		return 0
	}
	return math.Abs(z) / r.Limit(size)
}

// allCuts returns every cut of n products, n > 1, that has more than one part.
func allCuts(n int) (cuts []plan.Cut) {
	for set := 1; set < 1<<(n-1); set++ {
		var at []int
		for i := range n - 1 {
			if set>>i&1 == 1 {
				at = append(at, i+1)
			}
		}
		cuts = append(cuts, plan.Cut{At: at})
	}
	return append(cuts, plan.Cut{Lanes: 2, Vector: 1}, plan.Cut{Lanes: n, Vector: 1}, plan.Cut{Count: n + 1})
}

// allOrders returns orders of n products up to the depth: every instruction,
// every cut, left to right and folded.
func allOrders(d tcore.Device, n, depth int, m plan.Merge) (all []plan.Order) {
	for group := 1; group <= min(n, d.BlockTerms()); group++ {
		all = append(all, plan.Run{Device: d, Group: group})
		if group > 1 && n > group {
			all = append(all, plan.Run{Device: d, Group: group, Tile: group})
		}
	}
	if depth == 0 || n == 1 {
		return all
	}
	for _, each := range allOrders(d, n-1, depth-1, m) {
		for _, cut := range allCuts(n) {
			for _, folds := range [][]int{nil, {2, 1}} {
				m := m
				m.Folds = folds
				all = append(all, plan.Parts{Cut: cut, Each: each, Merge: m})
			}
		}
	}
	return all
}

// No order of a few products exceeds the bound, on numbers that are chosen to
// lose the most, and some come close to it.
func TestAllOrdersExhaustively(t *testing.T) {
	const products, depth = 4, 2
	for _, tt := range []struct {
		device tcore.Device
		merge  plan.Merge
		x      []float64 // times y
		y      float64
		close  float64
	}{
		{devices.IEEEF16(), plan.Merge{}, []float64{0x1p12, -0x1p12, 0x1.004p-12, 0x1p-12, 0x1.ffcp-12, 0}, 1, 0.9},
		{devices.IEEEF32(), plan.Merge{}, []float64{0x1p12, 0x1.000002p0, -0x1p12, 0x1.fffffep-12, 0x1p-13}, 0x1.000002p0, 0.9},
		{devices.HopperF16(), plan.Merge{}, []float64{0x1p12, -0x1p12, 0x1.ffcp-11, 0x1.ffcp-12, 0x1.ffcp-13}, 1, 0.7},
		{devices.HopperE4M3(), plan.Merge{}, []float64{256, -256, 1.875 * 0x1p-5, 1.875 * 0x1p-6, 1}, 1, 0.25},
		{devices.HopperF16F16(), plan.Merge{}, []float64{1, -1, 0x1.ffcp-12, 0x1.ffcp-11, 0x1.004p0}, 1, 0.1},
		{devices.HopperF16(), plan.Merge{Partial: tcore.BFloat16}, []float64{1, -1, 0x1.00cp0, 0x1.ffcp-9, 0x1.fecp0}, 1, 0.3},
		{devices.HopperF16(), plan.Merge{Running: tcore.Binary16}, []float64{1, -1, 0x1.004p0, 0x1.ffcp-12, 0x1.ffcp-1}, 1, 0.3},
		{devices.IEEEF16(), plan.Merge{Partial: tcore.Binary16, Running: tcore.BFloat16}, []float64{1, -1, 0x1.00cp0, 0x1.ffcp-9, 0x1.fecp0}, 1, 0.3},
		{devices.CDNA3F16(), plan.Merge{}, []float64{0x1p12, -0x1p12, 0x1.ffcp-11, 0x1.ffcp-12, 1}, 1, 0.08},
	} {
		most, rng := 0.0, rand.New(rand.NewPCG(3, 7))
		for n := 1; n <= products; n++ {
			r := allOrdersOf(t, tt.device, n, Orders{Partial: tt.merge.Partial, Running: tt.merge.Running})
			orders := allOrders(tt.device, n, depth, tt.merge)
			if few := map[bool]int{true: 12, false: 60}[testing.Short()]; len(orders) > few {
				rng.Shuffle(len(orders), func(i, j int) { orders[i], orders[j] = orders[j], orders[i] })
				orders = append(orders[:few:few], allOrders(tt.device, n, 1, tt.merge)[:min(few, 8)]...)
			}
			x, y := make([]float64, n), make([]float64, n)
			for code := range int(math.Pow(float64(len(tt.x)), float64(n))) {
				for i := range x {
					x[i], y[i] = tt.x[code%len(tt.x)], tt.y
					code /= len(tt.x)
				}
				for _, o := range orders {
					z := share(plan.Plan{Order: o, Output: tcore.Binary32}, r, x, y)
					if most = max(most, z); z > 1 {
						t.Fatalf("%s, %+v: %v of the bound %v for %v × %v", tt.device.Name, o, z, r.Constant, x, tt.y)
					}
				}
			}
		}
		t.Logf("%s, %s, %s: %.2f", tt.device.Name, tt.merge.Partial.Name, tt.merge.Running.Name, most)
		if most < tt.close {
			t.Errorf("%s: at most %v of the bound", tt.device.Name, most)
		}
	}
}

// anyOrder returns a random order of n products.
func anyOrder(rng *rand.Rand, d tcore.Device, n, depth int, o Orders) plan.Order {
	r := plan.Run{Device: d, Group: o.Group}
	if o.Group == 0 && rng.IntN(2) == 0 {
		r.Group = 1 + rng.IntN(d.BlockTerms())
	}
	if rng.IntN(2) == 0 {
		group := r.Group
		if group == 0 {
			group = d.BlockTerms()
		}
		r.Tile = group * (1 + rng.IntN(4))
	}
	if depth == 0 || n < 2 || rng.IntN(8) == 0 {
		return r
	}
	cut := []plan.Cut{
		{Length: 1 + rng.IntN(n)}, {Count: 1 + rng.IntN(n), Grain: rng.IntN(5)}, {Lanes: 1 + rng.IntN(16), Vector: 1 + rng.IntN(4)}, {Lanes: 1 + rng.IntN(8)}, {At: []int{1 + rng.IntN(n)}},
	}[rng.IntN(5)]
	m := plan.Merge{Folds: [][]int{nil, {1}, {3, 1}, {4, 2, 1}, {8, 4, 2, 1}}[rng.IntN(5)], Zero: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		m.Partial = o.Partial
	}
	if rng.IntN(2) == 0 {
		m.Running = o.Running
	}
	return plan.Parts{Cut: cut, Each: anyOrder(rng, d, n/2+1, depth-1, o), Merge: m}
}

// fewBits returns n numbers of few bits, of like sizes or not, of any
// signs or one, tiny ones at times.
func fewBits(rng *rand.Rand, n int, f tcore.Format) []float64 {
	x := make([]float64, n)
	spread, sign, small := rng.IntN(6), rng.IntN(2), 0
	if rng.IntN(3) == 0 { // subnormal factors, parts or sums
		small = rng.IntN(2 - f.Emin)
	}
	for i := range x {
		x[i] = f.Round(math.Ldexp(1+rng.Float64(), -small-rng.IntN(spread+1)), tcore.ToZero)
		if sign == 1 && rng.IntN(2) == 0 {
			x[i] = -x[i]
		}
	}
	return x
}

// Random orders of random products exceed neither the bound for all orders nor
// those of the catalogue for their own plan, which are mostly smaller.
func TestAllOrdersAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	trials := 4000
	if testing.Short() {
		trials = 600
	}
	units := []tcore.Device{devices.IEEEF16(), devices.HopperF16(), devices.HopperE4M3(), devices.VoltaF16(), devices.HopperF16F16(), devices.CDNA3F16(), devices.AmpereBF16(), devices.CDNA2F16()}
	most, smaller, own := 0.0, 0, 0
	for range trials {
		d := units[rng.IntN(len(units))]
		n := 1 + rng.IntN(200)
		if _, slow := d.Core.(tcore.TwoStage); slow {
			n = 1 + rng.IntN(40)
		}
		var o Orders
		if rng.IntN(3) == 0 {
			o.Group = 1 + rng.IntN(d.BlockTerms())
		}
		if rng.IntN(2) == 0 {
			o.Partial = []tcore.Format{tcore.Binary16, tcore.BFloat16}[rng.IntN(2)]
			o.Running = []tcore.Format{{}, tcore.Binary16, tcore.BFloat16}[rng.IntN(3)]
		}
		k := Problem{M: 1, N: 1, K: n, Machine: tcore.Machine{Device: d, Output: tcore.Binary32}}
		p := plan.Plan{Order: anyOrder(rng, d, n, 3, o), Output: tcore.Binary32}
		planned, errPlanned := k.Planned(p)
		if errPlanned == nil && rng.IntN(2) == 0 {
			o.Runs = planned.parts()
		}
		all := AllOrders(k, o, roundoff.FailureOf(0.99))[0]
		x, y := fewBits(rng, n, d.A), fewBits(rng, n, d.B)
		if all.Holds {
			z := share(p, all, x, y)
			if most = max(most, z); z > 1 {
				t.Fatalf("%s, %+v: %v of the bound %v for all orders", d.Name, p.Order, z, all.Constant)
			}
		}
		if errPlanned != nil {
			continue
		}
		results, err := Evaluate(planned, roundoff.FailureOf(0.99))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Holds && r.Confidence == roundoff.Never {
				if own++; !all.Holds || r.Constant < all.Constant {
					smaller++
				}
				if z := share(p, r, x, y); z > 1 {
					t.Fatalf("%s, %+v: %v of the bound %s, %v", d.Name, p.Order, z, r.Bound, r.Constant)
				}
			}
		}
	}
	t.Logf("at most %.2f of the bound for all orders; %d of %d bounds of plans are smaller", most, smaller, own)
	if most < 0.05 || own < trials/2 || smaller < own/2 {
		t.Errorf("at most %v of the bound for all orders, %d of %d of plans are smaller", most, smaller, own)
	}
}

// The bound for all orders is that of one chain of single products, or less if
// instructions have more.
func TestAllOrdersConstant(t *testing.T) {
	const u, k = 0x1p-24, 4096
	for _, tt := range []struct {
		device tcore.Device
		orders Orders
		want   float64
	}{
		{devices.IEEEF16(), Orders{}, (k - 1) * u},
		{devices.IEEEF32(), Orders{}, u + (k-1)*u*(1+u)},
		{devices.HopperF16(), Orders{}, (k - 1) * (0x1p-25 + 2*u)},
		{devices.HopperF16(), Orders{Group: 16}, 0},
		{devices.HopperF16(), Orders{Runs: 1}, (k - 1) * (0x1p-25 + 2*u)},
		{devices.HopperE4M3(), Orders{}, (k - 1) * (0x1p-13 + 0x1p-13)},
	} {
		got := allOrdersOf(t, tt.device, k, tt.orders).Constant
		if tt.orders.Group > 0 { // between full blocks alone and single products
			if least, most := (k-1)*0x1p-25+k/16*2*u, (k-1)*0x1p-25+(k-1)*2*u; !(least < got && got < most) {
				t.Errorf("%s, blocks of %d: %v, want between %v and %v", tt.device.Name, tt.orders.Group, got, least, most)
			}
			continue
		}
		if math.Abs(got-tt.want) > 1e-12*tt.want {
			t.Errorf("%s: %v, want %v", tt.device.Name, got, tt.want)
		}
	}
	refused := AllOrders(Problem{M: 1, N: 1, K: 8, Machine: tcore.Machine{Device: devices.CDNA2F16()}}, Orders{}, roundoff.FailureOf(0.99))
	if fmt.Sprint(refused[0].Holds, refused[1].Holds) != "false false" {
		t.Errorf("%+v", refused)
	}
}

// The bound that holds with a probability does so for random orders.
func TestAllOrdersRandom(t *testing.T) {
	const n, trials = 300, 400
	rng := rand.New(rand.NewPCG(2, 9))
	most, failed := 0.0, 0
	for i := range trials {
		d := []tcore.Device{devices.IEEEF16(), devices.IEEEF32()}[i%2]
		r := AllOrders(Problem{M: 1, N: 1, K: n, Machine: tcore.Machine{Device: d, Output: tcore.Binary32}}, Orders{}, roundoff.FailureOf(0.5))[1]
		if !r.Holds {
			t.Fatalf("%s: %s", d.Name, r.Why)
		}
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = d.A.Round(rng.Float64(), tcore.ToNearestEven), d.B.Round(rng.Float64(), tcore.ToNearestEven)
		}
		z := share(plan.Plan{Order: anyOrder(rng, d, n, 3, Orders{}), Output: tcore.Binary32}, r, x, y)
		if most = max(most, z); z > 1 {
			failed++
		}
	}
	t.Logf("%d of %d fail, at most %.2f of the bound", failed, trials, most)
	if failed > trials/2 || most < 0.2 {
		t.Errorf("%d of %d fail, at most %v of the bound", failed, trials, most)
	}
}

// What an instruction cuts off counts for every product: one that is large
// takes the bits of 31 others.
func TestAllOrdersOfOneInstruction(t *testing.T) {
	d := devices.HopperE4M3()
	x, y := make([]float64, 32), make([]float64, 32)
	for i := range x {
		x[i], y[i] = 0x1.ep-6, 1
	}
	x[17] = 256
	r := allOrdersOf(t, d, len(x), Orders{Group: 32, Runs: 1})
	if z := share(plan.Plan{Order: plan.Run{Device: d}, Output: tcore.Binary32}, r, x, y); !(0.8 < z && z <= 1) {
		t.Errorf("%v of the bound %v", z, r.Constant)
	}
}

// The random bound for all orders is that of the tallest tree, one chain.
func TestAllOrdersRandomIsTheChain(t *testing.T) {
	for _, d := range []tcore.Device{devices.IEEEF16(), devices.IEEEF32()} {
		k := Problem{M: 3, N: 5, K: 2048, Machine: tcore.Machine{Device: d}}
		results, err := Evaluate(k, roundoff.FailureOf(0.99))
		if err != nil {
			t.Fatal(err)
		}
		got := AllOrders(k, Orders{}, roundoff.FailureOf(0.99))[1]
		for _, r := range results {
			if r.Bound == HallmanIpsen.Name && !(r.Constant <= got.Constant && got.Constant < 1.001*r.Constant) {
				t.Errorf("%s: %v, want %v or a little more", d.Name, got.Constant, r.Constant)
			}
		}
	}
}
