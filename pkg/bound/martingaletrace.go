package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// MartingaleTrace takes from the trace of blocks what they did to the running sum, and from the
// law of the products what these are expected to have lost, given the exponents of the trace:
//
//	err = -Σ(a_i + r_i) - ΣM(E_i) ± t,
//
// M(E) being the mean of [roundoff.Losses.Block] and t the tail of the martingale that is left.
// Given the past and E_i it is a theorem for independent products of that law, which is the one of
// all pairs of A and B; what a sample of pairs leaves open of it is in t.
var MartingaleTrace = register(Bound{
	Name:   "martingale-trace",
	Source: "derived from Freedman 1975, Theorem 1.6",
	Model:  TruncatingRandom,
	Needs:  Trace,
	Fails:  noTrace,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		return o.martingale(k, f, true, (*lossSum).addBlock)
	},
})

// MartingaleSums is MartingaleTrace without the trace, from sums and exponents alone: what
// rounding took from the sums is half a unit in the last place less half a step of the grid, in
// the mean, as of uniform bits. Where the law of the products says that their bits are not
// uniform, t grows by what that can do.
var MartingaleSums = register(Bound{
	Name:    "martingale-sums",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   TruncatingRandom,
	Needs:   Sums,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off",
	Fails:   noTrace,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		return o.martingale(k, f, false, (*lossSum).addBlock)
	},
})

// martingale returns the interval around what the run lost, as far as it is known, and what its
// blocks are expected to have lost, which add gives.
func (o Output) martingale(k Kernel, f roundoff.Failure, traced bool, add func(*lossSum, Output, int, step)) Interval {
	if o.Losses == nil || noTrace(k) != "" || len(o.Exponents) == 0 || traced && !o.traced(k) {
		return Interval{nan, nan}
	}
	sum := newLossSum(k, o.Losses(), f)
	lost := 0.0
	o.steps(k, func(i int, s step) {
		lost += s.cut
		if traced {
			lost += o.Blocks[i].Kept - o.Blocks[i].Result
		} else {
			mean, variance, largest, bias := s.rounded(k, sum.losses)
			lost += mean
			sum.slack += bias
			sum.cumulant.Add(max(0, variance), largest)
		}
		add(sum, o, i, s)
	})
	return Interval{-lost - sum.mean, sum.radius(k, f)}
}

// addBlock takes block i to lose what blocks of its exponent do.
func (s *lossSum) addBlock(_ Output, _ int, at step) {
	b := s.losses.Block(s.terms, at.exponent, at.set)
	if !b.Known {
		s.blind(s.terms, at.grid)
		return
	}
	s.add(b.Mean, b.Variance, b.Largest, b.Grain)
	if !math.IsInf(s.losses.Law.Samples, 1) {
		s.errors[errorKind{0, false}] += b.Error
	}
}
