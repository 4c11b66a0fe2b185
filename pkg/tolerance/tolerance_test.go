package tolerance_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tolerance"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

var f = roundoff.FailureOf(1 - 1e-6)

// drawn returns a matrix of numbers of a format near to N(mean,1).
func drawn(rows, cols int, mean float64, format tcore.Format, seed uint64) blas32.General {
	rng, m := rand.New(rand.NewPCG(seed, 0)), matrix.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(format.Round(mean+rng.NormFloat64(), tcore.ToNearestEven))
	}
	return m
}

// run returns the product of a machine.
func run(m tcore.Machine, a, b blas32.General) blas64.General {
	z := matrix.New(a.Rows, b.Cols)
	m.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, z)
	return matrix.Float64(z)
}

func measured(t testing.TB, d tcore.Device, m, n, k int, mean float64) *tolerance.Data {
	t.Helper()
	data, err := tolerance.Measure(drawn(m, k, mean, d.A, 1), drawn(k, n, mean, d.B, 2))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func of(t testing.TB, data *tolerance.Data, by tolerance.Implementation, f roundoff.Failure) *tolerance.Tolerance {
	t.Helper()
	z, err := data.Of(by, f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// machines are devices of every kind of sum.
var machines = []tcore.Device{
	devices.VoltaF16(), devices.AmpereTF32(), devices.HopperF16(), devices.HopperF16F16(), devices.HopperE4M3(), devices.HopperMMAE4M3(),
	devices.BlackwellE2M1(), devices.CDNA3F16(), devices.AMXBF16(), devices.IEEEF32(), devices.PaperCoreF32(), devices.ArmE4M3(),
}

// Outputs of sound products are within the tolerance, whatever the number of
// parts, and within that of the emulations.
func TestSoundProductsAreWithin(t *testing.T) {
	for i, d := range machines {
		if testing.Short() && i%3 != 0 {
			continue
		}
		for _, mean := range []float64{0, 1} {
			data := measured(t, d, 16, 16, 400, mean)
			split := of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: d}}, f)
			always := of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: d}}, roundoff.Never)
			emulated, err := split.Emulate()
			if err != nil {
				t.Fatal(err)
			}
			any, err := data.Of(tolerance.Implementation{Machine: tcore.Machine{Device: d}, Orders: tolerance.AnyOrder}, f)
			if err != nil && !strings.Contains(err.Error(), "no bound for all orders") {
				t.Error(err)
			}
			for _, s := range []int{1, 2, 3, 7, 25} {
				got := run(tcore.Machine{Device: d, SplitK: s}, data.A, data.B)
				one := of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: d, SplitK: s}, Orders: tolerance.OneMachine}, f)
				for name, z := range map[string]*tolerance.Tolerance{"split": split, "always": always, "any": any, "machine": one} {
					if z == nil {
						continue
					}
					if r := z.Compare(got); !r.Within() {
						t.Errorf("%s, mean %v, %d parts, %s by %s: %v", d.Name, mean, s, name, z.Bound.Bound, r)
					}
				}
				for _, inSequence := range []bool{false, true} {
					if r, e := split.CompareEmulated(got, emulated, inSequence); !r.Within() {
						t.Errorf("%s, mean %v, %d parts, emulated in %d, %v: %v", d.Name, mean, s, e.Parts, inSequence, r)
					}
				}
				for i, limit := range one.Limits.Data {
					if limit > split.Limits.Data[i] {
						t.Fatalf("%s: the limit of %d parts is %g, of any number %g", d.Name, s, limit, split.Limits.Data[i])
					}
				}
			}
			for i, limit := range always.Limits.Data {
				if limit < split.Limits.Data[i] {
					t.Fatalf("%s: the limit %g always holds, and with confidence only %g", d.Name, limit, split.Limits.Data[i])
				}
			}
			if always.Confidence != roundoff.Never || always.Bound.Confidence != roundoff.Never {
				t.Errorf("%s: confidence %v of what always holds", d.Name, always.Confidence)
			}
		}
	}
}

// The limit for a number of parts is what the chains and adding their sums may
// lose, with the sizes of these sums as they are, and then half a unit in the
// last place of the greatest result.
func TestLimits(t *testing.T) {
	const s, k = 5, 1000
	d := devices.HopperF16()
	data := measured(t, d, 6, 5, k, 0)
	width := d.BlockTerms()
	length := ((k+width-1)/width + s - 1) / s * width
	results, err := bound.Evaluate(bound.Problem{M: 6, N: 5, K: length, Machine: tcore.Machine{Device: d}}, f)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(results, func(r bound.Result) bool { return r.Bound == bound.Truncation.Name })
	sums := make([]float64, 6*5)
	for lo := 0; lo < k; lo += length {
		part, err := tolerance.Measure(matrix.Columns(data.A, lo, min(k, lo+length)), matrix.Rows(data.B, lo, min(k, lo+length)))
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range part.Exact.Data {
			sums[j] += math.Abs(x)
		}
	}
	u := tcore.Binary32.UnitRoundoff()
	for _, out := range []tcore.Format{tcore.Binary32, tcore.BFloat16} {
		z := of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: d, SplitK: s, Output: out}, Orders: tolerance.OneMachine}, roundoff.Never)
		for j, limit := range z.Limits.Data {
			chains := results[i].Constant * data.Sizes.Data[j]
			want := chains + (s-1)*u*(sums[j]+chains)
			if out == tcore.BFloat16 {
				want += out.UnitRoundoff() * (math.Abs(data.Exact.Data[j]) + want)
			}
			if !(limit >= want && limit <= want*(1+1e-3)) {
				t.Errorf("in %s the limit of output %d is %g, want %g", out.Name, j, limit, want)
			}
		}
	}
}

