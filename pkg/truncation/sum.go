package truncation

import (
	"math"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Sum is a chain of truncated sums of independent products of one
// distribution. Its error is bounded before anything is computed, for data of
// that distribution; docs/truncation.md has the proof.
//
// The only assumptions are that the products are independent and of that
// distribution. The uncertainty of a distribution that is estimated from a
// sample is part of the failure. With Nearest it is also assumed that the low
// bits of the aligned sum of a block are independent of its exponent and of
// what alignment cuts off: see [Losses.Rounding].
type Sum struct {
	Accumulator
	Losses *Losses // of the products, with F = FractionBits

	// LogMoment returns an upper bound on the larger of log E e^(x(p-μ)) and log E
	// e^(-x(p-μ)) for x > 0; +Inf where there is none.
	LogMoment func(x float64) float64

	// Largest is finite. It bounds the size of every product, and the power of two
	// by which any of them is aligned, for which a subnormal factor counts as the
	// least normal number.
	Largest float64

	// LeastMean and MostMean are bounds on |E p| that are known beforehand. If both
	// are 0, nothing is known, and the mean is that of Losses.
	LeastMean, MostMean float64
}

// sumShares are the shares of the failure for the events that an error bound
// needs: that the exact sums, the losses, and the estimates from a sample of
// the distribution of the products are within their bounds.
var sumShares = map[string]float64{
	"exact sums": 1. / 4,
	"losses":     5. / 8,
	"mean":       1. / 32, // mean of the products
	"exponents":  1. / 32, // P(e > E)
	"moments":    1. / 32, // of what products lose: E Y and E Y²
	"characters": 1. / 32, // of what alignment keeps of products
}

// ErrorBound returns a bound on |ŝ - s| of the given number of sums of K
// products each, which holds for all of them together with probability at least
// 1 - e^f, as long as no product exceeds Largest. The caller must account for
// the probability that a product does. ErrorBound panics if K < 1, sums < 1,
// Terms < 1, Unit is outside (0, 1), Losses.F differs from FractionBits,
// Largest is negative or not finite, or unless -Inf < f < 0.
//
// Source: derived here; Ville's inequality for the supermartingales.
func (t Sum) ErrorBound(K int, sums float64, f roundoff.Failure) float64 {
	bound, _ := t.ErrorAndDrift(K, sums, f)
	return bound
}

// ErrorAndDrift returns what [Sum.ErrorBound] returns, and as a part of it a
// bound on the mean of the error, the drift of its random walk; the rest is
// room for what is random. The drift is 0 for products of a symmetric
// distribution, of which a machine makes errors of a symmetric distribution. It
// panics as ErrorBound does.
//
// Source: derived here; Jensen's inequality for the exponentials of the
// supermartingales.
func (t Sum) ErrorAndDrift(K int, sums float64, f roundoff.Failure) (bound, drift float64) {
	c, each := t.prepare(K, sums, f)
	bound, drift = c.leastBound(each)
	if t.Losses.Products.symmetric {
		drift = 0
	}
	return bound, drift
}

// prepare returns the chain with the bounds of its exact sums, and the failure
// of the loss of each of the sums. It panics as [Sum.ErrorBound] does.
func (t Sum) prepare(K int, sums float64, f roundoff.Failure) (c *chain, each roundoff.Failure) {
	check.Count("K", K)
	t.Step()
	if t.Losses.F != t.FractionBits {
		panic("truncation: Losses.F = " + strconv.Itoa(t.Losses.F) + ", want FractionBits = " + strconv.Itoa(t.FractionBits))
	}
	if !(t.Largest >= 0) || math.IsInf(t.Largest, 1) {
		panic("truncation: Largest = " + strconv.FormatFloat(t.Largest, 'g', -1, 64) + ", want it finite and not negative")
	}
	account := f.Account(sumShares)
	c = newChain(t, K, account)
	c.sums = newExactSums(K, t.Terms, c.mean, t.Largest, t.Losses.Products.deviation(t.Largest), t.LogMoment,
		account.Spend("exact sums").Split(sums))
	return c, account.Spend("losses").Split(sums)
}

// leastBound returns the least bound on the error of three grids of θ, and on
// its mean. Every grid gives a bound; the second and the third are centred at
// the best θ of the one before. The grids are not random, so that the least of
// the three bounds fails with no greater probability than each.
func (c *chain) leastBound(each roundoff.Failure) (bound, drift float64) {
	bound, drift = math.Inf(1), math.Inf(1)
	θ := c.firstScale(each)
	for _, ratio := range []float64{4, 2, math.Sqrt2} {
		e, at, d := c.bound(geometric(θ, ratio, 8), each)
		bound, drift, θ = min(bound, e), min(drift, d), at
	}
	return bound, drift
}

// geometric returns θ ratio^k, -n <= k <= n.
func geometric(θ, ratio float64, n int) []float64 {
	grid := make([]float64, 0, 2*n+1)
	for k := -n; k <= n; k++ {
		grid = append(grid, θ*math.Pow(ratio, float64(k)))
	}
	return grid
}
