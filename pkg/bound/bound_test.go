package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// at99 is the probability of failure for a confidence of 99 %.
var at99 = roundoff.FailureOf(0.99)

// on returns a product of the paper's size on a device.
func on(d tcore.Device) Problem {
	return Problem{M: 1024, N: 8, K: 32768, Machine: tcore.Machine{Device: d}}
}

// evaluate returns the results by name.
func evaluate(t *testing.T, k Problem, f roundoff.Failure) map[string]Result {
	t.Helper()
	results, err := Evaluate(k, f)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Result{}
	for _, r := range results {
		byName[r.Bound] = r
	}
	return byName
}

// but returns d with changed moments. Nothing else is known of it, except how
// to draw numbers.
func but(d Distribution, change func(m *DataMoments)) Distribution {
	m := d.Moments()
	change(&m)
	return FromMoments(d.String(), m, d.of().draw)
}

// draw returns a matrix of independent numbers from d.
func draw(rng *rand.Rand, rows, cols int, d Distribution) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	d.Src = rng
	for i := range m.Data {
		m.Data[i] = float32(d.Rand())
	}
	return m
}

func TestCatalogue(t *testing.T) {
	t.Run("has_a_name_once", func(t *testing.T) {
		seen := map[string]bool{}
		for _, b := range Catalogue() {
			if seen[b.Name] {
				t.Errorf("%q twice", b.Name)
			}
			seen[b.Name] = true
			if c, ok := Find(b.Name); !ok || c.Source != b.Source {
				t.Errorf("%q is not found", b.Name)
			}
		}
		if _, ok := Find("no such bound"); ok {
			t.Error("found a bound that is none")
		}
	})
	t.Run("cites_what_stands_in_the_references", func(t *testing.T) {
		data, err := os.ReadFile("../../REFERENCES.md")
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Join(strings.Fields(string(data)), " ")
		cited := regexp.MustCompile(`[A-Z][^;]*? \d{4}b?`)
		for _, b := range Catalogue() {
			for _, c := range cited.FindAllString(b.Source, -1) {
				for c := range strings.SplitSeq(c, " and ") {
					if !strings.Contains(list, "**"+c+".**") {
						t.Errorf("%s: %q is no reference", b.Name, c)
					}
				}
			}
		}
	})
	t.Run("begins_with_what_needs_least", func(t *testing.T) {
		bounds := Catalogue()
		if !slices.IsSortedFunc(bounds, func(a, b Bound) int { return int(a.Needs - b.Needs) }) {
			t.Error("not sorted by need")
		}
	})
	for want, b := range map[string]Bound{
		`bound: "", want a name, a source, a formula, a model, and either Constant or Interval`:      {},
		`bound: "gamma", there is one of that name`:                                                  Gamma,
		`bound: "both", want a name, a source, a formula, a model, and either Constant or Interval`:  {Name: "both", Source: "s", Model: Nearest, Constant: Gamma.Constant, Interval: Running.Interval},
		`bound: "plain", want a name, a source, a formula, a model, and either Constant or Interval`: {Name: "plain", Source: "s", Constant: Gamma.Constant},
	} {
		t.Run("refuses_"+b.Name, func(t *testing.T) { wantPanic(t, want, func() { register(b) }) })
	}
}

func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}

// tried returns all devices, with -short one for each kind of core, of blocks
// of scales and of precisions.
func tried() []tcore.Device {
	seen := map[string]bool{}
	return slices.DeleteFunc(devices.All(), func(d tcore.Device) bool {
		kind := fmt.Sprintf("%T %d %d %d", d.Core, d.ScaleBlock, d.A.Precision, d.C.Precision)
		again := seen[kind]
		seen[kind] = true
		return again && testing.Short()
	})
}

// rarely reports whether a test passes over a case in row i and column j of a
// table: with -short over all but every n-th diagonal, which meets every row
// and every column of n entries.
func rarely(n, i, j int) bool { return testing.Short() && (i+j)%n > 0 }

