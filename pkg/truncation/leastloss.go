package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// lossShares are the shares of the failure for the events that a lower bound of
// a loss needs: those of [Sum.ErrorBound], that the losses of products are not
// below their bound, and that the estimates of their moments are right.
var lossShares = map[string]float64{"error": 1. / 2, "losses": 1. / 4, "moments": 1. / 4}

// LeastLoss returns a lower bound on |s| - |ŝ| of the given number of sums of K
// products each, all of one sign, which holds for all of them together with
// probability at least 1 - e^f, as long as no product exceeds Largest. It is 0
// where sums are rounded to nearest, and for a distribution of both signs.
//
// Truncation makes such a sum smaller in every step, by no less than what it
// cuts off the products. Before block j the running sum is at least jLμ - t_j -
// e in size, with the t_j of the exact sums and the e of [Sum.ErrorBound]. With
// E_j the exponent of that, a product loses at least Y = |p| mod 2^(E_j-F) if
// its exponent is less than E_j: more if it is aligned to a greater one. These
// Y are independent, and as e^-x <= 1 - x + x²/2 for x >= 0,
//
//	ΣY >= ΣE Y - √(2l ΣE Y²),  l = log 1/ζ.
//
// It panics as ErrorBound does.
//
// Source: derived here, docs/truncation.md.
func (t Sum) LeastLoss(K int, sums float64, f roundoff.Failure) float64 {
	account := f.Account(lossShares)
	c, each := t.prepare(K, sums, account.Spend("error"))
	if t.Nearest || !t.Losses.Products.oneSigned() {
		return 0
	}
	e, _ := c.leastBound(each)
	if math.IsInf(e, 1) {
		return 0
	}
	moments := account.Spend("moments").Split(2 * c.events)
	mean, square := 0.0, 0.0
	for n := 0; n < K; n += t.Terms {
		before := float64(n)
		lo := before*c.leastMean - c.sums.apart(before) - e
		if !(lo > 0) || ilog(lo) < c.first {
			continue
		}
		m, s := c.certainLoss(ilog(lo), moments)
		terms := float64(min(t.Terms, K-n))
		mean, square = mean+terms*m, square+terms*s
	}
	return max(0, mean-math.Sqrt(2*-float64(account.Spend("losses").Split(sums))*square))
}

// certainLoss returns a lower bound of |E(Y; e < E)| and an upper bound of
// E(Y²; e < E) for products of one sign. Each fails with probability at most
// e^f if the distribution is estimated from a sample: of the second Hoeffding's
// inequality, of the first that of Bernstein.
func (c *chain) certainLoss(E int, f roundoff.Failure) (mean, square float64) {
	below, g := c.Losses.below(E), math.Ldexp(1, E-c.FractionBits)
	mean, square = math.Abs(below.mean), below.square
	if n := c.Losses.Products.Samples; !math.IsInf(n, 1) {
		square = g * g * chernoff(min(1, square/(g*g)), -float64(f)/n)
		mean = max(0, mean-roundoff.Bernstein(n*square, g, f)/n)
	}
	return mean, square
}

// oneSigned reports whether no product of the list is negative, or none
// positive.
func (p *ProductDistribution) oneSigned() bool {
	positive, negative := false, false
	for _, v := range p.value {
		positive, negative = positive || v > 0, negative || v < 0
	}
	return !p.symmetric && !(positive && negative)
}
