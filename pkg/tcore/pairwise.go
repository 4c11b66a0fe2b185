package tcore

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Pairwise adds the products of a block in pairs, and their sum to c. Every
// product and sum is an IEEE operation in C that is rounded to nearest even and
// flushes subnormal results to zero: binary16 and bfloat16 on AMD CDNA2 (Xie et
// al. 2025). Subnormal operands count as +0.
type Pairwise struct {
	Terms int // number of products in a block, a power of two
}

func (p Pairwise) width() int { return p.Terms }

func (p Pairwise) sum(d *Device, b block, _ *TraceBlock) float64 { return p.observed(d, b, nil) }

// observed is sum. It records the products and sums in z, unless z is nil.
func (p Pairwise) observed(d *Device, b block, z *RoundedSums) float64 {
	s := make([]float64, p.Terms)
	for i := range s {
		x, y := flushInput(d.A, b.x[i]), flushInput(d.B, b.y[i])
		s[i] = flush(d.C, d.C.Mul(x, y, ToNearestEven))
		z.product(d, b.x[i], b.y[i], s[i])
	}
	add := func(x, y float64) float64 {
		sum := d.C.Add(x, y, ToNearestEven)
		z.node(x, y, sum, flush(d.C, sum))
		return flush(d.C, sum)
	}
	for n := p.Terms / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] = add(s[2*i], s[2*i+1])
		}
	}
	return add(flushInput(d.C, b.c), s[0])
}

func (p Pairwise) check(d *Device) {
	if p.Terms&(p.Terms-1) != 0 {
		panic(fmt.Sprintf("tcore: device %q: Pairwise of %d terms, want a power of two", d.Name, p.Terms))
	}
}

// chain32 computes the sum of a Pairwise core in binary32, where every product
// and sum is a single operation of the processor.
func (p Pairwise) chain32(d *Device, x, y []float64, c float64) float64 {
	s := make([]float32, p.Terms)
	for ; len(x) > 0; x, y = x[p.Terms:], y[p.Terms:] {
		for i := range s {
			u, v := float32(flushInput(d.A, x[i])), float32(flushInput(d.B, y[i]))
			s[i] = flush32(float32(u * v))
		}
		for n := p.Terms / 2; n > 0; n /= 2 {
			for i := range n {
				s[i] = flush32(s[2*i] + s[2*i+1])
			}
		}
		c = float64(flush32(float32(flushInput(d.C, c)) + s[0]))
	}
	return c
}

// flush32 is flush for f = binary32.
func flush32(x float32) float32 {
	if b := math.Float32bits(x) &^ signBit32; b < 1<<23 {
		return math.Float32frombits(math.Float32bits(x) & signBit32)
	}
	return x
}

// flush returns x, or a zero of its sign if it is subnormal in f.
func flush(f Format, x float64) float64 {
	if math.Abs(x) < f.MinNormal() {
		return signed(0, math.Signbit(x))
	}
	return x
}

// flushInput returns x, or +0 if it is subnormal in f.
func flushInput(f Format, x float64) float64 {
	if x != 0 && math.Abs(x) < exp2(f.Emin) {
		return 0
	}
	return x
}

// flushRow stores +0 for the elements of x that are nonzero and below normal,
// the least normal number of a format.
func flushRow(x []float32, normal float32) {
	for i := vectorFlush(x, normal); i < len(x); i++ {
		if m := x[i]; m > -normal && m < normal && m != 0 {
			x[i] = 0
		}
	}
}

var (
	pairsPath      = newPath("pairs of normal products")
	anyPairsPath   = newPath("pairs of any products")
	pairsPrecision = 23 // of products; see the routine
)

// newPairwiseProduct prepares a and b for a [Pairwise] in binary32. It returns
// false for another core or format, and if there is no kernel.
func newPairwiseProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	core, ok := d.Core.(Pairwise)
	if !ok || !d.C.Equal(Binary32) || !within32(d.A) || !within32(d.B) || d.A.Precision+d.B.Precision > pairsPrecision {
		return nil, false
	}
	const few = 32 // columns for which to look at all elements of A takes longer than it saves
	normal, done := b.Cols > few && d.factorsWithin(a, b, Binary32.MinNormal(), 0x1p128, true), anyPairsPath
	if normal {
		done = pairsPath
	}
	kernel, ok := pairsKernelFor(core.Terms, normal, b.Cols)
	if !ok {
		return nil, false
	}
	flushed := func(f Format) func(dst, src []float32) {
		convert := converter32(d, f)
		return func(dst, src []float32) {
			convert(dst, src)
			flushRow(dst, float32(exp2(f.Emin)))
		}
	}
	start := func(row []float32) { flushRow(row, 0x1p-126) }
	return &sums32[float32]{newSumsProduct(a, b, kernel, flushed(d.A), flushed(d.B)), start, done}, true
}