// Two implementations may differ by both limits, and by what they multiply.
func TestCompareWith(t *testing.T) {
	d, other := devices.HopperF16(), devices.VoltaF16()
	data := measured(t, d, 6, 5, 300, 0)
	coarse, err := tolerance.Measure(rounded(data.A), rounded(data.B))
	if err != nil {
		t.Fatal(err)
	}
	x := of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: d}}, f)
	for _, of := range []*tolerance.Tolerance{
		of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: other}}, f),
		of(t, coarse, tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperE4M3()}}, f),
	} {
		for share, want := range map[float64]bool{0.99: true, 1.01: false} {
			got, beside := matrix.New64(6, 5), matrix.New64(6, 5)
			for i := range got.Data {
				got.Data[i] = x.Exact.Data[i] + share*x.Limits.Data[i]
				beside.Data[i] = of.Exact.Data[i] - share*of.Limits.Data[i]
			}
			if r := x.CompareWith(got, beside, of); r.Within() != want {
				t.Errorf("beside %s, at %v of both limits: %v", of.Implementation.Machine.Device.Name, share, r)
			}
		}
	}
}

// rounded returns the matrix rounded to e4m3.
func rounded(m blas32.General) blas32.General {
	return matrix.Map(m, func(x float32) float32 { return float32(tcore.E4M3.Round(float64(x), tcore.ToNearestEven)) })
}

