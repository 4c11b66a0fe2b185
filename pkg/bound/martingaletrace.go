package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
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
			lost += sum.addRounding(k, s)
		}
		add(sum, o, i, s)
	})
	return Interval{-lost - sum.mean, sum.radius(k, f)}
}

// addBlock takes block i to lose what blocks of its exponent do.
func (s *lossSum) addBlock(_ Output, _ int, at step) {
	b := s.block(at)
	if !b.Known {
		s.blind(s.terms, at.grid)
		return
	}
	s.add(b.Mean, b.Variance, b.Largest, b.Grain)
	if !math.IsInf(s.losses.Law.Samples, 1) {
		*s.errors.at(0, false) += b.Error
	}
}

// addRounding takes rounding to lose from a sum that is not known what it does from sums of its
// exponent, and returns the mean of that.
func (s *lossSum) addRounding(k Kernel, at step) float64 {
	u := at.ulp(k)
	if u <= at.grid {
		return 0
	}
	nearest := k.Core.(tcore.Fused).Rounding == tcore.ToNearestEven
	r := s.rounding(at.exponent, u, nearest)
	mean, largest := 0.0, u/2
	if !nearest {
		mean, largest = math.Copysign((u-at.grid)/2, at.sum), (u-at.grid)/2
	}
	s.slack += r.Mean - math.Abs(mean) // how far the mean may be from the truth
	s.cumulant.Add(max(0, r.Square-mean*mean), largest)
	return mean
}