// kernels returns products on every device that is tried, in one part and in
// three, in every order of summation that the device has, and with stochastic
// rounding.
func kernels() []Problem {
	var all []Problem
	for _, d := range tried() {
		k := Problem{M: 5, N: 3, K: 384, Machine: tcore.Machine{Device: d}}
		all = append(all, k)
		split := k
		split.SplitK, split.Output, split.Represented = 3, tcore.Binary16, true
		all = append(all, split)
		if k.truncates() {
			continue
		}
		random := k
		random.Stochastic = tcore.Stochastic{Bits: 32}
		all = append(all, random)
		if _, fmas := d.Core.(tcore.Chain); fmas {
			pairs, compensated := k, k
			pairs.Order, compensated.Order = tcore.InPairs, tcore.Compensated
			all = append(all, pairs, compensated)
		}
	}
	return all
}

func TestEvaluate(t *testing.T) {
	t.Run("says_of_every_bound_why", func(t *testing.T) {
		for i, k := range kernels() {
			for j, d := range []Distribution{{}, Uniform(-1, 1), Normal(0, 1)} {
				if rarely(3, i, j) {
					continue
				}
				k.X, k.Y = d, d
				results, err := Evaluate(k, at99)
				if err != nil || len(results) != len(catalogue) {
					t.Fatalf("%s: %d results, %v", k.Device.Name, len(results), err)
				}
				for _, r := range results {
					finite := r.Constant >= 0 && !math.IsInf(r.Constant, 1)
					if r.Why == "" || r.Source == "" || r.Holds && !finite {
						t.Errorf("%s, %s: %+v", k.Device.Name, k.Order, r)
					}
				}
			}
		}
	})
	t.Run("finds_a_bound_that_always_holds_on_every_machine", func(t *testing.T) {
		for _, k := range kernels() {
			if k.stochastic() {
				continue
			}
			results, _ := Evaluate(k, at99)
			if !slices.ContainsFunc(results, func(r Result) bool { return r.Holds && r.Confidence == roundoff.Never }) {
				t.Errorf("%s, %s: none", k.Device.Name, k.Order)
			}
		}
	})
	t.Run("marks_zero_means_false_where_machines_truncate", func(t *testing.T) {
		for _, d := range []tcore.Device{devices.VoltaF16(), devices.HopperF16(), devices.HopperMMAE4M3(), devices.CDNA3F16()} {
			for _, r := range evaluate(t, on(d), at99) {
				if r.Confidence != roundoff.Never && r.Holds {
					t.Errorf("%s holds on %s", r.Bound, d.Name)
				}
			}
		}
	})
	t.Run("marks_zero_means_false_where_sums_stop_growing", func(t *testing.T) {
		results := evaluate(t, on(devices.PaperCoreF16()), at99)
		if r := results["vibea"]; r.Holds || !strings.Contains(r.Why, "nu = 16, want nu < 1") {
			t.Errorf("%+v", r)
		}
		if r := results["gamma"]; r.Holds || !math.IsInf(r.Constant, 1) || !strings.Contains(r.Why, "no finite bound") {
			t.Errorf("%+v", r)
		}
		if r := results["linear"]; !r.Holds || r.Constant != 16 {
			t.Errorf("%+v, want 16", r)
		}
	})
	t.Run("knows_stochastic_rounding", func(t *testing.T) {
		k := on(devices.IEEEF16())
		k.Stochastic = tcore.Stochastic{Bits: 32}
		results := evaluate(t, k, at99)
		if r := results["connolly-higham-mary"]; !r.Holds || r.Why != "as errors of stochastic rounding are of mean zero" || math.Abs(r.Constant/1.517e-4-1) > 1e-3 {
			t.Errorf("%+v, want twice that of rounding to nearest, 1.517e-4", r)
		}
		if r := results["gamma"]; r.Holds {
			t.Errorf("%+v", r)
		}
	})
	// Every leaf of a tree has a path of its own, so no maximal inequality covers
	// all paths with one event.
	t.Run("pays_for_every_path_of_a_tree", func(t *testing.T) {
		k := on(devices.IEEEF16())
		k.Order = tcore.InPairs
		want := roundoff.UniformErrors(0x1p-24).Theta(15, at99-roundoff.Failure(math.Log(32768*8192)))
		if r := evaluate(t, k, at99)["vibea-maximal"]; math.Abs(r.Constant/want-1) > 1e-12 {
			t.Errorf("%v, want %v", r.Constant, want)
		}
	})
	t.Run("takes_a_failure_beyond_float64", func(t *testing.T) {
		k := on(devices.PaperCoreF32())
		k.X, k.Y = Uniform(-1, 1), Uniform(-1, 1)
		for _, r := range evaluate(t, k, -5000) {
			if math.IsNaN(r.Constant) && k.knows(Moments) && !strings.HasPrefix(r.Why, "needs") && !strings.Contains(r.Why, "truncate") {
				t.Errorf("%+v", r)
			}
		}
		if r, ok := Tightest(results(t, k, -5000)); !ok || r.Constant > 1e-3 || r.Confidence != -5000 && r.Confidence != roundoff.Never {
			t.Errorf("%+v", r)
		}
	})
	// A normal number is beyond 448 with a probability that no one meets, yet not
	// never.
	t.Run("does_not_say_always_where_overflow_is_rare", func(t *testing.T) {
		k := on(devices.HopperE4M3())
		k.Device.A.Overflow, k.Device.B.Overflow = tcore.Saturate, tcore.Saturate
		k.Represented, k.X, k.Y = true, Normal(0, 1), Normal(0, 1)
		if r, ok := Tightest(results(t, k, at99)); !ok || r.Confidence != at99 {
			t.Errorf("%+v, want a bound at 99 %%", r)
		}
		for _, f := range []roundoff.Failure{at99, -5001} {
			for _, r := range results(t, k, f) {
				if r.Holds && (r.Confidence == roundoff.Never || f < at99) {
					t.Errorf("at %v: %+v", f, r)
				}
			}
		}
		k.X, k.Y = Uniform(-1, 1), Uniform(-1, 1)
		if r, ok := Tightest(results(t, k, -5001)); !ok {
			t.Errorf("%+v, want a bound for factors that have a largest number", r)
		}
		k.X = Normal(0, 1)
		if _, ok := Tightest(results(t, k, -5001)); ok {
			t.Error("one normal factor is bounded beyond what is neglected")
		}
	})
	// If products have a nonzero mean, the sums grow like K and their errors like
	// K^(3/2). The constant then grows with K, unlike for a mean of zero.
	t.Run("knows_that_a_mean_is_not_zero", func(t *testing.T) {
		constant := func(name string, K int, d Distribution) float64 {
			k := on(devices.PaperCoreF32())
			k.K, k.X, k.Y = K, d, d
			r := evaluate(t, k, at99)[name]
			if !r.Holds {
				t.Errorf("%+v", r)
			}
			return r.Constant
		}
		for _, name := range []string{"higham-mary-2020", "random-data"} {
			zero := constant(name, 1<<16, Uniform(-1, 1)) / constant(name, 1<<12, Uniform(-1, 1))
			mean := constant(name, 1<<16, Uniform(2, 4)) / constant(name, 1<<12, Uniform(2, 4))
			if zero > 1.2 || mean < 3.5 {
				t.Errorf("%s: for 16 times K %v times with mean zero, %v times with another", name, zero, mean)
			}
		}
	})
	t.Run("grows_with_confidence_and_outputs", func(t *testing.T) {
		k := on(devices.PaperCoreF32())
		k.X, k.Y = Uniform(-1, 1), Uniform(0, 1)
		small, sure := k, evaluate(t, k, -100)
		small.M = 1
		few := evaluate(t, small, at99)
		for name, r := range evaluate(t, k, at99) {
			if r.Confidence != roundoff.Never && !(few[name].Constant < r.Constant && r.Constant < sure[name].Constant) && !math.IsNaN(r.Constant) {
				t.Errorf("%s: %v for 8 outputs, %v for 8192, %v when surer", name, few[name].Constant, r.Constant, sure[name].Constant)
			}
		}
	})
	t.Run("takes_less_than_a_fifth_of_a_second", func(t *testing.T) {
		k := on(devices.PaperCoreF32())
		k.X, k.Y = Uniform(-1, 1), Uniform(-1, 1)
		start := time.Now()
		evaluate(t, k, at99)
		if d := time.Since(start); d > 200*time.Millisecond {
			t.Errorf("%v", d)
		}
	})
}

