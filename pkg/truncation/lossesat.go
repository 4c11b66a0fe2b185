package truncation

import (
	"math"
	"sync"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// LossBound bounds the sum of what products lose, ΣY, given what is known of
// these products. The mean of ΣY is within |Error| + Slack of Mean. The
// logarithm of its moment generating function about its mean is at most that of
// Bennett's inequality: log E e^(θ(ΣY-EΣY)) <= V (e^(θc)-1-θc)/c² for every θ >
// 0, and the same for -ΣY, with V = Variance and c = Largest, the arguments of
// [Cumulant.Add].
type LossBound struct {
	Mean     float64
	Error    float64 // with sign: over sums of one kind, aligned to one E, Errors add up and may cancel
	Slack    float64 // never negative: adds up over sums of all kinds
	Variance float64
	Largest  float64
}

// LossesAt bounds what products lose that are aligned to one exponent E. It may
// be used by several goroutines.
//
// If the distribution is estimated from a sample of each factor, a bound
// depends on one or more cells of the distribution, and each cell fails with
// probability at most e^f. The cells are the products of exponent e <= E, those
// of e < E, and the share ρ of those of e = E among those of e <= E. A cell is
// one event, however often it is used. [LossesAt.Block] needs these three
// cells, [LossesAt.Signed] the same three for each sign, [LossesAt.Term] one
// cell for each exponent and sign, and [LossesAt.LogMoment] the cell of ρ and
// two for each θ.
type LossesAt struct {
	losses *Losses
	E      int
	grid   float64
	sides  float64 // log 1/ζ of each event of a cell; 0 if the distribution counts as exact
	kinds  [kinds]struct {
		once sync.Once
		kindLosses
	}
	mu      sync.Mutex
	moments map[float64]lossMoment // by θ
}

type lossesKind struct {
	E int
	f roundoff.Failure
}

// At returns bounds on what products lose that are aligned to E. Each cell of
// an estimated distribution fails with probability at most e^f. With f = 0 the
// estimate counts as exact, and no confidence is claimed. At panics if f > 0 or
// NaN.
func (l *Losses) At(E int, f roundoff.Failure) *LossesAt {
	check.Number("failure", float64(f), f <= 0, "failure <= 0, a logarithm")
	l.mu.Lock()
	defer l.mu.Unlock()
	k := lossesKind{E, f}
	if a, ok := l.estimates[k]; ok {
		return a
	}
	a := &LossesAt{losses: l, E: E, grid: math.Ldexp(1, E-l.F)}
	if f < 0 && !math.IsInf(l.Products.Samples, 1) {
		a.sides = math.Log(lossEvents) - float64(f)
	}
	l.estimates[k] = a
	return a
}

// lossEvents is the number of events in the failure of one cell: the two sides
// of its mean and the estimate of the variance in their bounds, and the same
// for one side of its mean square.
const lossEvents = 5

// Block returns a bound on ΣY over L products aligned to E. If set is false, E
// is the exponent of the running sum and no product has a greater one. If set
// is true, E is the greatest exponent of the products themselves.
//
// In the first case the products are independent, of the distribution of p
// given e <= E. In the second, N >= 1 of them have the exponent E and lose
// nothing. The others are independent, of the distribution given e < E. With ρ
// = P(e = E | e <= E) and m = E(Y | e < E)
//
//	E N = Lρ/(1-(1-ρ)^L),  E ΣY = (L - E N) m,  V = (L-1) Var(Y | e < E) + m² min(Lρ, (1-ρ) E N).
//
// Block panics if L < 1.
//
// Source: derived here, docs/truncation.md. The dependence between products and
// E is taken into account in full.
func (a *LossesAt) Block(L int, set bool) LossBound {
	check.Count("L", L)
	n, dist := float64(L), a.losses.Products
	k := a.of(whole)
	c := k.upto
	if set {
		c = k.below
	}
	b := LossBound{Largest: 1}
	if dist.sign == 0 && !dist.symmetric { // losses of both signs: |Y - m| <= g + |m|
		b.Largest += min(1, math.Abs(c.mean)+c.off)
	}
	if set {
		N, least, most := meanOfMost(n, k.own.mean), meanOfMost(n, k.own.least()), meanOfMost(n, k.own.most())
		m := math.Abs(c.mean) + c.off
		b.Mean, b.Error, b.Slack = (n-N)*c.mean, (n-least)*c.off, math.Abs(c.mean)*max(most-N, N-least)
		b.Variance = (n-1)*c.variance + m*m*min(n*k.own.most(), most*(1-k.own.least()))
	} else {
		b.Mean, b.Error, b.Variance = n*c.mean, n*c.off, n*c.variance
	}
	if dist.sign < 0 {
		b.Mean = -b.Mean
	}
	return a.scaled(b)
}

// Signed returns a bound on ΣY over the given numbers n₊ and n₋ of positive and
// negative products aligned to E, given their signs; set has the meaning that
// it has in [LossesAt.Block]. Positive and negative products have distributions
// of their own, unless the distribution is symmetric.
//
// If products have set E, then N_s of those of sign s have that exponent, N₊+N₋
// >= 1. With Q = (1-ρ₊)^n₊ (1-ρ₋)^n₋ and h_s = E_s(|Y| | e < E)
//
//	E N_s = n_s ρ_s/(1-Q),  E ΣY = Σ s (n_s - E N_s) h_s,
//	V = Σ n_s Var_s(|Y| | e < E) - min_s Var_s + Σ h_s² (1-ρ_s) E N_s.
//
// Signed panics if a number is negative or both are 0.
//
// Source: derived here, docs/truncation.md.
func (a *LossesAt) Signed(positive, negative int, set bool) LossBound {
	check.NotNegative("positive", float64(positive))
	check.NotNegative("negative", float64(negative))
	check.Count("products", positive+negative)
	if a.losses.Products.symmetric {
		return a.scaled(a.signedAlike(float64(positive), float64(negative), set))
	}
	b := LossBound{Largest: 1}
	n := [2]float64{float64(positive), float64(negative)}
	of := [2]*kindLosses{{}, {}}
	least := math.Inf(1) // variance of a product, over the signs
	for i, k := range []kind{positives, negatives} {
		if n[i] > 0 {
			of[i] = a.of(k)
			least = min(least, of[i].below.variance)
		}
	}
	for i, s := range []float64{1, -1} {
		c := of[i].upto
		switch {
		case n[i] == 0:
			continue
		case !set:
			b.Mean += s * n[i] * c.mean
			b.Slack += n[i] * c.off
			b.Variance += n[i] * c.variance
			continue
		}
		c, ρ, other := of[i].below, of[i].own, of[1-i].own
		N := meanOfEither(n[i], ρ.mean, n[1-i], other.mean)
		fewest := meanOfEither(n[i], ρ.least(), n[1-i], other.most())
		most := meanOfEither(n[i], ρ.most(), n[1-i], other.least())
		b.Mean += s * (n[i] - N) * c.mean
		b.Slack += (n[i]-fewest)*c.off + c.mean*max(most-N, N-fewest)
		own := most * (1 - ρ.least())
		if n[1-i] == 0 {
			own = min(own, n[i]*ρ.most())
		}
		b.Variance += n[i]*c.variance + (c.mean+c.off)*(c.mean+c.off)*own
	}
	if set {
		b.Variance -= least
	}
	return a.scaled(b)
}

// signedAlike is Signed for products whose sizes have the same distribution for
// either sign. Its result is in units of the grid.
func (a *LossesAt) signedAlike(positive, negative float64, set bool) LossBound {
	k, n, s := a.of(nonzero), positive+negative, positive-negative
	c := k.upto
	if !set {
		return LossBound{Mean: s * c.mean, Error: s * c.off, Variance: n * c.variance, Largest: 1}
	}
	c = k.below
	N, least, most := meanOfMost(n, k.own.mean), meanOfMost(n, k.own.least()), meanOfMost(n, k.own.most())
	own := most * (1 - k.own.least())
	if positive == 0 || negative == 0 {
		own = min(own, n*k.own.most())
	}
	h := c.mean + c.off
	return LossBound{
		Mean:     s * (1 - N/n) * c.mean,
		Error:    s * (1 - N/n) * c.off,
		Slack:    math.Abs(s) / n * max(most-N, N-least) * h,
		Variance: (n-1)*c.variance + h*h*own,
		Largest:  1,
	}
}

// Term returns a bound on Y of one product of exponent e and of the given sign,
// aligned to E. It is the zero LossBound where e >= E.
func (a *LossesAt) Term(e int, negative bool) LossBound {
	if e >= a.E {
		return LossBound{}
	}
	k, s := positives, 1.
	if negative {
		k, s = negatives, -1
	}
	symmetric := a.losses.Products.symmetric
	if symmetric {
		k = nonzero
	}
	c := a.of(k).term(a, e)
	b := LossBound{Mean: s * c.mean, Variance: c.variance, Largest: a.top(e)}
	if symmetric {
		b.Error = s * c.off
	} else {
		b.Slack = c.off
	}
	return a.scaled(b)
}

// top returns an upper bound on what a product of exponent e loses, in units of
// the grid.
func (a *LossesAt) top(e int) float64 { return math.Ldexp(1, min(0, e+2-a.E+a.losses.F)) }

// scaled converts b from units of the grid.
func (a *LossesAt) scaled(b LossBound) LossBound {
	g := a.grid
	return LossBound{b.Mean * g, b.Error * g, b.Slack * g, b.Variance * (g * g), b.Largest * g}
}

// meanOfMost returns E(N | N >= 1) for a binomial N of L trials of probability
// ρ.
func meanOfMost(L, ρ float64) float64 { return meanOfEither(L, ρ, 0, 0) }

// meanOfEither returns E(N | N+M >= 1) for independent binomial N, of n trials
// of probability ρ, and M, of m trials of probability π. It grows with ρ and
// falls with π. Where both are 0 it is the limit for ρ = π.
func meanOfEither(n, ρ, m, π float64) float64 {
	if ρ == 0 && (m == 0 || π == 0) {
		return n / (n + m)
	}
	none := n * math.Log1p(-ρ)
	if m > 0 {
		none += m * math.Log1p(-π)
	}
	return min(n, n*ρ/-math.Expm1(none))
}
