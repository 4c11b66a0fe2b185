package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// noTrace returns why a run of the problem has no trace of its blocks, or "".
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

// A step is one block of a trace, with what follows from it.
type step struct {
	exponent int     // E, that all was aligned to
	set      bool    // by a product: the running sum has a smaller exponent
	grid     float64 // g = 2^(E-F)
	cut      float64 // a, what the running sum lost
	sum      float64 // ŝ, after it

	products int             // L_i: the last block may have fewer than the others, and is filled with zeros
	nonzero  int             // how many of them are not zero; all, where the factors are not known
	x, y     []float64       // the factors, if they are known
	block    *tcore.BlockSum // what it kept and lost, if that is known
}

// steps calls f with the steps of an output.
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

// nonzero returns how many products are not zero.
func nonzero(x, y []float64) int {
	n := 0
	for l, v := range x {
		if float64(v*y[l]) != 0 {
			n++
		}
	}
	return n
}

// ulp returns the unit in the last place of the sum of the step: of 0 that of
// subnormal numbers.
func (s step) ulp(result tcore.Format) float64 {
	return max(2*halfUlp(s.sum, result.Precision), result.MinSubnormal())
}

// traced reports whether the output has what bounds of a trace read.
func (o Entry) traced(k Problem) bool {
	return noTrace(k) == "" && len(o.Blocks) > 0 && len(o.Blocks) == len(o.Exponents)
}