func results(t *testing.T, k Problem, f roundoff.Failure) []Result {
	t.Helper()
	r, err := Evaluate(k, f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTightest(t *testing.T) {
	t.Run("is_the_smallest_that_holds", func(t *testing.T) {
		for _, k := range kernels() {
			all := results(t, k, at99)
			best, ok := Tightest(all)
			for _, r := range all {
				if r.Holds && (!ok || r.Constant < best.Constant) {
					t.Errorf("%s: %s is %v, tightest is %+v", k.Device.Name, r.Bound, r.Constant, best)
				}
			}
		}
	})
	t.Run("is_none_where_none_holds", func(t *testing.T) {
		if r, ok := Tightest([]Result{{Bound: "x", Constant: 1e-9}}); ok {
			t.Errorf("%+v", r)
		}
	})
}

// Every bound that Evaluate marks as valid is at least the error, on every
// machine: in one part and in three, stored in binary32 and in binary16, for
// data of one sign and of both signs.
func TestBoundsHold(t *testing.T) {
	distributions := []Distribution{Uniform(0.5, 1), Uniform(-1, 1), Normal(0, 1)}
	if testing.Short() {
		distributions = distributions[:1]
	}
	tried := 0
	for _, k := range kernels() {
		if k.stochastic() || k.Order != tcore.InSequence || k.Device.ScaleBlock > 0 || k.Device.C.Precision > 24 || k.Device.A.Precision > 24 {
			continue
		}
		if tried++; rarely(2, tried/2, tried) { // every device once, in one part or in three
			continue
		}
		rng := rand.New(rand.NewPCG(31, 32))
		for _, d := range distributions {
			k.X, k.Y, k.Run = d, d, nil
			a, b := draw(rng, k.M, k.K, d), draw(rng, k.K, k.N, d)
			if !k.Represented {
				normal(k.Device.A, a)
				normal(k.Device.B, b)
			}
			if run, err := Emulate(k, a, b); err == nil {
				k.Run = run
			}
			c := blas32.General{Rows: k.M, Cols: k.N, Stride: k.N, Data: make([]float32, k.M*k.N)}
			k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, c)
			e, _ := exact.GEMM(a, b)
			abs, _ := exact.AbsGEMM(a, b)
			errors, sizes := e.Error(c), abs.Float64()
			worst := 0.0
			for i, x := range errors.Data {
				worst = max(worst, math.Abs(x)/sizes.Data[i])
			}
			for _, r := range results(t, k, at99) {
				if r.Holds && r.Constant*(1+1e-12) < worst && !k.Represented {
					t.Errorf("%s, %s: error %.3g, %s is %.3g", k.Device.Name, d, worst, r.Bound, r.Constant)
				}
				// Conversion sometimes underflows. The error is then a unit of the format,
				// which is small here.
				if r.Holds && k.Represented && r.Constant*1.5 < worst && k.Device.A.Precision >= 8 {
					t.Errorf("%s in parts, %s: error %.3g, %s is %.3g", k.Device.Name, d, worst, r.Bound, r.Constant)
				}
			}
		}
	}
}

// normal replaces the elements of m by normal numbers of f, or zeros.
func normal(f tcore.Format, m blas32.General) {
	for i, x := range m.Data {
		y := f.Round(float64(x), tcore.ToNearestEven)
		if math.Abs(y) < f.MinNormal() && f.Bits() > 6 {
			y = 0
		}
		m.Data[i] = float32(y)
	}
}

// On a machine that truncates, every output violates the bounds that assume
// errors of mean zero, if the data have one sign.
func TestMarksAreTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	d := Uniform(0, 1)
	for _, device := range []tcore.Device{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16()} {
		k := on(device)
		k.M, k.N, k.X, k.Y = 2, 2, d, d
		a, b := draw(rng, 2, k.K, d), draw(rng, k.K, 2, d)
		normal(k.Device.A, a)
		normal(k.Device.B, b)
		c := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 4)}
		k.Device.MultiplyAdd(a, b, blas32.General{}, c)
		e, _ := exact.GEMM(a, b)
		exact, errors := e.Float64(), e.Error(c)
		k.M, k.N = 1024, 8
		all := evaluate(t, k, at99)
		for i, x := range errors.Data {
			for _, name := range []string{"vibea-maximal", "typical", "hallman-ipsen", "higham-mary-2020"} {
				if r := all[name]; r.Holds || math.Abs(x)/exact.Data[i] < r.Constant {
					t.Errorf("%s: %s is %.3g, error %.3g: not broken", k.Device.Name, name, r.Constant, math.Abs(x)/exact.Data[i])
				}
			}
			if r := all["truncation"]; !r.Holds || math.Abs(x)/exact.Data[i] > r.Constant {
				t.Errorf("%s: %+v, error %.3g", k.Device.Name, r, math.Abs(x)/exact.Data[i])
			}
		}
	}
}

