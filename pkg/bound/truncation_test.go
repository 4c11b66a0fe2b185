package bound

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
)

// The machines of the table in docs/truncation.md, and the distributions of
// their data.
var (
	aligning = []tcore.Device{
		devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16(), devices.HopperE4M3(),
		devices.AmpereBF16(), devices.HopperTF32(), devices.HopperF16F16(),
	}
	dists = []Distribution{Uniform(-1, 1), Normal(0, 1), Uniform(0, 1), Uniform(1, 2)}
)

// A tightness compares a bound with the errors of a run: the largest ratio of
// an error to the bound, and the largest ratio of the distance of an error from
// the centre to the radius.
type tightness struct{ bound, radius float64 }

// run returns the outputs in the first rows of a product of 1024 × K × 8, and
// the problem of the whole product.
func run(t *testing.T, d tcore.Device, K, rows int, a, b blas32.General) (Problem, func(func(Entry) bool)) {
	t.Helper()
	k := on(d)
	k.K, k.M = K, rows
	outputs, err := Emulate(k, a, b)
	if err != nil {
		t.Fatal(err)
	}
	k.M = 1024
	return k, outputs
}

// tightnesses returns the tightness of every bound for truncated sums on a run:
// of those that read the run, of the deterministic constant, and of those from
// the distribution of the data, if it is known.
func tightnesses(k Problem, outputs func(func(Entry) bool)) map[string]tightness {
	got, largest, relative := map[string]tightness{}, 0.0, 0.0
	for o := range outputs {
		e := Exact.Interval(k, o, at99).Centre
		if math.IsNaN(e - e) { // the sum has overflowed
			return nil
		}
		largest, relative = max(largest, math.Abs(e)), max(relative, o.relative(math.Abs(e)))
		for _, b := range Catalogue() {
			if b.Interval == nil || b.Name == Exact.Name || b.fails(k) != "" {
				continue
			}
			i, w := b.Interval(k, o, at99), got[b.Name]
			w.bound = max(w.bound, over(math.Abs(e), i.Bound()))
			w.radius = max(w.radius, over(math.Abs(e-i.Centre), i.Radius+1e-14*o.Abs))
			got[b.Name] = w
		}
	}
	τ := relative / Truncation.Constant(k, at99).Constant
	got[Truncation.Name] = tightness{τ, τ}
	for _, b := range []Bound{TruncatedRandomData, TruncatedCalibrated} {
		if k.knows(Moments) {
			τ := largest / b.Constant(k, at99).Absolute
			got[b.Name] = tightness{τ, τ}
		}
	}
	return got
}

// over returns x/y, and 0 for 0/0.
func over(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x / y
}

// No output of any machine violates a bound for truncated sums, and the bounds
// reach a given tightness. With -short, only some of the outputs are computed.
// The table of docs/truncation.md is printed by the full test.
func TestTruncationBounds(t *testing.T) {
	rows, devices := map[int]int{256: 256, 4096: 256, 32768: 64}, aligning
	if testing.Short() {
		rows, devices = map[int]int{256: 8, 1024: 4}, aligning[:5]
	}
	for i, d := range devices {
		for j, dist := range dists {
			for l, K := range slices.Sorted(maps.Keys(rows)) {
				if rarely(5, i, 2*j+l) {
					continue
				}
				rng := rand.New(rand.NewPCG(241118747, uint64(K)))
				k, outputs := run(t, d, K, rows[K], draw(rng, rows[K], K, dist), draw(rng, K, 8, dist))
				k.X, k.Y = dist, dist
				got := tightnesses(k, outputs)
				cells := []string{}
				for _, b := range Catalogue() {
					w, ok := got[b.Name]
					if !ok || math.IsNaN(w.bound) {
						continue
					}
					cells = append(cells, fmt.Sprintf("%s %.2g", b.Name, w.bound))
					if !(w.bound <= 1 && w.radius <= 1) {
						t.Errorf("%s, %s, K = %d: %s is broken, %+v", d.Name, dist, K, b.Name, w)
					}
				}
				t.Logf("%s, %s, K = %d: %s", d.Name, dist, K, strings.Join(cells, ", "))
				if got == nil {
					continue
				}
				for name, least := range floors(d, dist) {
					if w := got[name]; w.bound < least && !testing.Short() {
						t.Errorf("%s, %s, K = %d: %s reaches %.3f, want %v", d.Name, dist, K, name, w.bound, least)
					}
				}
			}
		}
	}
}

