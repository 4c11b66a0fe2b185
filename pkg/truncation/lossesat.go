package truncation

import (
	"math"
	"sync"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// LossBound says of the sum of what products lose, ΣY, given what is known of
// them, that its mean is within Error and Slack of Mean, and that the logarithm
// of its moment generating function about its mean is at most that of Bennett's
// inequality: log E e^(θ(ΣY-EΣY)) <= V (e^(θc)-1-θc)/c² for every θ > 0, and
// the same for -ΣY, V = Variance and c = Largest, as [Cumulant.Add] takes them.
type LossBound struct {
	Mean     float64
	Error    float64 // has a sign: of sums of one kind, aligned to the same E, Errors add up, and may cancel
	Slack    float64 // never negative: adds up whatever the kinds
	Variance float64
	Largest  float64
}

// LossesAt bounds what products lose that are aligned to one exponent E. It may
// be used by several goroutines.
//
// Where the distribution is an estimate, from a sample of each factor, each
// bound holds but for a probability of e^f for each cell of the distribution
// that it needs: products of exponent e <= E, those of e < E, and the share ρ
// of those of e = E among those of e <= E. Each cell is one event, however
// often it is asked for. [LossesAt.Block] needs these three, [LossesAt.Signed]
// the same of either sign, and [LossesAt.Term] a cell for each exponent and
// sign.
type LossesAt struct {
	losses *Losses
	E      int
	grid   float64
	sides  float64 // log 1/ζ of one of the events of a cell; 0 if the distribution is taken as it is
	kinds  [kinds]struct {
		once sync.Once
		kindLosses
	}
}

type lossesKind struct {
	E int
	f roundoff.Failure
}

// At returns what products lose that are aligned to E, each cell of an
// estimated distribution failing with at most e^f; f = 0 takes the estimate for
// the distribution, and promises nothing. It panics if f > 0 or NaN.
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

// lossEvents is how many events pay for one cell: two sides of its mean and one
// of the spread that goes into these, and one each for its mean square.
const lossEvents = 5

// Block returns the distribution of ΣY over L products aligned to E: the
// exponent of the running sum, no product having a greater one, or set, the
// greatest of the products itself.
//
// In the first case the products are independent, of the distribution of p
// given e <= E. In the second N >= 1 of them, which lose nothing, have the
// exponent E, the others are independent, of the distribution given e < E, and
// with ρ = P(e = E | e <= E) and m = E(Y | e < E)
//
//	E N = Lρ/(1-(1-ρ)^L),  E ΣY = (L - E N) m,  V = (L-1) Var(Y | e < E) + m² min(Lρ, (1-ρ) E N).
//
// It panics if L < 1.
//
// Source: derived here, docs/truncation.md. Nothing is left out of the
// dependence between products and E.
func (a *LossesAt) Block(L int, set bool) LossBound {
	check.Count("L", L)
	n, dist := float64(L), a.losses.Products
	k := a.of(whole)
	c := k.upto
	if set {
		c = k.below
	}
	b := LossBound{Largest: 1}
	if dist.sign == 0 && !dist.symmetric { // Y - m <= g + |m|
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

// Signed returns the distribution of ΣY over so many positive and negative
// products aligned to E, given their signs, as [LossesAt.Block] does without
// them. ProductDistribution of either sign have a distribution of their own,
// but where the distribution is symmetric.
//
// If a product has set E, of each sign s there are N_s of that exponent, N₊+N₋
// >= 1, and with Q = (1-ρ₊)^n₊ (1-ρ₋)^n₋ and h = E(|Y| | e < E)
//
//	E N_s = n_s ρ_s/(1-Q),  E ΣY = Σ s (n_s - E N_s) h_s,
//	V = Σ n_s Var_s(|Y| | e < E) - min_s Var_s + Σ h_s² (1-ρ_s) E N_s.
//
// It panics if a number is negative or both are 0.
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
	least := math.Inf(1) // variance of a product
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

// signedAlike is Signed for sizes that have the same distribution for either
// sign, in units of the grid.
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

// Term returns the distribution of Y of one product of exponent e and of a
// sign, aligned to E: 0 where e >= E.
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

// top returns what no product of exponent e loses, in units of the grid.
func (a *LossesAt) top(e int) float64 { return math.Ldexp(1, min(0, e+2-a.E+a.losses.F)) }

// scaled returns b, which is in units of the grid.
func (a *LossesAt) scaled(b LossBound) LossBound {
	g := a.grid
	return LossBound{b.Mean * g, b.Error * g, b.Slack * g, b.Variance * (g * g), b.Largest * g}
}

// meanOfMost returns E(N | N >= 1) for a binomial N of L trials of probability
// ρ.
func meanOfMost(L, ρ float64) float64 { return meanOfEither(L, ρ, 0, 0) }

// meanOfEither returns E(N | N+M >= 1) for independent binomial N, of n trials
// of probability ρ, and M, of m trials of probability π. It grows with ρ and
// falls with π. Where both are 0 it is the limit of both going there alike.
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