func TestDistribution(t *testing.T) {
	t.Run("has_the_moments_of_what_it_draws", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(35, 36))
		const n = 200000
		for _, d := range []Distribution{Uniform(-1, 1), Uniform(0, 1), Uniform(-3, -1), Uniform(-1, 3), Normal(0, 1), Normal(-2, 0.5), Normal(1, 3)} {
			mean, square, abs := 0.0, 0.0, 0.0
			d.Src = rng
			for range n {
				x := d.Rand()
				mean += x / n
				square += x * x / n
				abs += math.Abs(x) / n
				if math.Abs(x) > d.MaxAbs() {
					t.Fatalf("%s: drew %v", d, x)
				}
			}
			slack := 6 * d.MeanSquare() / math.Sqrt(n) * 2
			if math.Abs(mean-d.Mean()) > slack || math.Abs(square-d.MeanSquare()) > slack*(1+d.MeanSquare()) || math.Abs(abs-d.MeanAbs()) > slack {
				t.Errorf("%s: %v, %v, %v, want %v, %v, %v", d, mean, square, abs, d.Mean(), d.MeanSquare(), d.MeanAbs())
			}
			if err := d.Check(); err != nil {
				t.Error(err)
			}
			back, err := ParseDistribution(d.String())
			if err != nil || back.Mean() != d.Mean() || back.MeanSquare() != d.MeanSquare() {
				t.Errorf("%s: %+v, %v", d, back, err)
			}
		}
	})
	for s, want := range map[string]string{
		"":           `distribution "", want U(lo,hi) or N(mean,deviation)`,
		"U(1,1)":     "want finite numbers, lo < hi at a finite distance, or deviation > 0",
		"U(0,Inf)":   "want finite numbers",
		"N(0,0)":     "deviation > 0",
		"U(a,1)":     "want finite numbers",
		"beta(1, 2)": "want U(lo,hi)",
	} {
		t.Run("refuses_"+s, func(t *testing.T) {
			if _, err := ParseDistribution(s); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	for want, d := range map[string]Distribution{
		"variance -3":               FromMoments("d", DataMoments{Mean: 2, MeanSquare: 1, MeanAbs: 1, MaxAbs: 2}, nil),
		"mean square NaN":           FromMoments("d", DataMoments{MeanSquare: math.NaN(), MaxAbs: 1}, nil),
		"E|x| = 0.1, want at least": FromMoments("d", DataMoments{Mean: 1, MeanSquare: 2, MeanAbs: 0.1, MaxAbs: 2}, nil),
		"E|x| = 3, want at most":    FromMoments("d", DataMoments{Mean: 1, MeanSquare: 2, MeanAbs: 3, MaxAbs: 2}, nil),
		"greatest |x| is 1, below":  FromMoments("d", DataMoments{Mean: 1, MeanSquare: 2, MeanAbs: 1, MaxAbs: 1}, nil),
	} {
		t.Run("cannot_be", func(t *testing.T) {
			k := on(devices.PaperCoreF32())
			k.X, k.Y = Uniform(0, 1), d
			if _, err := Evaluate(k, at99); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	t.Run("panics", func(t *testing.T) {
		wantPanic(t, "bound: U(1, 0), want lo < hi, both finite", func() { Uniform(1, 0) })
		wantPanic(t, "bound: N(0, NaN), want a finite mean and a positive deviation", func() { Normal(0, math.NaN()) })
	})
}

func TestMomentsOf(t *testing.T) {
	m := blas64.General{Rows: 2, Cols: 2, Stride: 3, Data: []float64{1, -2, 99, 4, 5}}
	t.Run("are_those_of_the_elements", func(t *testing.T) {
		d, err := MomentsOf("m", m)
		if err != nil || d.Mean() != 2 || d.MeanSquare() != 46.0/4 || d.MeanAbs() != 3 || d.MaxAbs() != 5 || d.Check() != nil {
			t.Errorf("%+v, %v", d, err)
		}
		seen := map[float64]bool{}
		for d.Src = rand.NewPCG(43, 44); len(seen) < 4; {
			seen[d.Rand()] = true
		}
		if !seen[1] || !seen[-2] || !seen[4] || !seen[5] {
			t.Errorf("drew %v", seen)
		}
	})
	t.Run("can_be_of_equal_numbers", func(t *testing.T) {
		for _, v := range []float64{0.1, -1e-140, 1e150, 0} {
			same := blas64.General{Rows: 1000, Cols: 777, Stride: 777, Data: make([]float64, 777000)}
			for i := range same.Data {
				same.Data[i] = v
			}
			if d, err := MomentsOf("same", same); err != nil || d.Check() != nil || d.MaxAbs() != math.Abs(v) {
				t.Errorf("%v: %+v, %v, %v", v, d, err, d.Check())
			}
		}
	})
	t.Run("name_the_element_that_is_not_finite", func(t *testing.T) {
		for _, v := range []float64{math.NaN(), math.Inf(-1)} {
			bad := m
			bad.Data = []float64{1, 2, 0, 3, v}
			if _, err := MomentsOf("m", bad); err == nil || err.Error() != fmt.Sprintf("bound: m[1, 1] = %v, want a finite number", v) {
				t.Error(err)
			}
		}
	})
	t.Run("are_none_of_nothing", func(t *testing.T) {
		if _, err := MomentsOf("m", blas64.General{Cols: 3}); err == nil || err.Error() != "bound: m is 0 × 3, want a matrix that is not empty" {
			t.Error(err)
		}
	})
}

func TestBadKernels(t *testing.T) {
	for want, change := range map[string]func(*Problem){
		"bound: M = 0, want M >= 1":            func(k *Problem) { k.M = 0 },
		"bound: N = -1, want N >= 1":           func(k *Problem) { k.N = -1 },
		"bound: K = 0, want K >= 1":            func(k *Problem) { k.K = 0 },
		"bound: SplitK = -1, want SplitK >= 0": func(k *Problem) { k.SplitK = -1 },
		`bound: Order = in pairs on device "hopper-wgmma-binary16-binary32", want another order on FMAs only`: func(k *Problem) { k.Order = tcore.InPairs },
		`bound: Stochastic on device "hopper-wgmma-binary16-binary32", want a device that rounds to nearest`:  func(k *Problem) { k.Stochastic = tcore.Stochastic{Bits: 32} },
		`tcore: device "none" has no core`: func(k *Problem) { k.Device = tcore.Device{Name: "none"} },
	} {
		t.Run(want, func(t *testing.T) {
			k := on(devices.HopperF16())
			change(&k)
			wantPanic(t, want, func() { Evaluate(k, at99) })
		})
	}
	t.Run("failure", func(t *testing.T) {
		wantPanic(t, "bound: failure = 0, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is", func() { Evaluate(on(devices.HopperF16()), 0) })
	})
}

func TestEmulate(t *testing.T) {
	t.Run("computes_what_the_device_does", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(37, 38))
		for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.PaperCoreF16(), devices.IEEEF32(), devices.HopperF16(), devices.VoltaF16F16(), devices.AdaE4M3()} {
			k := Problem{M: 3, N: 2, K: 64, Machine: tcore.Machine{Device: d}}
			a, b := draw(rng, 3, 64, Normal(0, 1)), draw(rng, 64, 2, Normal(0, 1))
			c := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float32, 6)}
			d.MultiplyAdd(a, b, blas32.General{}, c)
			run, err := Emulate(k, a, b)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for o := range run {
				if got := o.Sums[len(o.Sums)-1]; got != float64(c.Data[i]) || o.Abs <= math.Abs(got)*0.9 {
					t.Errorf("%s: output %d is %v of %v, want %v", d.Name, i, got, o.Abs, c.Data[i])
				}
				i++
			}
			if i != 6 {
				t.Errorf("%d outputs, want 6", i)
			}
		}
	})
	k := Problem{M: 1, N: 1, K: 2, Machine: tcore.Machine{Device: devices.IEEEF16()}}
	good := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}}
	column := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 2}}
	t.Run("names_the_element_that_is_not_finite", func(t *testing.T) {
		bad := column
		bad.Data = []float32{1, float32(math.NaN())}
		if _, err := Emulate(k, good, bad); err == nil || err.Error() != "bound: b[1, 0] = NaN, want a finite number" {
			t.Error(err)
		}
		bad = good
		bad.Data = []float32{float32(math.Inf(-1)), 0}
		if _, err := Emulate(k, bad, column); err == nil || err.Error() != "bound: a[0, 0] = -Inf, want a finite number" {
			t.Error(err)
		}
	})
	t.Run("says_what_it_cannot_run", func(t *testing.T) {
		for _, change := range []func(*Problem){
			func(k *Problem) { k.SplitK = 2 }, func(k *Problem) { k.Order = tcore.Compensated }, func(k *Problem) { k.Device = devices.HopperMMAE4M3() },
		} {
			l := k
			change(&l)
			if _, err := Emulate(l, good, column); err == nil || !strings.Contains(err.Error(), "no emulation of single sums") {
				t.Error(err)
			}
		}
	})
	t.Run("refuses_empty_data", func(t *testing.T) {
		wantPanic(t, "bound: a is 0 × 0 with 0 elements, want 1 × 2", func() { Emulate(k, blas32.General{}, column) })
	})
}

