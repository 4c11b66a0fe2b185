package tcore

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// cores returns tensor cores that together exercise every path of GEMM.
func cores() []TensorCore {
	wideOutput := TensorCore{"fp16 in, fp32 accumulate, fp16 out", 4, PaperF32.MPFMA}
	wideOutput.Output = Binary16
	narrowProduct := TensorCore{"fp16 throughout", 2, MPFMA{Binary16, Binary16, Binary16, Binary16, Binary16}}
	wideHigh := PaperF16
	wideHigh.High = Binary32
	narrowHigh, wideLow := PaperF32, PaperF32
	narrowHigh.Name, narrowHigh.High = "fp16 in, bf16 carried", BFloat16
	wideLow.Name, wideLow.Low = "8 bits of any range in", Format{Precision: 8, Emin: -1000, Emax: 1000}
	return []TensorCore{
		PaperF32, PaperF16, wideOutput, narrowProduct, wideHigh, narrowHigh, wideLow,
		{"fp16 in, fp32 accumulate, b = 1", 1, PaperF32.MPFMA},
		{"bf16 in, fp32 accumulate", 8, MPFMA{BFloat16, Binary32, Binary32, Binary32, Binary32}},
		{"tf32 in, fp32 accumulate", 4, MPFMA{TF32, Binary32, Binary32, Binary32, Binary32}},
		{"e4m3 in, fp32 accumulate", 16, MPFMA{E4M3, Binary32, Binary32, Binary32, Binary32}},
		{"e5m2 in, fp16 accumulate", 16, MPFMA{E5M2, Binary16, Binary32, Binary16, Binary16}},
		{"fp32 in, fp64 accumulate", 2, MPFMA{Binary32, Binary64, Binary64, Binary64, Binary64}},
	}
}

// anyData returns a matrix of awkward data: ordinary numbers, numbers beyond
// the range of Low at either end, zeros, and, if specials is true, a few
// infinities and NaN. Its stride is greater than the number of its columns.
func anyData(rows, cols int, rng *rand.Rand, specials bool) blas32.General {
	m := zeros(rows, cols+2)
	m.Cols = cols
	for i := range m.Data {
		x := float32(rng.NormFloat64())
		switch rng.IntN(16) {
		case 0:
			x *= 0x1p-20
		case 1:
			x *= 0x1p15
		case 2:
			x = 0
		case 3:
			if specials && rng.IntN(8) == 0 {
				x = math.MaxFloat32
			} else if specials && rng.IntN(8) == 0 {
				x = math.Float32frombits(0x7f800000 | rng.Uint32()<<31 | uint32(rng.IntN(2))<<22)
			}
		}
		m.Data[i] = x
	}
	return m
}

// The fast paths agree with Dot, the definition.
func TestGEMM(t *testing.T) {
	for _, core := range cores() {
		t.Run(core.Name+"/is Dot of rows and columns", func(t *testing.T) {
			rng := rand.New(rand.NewPCG(12, 0))
			for range 20 {
				m, n, k := 1+rng.IntN(9), 1+rng.IntN(19), core.Block*(1+rng.IntN(20))
				specials := rng.IntN(2) == 0
				a, b, d := anyData(m, k, rng, specials), anyData(k, n, rng, specials), anyData(m, n, rng, false)
				core.multiply(a, b, d)
				core.compareElements(t, a, b, d, everyNth(d, 1))
			}
		})
	}
	for _, core := range cores() {
		t.Run(core.Name+"/continues from C", func(t *testing.T) {
			rng, d := rand.New(rand.NewPCG(13, 0)), core.Device(core.Name)
			for range 20 {
				m, n, k := 1+rng.IntN(9), 1+rng.IntN(19), core.Block*(1+rng.IntN(20))
				specials := rng.IntN(2) == 0
				a, b, c := anyData(m, k, rng, specials), anyData(k, n, rng, specials), anyData(m, n, rng, specials)
				z := c // may be C
				if rng.IntN(2) == 0 {
					z = anyData(m, n, rng, false)
				}
				started := c
				started.Data = slices.Clone(c.Data)
				beyond := z.Data[n]
				d.MultiplyAdd(a, b, c, z)
				compareElements(t, d, a, b, started, z, everyNth(z, 1))
				if !same(float64(z.Data[n]), float64(beyond)) {
					t.Fatalf("%d × %d × %d: row 0 was written beyond its end", m, k, n)
				}
			}
		})
	}
	t.Run("writes no element outside d", func(t *testing.T) {
		a, b, d := uniform(3, 8, 1), uniform(8, 5, 2), zeros(3, 7)
		d.Cols = 5
		PaperF32.multiply(a, b, d)
		for i := range 3 {
			if d.Data[i*7+5] != 0 || d.Data[i*7+6] != 0 {
				t.Errorf("row %d was written beyond its end", i)
			}
		}
	})
	t.Run("does not depend on the number of threads", func(t *testing.T) {
		a, b := uniform(37, 256, 3), uniform(256, 11, 4)
		run := func(core TensorCore, procs int) blas32.General {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			d := zeros(37, 11)
			core.multiply(a, b, d)
			return d
		}
		for _, core := range cores() {
			one, four := run(core, 1), run(core, 4)
			for i := range one.Data {
				if one.Data[i] != four.Data[i] {
					t.Fatalf("%s: element %d is %v on one thread, %v on four", core.Name, i, one.Data[i], four.Data[i])
				}
			}
		}
	})
}

