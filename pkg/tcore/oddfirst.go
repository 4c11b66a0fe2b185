package tcore

import "gonum.org/v1/gonum/blas/blas32"

// OddFirst adds the products of a pair to c by two FMAs, first that of odd
// index and then that of even index, and the pairs one after the other. All is
// in binary32, rounded to nearest even, and flushes subnormal operands and
// results to zeros of their sign: VDPBF16PS, the bfloat16 dot product of
// AVX-512 (Intel 2024).
type OddFirst struct{}

func (OddFirst) width() int { return 2 }

func (o OddFirst) sum(d *Device, b block, _ *TraceBlock) float64 { return o.observed(d, b, nil) }

// observed is sum. It records the sums in z, unless z is nil.
func (OddFirst) observed(d *Device, b block, z *RoundedSums) float64 {
	return z.flushedFMA(d, b.x[0], b.y[0], z.flushedFMA(d, b.x[1], b.y[1], b.c))
}

func (OddFirst) check(d *Device) { checkFlushed(d, "OddFirst", 2) }

var oddFirstPath = newPath("odd products first")

// newOddFirstProduct prepares a and b for an [OddFirst]. It returns false for
// another core, and if there is no kernel.
func newOddFirstProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	if _, ok := d.Core.(OddFirst); !ok {
		return nil, false
	}
	kernel, ok := oddFirstKernelFor(b.Cols)
	if !ok {
		return nil, false
	}
	p := newSumsProduct(a, b, kernel, converter32(d, d.A), converter32(d, d.B))
	return &sums32[float32]{p, nil, oddFirstPath}, true
}
