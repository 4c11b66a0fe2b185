package tcore

import "gonum.org/v1/gonum/blas/blas32"

// EvenOdd adds the products of even index of a block by a chain of FMAs from
// zero, and those of odd index by another; then their sum, and that to c. All
// is in binary32, rounded to nearest even, and flushes subnormal operands and
// results to zeros of their sign: TDPBF16PS, the bfloat16 instruction of the
// matrix unit AMX of Intel processors (Intel 2024).
type EvenOdd struct {
	Terms int // number of products in a block, even
}

func (e EvenOdd) width() int { return e.Terms }

func (e EvenOdd) sum(d *Device, b block, _ *TraceBlock) float64 { return e.observed(d, b, nil) }

// observed is sum. It records the sums in z, unless z is nil.
func (e EvenOdd) observed(d *Device, b block, z *RoundedSums) float64 {
	even, odd := 0.0, 0.0
	for k := 0; k < e.Terms; k += 2 {
		even = z.flushedFMA(d, b.x[k], b.y[k], even)
		odd = z.flushedFMA(d, b.x[k+1], b.y[k+1], odd)
	}
	return z.flushedFMA(d, b.c, 1, z.flushedFMA(d, even, 1, odd))
}

func (e EvenOdd) check(d *Device) { checkFlushed(d, "EvenOdd", e.Terms) }

var evenOddPath = newPath("chains of even and odd products")

// newEvenOddProduct prepares a and b for an [EvenOdd]. It returns false for
// another core, and if there is no kernel.
func newEvenOddProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	core, ok := d.Core.(EvenOdd)
	if !ok || core.Terms == 0 || sumsDepth/size[float32]()%core.Terms != 0 { // a block of terms is not stored in between
		return nil, false
	}
	kernel, ok := evenOddKernelFor(core, b.Cols)
	if !ok {
		return nil, false
	}
	p := newSumsProduct(a, b, kernel, converter32(d, d.A), converter32(d, d.B))
	return &sums32[float32]{p, nil, evenOddPath}, true
}
