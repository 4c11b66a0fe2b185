package tcore

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// chipMatrix returns a matrix of numbers that are difficult for d: all
// exponents, zeros, and infinities and NaN in some rows and columns.
func chipMatrix(rng *rand.Rand, rows, cols int, f Format, kind int) blas32.General {
	m := zeros(rows, cols)
	for i := range m.Data {
		switch kind {
		case 0: // U(-1, 1)
			m.Data[i] = 2*rng.Float32() - 1
		case 1:
			m.Data[i] = float32(awkward(f, rng))
		case 2: // tiny and zero
			m.Data[i] = float32(f.MinSubnormal()) * float32(rng.IntN(5)-2)
		case 3:
			m.Data[i] = float32(awkward(f, rng))
			if rng.IntN(3*cols) == 0 {
				m.Data[i] = [3]float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}[rng.IntN(3)]
			}
		}
	}
	return m
}

// GEMM, with its fast paths, equals Dot of every row and column, on any number
// of threads.
func TestDeviceGEMM(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	for _, d := range Devices() {
		t.Run(d.Name, func(t *testing.T) {
			for kind := range 4 {
				const m, n = 5, 9
				k := 77 + 3*(kind%2)
				a, b := chipMatrix(rng, m, k, d.A, kind), chipMatrix(rng, k, n, d.B, kind)
				c, z := chipMatrix(rng, m, n, Binary16, kind), zeros(m, n)
				given := c
				if kind == 1 {
					c, given = zeros(m, n), blas32.General{}
				}
				d.MultiplyAdd(a, b, given, z)
				compareElements(t, d, a, b, given, z, everyNth(z, 1))
				one := zeros(m, n)
				threads := runtime.GOMAXPROCS(1)
				d.MultiplyAdd(a, b, given, one)
				runtime.GOMAXPROCS(threads)
				for i, v := range one.Data {
					if !same(float64(v), float64(z.Data[i])) {
						t.Fatalf("kind %d: element %d depends on the number of threads", kind, i)
					}
				}
			}
		})
	}
}

// A negative sum in binary16 that is rounded to zero is +0, also where its
// terms cancel and the kernel does not leave it to Fused.sum.
func TestFusedKernelHasNoNegativeZero(t *testing.T) {
	d := HopperF16F16
	a := blas32.General{Rows: 1, Cols: 16, Stride: 16, Data: make([]float32, 16)}
	b := blas32.General{Rows: 16, Cols: 1, Stride: 1, Data: make([]float32, 16)}
	copy(a.Data, []float32{0x1p-10, -0x1p-10, -0x1p-20})
	copy(b.Data, []float32{0x1p-10, 0x1p-10, 0x1p-20})
	x, ex := d.newPanel(d.A, a, false).vector(0)
	y, ey := d.newPanel(d.B, b, true).vector(0)
	k, ok := newFusedKernel(&d)
	if !ok {
		t.Fatal("no kernel")
	}
	if z := k.chain(x, y, ex, ey, 0); z != 0 || math.Signbit(z) {
		t.Errorf("%v, want +0", z)
	}
	d.Core = Fused{Terms: 16, FractionBits: 25, Result: Binary16, Rounding: ToNearestEven, ZeroExponent: -21, Contested: Contested{NegativeTiny: true}}
	if _, ok := newFusedKernel(&d); ok {
		t.Error("a kernel for a device whose tiny sums are negative")
	}
}