// floors returns the least tightness that bounds are expected to reach.
func floors(d tcore.Device, dist Distribution) map[string]float64 {
	symmetric := map[string]float64{
		devices.VoltaF16().Name: 0.04, devices.AmpereF16().Name: 0.12, devices.HopperF16().Name: 0.12, devices.HopperE4M3().Name: 0.04,
	}
	prior, ok := symmetric[d.Name]
	if !ok {
		return nil
	}
	if !dist.Symmetric() {
		prior = 0.4
	}
	return map[string]float64{"martingale-trace": 0.3, "truncated-random-data": prior}
}

// Bounds that assume nothing hold for all data. Bounds that use the
// distribution of the products hold as long as the products of an output are of
// that distribution. Chosen pairs of factors violate them.
func TestTruncationBoundsBreak(t *testing.T) {
	const K, rows, cols = 2048, 2, 8
	constant := func(x float64) func(i, l int) float64 { return func(int, int) float64 { return x } }
	rng := rand.New(rand.NewPCG(241118747, 9))
	random := make([]float64, K)
	for l := range random {
		random[l] = 1 + float64(rng.IntN(512)*2+1)/1024
	}
	eighths := func(int, int) float64 { return float64(rng.IntN(17)-8) / 8 }
	for _, c := range []struct {
		name   string
		x, y   func(i, l int) float64
		breaks bool
	}{
		{"one_value", constant(1 + 0x1p-10), constant(1 + 0x1p-10), false},
		{"low_bits_all_one", constant(1 + 0x1p-10), constant(2 - 0x1p-10), false},
		{"halves_of_a_unit", constant(1), constant(1.5), false},
		{"eighths", eighths, eighths, false},
		{"chosen_pairs", func(_, l int) float64 { return random[l] }, func(_, l int) float64 { return partner(random[l]) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := false
			for _, d := range []tcore.Device{devices.VoltaF16(), devices.AmpereF16(), devices.HopperF16(), devices.AmpereBF16(), devices.HopperF16F16()} {
				a, b := blas32.General{Rows: rows, Cols: K, Stride: K}, blas32.General{Rows: K, Cols: cols, Stride: cols}
				a.Data, b.Data = make([]float32, rows*K), make([]float32, K*cols)
				for l := range K {
					for i := range rows {
						a.Data[i*K+l] = float32(c.x(i, l))
					}
					for j := range cols {
						b.Data[l*cols+j] = float32(c.y(j, l))
					}
				}
				k, outputs := run(t, d, K, rows, a, b)
				for name, w := range tightnesses(k, outputs) {
					if w.bound <= 1 && w.radius <= 1 || math.IsNaN(w.bound) {
						continue
					}
					if !c.breaks || name == "truncation" || name == "truncation-sums" || name == "truncation-interval" {
						t.Errorf("%s: %s is broken, %+v", d.Name, name, w)
					}
					broken = true
				}
			}
			if c.breaks && !broken {
				t.Error("no bound is broken: the assumption is no assumption")
			}
		})
	}
}

// partner returns y in [1, 2) with 10 bits after the point such that the last
// 10 bits of xy are ones.
func partner(x float64) float64 {
	n := int(x * 1024)
	for m := 1024; m < 2048; m++ {
		if n*m%1024 == 1023 {
			return float64(m) / 1024
		}
	}
	panic("bound: x is even")
}