func TestHalfUlp(t *testing.T) {
	for _, s := range []float32{1, 1.5, -2, 3, 1e-20, -7e30, math.MaxFloat32 / 3} {
		next := math.Nextafter32(float32(math.Abs(float64(s))), math.MaxFloat32)
		want := (float64(next) - math.Abs(float64(s))) / 2
		if got := halfUlp(float64(s), 24); got != want {
			t.Errorf("%v: %v, want %v", s, got, want)
		}
	}
	if halfUlp(0, 24) != 0 {
		t.Error("of 0: not 0")
	}
}

func TestStrings(t *testing.T) {
	if got := fmt.Sprint(Nothing, Moments, Sums, Trace, Knowledge(9), tcore.InPairs); got !=
		"nothing of the data the distribution of the data the sums of a run the trace of a run Knowledge(9) in pairs" {
		t.Error(got)
	}
}

// The printed theorem is valid for one block, the corrected one for all.
// Stochastic rounding with few bits has errors of nonzero mean.
func TestModelsFail(t *testing.T) {
	k := on(devices.PaperCoreF16())
	k.K = k.Width()
	if why := VIBEAPrinted.Fails(k); why != "" {
		t.Errorf("one block: %s", why)
	}
	k.K++
	if VIBEAPrinted.Fails(k) == "" || VIBEA.Fails(k) != "" {
		t.Error("two blocks: the printed theorem holds, or the corrected one does not")
	}
	k = on(devices.IEEEF32())
	for _, bits := range []int{1, 31, 32} {
		k.Stochastic = tcore.Stochastic{Bits: bits}
		if why := MeanIndependent.Fails(k); (why == "") != (bits == 32) {
			t.Errorf("%d bits: %q", bits, why)
		}
	}
}

