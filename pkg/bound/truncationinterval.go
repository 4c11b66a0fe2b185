package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// TruncationInterval contains the error with certainty, given the trace but not
// the bits that alignment discarded from the products:
//
//	|err + A + G/2| <= H/2,  A = Σ(a_i + r_i),  G = Σ g_i (n₊ - n₋),  H = Σ g_i n_i,
//
// where alignment discards a_i from the running sum and rounding discards r_i
// from the kept sum, both known from the trace; g_i = 2^(E_i-F); n₊ and n₋ are
// the numbers of positive and negative products of block i, and n_i = n₊ + n₋.
//
// Proof. Let alignment discard D from the size of a product p, 0 <= D < g_i.
// The error of a block is -(a_i + r_i + Σ sgn(p)D), since the running sum loses
// a_i exactly. A nonzero product satisfies |sgn(p)D - sgn(p)g_i/2| <= g_i/2; a
// zero product loses nothing and does not count. The running sum, which the
// deterministic bound counts as one more term, contributes no uncertainty here.
var TruncationInterval = register(Bound{
	Name:    "truncation-interval",
	Source:  "derived from the arithmetic of Fasi et al. 2021 and Khattak & Mikaitis 2025",
	Formula: `\lvert\mathrm{err} + A + \tfrac12\sum_i g_i(n_i^+ - n_i^-)\rvert \le \tfrac12\sum_i g_i(n_i^+ + n_i^-)`,
	Model:   Truncating,
	Needs:   Trace,
	Fails:   noTrace,
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