func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 40))
	for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.IEEEF16(), devices.VoltaF16(), devices.HopperE4M3(), devices.HopperF16F16(), devices.BlackwellMXE4M3()} {
		k := Problem{M: 3, N: 2, K: 320, Machine: tcore.Machine{Device: d}}
		a, b := draw(rng, 3, k.K, Normal(0, 1)), draw(rng, k.K, 2, Normal(0, 1))
		for _, m := range []blas32.General{a, b} {
			for i, x := range m.Data {
				m.Data[i] = float32(d.A.Round(float64(x), d.Convert))
			}
		}
		ab, err := exact.GEMM(a, b)
		if err != nil {
			t.Fatal(err)
		}
		c := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float32, 6)}
		d.MultiplyAdd(a, b, blas32.General{}, c)
		want, i := ab.Error(c).Data, 0
		outputs, err := Emulate(k, a, b)
		if err != nil {
			t.Fatal(err)
		}
		for o := range outputs {
			if got := Exact.Interval(k, o, at99); math.Abs(got.Centre-want[i]) > 1e-15*o.Abs || got.Radius != 0 {
				t.Errorf("%s, output %d: %+v, exactly %v", d.Name, i, got, want[i])
			}
			i++
		}
	}
}

// On a run without a trace, bounds that need one report that it is missing.
func TestRunWithoutTrace(t *testing.T) {
	k := Problem{M: 1, N: 1, K: 4, Machine: tcore.Machine{Device: devices.VoltaF16()}}
	k.Run = func(yield func(Entry) bool) { yield(Entry{Sums: []float64{1}, Exponents: []int{0}, Abs: 1}) }
	for _, r := range results(t, k, at99) {
		if b, _ := Find(r.Bound); b.Needs == Trace && b.fails(k) == "" && (r.Holds || r.Why != "the run does not tell the trace of a run") {
			t.Errorf("%+v", r)
		}
		if r.Bound == "truncation-sums" && !r.Holds {
			t.Errorf("%+v", r)
		}
	}
}

