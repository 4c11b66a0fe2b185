package truncation

import (
	"math"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Sum is a chain of truncated sums of independent products of one
// distribution, before anything is computed. Its error is bounded for data of
// that distribution: docs/truncation.md has the proof.
//
// It takes nothing for granted but that the products are independent, and of
// that distribution. What is estimated of the distribution is paid for. With
// Nearest it also takes the low bits of the kept sum of a block as independent
// of its exponent and of what is cut off: see [Losses.Rounding].
type Sum struct {
	Accumulator
	Losses *Losses // of the products, with the F of the alignment

	// LogMoment returns the larger of log E e^(x(p-μ)) and log E e^(-x(p-μ)) for x
	// > 0, or more; +Inf where there is none.
	LogMoment func(x float64) float64

	// Largest is what no product exceeds in size, finite, nor the power of two that
	// any of them is aligned by: that of a subnormal factor is the least normal
	// number.
	Largest float64

	// LeastMean and MostMean are what |E p| is between, if it is known beforehand:
	// both 0 is unknown, and the mean that of Losses.
	LeastMean, MostMean float64
}

// sumShares are the parts of the failure that pay for the size of the exact
// sums, for what is lost, and for what a sample leaves open of the distribution
// of the products.
var sumShares = map[string]float64{
	"exact sums": 1. / 4,
	"losses":     5. / 8,
	"mean":       1. / 32, // of the products
	"exponents":  1. / 32, // P(e <= E)
	"moments":    1. / 32, // of what products lose
	"characters": 1. / 32, // of what they keep
}

// ErrorBound returns what |ŝ - s| of so many sums of K products each does not
// exceed, with probability at least 1 - e^f for all together, as long as no
// product exceeds Largest: the probability that one does is the caller's to
// pay. It panics if K < 1, sums < 1, a field of the truncation is out of range,
// Losses is of another F, Largest is not finite, or unless -Inf < f < 0.
//
// Source: derived here; Ville's inequality for the supermartingales.
func (t Sum) ErrorBound(K int, sums float64, f roundoff.Failure) float64 {
	check.Count("K", K)
	t.Step()
	if t.Losses.F != t.FractionBits {
		panic("truncation: Losses.F = " + strconv.Itoa(t.Losses.F) + ", want FractionBits = " + strconv.Itoa(t.FractionBits))
	}
	if !(t.Largest >= 0) || math.IsInf(t.Largest, 1) {
		panic("truncation: Largest = " + strconv.FormatFloat(t.Largest, 'g', -1, 64) + ", want it finite and not negative")
	}
	account := f.Account(sumShares)
	c := newChain(t, K, account)
	c.sums = newExactSums(K, t.Terms, c.mean, t.Largest, t.Losses.Products.deviation(t.Largest), t.LogMoment,
		account.Spend("exact sums").Split(sums))
	each := account.Spend("losses").Split(sums)

	// Every grid of θ gives a bound; the second and the third are around the best
	// of the one before. None of them is random, so that the least one fails no
	// oftener than each.
	best, θ := math.Inf(1), c.firstScale(each)
	for _, ratio := range []float64{4, 2, math.Sqrt2} {
		e, at := c.bound(geometric(θ, ratio, 8), each)
		best, θ = min(best, e), at
	}
	return best
}

// geometric returns θ ratio^k, -n <= k <= n.
func geometric(θ, ratio float64, n int) []float64 {
	grid := make([]float64, 0, 2*n+1)
	for k := -n; k <= n; k++ {
		grid = append(grid, θ*math.Pow(ratio, float64(k)))
	}
	return grid
}