// The moments of converted numbers lie within the bounds that converted
// returns, for distributions of two numbers of which only the moments are
// known.
func TestConverted(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 53))
	for range 2000 {
		f := []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.E4M3, tcore.E5M2}[rng.IntN(5)]
		k := Problem{Machine: tcore.Machine{Device: tcore.Device{Convert: []tcore.RoundingMode{tcore.ToNearestEven, tcore.ToZero}[rng.IntN(2)]}}}
		number := func() float64 {
			return math.Ldexp(rng.Float64()*float64(1-2*rng.IntN(2)), rng.IntN(f.Emax-f.Emin+2*f.Precision)+f.Emin-f.Precision-f.Precision/2)
		}
		a, b, p := number(), number(), rng.Float64()
		if rng.IntN(3) == 0 {
			b = a
		}
		if max(math.Abs(a), math.Abs(b)) > f.Max() {
			continue
		}
		mean := func(of func(x float64) float64) float64 { return p*of(a) + (1-p)*of(b) }
		square := func(x float64) float64 { return x * x }
		d := FromMoments("two", DataMoments{Mean: mean(func(x float64) float64 { return x }), MeanSquare: mean(square),
			MeanAbs: mean(math.Abs), MaxAbs: max(math.Abs(a), math.Abs(b))}, nil)
		a, b = f.Round(a, k.Device.Convert), f.Round(b, k.Device.Convert)
		μ := mean(func(x float64) float64 { return x })
		z, ε := k.converted(f, d), 1e-12*d.MaxAbs()
		deviation := math.Sqrt(mean(func(x float64) float64 { return (x - μ) * (x - μ) }))
		if !(math.Abs(μ-z.mean) <= z.off+ε) || !(mean(math.Abs) >= z.abs-ε) || !(mean(square) <= z.square+ε*ε) || !(deviation <= z.deviation+1e-6*d.MaxAbs()) ||
			!(z.lo <= min(a, b) && max(a, b) <= z.hi) {
			t.Fatalf("%s %v: %v and %v with probability %v are %+v", f.Name, k.Device.Convert, a, b, p, z)
		}
	}
}
