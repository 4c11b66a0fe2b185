package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// noTrace returns why a run of the kernel has no trace of its blocks, or "".
func noTrace(k Kernel) string {
	c, ok := k.Core.(tcore.Fused)
	switch {
	case !ok:
		return k.Name + " does not align all terms of a step at once: there is no trace of that"
	case c.Group > 0:
		return k.Name + " adds groups of products before it aligns them"
	case k.ScaleBlock > 0:
		return k.Name + " scales its products"
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
}

// steps calls f with the steps of an output.
func (o Output) steps(k Kernel, f func(i int, s step)) {
	c := k.Core.(tcore.Fused)
	before := 0.0
	for i, E := range o.Exponents {
		grid := math.Ldexp(1, E-c.FractionBits)
		e := c.ZeroExponent
		if before != 0 {
			e = max(math.Ilogb(before), k.C.Emin)
		}
		f(i, step{E, E > e, grid, before - grid*math.Trunc(before/grid), o.Sums[i]})
		before = o.Sums[i]
	}
}

// ulp returns the unit in the last place of the sum of the step: of 0 that of subnormal numbers.
func (s step) ulp(k Kernel) float64 {
	c := k.Core.(tcore.Fused)
	return max(2*halfUlp(s.sum, c.Result.Precision), c.Result.MinSubnormal())
}

// traced reports whether the output has what bounds of a trace read.
func (o Output) traced(k Kernel) bool {
	return noTrace(k) == "" && len(o.Blocks) > 0 && len(o.Blocks) == len(o.Exponents)
}

// products returns L_i, how many products block i has: the last one may have fewer than the others, and
// is filled with zeros.
func (o Output) products(k Kernel, i int) int {
	n := k.Length()
	if o.X != nil {
		n = len(o.X)
	}
	return max(0, min(k.Width(), n-i*k.Width()))
}

// factors returns those of block i.
func (o Output) factors(k Kernel, i int) (x, y []float64) {
	lo := i * k.Width()
	hi := lo + o.products(k, i)
	return o.X[lo:hi], o.Y[lo:hi]
}

// nonzero returns how many products of block i are not zero.
func (o Output) nonzero(k Kernel, i int) int {
	n := 0
	x, y := o.factors(k, i)
	for l, v := range x {
		if float64(v*y[l]) != 0 {
			n++
		}
	}
	return n
}
