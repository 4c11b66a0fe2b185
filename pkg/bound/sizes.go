package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// sizeShares are the parts of the failure of a bound from the distribution of
// the data.
var sizeShares = map[string]float64{
	"error": 7. / 8,
	"sizes": 1. / 16, // of Σ|xy|, from below
	"tails": 1. / 16, // of factors that have no largest number
}

// leastSize returns what no Σ|xy| of an output is below, but for a failure of
// e^f of all outputs together: [roundoff.LeastSum] of what |xy| are above the
// least of them. It is 0 where so few products may add up to nothing.
func (k Problem) leastSize(f roundoff.Failure) float64 {
	p := k.products()
	least := p.least()
	if !(least < p.abs) { // all are about the same
		return float64(k.K) * least
	}
	mean := p.abs - least
	square := max(p.square-least*(2*p.abs-least), mean*mean)
	return float64(k.K)*least + roundoff.LeastSum(k.K, mean, square, k.eachOutput(f))
}

// fromDistribution returns the Value of a bound on the error itself that
// follows from the distribution of the data, given the failures of the largest
// factors and of the error.
func (k Problem) fromDistribution(f roundoff.Failure, bound func(tails, each roundoff.Failure) float64) Value {
	account := f.Account(sizeShares)
	return k.overSizes(bound(account.Spend("tails"), account.Spend("error")), nan, account.Spend("sizes"))
}

// overSizes returns the Value of a bound on the error itself: relative to
// Σ|xy|, of which none is less than [Problem.leastSize] but for a failure of
// e^f.
func (k Problem) overSizes(absolute, lambda float64, f roundoff.Failure) Value {
	if absolute == 0 || math.IsNaN(absolute) {
		return Value{absolute, absolute, lambda}
	}
	return Value{absolute / k.leastSize(f), absolute, lambda}
}

// chains returns the sum over the chains of an output of what bounds the error
// of one of so many products. All chains but the last have the same length.
func (k Problem) chains(of func(length int) float64) float64 {
	n, parts := k.Length(), k.parts()
	if parts == 1 {
		return of(n)
	}
	last := k.K - (parts-1)*n
	e := of(n)
	if last == n {
		return float64(parts) * e
	}
	return float64(parts-1)*e + of(last)
}