// The double rounding of sequential16 is innocuous, on numbers where it could
// go wrong.
func TestSequential16RoundsOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 0))
	for range 200_000 {
		s, x, y := awkward(Binary16, rng), awkward(Binary16, rng), awkward(Binary16, rng)
		if got, want := round16(s+x*y), Binary16.FMA(x, y, s, ToNearestEven); !same(got, want) {
			t.Fatalf("%x + %x × %x = %x, want %x", s, x, y, got, want)
		}
	}
}

func TestDot(t *testing.T) {
	t.Run("on the paper's row 2 exceeds gamma_(K-1)", func(t *testing.T) {
		// The first product is not a number of binary16, so adding it to 0 rounds: K
		// roundings, not the K-1 of the paper.
		core := PaperF16
		core.Block = 2
		x := []float32{1.0009765625, 1 - 0x1p-11}
		y := []float32{1 - 0x1p-11, 0x1p-11}
		got := float64(core.slowDot(x, y))
		exact := float64(x[0])*float64(y[0]) + float64(x[1])*float64(y[1])
		u := core.Accumulate.UnitRoundoff()
		gamma := func(n float64) float64 { return n * u / (1 - n*u) }
		err := math.Abs(got-exact) / exact
		if got != 1 || err <= gamma(1) || err > gamma(2) || math.Abs(err/u-1.997) > 1e-3 {
			t.Errorf("Dot = %v with relative error %.4gu, want 1 with 1.997u", got, err/u)
		}
	})
	t.Run("rounds a single product", func(t *testing.T) {
		core := PaperF16
		core.Block = 1
		x := []float32{1 + 0x1p-10}
		if got := core.slowDot(x, x); got != 1+0x1p-9 {
			t.Errorf("Dot = %x, want 1 + 2^-9", got)
		}
	})
	t.Run("with one term a block is the recursive FMA", func(t *testing.T) {
		for _, core := range cores() {
			core.Block = 1
			x, y := uniform(1, 50, 5).Data, uniform(1, 50, 6).Data
			s := 0.0
			for k := range x {
				s = core.FMA(float64(x[k]), float64(y[k]), s)
			}
			if got := core.slowDot(x, y); got != float32(s) {
				t.Errorf("%s: Dot = %v, want %v", core.Name, got, s)
			}
		}
	})
	t.Run("rounds to Output once a block", func(t *testing.T) {
		core := PaperF32
		core.Output = Binary16
		x := []float32{1, 0x1p-11, 0x1p-11, 0, 0, 0, 0, 0}
		y := []float32{1, 1, 1, 1, 1, 1, 1, 1}
		if got := core.slowDot(x, y); got != 1+0x1p-10 { // 1 + 2^-11 + 2^-11 in binary32
			t.Errorf("b = 4: Dot = %x, want 1 + 2^-10", got)
		}
		core.Block = 1
		if got := core.slowDot(x, y); got != 1 { // 2^-11 is rounded off twice
			t.Errorf("b = 1: Dot = %x, want 1", got)
		}
	})
	t.Run("overflows in binary16", func(t *testing.T) {
		x := []float32{300, 300, 0, 0}
		if got := PaperF16.slowDot(x, x); !math.IsInf(float64(got), 1) {
			t.Errorf("Dot = %v, want +Inf", got)
		}
		if got := PaperF32.slowDot(x, x); got != 180000 {
			t.Errorf("Dot = %v, want 180000", got)
		}
	})
}

func TestFloat64GEMM(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	a, b := anyData(5, 33, rng, true), anyData(33, 10, rng, true)
	d := Float64GEMM(a, b)
	for i := range 5 {
		for j := range 10 {
			s := 0.0
			for k := range 33 {
				s = Binary64.FMA(float64(a.Data[i*a.Stride+k]), float64(b.Data[k*b.Stride+j]), s, ToNearestEven)
			}
			if got := d.Data[i*d.Stride+j]; !same(got, s) {
				t.Errorf("d[%d, %d] = %v, want %v", i, j, got, s)
			}
		}
	}
}
