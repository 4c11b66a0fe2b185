package tcore

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// TensorCore is the paper's idealised tensor core (Bhola & Duraisamy 2024,
// section 3.3 and Algorithm 1): it adds the K = q × Block products of an inner
// product in blocks, from left to right, with IEEE rounding to nearest even.
// One block computes
//
//	z_i = fl_FMA( fl̄( … fl̄( fl̄(z_(i-1) + x₁y₁) + x₂y₂ ) … + x_b y_b) ),
//
// where the products are in Product and z_(i-1) is in High, with z₀ = 0. With
// Block = 1 it is the recursive FMA.
//
// differs: tensor cores of silicon align the terms of a block, truncate and
// add; no unit roundoff of this model describes them.
type TensorCore struct {
	Name  string
	Block int // b, the number of terms in a block
	MPFMA
}

// The two rows of the paper's Table 2, with the b = 4 of its section 3.3.
var (
	PaperF32 = TensorCore{"fp16 in, fp32 accumulate", 4, MPFMA{Binary16, Binary32, Binary32, Binary32, Binary32}}
	PaperF16 = TensorCore{"fp16 in, fp16 accumulate", 4, MPFMA{Binary16, Binary16, Binary32, Binary16, Binary16}}
)

// Device returns a device of the given name whose Core is t.
func (t TensorCore) Device(name string) Device {
	return Device{Name: name, Architecture: "paper", Instruction: "Algorithm 1", A: t.Low, B: t.Low, C: t.Output, Core: t}
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

// idealProduct is a product on a [TensorCore] that has whole blocks. It is that
// of Algorithm 1, for which there are faster methods than block by block. NaN
// and infinities follow IEEE 754.
type idealProduct struct {
	TensorCore
	a, b blas32.General
}

// newIdealProduct returns the product of a and b on a device, to be added to a
// matrix if started is true. It returns false unless the Core is a TensorCore
// whose blocks divide K, with Low the format of both factors, which the device
// rounds to nearest even, and which adds in binary32 what is started.
func newIdealProduct(d *Device, a, b blas32.General, started bool) (prepared, bool) {
	t, ok := d.Core.(TensorCore)
	if !ok || started && !t.isSequential32() || a.Cols%t.Block != 0 || !d.A.Equal(t.Low) || !d.B.Equal(t.Low) || d.Convert != ToNearestEven {
		return nil, false
	}
	return &idealProduct{t, a, b}, true
}

func (p *idealProduct) release() {}

var sumsPath = newPath("sums in binary32")

func (p *idealProduct) addTo(c, z blas32.General) {
	store32 := func(i, j int, s float32) { z.Data[i*z.Stride+j] = s }
	store64 := func(i, j int, s float64) { z.Data[i*z.Stride+j] = float32(s) }
	switch {
	case p.isSequential32():
		if kernel, ok := sumsKernelFor(Binary32.containsProducts(p.Low), p.b.Cols); ok {
			round := func(dst, src []float32) { roundRow(dst, src, p.Low) }
			sums := newSumsProduct(p.a, p.b, kernel, round, round)
			defer sums.release()
			sums.half = kernel.half != nil && p.Low.Equal(Binary16)
			(&sums32[float32]{sums, nil, sumsPath}).addTo(c, z)
			return
		}
		if c.Data != nil {
			p.continued(c, z)
			return
		}
		gemm(p.a, p.b, p.Low.RoundSlice32, sequential[float32], store32)
	case p.isSequential16():
		gemm(p.a, p.b, roundSlice16, sequential16, store64)
	default:
		gemm(p.a, p.b, p.represent, p.columns, store64)
	}
}

// continued stores C + AB in z, by sequential sums in binary32.
func (p *idealProduct) continued(c, z blas32.General) {
	tiles := packTiles(p.b, p.Low.RoundSlice32)
	parallel.Ranges(p.a.Rows, func(lo, hi int) {
		x := make([]float32, p.a.Cols)
		for i := lo; i < hi; i++ {
			p.Low.RoundSlice32(x, matrix.Row(p.a, i))
			for j, y := range tiles {
				var s [tile]float32
				copy(s[:], matrix.Row(c, i)[j*tile:])
				for k, xk := range x {
					for l, yk := range y[k] {
						s[l] += float32(xk * yk)
					}
				}
				copy(matrix.Row(z, i)[j*tile:], s[:])
			}
		}
	})
}

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
