package tcore

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// TensorCore is the paper's idealised tensor core (Bhola & Duraisamy 2024,
// section 3.3 and Algorithm 1): it takes K = q × Block terms of an inner
// product in blocks, from left to right, with IEEE rounding to nearest even.
// The kernel of one block is
//
//	z_i = fl_FMA( fl̄( … fl̄( fl̄(z_(i-1) + x₁y₁) + x₂y₂ ) … + x_b y_b) ),
//
// the products in Product, z_(i-1) in High and z₀ = 0. With Block = 1 it is the
// recursive FMA.
//
// differs: tensor cores of silicon align the terms of a block, truncate and
// add; no unit roundoff of this model describes them.
type TensorCore struct {
	Name  string
	Block int // b, the terms of a block
	MPFMA
}

// The two rows of the paper's Table 2, with the b = 4 of its section 3.3.
var (
	PaperF32 = TensorCore{"fp16 in, fp32 accumulate", 4, MPFMA{Binary16, Binary32, Binary32, Binary32, Binary32}}
	PaperF16 = TensorCore{"fp16 in, fp16 accumulate", 4, MPFMA{Binary16, Binary16, Binary32, Binary16, Binary16}}
)

// Dot returns the inner product of x and y as the tensor core computes it, the
// inputs rounded to Low first. A result in a format wider than binary32 is
// rounded once more, to binary32.
// It panics if the lengths differ, are 0 or are no multiple of Block.
func (t TensorCore) Dot(x, y []float32) float32 {
	if len(x) != len(y) {
		panic(fmt.Sprintf("tcore: Dot: x has %d elements, y has %d", len(x), len(y)))
	}
	t.checkBlocks("Dot", len(x))
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	t.represent(lx, x)
	t.represent(ly, y)
	return float32(t.dot(lx, ly))
}

// dot returns the inner product of values of Low.
func (t TensorCore) dot(x, y []float64) float64 {
	z := 0.0
	for k := 0; k < len(x); k += t.Block {
		z = t.kernel(z, x[k:k+t.Block], y[k:k+t.Block])
	}
	return z
}

// kernel returns z_i, given z = z_(i-1) and one block of values of Low.
func (t TensorCore) kernel(z float64, x, y []float64) float64 {
	s := t.High.Round(z, ToNearestEven)
	for j := range x {
		s = t.step(s, x[j], y[j])
	}
	return t.store(s)
}

// represent stores fl_low(src) in dst, line 1 of Algorithm 1.
func (t TensorCore) represent(dst []float64, src []float32) {
	for i, x := range src {
		dst[i] = t.Low.Round(float64(x), ToNearestEven)
	}
}

// GEMM stores in d the product of a and b as the tensor core computes it
// (Algorithm 1): every element is the [TensorCore.Dot] of a row of a and a
// column of b. The matrices are row-major, a is M × K, b is K × N, d is M × N
// and must not overlap the others. NaN and infinities follow IEEE 754.
//
// It runs on GOMAXPROCS goroutines; the result does not depend on how many.
// It panics if a shape does not fit, a matrix is empty or K is no multiple of
// Block.
func (t TensorCore) GEMM(a, b, d blas32.General) {
	checkProduct("GEMM", a, b)
	checkResult("GEMM", "d", a, b, d)
	t.checkBlocks("GEMM", a.Cols)

	store32 := func(i, j int, z float32) { d.Data[i*d.Stride+j] = z }
	store64 := func(i, j int, z float64) { d.Data[i*d.Stride+j] = float32(z) }
	switch {
	case t.isSequential32():
		if kernel, ok := sumsKernelFor(Binary32.containsProducts(t.Low), b.Cols); ok {
			gemmSums(a, b, d, t.Low, kernel)
			return
		}
		gemm(a, b, t.Low.RoundSlice32, sequential[float32], store32)
	case t.isSequential16():
		gemm(a, b, roundSlice16, sequential16, store64)
	default:
		gemm(a, b, t.represent, t.columns, store64)
	}
}

// checkBlocks panics unless K terms fill a whole number of blocks.
func (t TensorCore) checkBlocks(call string, k int) {
	if t.Block < 1 {
		panic(fmt.Sprintf("tcore: %s: Block = %d, want Block >= 1", call, t.Block))
	}
	if k == 0 || k%t.Block != 0 {
		panic(fmt.Sprintf("tcore: %s: K = %d, want a positive multiple of Block = %d", call, k, t.Block))
	}
}

// A TensorCore is the Core of a Device too: that of the paper.

func (t TensorCore) width() int { return t.Block }

func (t TensorCore) sum(_ *Device, b block, _ *TraceBlock) float64 {
	return t.kernel(b.c, b.x, b.y)
}

func (t TensorCore) check(d *Device) {
	if !t.Low.contains(d.A) || !t.Low.contains(d.B) || !d.C.contains(t.Output) {
		panic(fmt.Sprintf("tcore: device %q: %s × %s + %s around a TensorCore of %s to %s",
			d.Name, d.A.Name, d.B.Name, d.C.Name, t.Low.Name, t.Output.Name))
	}
}
