package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// powers returns a distribution of numbers ±(1+z)2^e, e from lo to hi, some of
// which are zero.
func powers(lo, hi int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.IntN(8) == 0 {
			return 0
		}
		return math.Ldexp(1+r.Float64(), lo+r.IntN(hi-lo+1)) * float64(1-2*r.IntN(2))
	}
}

// scales are distributions of the elements of a format's matrices, from its
// smallest numbers up.
func scales(f tcore.Format) map[string]func(*rand.Rand) float64 {
	top := min(f.Emax, 20) // so that no sum overflows
	least := max(f.Emin-f.Precision+1, -140)
	return map[string]func(*rand.Rand) float64{
		"subnormal": powers(least, max(least, f.Emin)),
		"tiny":      powers(max(least, -80), min(f.Emax-1, max(least, -80)+4)),
		"mixed":     powers(least, top/2),
		"two scales": func(r *rand.Rand) float64 {
			return []float64{powers(least, least+3)(r), powers(top/2-1, top/2)(r)}[r.IntN(2)]
		},
		"attention": func(r *rand.Rand) float64 { return min(math.Exp(4*r.NormFloat64()-9), f.Max()) },
		"small":     func(r *rand.Rand) float64 { return math.Ldexp(r.Float64(), f.Emin+2) },
	}
}

// What is said to hold always does, on every machine and for every finite
// product: of subnormal, tiny and mixed numbers, told nothing, told how large
// they are, and rounded to the machine's format first.
func TestAlwaysIsAlways(t *testing.T) {
	lengths, seeds := []int{1, 33}, uint64(1)
	if !testing.Short() {
		lengths, seeds = []int{1, 2, 3, 7, 33, 100, 129}, 2
	}
	for _, d := range devices.All() {
		if d.C.Precision > 24 || d.A.Precision > 24 {
			continue // beyond blas32
		}
		for name, dist := range scales(d.A) {
			for _, K := range lengths {
				for seed := range seeds {
					for _, represented := range []bool{false, true} {
						rng := rand.New(rand.NewPCG(seed, uint64(K)))
						k := Problem{M: 6, N: 4, K: K, Machine: tcore.Machine{Device: d}, Represented: represented}
						x := FromMoments("", DataMoments{}, dist)
						checkAlways(t, k, name, draw(rng, k.M, K, x), draw(rng, K, k.N, x))
					}
				}
			}
		}
	}
}

// checkAlways checks every bound that is said to hold always.
func checkAlways(t *testing.T, k Problem, name string, a, b blas32.General) {
	t.Helper()
	if !k.Represented {
		for i, x := range a.Data {
			a.Data[i] = float32(k.Device.A.Round(float64(x), k.Device.Convert))
		}
		for i, x := range b.Data {
			b.Data[i] = float32(k.Device.B.Round(float64(x), k.Device.Convert))
		}
	}
	c := blas32.General{Rows: k.M, Cols: k.N, Stride: k.N, Data: make([]float32, k.M*k.N)}
	k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, c)
	ab, err := exact.GEMM(a, b)
	if err != nil {
		t.Fatal(err)
	}
	abs, _ := exact.AbsGEMM(a, b)
	errors, sizes := ab.Error(c), abs.Float64()
	if run, err := Emulate(k, a, b); err == nil {
		k.Run = run
	}
	var ranged Problem = k
	ranged.RangeX, ranged.RangeY = RangesOf32(a, b)
	certain := slices.DeleteFunc(Catalogue(), func(b Bound) bool {
		return b.Model.Random || k.Represented && b.Interval != nil || !k.knows(b.Needs) || b.fails(k) != ""
	})
	for told, k := range map[string]Problem{"nothing": k, "ranges": ranged} {
		for _, r := range k.results(certain, at99) {
			if !r.Holds {
				continue
			}
			for i, e := range errors.Data {
				if math.IsNaN(e) || math.IsInf(e, 0) {
					continue
				}
				if limit := r.Limit(sizes.Data[i]); !(math.Abs(e) <= limit*(1+1e-12)) {
					t.Errorf("%s, %s, K = %d, told %s: error %.4g, %s says %.4g", k.Device.Name, name, k.K, told, e, r.Bound, limit)
					break
				}
			}
		}
	}
}

