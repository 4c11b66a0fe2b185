package tcore

import (
	"fmt"
	"math"
)

// RoundedSums is what a chain of sums did that are rounded to nearest.
type RoundedSums struct {
	// Sums are the sums after they were rounded, in the order of the machine. A sum
	// of which one term is zero is left out, as it is exact, but for the last, the
	// result.
	Sums []float64

	// Flushed is the sum of the sizes of what became zero: of products of subnormal
	// factors, and of products and sums that were subnormal.
	Flushed float64
}

// RoundedSums returns the sums of [Device.Dot] of x and y and 0, as it computes
// them: of every block of an [ExactSum], of every node of the trees of a
// [Pairwise]. It panics if the lengths differ or the core is another one.
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
	default:
		panic(fmt.Sprintf("tcore: RoundedSums: device %q, want an ExactSum or a Pairwise core", d.Name))
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

// product notes the product z of x and y.
func (s *RoundedSums) product(d *Device, x, y, z float64) {
	switch {
	case s == nil:
	case z == 0:
		s.Flushed += math.Abs(x * y)
	case d.A.Precision+d.B.Precision > d.C.Precision:
		s.Sums = append(s.Sums, z)
	}
}

// node notes that x + y was rounded to sum, exactly if that is subnormal, and
// became z.
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