func TestTruncatedRandomData(t *testing.T) {
	k := on(devices.HopperF16())
	k.X, k.Y = Uniform(-1, 1), Normal(0, 1)
	constant := func(k Problem, b Bound) float64 { return b.Constant(k, at99).Constant }

	t.Run("is_the_tightest_that_is_proved", func(t *testing.T) {
		r, ok := Tightest(results(t, k, at99))
		if !ok || r.Bound != TruncatedRandomData.Name || r.Confidence != at99 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("is_more_than_the_calibrated_one", func(t *testing.T) {
		all := evaluate(t, k, at99)
		c := all[TruncatedCalibrated.Name]
		if c.Holds || c.Why != "calibrated, not proved" || !(c.Constant < all[TruncatedRandomData.Name].Constant) {
			t.Errorf("%+v", c)
		}
	})
	t.Run("grows_with_confidence_and_outputs", func(t *testing.T) {
		few := k
		few.M, few.N = 1, 1
		if x, y, z := constant(few, TruncatedRandomData), constant(k, TruncatedRandomData), TruncatedRandomData.Constant(k, -50).Constant; !(x < y && y < z) {
			t.Errorf("%v for one output, %v for 8192, %v when surer", x, y, z)
		}
	})
	t.Run("is_composed_with_split_K_and_the_output", func(t *testing.T) {
		split := k
		split.SplitK = 16
		if x, y := evaluate(t, split, at99)[TruncatedRandomData.Name].Constant, constant(split, TruncatedRandomData); !(x > y && x < constant(k, TruncatedRandomData)) {
			t.Errorf("whole %v, a part %v", x, y)
		}
	})
	for why, change := range map[string]func(*Problem){
		"the mean of a product is 0.25, want 0: there the calibration has been exceeded": func(k *Problem) { k.X, k.Y = Uniform(0, 1), Uniform(0, 1) },
		"the products are of mean zero but not symmetric": func(k *Problem) {
			k.X = but(k.X, func(m *DataMoments) { m.Symmetric = false })
			k.Y = k.X
		},
		"d cannot be drawn from": func(k *Problem) { k.X = FromMoments("d", DataMoments{MeanSquare: 1, MeanAbs: 0.5, MaxAbs: 2}, nil) },
		"d has no largest number, and how fast it falls off is not known":                                    func(k *Problem) { k.X = but(k.X, func(m *DataMoments) { m.MaxAbs = math.Inf(1) }).Named("d") },
		"cdna3-mfma-binary16-binary32 does not align all terms of a step at once: there is no trace of that": func(k *Problem) { k.Device = devices.CDNA3F16() },
		"blackwell-tcgen05-mxe4m3-binary32 scales its products":                                              func(k *Problem) { k.Device = devices.BlackwellMXE4M3() },
		"blackwell-tcgen05-f4e8m0x32-binary32 adds groups of products before it aligns them":                 func(k *Problem) { k.Device = devices.BlackwellMXF4() },
	} {
		t.Run("refuses", func(t *testing.T) {
			l := k
			change(&l)
			if r := evaluate(t, l, at99)[TruncatedCalibrated.Name]; r.Holds || r.Why != why || !math.IsNaN(r.Constant) {
				t.Errorf("%+v, want %s", r, why)
			}
		})
	}
	t.Run("knows_data_of_few_values", func(t *testing.T) {
		l := k
		l.Device = devices.AmpereF16()
		l.X = FromMoments("eighths", DataMoments{MeanSquare: 0.375, MeanAbs: 9. / 17, MaxAbs: 1, Symmetric: true}, func(r *rand.Rand) float64 { return float64(r.IntN(17)-8) / 8 })
		l.Y = l.X
		if x := constant(l, TruncatedRandomData); !(x > 0 && x < constant(l, Truncation)) {
			t.Errorf("%v, want it finite", x)
		}
	})
}

func BenchmarkTruncatedRandomData(b *testing.B) {
	for _, d := range []tcore.Device{devices.VoltaF16(), devices.HopperF16(), devices.HopperE4M3()} {
		for _, dist := range dists[:3] {
			k := on(d)
			k.X, k.Y = dist, dist
			b.Run(d.Name+"/"+dist.String(), func(b *testing.B) {
				for b.Loop() {
					clear(distributionTables.known)
					clear(momentTables.known)
					TruncatedRandomData.Constant(k, at99)
				}
			})
		}
	}
}

// Factors that are subnormal make a product that is aligned by a greater power
// of two than its own: then it is cut off sooner, and the constant of
// truncation is still not exceeded.
func TestTruncationOfSubnormalProducts(t *testing.T) {
	const terms = 4
	draws := 60000
	if testing.Short() {
		draws = 10000
	}
	for _, f := range []tcore.Format{tcore.E2M1, tcore.E2M3, tcore.E3M2} {
		var numbers []float64 // positive
		for code := uint64(1); code < 1<<(f.Bits()-1); code++ {
			numbers = append(numbers, f.Decode(code))
		}
		exceeded := false // where the factors are taken as normal
		for F := 2; F <= 9; F++ {
			d := tcore.Device{Name: "few bits", A: f, B: f, C: tcore.Binary32,
				Core: tcore.Fused{Terms: terms, FractionBits: F, Result: tcore.Binary32, Rounding: tcore.ToZero, ZeroExponent: -133}}
			k := on(d)
			k.K = terms
			constant := Truncation.Constant(k, at99).Constant
			normal := math.Ldexp(terms, -F)
			rng := rand.New(rand.NewPCG(241118747, uint64(F)))
			number := func() float64 { return numbers[rng.IntN(len(numbers))] }
			for range draws {
				// One product sets the exponent, the others are alike.
				x, y, a, b := number(), number(), number(), number()
				sum := x*y + (terms-1)*a*b
				lost := sum - d.Dot([]float64{x, a, a, a}, []float64{y, b, b, b}, 0)
				if lost > constant*sum {
					t.Fatalf("%s, F = %d: %v·%v + %d·%v·%v loses %v, bound %v", f.Name, F, x, y, terms-1, a, b, lost, constant*sum)
				}
				exceeded = exceeded || lost > normal*sum
			}
		}
		if !exceeded && f != tcore.E2M1 {
			t.Errorf("%s: subnormal factors lose no more than normal ones", f.Name)
		}
	}
}