// A bound is told how large elements are and gains by it: attention weights,
// most of which are subnormal in binary16, are flushed by CDNA2, and the bound
// says by how much.
func TestUnderflowIsKnownFromRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	k := Problem{M: 8, N: 8, K: 1000, Machine: tcore.Machine{Device: devices.CDNA2F16()}}
	a, b := draw(rng, 8, 1000, Uniform(0, 1)), draw(rng, 1000, 8, Uniform(-1, 1))
	told := evaluate(t, k, at99)["gamma"].Underflow
	k.RangeX, k.RangeY = RangesOf32(a, b)
	seen := evaluate(t, k, at99)["gamma"].Underflow
	if !(0 < seen && seen < told/1000) {
		t.Errorf("underflow %.3g, %.3g with the matrices at hand", told, seen)
	}
	for _, d := range []tcore.Device{devices.HopperF16(), devices.HopperE4M3(), devices.CDNA2F16(), devices.PaperCoreF16()} {
		k := Problem{M: 1, N: 1, K: 64, Machine: tcore.Machine{Device: d}}
		ones := blas32.General{Rows: 64, Cols: 1, Stride: 1, Data: make([]float32, 64)}
		for i := range ones.Data {
			ones.Data[i] = 1
		}
		row := ones
		row.Rows, row.Cols, row.Stride = 1, 64, 64
		k.RangeX, k.RangeY = RangesOf32(row, ones)
		for _, r := range results(t, k, at99) {
			if b, _ := Find(r.Bound); b.Constant != nil && !(r.Underflow <= 1e-5 || math.IsNaN(r.Constant)) {
				t.Errorf("%s: underflow %.3g of sums of ones, by %s", d.Name, r.Underflow, fmt.Sprint(r.Bound))
			}
		}
	}
}

// A format without infinities makes its greatest number of all that are beyond
// it, and nothing in the result tells: where that may be, no bound holds on
// matrices that are rounded first, or it says so.
func TestSaturationIsNoRounding(t *testing.T) {
	k := Problem{M: 1, N: 1, K: 8, Machine: tcore.Machine{Device: devices.BlackwellE2M1()}, Represented: true}
	holds := func(x, y Distribution) Result {
		k.X, k.Y = x, y
		return evaluate(t, k, at99)["truncation"]
	}
	if r := holds(Distribution{}, Distribution{}); !r.Holds || r.Why != "if no element is beyond the numbers of e2m1" {
		t.Errorf("nothing known: %+v", r)
	}
	if r := holds(Uniform(-6, 6), Uniform(0, 1)); !r.Holds || r.Why != "always" {
		t.Errorf("within its numbers: %+v", r)
	}
	for _, y := range []Distribution{Uniform(0, 7), Normal(0, 1)} {
		if r := holds(Uniform(0, 1), y); r.Holds {
			t.Errorf("%s: %+v", y.String(), r)
		}
	}
}

// An error is held against the lesser limit, and what underflow does on top.
func TestResult_Limit(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ constant, absolute, underflow, size, want float64 }{
		{2, inf, 0, 3, 6},
		{2, inf, 0.5, 3, 6.5},
		{2, 5, 0.5, 3, 5.5},
		{2, 7, 0.5, 3, 6.5},
		{inf, 7, 0.5, 3, 7.5},
		{inf, 7, 0, 0, 7},
		{2, 7, 0, 0, 0},
	} {
		if got := (Result{Constant: c.constant, Absolute: c.absolute, Underflow: c.underflow}).Limit(c.size); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
