package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// noTrace returns why a run of the problem has no trace of the blocks of its
// sums, or "".
func noTrace(k Problem) string {
	c, ok := k.Device.Core.(tcore.Fused)
	switch {
	case !ok:
		return k.Device.Name + " does not align all terms of a step at once: there is no trace of that"
	case c.Group > 0:
		return k.Device.Name + " adds groups of products before it aligns them"
	case k.Device.ScaleBlock > 0:
		return k.Device.Name + " scales its products"
	}
	return ""
}

// A step is one block of a trace, with quantities derived from it.
type step struct {
	exponent int     // E, to which all terms were aligned
	set      bool    // E is the exponent of a product; that of the running sum is smaller
	grid     float64 // g = 2^(E-F)
	cut      float64 // a, what alignment discarded from the running sum
	sum      float64 // ŝ, the running sum after the step

	// L_i, the number of products. The last block may have fewer than the others,
	// and is padded with zeros.
	products int
	// The number of products that are not zero; all of them if the factors are
	// unknown.
	nonzero int
	x, y    []float64       // the factors, if they are known
	block   *tcore.BlockSum // what the block kept and lost, if known
}

// steps calls f with every step of an output.
func (o Entry) steps(k Problem, f func(step)) {
	c, width, n := k.Device.Core.(tcore.Fused), k.Width(), k.Length()
	if o.X != nil {
		n = len(o.X)
	}
	before := 0.0
	for i, E := range o.Exponents {
		grid := math.Ldexp(1, E-c.FractionBits)
		e := c.ZeroExponent
		if before != 0 {
			e = max(math.Ilogb(before), k.Device.C.Emin)
		}
		s := step{exponent: E, set: E > e, grid: grid, cut: before - grid*math.Trunc(before/grid), sum: o.Sums[i]}
		lo := i * width
		s.products = max(0, min(width, n-lo))
		s.nonzero = s.products
		if o.X != nil {
			s.x, s.y = o.X[lo:lo+s.products], o.Y[lo:lo+s.products]
			s.nonzero = nonzero(s.x, s.y)
		}
		if len(o.Blocks) > 0 {
			s.block = &o.Blocks[i]
		}
		f(s)
		before = s.sum
	}
}

// nonzero returns the number of products that are not zero.
func nonzero(x, y []float64) int {
	n := 0
	for l, v := range x {
		if float64(v*y[l]) != 0 {
			n++
		}
	}
	return n
}

// ulp returns the unit in the last place of the sum after the step. That of 0
// is the spacing of subnormal numbers.
func (s step) ulp(result tcore.Format) float64 {
	return max(2*halfUlp(s.sum, result.Precision), result.MinSubnormal())
}

// traced reports whether the output contains the trace that bounds of a trace
// need.
func (o Entry) traced(k Problem) bool {
	return noTrace(k) == "" && len(o.Blocks) > 0 && len(o.Blocks) == len(o.Exponents)
}
