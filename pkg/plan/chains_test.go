package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/vector"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Products of one row or one column have the bits of Dot, and the same without
// vector instructions, in strips of all lengths: of numbers whose products are
// exact in binary32, and of those that are not, that overflow, are subnormal or
// are no numbers.
func TestStripsHaveTheBitsOfDotWithAndWithoutVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	values := []float32{float32(math.Inf(1)), float32(math.NaN()), 0, float32(math.Copysign(0, -1)), 0x1p-149, -0x1p-149, 0x1.8p-126, math.MaxFloat32}
	element := func() float32 {
		switch rng.IntN(60) {
		case 0:
			return values[2+rng.IntN(len(values)-2)]
		case 1:
			return values[rng.IntN(len(values))]
		}
		return float32(math.Ldexp(rng.NormFloat64(), []int{0, -5, -70}[rng.IntN(3)]))
	}
	defer func(all vector.Features) { features = all }(features)
	levels := features.Levels()
	z := Merge{Zero: true}
	for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.Binary32} {
		run := Run{Device: tcore.Device{Name: "fma", A: f, B: f, C: tcore.Binary32, Core: tcore.Chain{}}}
		lanes := Parts{Cut: Cut{Lanes: 3, Vector: 2}, Each: Parts{Cut: Cut{Lanes: 2, Vector: 1}, Each: run, Merge: z}}
		for _, p := range []Plan{{Order: run}, {Order: lanes}} {
			for _, shape := range [][3]int{{1, 19, 1}, {1, 300, 7}, {1, 8, 64}, {1, 11, 75}, {1, 9, 1100}, {7, 8, 1}, {8, 9, 1}, {75, 130, 1}, {300, 17, 1}} {
				a, b := matrix.New(shape[0], shape[1]), matrix.New(shape[1], shape[2])
				for _, m := range []blas32.General{a, b} {
					for i := range m.Data {
						m.Data[i] = element()
					}
					f.RoundSlice32(m.Data, m.Data)
				}
				rows, columns := matrix.Vectors(a), matrix.Vectors(matrix.Transpose(b))
				for _, features = range levels {
					d := matrix.New(a.Rows, b.Cols)
					p.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
					for i, x := range rows {
						for j, y := range columns {
							got, want := d.Data[i*d.Stride+j], float32(p.Dot(x, y))
							if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
								t.Fatalf("%s, %v, vectors %v: D[%d][%d] = %x, want %x", f.Name, shape, features, i, j, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// Runs of groups shorter than a block have the bits of Dot, which pads them:
// also where zeros count, since all terms of a sum are tiny or their exponent
// is great.
func TestRunsOfShortGroupsHaveTheBitsOfDot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	for _, c := range []tcore.Format{tcore.Binary32, tcore.Binary16} {
		for _, zero := range []int{-133, -126, -125, -10, 3} {
			for _, group := range []int{1, 4, 8, 12, 16} {
				core := tcore.Fused{Terms: 16, FractionBits: 24, Result: c, Rounding: tcore.ToZero, ZeroExponent: zero}
				d := tcore.Device{Name: "fused", A: tcore.BFloat16, B: tcore.BFloat16, C: c, Core: core}
				p := Plan{Order: Run{Device: d, Group: group, Tile: 2 * group}}
				a, b := matrix.New(6, 75), matrix.New(75, 9)
				for i := range a.Data {
					a.Data[i] = float32(math.Ldexp(rng.NormFloat64(), []int{0, -64, -66}[i/a.Stride%3]))
				}
				for i := range b.Data {
					b.Data[i] = float32(math.Ldexp(rng.NormFloat64(), []int{0, -61, -62}[i%b.Stride%3]))
				}
				tcore.BFloat16.RoundSlice32(a.Data, a.Data)
				tcore.BFloat16.RoundSlice32(b.Data, b.Data)
				got := matrix.New(a.Rows, b.Cols)
				p.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
				columns := matrix.Vectors(matrix.Transpose(b))
				for i, x := range matrix.Vectors(a) {
					for j, y := range columns {
						if got, want := got.Data[i*got.Stride+j], float32(p.Dot(x, y)); math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("zeros have exponent %d, %d in a group, C %s: D[%d][%d] = %x, want %x", zero, group, c.Name, i, j, got, want)
						}
					}
				}
			}
		}
	}
}

// Only FMAs of numbers of binary32 with results in binary32 take strips.
func TestAddsByFMA(t *testing.T) {
	fma := func(f, c tcore.Format) tcore.Device {
		return tcore.Device{A: f, B: f, C: c, Core: tcore.Chain{}}
	}
	long := tcore.Binary16 // of which two have a product of 26 bits
	long.Precision, long.Emin = 13, -10
	flushed := tcore.Binary16
	flushed.Subnormals = tcore.Flushed
	for _, test := range []struct {
		device     tcore.Device
		fma, exact bool
	}{
		{fma(tcore.Binary16, tcore.Binary32), true, true},
		{fma(tcore.BFloat16, tcore.Binary32), true, false},
		{fma(tcore.Binary32, tcore.Binary32), true, false},
		{fma(long, tcore.Binary32), true, false},
		{fma(tcore.Binary64, tcore.Binary32), false, false},
		{fma(tcore.Binary16, tcore.Binary16), false, true},
		{fma(flushed, tcore.Binary32), false, true},
		{tcore.Device{A: tcore.Binary16, B: tcore.Binary16, C: tcore.Binary32, Core: tcore.Chain{NaN: tcore.FirstOfXYC}}, false, true},
	} {
		if got := addsByFMA(test.device); got != test.fma {
			t.Errorf("%s to %s, %+v: by FMA %v, want %v", test.device.A.Name, test.device.C.Name, test.device.Core, got, test.fma)
		}
		if got := multipliesExactly(test.device); got != test.exact {
			t.Errorf("%s: exact products %v, want %v", test.device.A.Name, got, test.exact)
		}
	}
}
