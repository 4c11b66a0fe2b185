package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// LeastLoss returns a lower bound on what the chains of every output lose,
// where all products have one sign: the part of |D| that truncation takes for
// sure, before parts are added and D is stored. It holds for all outputs
// together with probability at least 1 - e^f, for the data that
// [TruncatedRandomData] assumes. It is 0 where that bound does not hold, where
// rounding is to nearest, and for products of both signs. It panics as
// [Evaluate] does.
//
// With it the error of an output is in an [Interval]: where truncation has a
// drift, a bound that is symmetric about the exact result allows twice as much
// as can happen.
//
// Source: derived here; see [truncation.Sum.LeastLoss].
func (k Problem) LeastLoss(f roundoff.Failure) float64 {
	k.check()
	if !k.knows(TruncatedRandomData.Needs) || TruncatedRandomData.fails(k) != "" || !k.oneSign() {
		return 0
	}
	account := f.Account(map[string]float64{"tails": 1. / 8, "loss": 7. / 8})
	sum := k.truncatedSum(account.Spend("tails"))
	if math.IsInf(sum.Largest, 1) {
		return 0
	}
	each := account.Spend("loss")
	return k.chains(func(n int) float64 { return sum.LeastLoss(n, k.Chains(), each) })
}

// oneSign reports whether the distributions leave all products one sign.
func (k Problem) oneSign() bool {
	x, y := k.X.of(), k.Y.of()
	return (x.lo >= 0 || x.hi <= 0) && (y.lo >= 0 || y.hi <= 0)
}
