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

// powers returns a generator of numbers ±(1+z)2^e with e from lo to hi, some of
// which are zero.
func powers(lo, hi int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.IntN(8) == 0 {
			return 0
		}
		return math.Ldexp(1+r.Float64(), lo+r.IntN(hi-lo+1)) * float64(1-2*r.IntN(2))
	}
}

// scales are generators of matrix elements for a format, from its smallest
// numbers up.
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

// A bound that is reported to hold always does hold, on every machine and for
// every finite product: of subnormal, tiny and mixed numbers, with and without
// the ranges of the matrices, and with matrices that are first rounded to the
// formats of the machine.
func TestAlwaysIsAlways(t *testing.T) {
	lengths, seeds := []int{1, 33}, uint64(1)
	if !testing.Short() {
		lengths, seeds = []int{1, 2, 3, 7, 33, 100, 129}, 2
	}
	for _, d := range devices.All() {
		if d.C.Precision > 24 || d.A.Precision > 24 {
			continue // not representable in binary32
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

// checkAlways checks every bound that is reported to hold always.
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
		for _, r := range k.results(certain, at99, false) {
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

// The ranges of the matrices make the underflow term at least 1000 times
// smaller on CDNA2, which flushes subnormal numbers. For sums of ones the term
// is negligible on every machine tried.
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

// No bound is reported valid where a format without infinities may saturate
// unnoticed, or the result states the assumption that no element is beyond the
// largest number of the format.
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

// Limit is the lesser of the relative and the absolute limit, plus Underflow.
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

// Rounding to nearest makes of numbers below the least one up to twice as much,
// which what is known of the subnormal numbers of given matrices contains.
func TestSubnormalsOfRanges(t *testing.T) {
	d := devices.HopperE4M3()
	least := d.A.MinSubnormal()
	a := blas32.General{Rows: 2, Cols: 5, Stride: 5, Data: make([]float32, 10)}
	for i := range 5 {
		a.Data[i] = float32(0.51 * least)
	}
	a.Data[7] = 1
	k := Problem{M: 2, N: 1, K: 5, Machine: tcore.Machine{Device: d}, Represented: true}
	k.RangeX, _ = RangesOf32(a, blas32.General{Rows: 5, Cols: 1, Stride: 1, Data: make([]float32, 5)})
	x, _ := k.factors()
	if x.sum < 5*least || x.sum > 2*5*least {
		t.Errorf("Σ|x̂| of subnormal numbers is at most %v, want %v or a little more", x.sum, 5*least)
	}
	if x.max != 1 || x.tiny != d.A.MinNormal() {
		t.Errorf("%+v", x)
	}
}
