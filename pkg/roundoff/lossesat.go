package roundoff

import (
	"math"
	"slices"
	"sync"
)

// LossBound says of the sum of what products lose, ΣY, given what is known of them, that its mean is
// within Error and Slack of Mean, and that the logarithm of its moment generating function about
// its mean is at most that of Bennett's inequality: log E e^(θ(ΣY-EΣY)) <= V (e^(θc)-1-θc)/c² for
// every θ > 0, and the same for -ΣY, V = Variance and c = Largest, as [Cumulant.Add] takes them.
type LossBound struct {
	Mean     float64
	Error    float64 // has a sign: of sums of one kind, aligned to the same E, Errors add up, and may cancel
	Slack    float64 // never negative: adds up whatever the kinds
	Variance float64
	Largest  float64
}

// LossesAt bounds what products lose that are aligned to one exponent E. It may be used by several
// goroutines.
//
// Where the law is an estimate, from a sample of each factor, each bound holds but for a probability
// of e^f for each cell of the law that it needs: products of exponent e <= E, those of e < E, and
// the share ρ of those of e = E among those of e <= E. Each cell is one event, however often it is
// asked for. [LossesAt.Block] needs these three, [LossesAt.Signed] the same of either sign, and
// [LossesAt.Term] a cell for each exponent and sign.
type LossesAt struct {
	losses *Losses
	E      int
	grid   float64
	sides  float64 // log 1/ζ of one of the events of a cell; 0 if the law is taken as it is
	kinds  [kinds]struct {
		once sync.Once
		kindLosses
	}
}

type lossesKind struct {
	E int
	f Failure
}

