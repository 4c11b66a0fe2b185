package bound

import (
	"maps"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// sizeShares are the shares of the probability of failure of a bound that
// follows from the distribution of the data.
var sizeShares = map[string]float64{
	"error": 7. / 8,
	"sizes": 1. / 16, // that Σ|xy| is less than its lower bound
	"tails": 1. / 16, // that a factor without a largest value exceeds its bound
}

// leastSize returns a lower bound of Σ|xy| that all outputs together violate
// with probability at most e^f. It is [roundoff.LeastSum] of |xy| - min|xy|,
// plus K min|xy|. It is 0 where so few products may all be 0.
func (k Problem) leastSize(f roundoff.Failure) float64 {
	p := k.products()
	least := p.least()
	if !(least < p.abs) { // all |xy| are about the same
		return float64(k.K) * least
	}
	mean := p.abs - least
	square := max(p.square-least*(2*p.abs-least), mean*mean)
	return float64(k.K)*least + roundoff.LeastSum(k.K, mean, square, k.eachOutput(f))
}

// fromDistribution returns the Value of a bound on the error itself that
// follows from the distribution of the data, where bound(tails, each) is that
// bound, given the probabilities of failure for the largest factors and for the
// error.
func (k Problem) fromDistribution(f roundoff.Failure, bound func(tails, each roundoff.Failure) float64) Value {
	account := f.Account(sizeShares)
	return k.overSizes(bound(account.Spend("tails"), account.Spend("error")), nan, account.Spend("sizes"))
}

// overSizes returns the Value of a bound on the error itself. Its constant is
// the bound divided by [Problem.leastSize], a lower bound of Σ|xy| that fails
// with probability at most e^f.
func (k Problem) overSizes(absolute, lambda float64, f roundoff.Failure) Value {
	if absolute == 0 || math.IsNaN(absolute) {
		return Value{Constant: absolute, Absolute: absolute, Lambda: lambda}
	}
	return Value{Constant: absolute / k.leastSize(f), Absolute: absolute, Lambda: lambda}
}

// chains returns the bound on the error of an output as the sum of the bounds
// of its chains, where of(length) is the bound of one chain. Without a plan,
// all chains but the last have the same length.
func (k Problem) chains(of func(length int) float64) float64 {
	if k.planned != nil {
		e := 0.0
		chains := k.shape().chains
		for _, length := range slices.Backward(slices.Sorted(maps.Keys(chains))) {
			e += float64(chains[length]) * of(length)
		}
		return e
	}
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
