package bound

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// filled returns a matrix of numbers of binary32.
func filled(rows, cols int, draw func() float64) blas64.General {
	m := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
	for i := range m.Data {
		m.Data[i] = float64(float32(draw()))
	}
	return m
}

// given returns the problem of a product of two matrices.
func given(t *testing.T, a, b blas64.General, d tcore.Device) Problem {
	t.Helper()
	k := Problem{M: a.Rows, N: b.Cols, K: a.Cols, Machine: tcore.Machine{Device: d}, Represented: true, Given: &Given{A: a, B: b}}
	k.RangeX, k.RangeY = RangesOf(a, b)
	var err error
	if k.Data, err = Inspect(a, b); err != nil {
		t.Fatal(err)
	}
	return k
}

// What converting given matrices loses is their exact error, by rational
// arithmetic.
func TestGiven(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []tcore.Device{devices.HopperE4M3(), devices.HopperTF32(), devices.BlackwellE2M1(), devices.HopperF16()} {
		a, b := filled(5, 40, rng.NormFloat64), filled(40, 3, rng.Float64)
		a.Data[7] = 0
		c := given(t, a, b, d).Given.conversion(d)
		worst, sizes := 0.0, 0.0
		for i := range a.Rows {
			for j := range b.Cols {
				e, size, converted := new(big.Rat), new(big.Rat), new(big.Rat)
				for l := range a.Cols {
					x, y := a.Data[i*a.Stride+l], b.Data[l*b.Stride+j]
					product := func(x, y float64) *big.Rat {
						p := new(big.Rat).SetFloat64(x)
						return p.Mul(p, new(big.Rat).SetFloat64(y))
					}
					exact, rounded := product(x, y), product(d.A.Round(x, d.Convert), d.B.Round(y, d.Convert))
					e.Add(e, new(big.Rat).Sub(rounded, exact))
					size.Add(size, exact.Abs(exact))
					converted.Add(converted, rounded.Abs(rounded))
				}
				share, _ := new(big.Rat).Quo(e.Abs(e), size).Float64()
				ratio, _ := converted.Quo(converted, size).Float64()
				worst, sizes = max(worst, share), max(sizes, ratio)
			}
		}
		if !(c.error >= worst) || c.error > worst*(1+1e-9) || !(c.sizes >= sizes) || c.sizes > max(1, sizes)*(1+1e-9) || c.tiny != 0 || c.random {
			t.Errorf("%s: %+v, want %v and %v", d.Name, c, worst, sizes)
		}
	}
	t.Run("of_more_outputs_than_are_kept", func(t *testing.T) {
		d := devices.HopperE4M3()
		b := filled(2, 1<<10, func() float64 { return 1 })
		for _, worst := range []int{0, 1023, 1024, 2047, 2048, 2100} {
			a := filled(2101, 2, func() float64 { return 1 })
			a.Data[2*worst] = 1 + 1./16 // halfway between neighbours, the lower one is even
			a.Data[2*worst+1] = 1 - 1./64 - 1./128
			c, small := given(t, a, b, d).Given.conversion(d), given(t, matrix.Rows64(a, worst, worst+1), b, d).Given.conversion(d)
			if c.error != small.error || c.error < 0.01 {
				t.Errorf("row %d: %v, want %v", worst, c.error, small.error)
			}
		}
	})
	t.Run("each_pair_of_formats_has_its_own", func(t *testing.T) {
		g := &Given{A: filled(3, 9, rng.NormFloat64), B: filled(9, 3, rng.NormFloat64)}
		mixed := devices.HopperE4M3()
		mixed.B = tcore.E5M2
		cut := devices.HopperTF32()
		cut.Convert = tcore.ToNearestEven
		seen := map[float64]string{}
		for range 2 { // the second time they are known
			clear(seen)
			for _, d := range []tcore.Device{devices.HopperE4M3(), mixed, devices.HopperE5M2(), devices.HopperTF32(), cut} {
				c := g.conversion(d).error
				if seen[c] != "" {
					t.Errorf("%v for %s and %s", c, d.Name, seen[c])
				}
				seen[c] = d.Name
			}
		}
	})
	t.Run("scales_of_blocks_are_not_known", func(t *testing.T) {
		k := given(t, filled(2, 32, rng.NormFloat64), filled(32, 2, rng.NormFloat64), devices.BlackwellMXE4M3())
		if k.converts() {
			t.Error("the conversion is taken to be known")
		}
	})
	t.Run("overflow_is_no_bound", func(t *testing.T) {
		a, b := filled(2, 3, func() float64 { return 1e30 }), filled(3, 2, rng.NormFloat64)
		if c := given(t, a, b, devices.HopperF16()).Given.conversion(devices.HopperF16()); !math.IsInf(c.error, 1) {
			t.Errorf("%+v", c)
		}
	})
	t.Run("zeros_have_no_error", func(t *testing.T) {
		a, b := filled(2, 3, func() float64 { return 0 }), filled(3, 2, rng.NormFloat64)
		if c := given(t, a, b, devices.HopperF16()).Given.conversion(devices.HopperF16()); c.error != 0 || c.sizes != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// Bounds of given matrices contain the errors of their products, also where
// their rounding errors do not average out, and always.
func TestGiven_contains_the_errors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, draw := range map[string]func() float64{
		"N(0,1)":   rng.NormFloat64,
		"U(0,1)":   rng.Float64,
		"constant": func() float64 { return 0.3 },
		"grid":     func() float64 { return float64(rng.IntN(10)) / 10 },
		"tiny":     func() float64 { return math.Ldexp(rng.NormFloat64(), -12) },
	} {
		for _, d := range []tcore.Device{devices.HopperE4M3(), devices.BlackwellE4M3(), devices.HopperTF32(), devices.VoltaF16(), devices.CDNA3F16()} {
			a, b := filled(8, 300, draw), filled(300, 4, draw)
			k := given(t, a, b, d)
			worst := k
			worst.Given = nil
			exact, x, y := absoluteErrors(k, a, b)
			results, before := results(t, k, at99), results(t, worst, at99)
			for i, r := range results {
				if bound, _ := Find(r.Bound); !r.Holds || bound.Model.Random {
					continue
				}
				for j, e := range exact {
					if e > r.Limit(x[j]) {
						t.Errorf("%s, %s, %s: error %v of %v, limit %v", name, d.Name, r.Bound, e, y[j], r.Limit(x[j]))
						break
					}
				}
				if least := k.leastOutput(); r.Limit(least) > before[i].Limit(least)*(1+1e-9) {
					t.Errorf("%s, %s, %s: %v, without the matrices %v", name, d.Name, r.Bound, r.Limit(least), before[i].Limit(least))
				}
			}
		}
	}
}

// absoluteErrors returns |D̂ - D|, |A||B| and D̂ of a product on the device.
func absoluteErrors(k Problem, a, b blas64.General) (errors, sizes, values []float64) {
	single := func(m blas64.General) blas32.General {
		z := blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: make([]float32, len(m.Data))}
		for i, x := range m.Data {
			z.Data[i] = float32(x)
		}
		return z
	}
	d := blas32.General{Rows: a.Rows, Cols: b.Cols, Stride: b.Cols, Data: make([]float32, a.Rows*b.Cols)}
	x := matrix.Map64(func(x float64) float64 { return k.Device.A.Round(x, k.Device.Convert) }, a)
	y := matrix.Map64(func(x float64) float64 { return k.Device.B.Round(x, k.Device.Convert) }, b)
	k.Machine.GEMM(blas.NoTrans, blas.NoTrans, 1, single(x), single(y), 0, d, d)
	for i := range a.Rows {
		for j := range b.Cols {
			sum, size := new(big.Float).SetPrec(400), 0.0
			for l := range a.Cols {
				p := new(big.Float).SetPrec(400).SetFloat64(a.Data[i*a.Stride+l])
				sum.Add(sum, p.Mul(p, big.NewFloat(b.Data[l*b.Stride+j])))
				size += math.Abs(a.Data[i*a.Stride+l] * b.Data[l*b.Stride+j])
			}
			e, _ := sum.Sub(sum, big.NewFloat(float64(d.Data[i*d.Stride+j]))).Float64()
			errors, sizes, values = append(errors, math.Abs(e)), append(sizes, size*(1+1e-12)), append(values, float64(d.Data[i*d.Stride+j]))
		}
	}
	return errors, sizes, values
}

func TestGiven_in_advice(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	a, b := filled(8, 4096, rng.NormFloat64), filled(4096, 4, rng.NormFloat64)
	k := given(t, a, b, devices.HopperE4M3())
	r := k.tightest(at99)
	if c := k.conversion(); r.Parts.Conversion > c/10 || r.Parts.Conversion != k.Given.conversion(k.Device).error {
		t.Errorf("%+v, at worst %v", r.Parts, c)
	}
	t.Run("takes_longer_rows_to_go_on_and_shorter_ones_at_their_worst", func(t *testing.T) {
		longer, shorter := k, k
		longer.K, shorter.K = 2*k.K, k.K/2
		if !longer.converts() || shorter.converts() {
			t.Errorf("%v, %v", longer.converts(), shorter.converts())
		}
	})
	t.Run("takes_few_numbers_too", func(t *testing.T) {
		k := k
		k.Device = devices.BlackwellE2M1()
		small := func() float64 { return math.Min(5, math.Max(-5, rng.NormFloat64())) }
		k = given(t, filled(8, 512, small), filled(512, 4, small), k.Device)
		if r := k.tightest(at99); !r.Holds || !(r.Constant < 0.1) {
			t.Errorf("%+v", r)
		}
		k.Given = nil
		if r := k.tightest(at99); r.Holds || !strings.Contains(r.Why, "few normal numbers") {
			t.Errorf("%+v", r)
		}
	})
}