// What is known of an implementation has to fit, and so have the matrices.
func TestErrors(t *testing.T) {
	d := devices.HopperF16()
	data := measured(t, d, 2, 2, 64, 0)
	ask := func(by tolerance.Implementation) error { _, err := data.Of(by, f); return err }
	fine, err := tolerance.Measure(blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1.0001}}, blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1}})
	if err != nil {
		t.Fatal(err)
	}
	_, errFine := fine.Of(tolerance.Implementation{Machine: tcore.Machine{Device: d}}, f)
	_, errNaN := tolerance.Measure(blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{float32(math.NaN())}}, blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1}})
	for want, err := range map[string]error{
		"A[0, 0] is 1.0001, want a number of binary16": errFine,
		"A[0, 0] is NaN, want a finite number":         errNaN,
		"has no core":                                  ask(tolerance.Implementation{}),
		"Orders = Orders(7)":                           ask(tolerance.Implementation{Machine: tcore.Machine{Device: d}, Orders: 7}),
		"MostParts = -1":                               ask(tolerance.Implementation{Machine: tcore.Machine{Device: d}, MostParts: -1}),
		"Orders = any with SplitK = 2":                 ask(tolerance.Implementation{Machine: tcore.Machine{Device: d, SplitK: 2}, Orders: tolerance.AnyOrder}),
		"rounds nothing":                               ask(tolerance.Implementation{Machine: tcore.Machine{Device: devices.AMXINT8()}}),
		"Promote = 5, want a multiple of 16":           ask(tolerance.Implementation{Machine: tcore.Machine{Device: d, Promote: 5}, Orders: tolerance.OneMachine}),
		"no bound for all orders is known of": func() error {
			_, err := tolerance.ConstantOf(tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperMMAE4M3()}, Orders: tolerance.AnyOrder}, 64)
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Faults are reported, with their cause.
func TestCauses(t *testing.T) {
	d := devices.HopperF16()
	data := measured(t, d, 40, 36, 1000, 0)
	z := of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: d}}, f)
	a, b, sound := data.A, data.B, run(tcore.Machine{Device: d, SplitK: 3}, data.A, data.B)
	change := func(f func(x blas64.General)) blas64.General {
		x := matrix.Map64(func(v float64) float64 { return v }, sound)
		f(x)
		return x
	}
	factors := func(f func(a, b blas32.General)) blas64.General {
		x, y := matrix.Map(a, func(v float32) float32 { return v }), matrix.Map(b, func(v float32) float32 { return v })
		f(x, y)
		return run(tcore.Machine{Device: d}, x, y)
	}
	halves := devices.HopperF16()
	core := halves.Core.(tcore.Fused)
	core.Result = tcore.Binary16
	halves.C, halves.Core, halves.NaN = tcore.Binary16, core, 0
	for _, c := range []struct {
		name, words string
		got         blas64.General
	}{
		{"dropped", "the last 8 of 1000 products are missing, from 992 on", run(tcore.Machine{Device: d}, matrix.Columns(a, 0, 992), matrix.Rows(b, 0, 992))},
		{"dropped", "products 256 to 319 of 1000 are missing", factors(func(a, _ blas32.General) {
			for i := range a.Rows {
				clear(matrix.Row(a, i)[256:320])
			}
		})},
		{"dropped", "products 128 to 255 of 1000 are counted twice, or have twice the scale", factors(func(a, _ blas32.General) {
			for i := range a.Rows {
				for l := 128; l < 256; l++ {
					a.Data[i*a.Stride+l] *= 2
				}
			}
		})},
		{"scale", "row 7 by a factor of 0.5", change(func(x blas64.General) {
			for j := range x.Cols {
				x.Data[7*x.Stride+j] /= 2
			}
		})},
		{"scale", "column 3 by a factor of 1.25", change(func(x blas64.General) {
			for i := range x.Rows {
				x.Data[i*x.Stride+3] *= 1.25
			}
		})},
		{"scale", "all of them by a factor of -1", change(func(x blas64.General) {
			for i := range x.Data {
				x.Data[i] *= -1
			}
		})},
		{"rows", "rows 4 and 9 are swapped", change(func(x blas64.General) {
			for j := range x.Cols {
				p, q := 4*x.Stride+j, 9*x.Stride+j
				x.Data[p], x.Data[q] = x.Data[q], x.Data[p]
			}
		})},
		{"columns", "column 5 is what column 6 should be", change(func(x blas64.General) {
			for i := range x.Rows {
				x.Data[i*x.Stride+5] = x.Data[i*x.Stride+6]
			}
		})},
		{"bit", "place 20 of [3, 5]", change(func(x blas64.General) {
			v := float32(x.Data[3*x.Stride+5])
			x.Data[3*x.Stride+5] = float64(math.Float32frombits(math.Float32bits(v) ^ 1<<20))
		})},
		{"scale", "product 77 of 1000 is multiplied by a factor of 4, in row 11 of A", factors(func(a, _ blas32.General) { a.Data[11*a.Stride+77] *= 4 })},
		{"not-finite", "1 outputs are NaN", change(func(x blas64.General) { x.Data[5] = math.NaN() })},
		{"zeros", "they are 0", change(func(x blas64.General) { clear(x.Data[:20]) })},
		{"sums", "sums are rounded to binary16 after every instruction", run(tcore.Machine{Device: halves, Output: tcore.Binary32}, a, b)},
		{"factors", "A and B are rounded to bfloat16", factors(func(a, b blas32.General) {
			for _, m := range []blas32.General{a, b} {
				for i, v := range m.Data {
					m.Data[i] = float32(tcore.BFloat16.Round(float64(v), tcore.ToNearestEven))
				}
			}
		})},
		{"output", "D is rounded to binary16", matrix.Map64(func(v float64) float64 { return tcore.Binary16.Round(v, tcore.ToNearestEven) }, sound)},
	} {
		r := z.Compare(c.got)
		if len(r.Causes) == 0 || r.Causes[0].Name != c.name || !strings.Contains(r.Causes[0].Words, c.words) {
			t.Errorf("want %s, %s: %v", c.name, c.words, r)
		}
	}
}

// What is transposed is named: the result, or a factor that is square.
func TestTransposed(t *testing.T) {
	d := devices.HopperF16()
	data := measured(t, d, 24, 24, 24, 0)
	z := of(t, data, tolerance.Implementation{Machine: tcore.Machine{Device: d}}, f)
	m, a, b := tcore.Machine{Device: d}, data.A, data.B
	result := matrix.New(24, 24)
	m.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, result)
	for want, got := range map[string]blas64.General{
		"D is transposed": matrix.Float64(matrix.Transpose(result)),
		"A is transposed": run(m, matrix.Transpose(a), b),
		"B is transposed": run(m, a, matrix.Transpose(b)),
	} {
		if r := z.Compare(got); len(r.Causes) != 1 || r.Causes[0].Name != "transposed" || r.Causes[0].String() != want {
			t.Errorf("%v, want %q", r, want)
		}
	}
}

// A constant allows the result to be rounded to its format: 1 + 2^-11, a tie,
// to 1 in binary16.
func TestConstantOfStoredResults(t *testing.T) {
	by := tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16(), Output: tcore.Binary16}}
	z, err := tolerance.ConstantOf(by, 2)
	if err != nil {
		t.Fatal(err)
	}
	u := tcore.Binary16.UnitRoundoff()
	a, b := matrix.New(1, 2), matrix.New(2, 1)
	copy(a.Data, []float32{1, float32(u)})
	copy(b.Data, []float32{1, 1})
	got := run(by.Machine, a, b).Data[0]
	if limit := z.Relative*(1+u) + z.Underflow + z.Stored*got; math.Abs(got-(1+u)) != u || limit < u || limit > 1.01*u {
		t.Errorf("%v of 1 + u, and a limit of %v, want 1 and just above u = %v: %+v", got, limit, u, z)
	}
}