// At returns what products lose that are aligned to E, each cell of an estimated law failing with at
// most e^f; f = 0 takes the estimate for the law, and promises nothing. It panics if f > 0 or NaN.
func (l *Losses) At(E int, f Failure) *LossesAt {
	if !(f <= 0) {
		panicFloat("failure", float64(f), "failure <= 0, a logarithm")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := lossesKind{E, f}
	if a, ok := l.estimates[k]; ok {
		return a
	}
	a := &LossesAt{losses: l, E: E, grid: math.Ldexp(1, E-l.F)}
	if f < 0 && !math.IsInf(l.Law.Samples, 1) {
		a.sides = math.Log(lossEvents) - float64(f)
	}
	l.estimates[k] = a
	return a
}

// lossEvents is how many events pay for one cell: two sides of its mean and one of the spread that
// goes into these, and one each for its mean square.
const lossEvents = 5

// Block returns the law of ΣY over L products aligned to E: the exponent of the running sum, no product
// having a greater one, or set, the greatest of the products itself.
//
// In the first case the products are independent, of the law of p given e <= E. In the second N >= 1
// of them, which lose nothing, have the exponent E, the others are independent, of the law given e
// < E, and with ρ = P(e = E | e <= E) and m = E(Y | e < E)
//
//	E N = Lρ/(1-(1-ρ)^L),  E ΣY = (L - E N) m,  V = (L-1) Var(Y | e < E) + m² min(Lρ, (1-ρ) E N).
//
// It panics if L < 1.
//
// Source: derived here, docs/truncation.md. Nothing is left out of the dependence between products
// and E.
func (a *LossesAt) Block(L int, set bool) LossBound {
	checkCount("L", L)
	n, law := float64(L), a.losses.Law
	k := a.of(whole)
	c := k.upto
	if set {
		c = k.below
	}
	b := LossBound{Largest: 1}
	if law.sign == 0 && !law.symmetric { // Y - m <= g + |m|
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
	if law.sign < 0 {
		b.Mean = -b.Mean
	}
	return a.scaled(b)
}

// Signed returns the law of ΣY over so many positive and negative products aligned to E, given their
// signs, as [LossesAt.Block] does without them. Products of either sign have a law of their own, but
// where the law is symmetric.
//
// If a product has set E, of each sign s there are N_s of that exponent, N₊+N₋ >= 1, and with Q =
// (1-ρ₊)^n₊ (1-ρ₋)^n₋ and h = E(|Y| | e < E)
//
//	E N_s = n_s ρ_s/(1-Q),  E ΣY = Σ s (n_s - E N_s) h_s,
//	V = Σ n_s Var_s(|Y| | e < E) - min_s Var_s + Σ h_s² (1-ρ_s) E N_s.
//
// It panics if a number is negative or both are 0.
//
// Source: derived here, docs/truncation.md.
func (a *LossesAt) Signed(positive, negative int, set bool) LossBound {
	checkConstant("positive", float64(positive))
	checkConstant("negative", float64(negative))
	checkCount("products", positive+negative)
	if a.losses.Law.symmetric {
		return a.scaled(a.signedAlike(float64(positive), float64(negative), set))
	}
	b := LossBound{Largest: 1}
	n := [2]float64{float64(positive), float64(negative)}
	var of [2]kindLosses
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

// signedAlike is Signed for sizes that have the same law for either sign, in units of the grid.
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

// Term returns the law of Y of one product of exponent e and of a sign, aligned to E: 0 where e >= E.
func (a *LossesAt) Term(e int, negative bool) LossBound {
	if e >= a.E {
		return LossBound{}
	}
	k, s := positives, 1.
	if negative {
		k, s = negatives, -1
	}
	symmetric := a.losses.Law.symmetric
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

// meanOfMost returns E(N | N >= 1) for a binomial N of L trials of probability ρ.
func meanOfMost(L, ρ float64) float64 { return meanOfEither(L, ρ, 0, 0) }

// meanOfEither returns E(N | N+M >= 1) for independent binomial N, of n trials of probability ρ, and
// M, of m trials of probability π. It grows with ρ and falls with π. Where both are 0 it is the limit
// of both going there alike.
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

// kind is which products a law is of, and how their losses count.
type kind int

const (
	whole     kind = iota // all, with their signs
	nonzero               // by size
	positives             // by size
	negatives             // by size
	kinds
)

// cellLoss is what one product of a cell loses, in units of the grid: its mean is within off of mean,
// its variance is at most variance.
type cellLoss struct{ mean, off, variance float64 }

// least and most return where the mean of a number in [0, 1] lies.
func (c cellLoss) least() float64 { return max(0, c.mean-c.off) }
func (c cellLoss) most() float64  { return min(1, c.mean+c.off) }

// kindLosses is what products of one kind lose that are aligned to one exponent E.
type kindLosses struct {
	upto  cellLoss // e <= E, those of e = E losing nothing
	below cellLoss // e < E
	own   cellLoss // its mean is ρ
	first int
	terms []cellLoss // of exponent first, first+1 ...
}

// of returns the losses of a kind.
func (a *LossesAt) of(k kind) kindLosses {
	z := &a.kinds[k]
	z.once.Do(func() {
		t := a.losses.tally(a.E, k)
		z.upto, z.below = a.cell(k, &t.upto, 1), a.cell(k, &t.below, 1)
		own := &t.own
		z.own.mean, z.own.off, _ = a.mean(own.p, own.s, own.s, own.pp, own.ps, own.ss, 0, 1)
		z.first = t.first
		if k != whole {
			z.terms = make([]cellLoss, len(t.cells))
			for i := range t.cells {
				z.terms[i] = a.cell(k, &t.cells[i], a.top(t.first+i))
			}
		}
	})
	return z.kindLosses
}

// term returns the losses of products of exponent e.
func (z kindLosses) term(a *LossesAt, e int) cellLoss {
	if i := e - z.first; 0 <= i && i < len(z.terms) {
		return z.terms[i]
	}
	half := a.top(e) / 2
	return cellLoss{half, half, half * half}
}

// cell returns what a product loses that is of a tally, in units of the grid, at most top. Where
// nothing is known the mean may be anywhere in the range, and the variance is that of its ends.
func (a *LossesAt) cell(k kind, t *tally, top float64) cellLoss {
	law := a.losses.Law
	c, lo, square, variance := law.centre(k), 0., 0.25, top*top/4
	if c == 0 {
		lo, square, variance = -1, 1, 1
	}
	m, off, _ := a.mean(t.p, t.s, t.q+2*c*t.s-c*c*t.p, t.pp, t.ps, t.ss, lo, top)
	if k == whole && law.symmetric {
		m, off = 0, 0
	}
	if q, qOff, ok := a.mean(t.p, t.q, t.f, t.pp, t.pq, t.qq, 0, square); ok {
		d := max(0, math.Abs(m-c)-off)
		variance = min(variance, max(0, q+qOff-d*d))
	}
	return cellLoss{m, off, variance}
}

// centre returns about what squares of losses are tallied.
func (p *Products) centre(k kind) float64 {
	if k == whole && p.sign == 0 {
		return 0
	}
	return 0.5
}

// mean returns the mean of a function f of a product given that it is in a cell, off which the truth
// may be, and whether anything is known; else the middle of [lo, hi], in which f lies. It takes P,
// the sum of f and that of f² over the cell, and over groups of products the sums of P², Pf and f².
//
// With n = Samples, a = √(2l/n) and T the mean over a group of f - Ef, or 0 for what is not in the
// cell, of size at most c and of mean 0, but for e^-l for either side and for s² = E T²,
//
//	|mean of T| <= as + a²c/6,  s <= ac/2 + √(mean of T² + a²c²/4).
//
// If the truth is x from the estimate m, the mean of T is Px in size, that of T² is at most A + 2Bx +
// Cx², A about m, and c at most x more than about m. So x <= G(x), of a convex G, and if it grows by
// less than 1 in the end, x is at most its fixed point.
//
// Source: Bernstein's inequality, and for the mean of T² Maurer 2003; for the mean over all
// pairs of two samples Hoeffding 1963, Section 5. That of Maurer & Pontil 2009, Theorem 4, is alike.
func (a *LossesAt) mean(P, sum, square, pp, pf, ff, lo, hi float64) (mean, off float64, known bool) {
	middle, half := (lo+hi)/2, (hi-lo)/2
	if !(P > 0) {
		return middle, half, false
	}
	m := min(max(lo, sum/P), hi)
	if a.sides == 0 {
		return m, 0, true
	}
	p := a.losses.Law
	A, B, C := ff-2*m*pf+m*m*pp, pf-m*pp, pp
	if r := max(1, p.Partners); p.starts != nil { // of all pairs, of which groups of r are independent
		A = (square-2*m*sum+m*m*P)/r + (1-1/r)*A
		B = (sum-m*P)/r + (1-1/r)*B
		C = P/r + (1-1/r)*C
	}
	A, B = max(0, A), math.Abs(B)
	α := math.Sqrt(2 * a.sides / p.Samples)
	if α*(α/2+math.Sqrt(C+α*α/4))+α*α/6 >= P {
		return middle, half, false
	}
	c := max(m-lo, hi-m)
	for x := 0.; x < half; {
		h := α * (c + x) / 2
		next := (α*(h+math.Sqrt(A+2*B*x+C*x*x+h*h)) + α*h/3) / P
		if next <= x*(1+1e-9) {
			return m, next * (1 + 1e-6), true
		}
		x = next
	}
	return middle, half, false
}

// A tally adds up what products of a cell lose, y in units of the grid, and its square about the
// centre.
type tally struct {
	group                      // of all
	pp, ps, ss, pq, qq float64 // squares and products of the means over groups
}

// group is the sum of the weights p, of y, of (y-c)² and of (y-c)⁴ over products.
type group struct{ p, s, q, f float64 }

func (g *group) plus(h group) {
	g.p += h.p
	g.s += h.s
	g.q += h.q
	g.f += h.f
}

// add adds a group of products whose weights, in the cell and not, add up to w.
func (t *tally) add(g group, w float64) {
	t.plus(g)
	t.pp += g.p * g.p / w
	t.ps += g.p * g.s / w
	t.ss += g.s * g.s / w
	t.pq += g.p * g.q / w
	t.qq += g.q * g.q / w
}

// lossTallies are those of one kind, aligned to one exponent E.
type lossTallies struct {
	first            int // the exponent of cells[0]
	cells            []tally
	below, upto, own tally
}

type tallyKind struct {
	E int
	kind
}

// tally returns the tallies of a kind at E, and keeps them.
func (l *Losses) tally(E int, k kind) *lossTallies {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := tallyKind{E, k}
	t, ok := l.tallies[key]
	if !ok {
		t = l.Law.tally(E, l.F, k)
		l.tallies[key] = t
	}
	return t
}

// tally goes through the products group by group. A product that is zero is less than any other.
func (p *Products) tally(E, F int, k kind) *lossTallies {
	first, scale, c := slices.Min(p.exp), math.Ldexp(1, F-E), p.centre(k)
	t := &lossTallies{first: first, cells: make([]tally, slices.Max(p.exp)-first+1)}
	sums := make([]group, len(t.cells))
	var used []int
	for lo, hi := range p.groups {
		var below group
		own, w := 0., 0.
		for i := lo; i < hi; i++ {
			v, weight := p.value[i], p.weight[i]
			w += weight
			switch e := p.exp[i]; {
			case v == 0 && k != whole, v < 0 && k == positives, v > 0 && k == negatives, e > E && v != 0:
			case v == 0:
				below.plus(lossGroup(0, c, weight))
			case e == E:
				own += weight
			default:
				y := v * scale
				y -= math.Trunc(y)
				if c != 0 {
					y = math.Abs(y)
				}
				s := &sums[e-first]
				if s.p == 0 {
					used = append(used, e-first)
				}
				s.plus(lossGroup(y, c, weight))
			}
		}
		for _, j := range used {
			t.cells[j].add(sums[j], w)
			below.plus(sums[j])
			sums[j] = group{}
		}
		used = used[:0]
		t.below.add(below, w)
		t.own.add(group{p: below.p + own, s: own}, w)
		below.plus(lossGroup(0, c, own))
		t.upto.add(below, w)
	}
	return t
}

// lossGroup is that of one product.
func lossGroup(y, c, weight float64) group {
	d := (y - c) * (y - c)
	return group{weight, weight * y, weight * d, weight * d * d}
}

// groups calls f with the first product of every group, and the one after its last.
func (p *Products) groups(f func(lo, hi int) bool) {
	if p.starts != nil {
		for i, lo := range p.starts {
			hi := len(p.value)
			if i+1 < len(p.starts) {
				hi = p.starts[i+1]
			}
			if lo < hi && !f(lo, hi) {
				return
			}
		}
		return
	}
	n := max(1, int(p.Partners))
	for lo := 0; lo < len(p.value); lo += n {
		if !f(lo, min(lo+n, len(p.value))) {
			return
		}
	}
}
