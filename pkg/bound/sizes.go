package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// leastSize returns what no Σ|xy| of a chain of the kernel is below, but for a failure of e^f of all
// chains together: Bernstein's inequality for independent |xy|, none of which is farther below its
// mean than that. It is 0 where so few products may add up to nothing.
func (k Kernel) leastSize(f roundoff.Failure) float64 {
	p, n := k.X.product(k.Y), float64(k.Length())
	// one side of two
	t := roundoff.Bernstein(n*max(0, p.Square-p.Abs*p.Abs), p.Abs, k.each(f)+roundoff.Failure(math.Ln2))
	return max(0, n*p.Abs-t)
}

// overSizes returns the Value of a bound on the error itself: relative to Σ|xy|, of which none is less
// than [Kernel.leastSize] but for a failure of e^f.
func (k Kernel) overSizes(absolute, lambda float64, f roundoff.Failure) Value {
	if absolute == 0 {
		return Value{0, 0, lambda}
	}
	return Value{absolute / k.leastSize(f), absolute, lambda}
}
