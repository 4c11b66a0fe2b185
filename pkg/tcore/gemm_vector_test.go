package tcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/vector"
	"gonum.org/v1/gonum/blas/blas32"
)

// with calls test as on a processor of the given features.
func with(f vector.Features, test func()) {
	best := features
	defer func() { features = best }()
	features = f
	test()
}

// onEveryLevel runs a test with the vector routines of every level of features
// that the processor has, and without any.
func onEveryLevel(t *testing.T, test func(t *testing.T)) {
	for _, f := range features.Levels() {
		with(f, func() { t.Run(f.String(), test) })
	}
}

// dotAddWidth returns the number of columns of a panel of a dotAdd, or 0 if
// there is none.
func dotAddWidth() int {
	if features.ASIMD {
		return 16
	}
	return features.Bits / 8
}

// The blocked sums agree with Dot, in shapes around the sizes of tiles and
// blocks.
func TestGEMMSums(t *testing.T) {
	sequential := []TensorCore{PaperF32,
		{"bf16 in, fp32 accumulate", 4, MPFMA{BFloat16, Binary32, Binary32, Binary32, Binary32}},
		{"fp32 throughout", 1, MPFMA{Binary32, Binary32, Binary32, Binary32, Binary32}}}
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(31, 0))
		for _, s := range []shape{{1, 4, 1}, {12, 16, 8}, {13, 44, 7}, {24, 300, 8}, {25, 260, 16}, {29, 516, 33}, {115, 268, 40}, {19, 300, 3}} {
			for _, core := range sequential {
				specials := rng.IntN(2) == 0
				a, b, d := anyData(s.m, s.k, rng, specials), anyData(s.k, s.n, rng, specials), anyData(s.m, s.n, rng, false)
				core.multiply(a, b, d)
				core.compareElements(t, a, b, d, ofEachRow(rng, d, 4))
			}
		}
	})
}

// fusedMatrix returns a matrix of numbers of f that test the limits of the
// vector code: data of one distribution in every row, with exceptional elements
// in the proportion rare.
func fusedMatrix(rng *rand.Rand, rows, cols int, f Format, rare float64) blas32.General {
	m := zeros(rows, cols)
	for i := range rows {
		kind := rng.IntN(6)
		for j := range cols {
			x := 0.0
			switch kind {
			case 0:
				x = rng.Float64()
			case 1:
				x = rng.NormFloat64()
			case 2:
				x = awkward(f, rng)
			case 3:
				x = (2 - exp2(1-f.Precision)) * exp2(rng.IntN(2)) // sums near their bound
			case 4:
				x = rng.NormFloat64() * exp2(rng.IntN(24)-12) * float64(rng.IntN(2))
			case 5:
				x = f.MinSubnormal() * float64(rng.IntN(9)-4)
			}
			if rng.Float64() < rare {
				x = [...]float64{math.Inf(1), math.Inf(-1), math.NaN(), f.Max(), -f.Max(), f.MinSubnormal()}[rng.IntN(6)]
			}
			m.Data[i*cols+j] = float32(f.Round(x, ToNearestEven))
		}
	}
	return m
}

// The vector code of every device agrees with its Dot.
func TestDeviceGEMMOnVectors(t *testing.T) {
	trials := 24
	if testing.Short() {
		trials = 4
	}
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range Devices() {
			f, ok := d.Core.(Fused)
			if split, isSplit := d.Core.(Split); isSplit {
				f, ok = split.By, true
			}
			if !ok || dotAddWidth() == 0 {
				continue
			}
			if _, ok := f.dotAddKernel(&d, false); !ok {
				continue
			}
			rng := rand.New(rand.NewPCG(41, 0))
			for trial := range trials {
				s := shape{1 + rng.IntN(12), 1 + rng.IntN(300), 1 + rng.IntN(70)}
				rare := [...]float64{0, 0, 0.0005, 0.01}[trial%4]
				a, b := fusedMatrix(rng, s.m, s.k, d.A, rare), fusedMatrix(rng, s.k, s.n, d.B, rare)
				c, z := blas32.General{}, zeros(s.m, s.n)
				if trial%2 == 1 {
					c = fusedMatrix(rng, s.m, s.n, d.C, rare)
				}
				d.MultiplyAdd(a, b, c, z)
				compareElements(t, d, a, b, c, z, ofEachRow(rng, z, 8))
			}
		}
	})
}

// Sums of significands near 2 agree with Dot: some overflow 32 bits, in some
// lanes and in some blocks, and some rows are just mild.
func TestDeviceGEMMOfGreatSignificands(t *testing.T) {
	trials := 40
	if testing.Short() {
		trials = 6
	}
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range Devices() {
			if !hasKernel(d) || dotAddWidth() == 0 {
				continue
			}
			rng := rand.New(rand.NewPCG(44, 0))
			great := func(f Format, others, negative float64) float32 {
				x := 2 - exp2(1-f.Precision)
				if rng.Float64() < others {
					x = []float64{1.5, 1.5 - exp2(1-f.Precision), 1 + rng.Float64(), 0.25, 0}[rng.IntN(5)]
				}
				if rng.Float64() < negative {
					x = -x
				}
				return float32(f.Round(x, ToZero))
			}
			for trial := range trials {
				s := shape{5, 1 + rng.IntN(200), 66}
				a, b, z := zeros(s.m, s.k), zeros(s.k, s.n), zeros(s.m, s.n)
				for i := range s.m {
					others, negative := []float64{0, 0.02, 0.13}[rng.IntN(3)], float64(rng.IntN(2))
					for l := range s.k {
						a.Data[i*s.k+l] = great(d.A, others, negative)
					}
				}
				for j := range s.n {
					others, negative := []float64{0, 0, 0.02}[rng.IntN(3)], []float64{0, 1, 0.01, 0.5}[rng.IntN(2+trial%2*2)]
					for l := range s.k {
						b.Data[l*s.n+j] = great(d.B, others, negative)
					}
				}
				c := zeros(s.m, s.n)
				for i := range c.Data {
					c.Data[i] = great(Binary16, 0.5, 0.5)
				}
				d.MultiplyAdd(a, b, c, z)
				compareElements(t, d, a, b, c, z, everyNth(z, 3))
			}
		}
	})
}

// The conversion of operands agrees with the one rounding routine.
func TestConvertRow(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(42, 0))
		for _, f := range formats {
			if !Binary32.contains(f) {
				continue
			}
			a, b, c := streamData(4096, rng)
			src := append(append(a, b...), c...)
			for i := range 3000 {
				src[i] = float32(awkward(f, rng) * (1 + float64(rng.IntN(5)-2)*0x1p-12))
			}
			dst := make([]float32, len(src))
			for _, mode := range []RoundingMode{ToNearestEven, ToZero} {
				d := Device{Convert: mode}
				d.convertRow(dst, src, f)
				for i, x := range src {
					if want := f.Round(float64(x), mode); !same(float64(dst[i]), want) {
						t.Fatalf("%s %v: %x is rounded to %x, want %x", f.Name, mode, x, dst[i], want)
					}
				}
			}
		}
	})
}
