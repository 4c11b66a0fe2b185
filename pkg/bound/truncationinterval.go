package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// TruncationInterval is what is known for sure of an error of which the trace
// is known, but not the bits that were cut off the products:
//
//	|err + A + G/2| <= H/2,  A = Σ(a_i + r_i),  G = Σ g_i (n₊ - n₋),  H = Σ g_i n_i,
//
// a_i being what alignment took from the running sum and r_i what rounding took
// from the kept sum, both in the trace, g_i = 2^(E_i-F), n₊ and n₋ the numbers
// of positive and negative products of block i, and n_i = n₊ + n₋.
//
// Proof. A block errs by -(a_i + r_i + Σ sgn(p)D) with 0 <= D < g_i, since the
// running sum loses a_i and nothing else. A product of either sign has |sgn(p)D
// - sgn(p)g_i/2| <= g_i/2, and zero loses nothing and does not count. The
// running sum, which the deterministic bound counts as one more term, is exact
// here.
var TruncationInterval = register(Bound{
	Name:   "truncation-interval",
	Source: "derived from the arithmetic of Fasi et al. 2021 and Khattak & Mikaitis 2025",
	Model:  Truncating,
	Needs:  Trace,
	Fails:  noTrace,
	Interval: func(k Problem, o Entry, _ roundoff.Failure) Interval {
		if !o.traced(k) {
			return Interval{nan, nan}
		}
		centre, radius := 0.0, 0.0
		o.steps(k, func(s step) {
			centre -= s.cut + (s.block.Kept - s.block.Result) + s.grid*float64(s.block.Signs)/2
			radius += s.grid * float64(s.nonzero) / 2
		})
		return Interval{centre, radius}
	},
})
