package tcore

import (
	"fmt"
	"math"
)

// RoundedSums contains the rounded results within one dot product, on a device
// that rounds every sum to nearest.
type RoundedSums struct {
	// Sums contains the rounded sums, in the order in which the machine computes
	// them, and on a [Pairwise] also the nonzero products, unless C contains all
	// products exactly. There, and on an [EvenOdd], [OddFirst] or [FusedPairs], a
	// sum with a zero term is omitted, since it is exact. The last element is the
	// result.
	Sums []float64

	// Flushed is the sum of the magnitudes of all numbers that were replaced by
	// zero: products of subnormal factors, and subnormal products and sums.
	Flushed float64
}

// RoundedSums returns the rounded sums of [Device.Dot] of x, y and 0: those of
// every block of an [ExactSum], of every node of the trees of a [Pairwise], of
// every FMA of an [EvenOdd] or [OddFirst], or both of every pair of a
// [FusedPairs]. It panics if the lengths differ or the core is none of them.
func (d Device) RoundedSums(x, y []float64) RoundedSums {
	d.check("RoundedSums", len(x), len(y))
	x, y = d.convert(d.A, x), d.convert(d.B, y)
	var z RoundedSums
	var step func(b block) float64
	switch core := d.Core.(type) {
	case ExactSum:
		step = func(b block) float64 {
			s := core.sum(&d, b, nil)
			z.Sums = append(z.Sums, s)
			return s
		}
	case Pairwise:
		step = func(b block) float64 { return core.observed(&d, b, &z) }
	case EvenOdd:
		step = func(b block) float64 { return core.observed(&d, b, &z) }
	case OddFirst:
		step = func(b block) float64 { return core.observed(&d, b, &z) }
	case FusedPairs:
		step = func(b block) float64 { return core.observed(&d, b, &z) }
	default:
		panic(fmt.Sprintf("tcore: RoundedSums: device %q, want an ExactSum, Pairwise, EvenOdd, OddFirst or FusedPairs core", d.Name))
	}
	c, w := 0.0, d.Core.width()
	for k := 0; k < len(x); k += w {
		c = step(block{x: padZeros(x, k, w), y: padZeros(y, k, w), c: c})
	}
	if n := len(z.Sums); n == 0 || z.Sums[n-1] != c {
		z.Sums = append(z.Sums, c)
	}
	return z
}

// product records the product z of x and y.
func (s *RoundedSums) product(d *Device, x, y, z float64) {
	switch {
	case s == nil:
	case z == 0:
		s.Flushed += math.Abs(x * y)
	case d.A.Precision+d.B.Precision > d.C.Precision:
		s.Sums = append(s.Sums, z)
	}
}

// node records that x + y was rounded to sum and flushed to z. A subnormal sum
// is exact.
func (s *RoundedSums) node(x, y, sum, z float64) {
	if s == nil {
		return
	}
	if z != sum {
		s.Flushed += math.Abs(sum)
	}
	if x != 0 && y != 0 {
		s.Sums = append(s.Sums, z)
	}
}

// rounded records that x + y was rounded to sum.
func (s *RoundedSums) rounded(x, y, sum float64) {
	if s != nil && (x != 0 && y != 0 || sum != x+y) {
		s.Sums = append(s.Sums, sum)
	}
}

// flushedFMA returns flushedFMA(x, y, c) and records it. If a nonzero product
// or sum became zero, its exact size is a number of binary64.
func (s *RoundedSums) flushedFMA(d *Device, x, y, c float64) float64 {
	z := flushedFMA(x, y, c)
	if s == nil {
		return z
	}
	p := float64(flush(Binary32, x) * flush(Binary32, y))
	if p == 0 {
		s.Flushed += math.Abs(x * y)
	}
	switch wide := d.A.Precision+d.B.Precision > d.C.Precision && y != 1; {
	case z == 0:
		s.Flushed += math.Abs(p + c)
	case p != 0 && (c != 0 || wide):
		s.Sums = append(s.Sums, z)
	}
	return z
}
