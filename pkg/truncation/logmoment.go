package truncation

import "math"

// LogMoment returns an upper bound of log E e^(θΣY), where ΣY is what L
// products lose that are aligned to E, and set has the meaning that it has in
// [LossesAt.Block]. θ may be negative. If set is false, it is L log E(e^(θY) |
// e <= E). If set is true, with m = E(e^(θY) | e < E) and b = (1-ρ)m, it is
//
//	log (((b+ρ)^L - b^L)/(1 - (1-ρ)^L)),
//
// because e^(θΣY) has the mean (b+ρ)^L over products of e <= E, of which b^L is
// from those without a product of e = E. Both are exact where the distribution
// is. Where it is estimated, every θ needs two cells, of e <= E and of e < E,
// and all share the one of ρ. LogMoment panics if L < 1, or θ is not finite.
//
// Source: derived here, docs/truncation.md.
func (a *LossesAt) LogMoment(θ float64, L int, set bool) float64 {
	check.Number("θ", θ, !math.IsNaN(θ-θ), "a finite number")
	check.Count("L", L)
	n, m := float64(L), a.moment(θ)
	if !set {
		return n * math.Log1p(m.upto)
	}
	// Given N, the mean is m^(L-N), and N grows with ρ.
	own := a.of(whole).own
	ρ := own.least()
	if m.below < 0 {
		ρ = own.most()
	}
	if ρ == 0 { // the limit: one product has set E
		return (n - 1) * math.Log1p(m.below)
	}
	// (1-ρ)m/(b+ρ) is 1 - ρ/(b+ρ).
	x := (1 - ρ) * m.below // b+ρ-1
	return n*math.Log1p(x) + logOneLess(n*math.Log1p(-ρ/(1+x))) - logOneLess(n*math.Log1p(-ρ))
}

// logOneLess returns log(1 - e^x) for x < 0.
func logOneLess(x float64) float64 { return math.Log(-math.Expm1(x)) }

// lossMoment contains upper bounds of the mean of e^(θY) - 1 over products of e
// <= E, and over those of e < E.
type lossMoment struct{ upto, below float64 }

// moment returns these bounds for θ, which is in units of 1, not of the grid.
// It computes them once.
func (a *LossesAt) moment(θ float64) lossMoment {
	p := a.losses.Products
	if p.symmetric {
		θ = math.Abs(θ)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.moments[θ]
	if !ok {
		lo, hi := p.momentRange(θ * a.grid)
		upto, below := a.losses.momentTallies(a.E, θ*a.grid)
		m = lossMoment{upto.most(a, lo, hi), below.most(a, lo, hi)}
		if a.moments == nil {
			a.moments = map[float64]lossMoment{}
		}
		a.moments[θ] = m
	}
	return m
}

// momentRange returns an interval that contains e^(θy) - 1 for every loss y of
// at most one unit; for a symmetric distribution cosh θy - 1.
func (p *ProductDistribution) momentRange(θ float64) (lo, hi float64) {
	switch {
	case p.symmetric:
		return 0, coshm1(θ)
	case p.sign != 0:
		end := math.Expm1(float64(p.sign) * θ)
		return min(0, end), max(0, end)
	}
	return math.Expm1(-math.Abs(θ)), math.Expm1(math.Abs(θ))
}

// coshm1 returns cosh x - 1.
func coshm1(x float64) float64 {
	s := math.Sinh(x / 2)
	return 2 * s * s
}

// A momentTally contains what [LossesAt.mean] needs of a function of the
// products of a cell: sums of their weights and of the weighted function and
// its square, and sums over groups of squares and products of group means.
type momentTally struct{ p, sum, square, pp, pf, ff float64 }

// means sets the sums over groups of g, which has those over the products of
// one group that are in the cell. The products of the group weigh w in all.
func (g *momentTally) means(w float64) {
	g.pp, g.pf, g.ff = g.p*g.p/w, g.p*g.sum/w, g.sum*g.sum/w
}

// add adds the sums of g.
func (t *momentTally) add(g momentTally) {
	t.p += g.p
	t.sum += g.sum
	t.square += g.square
	t.pp += g.pp
	t.pf += g.pf
	t.ff += g.ff
}

// most returns an upper bound of the mean of the function, which is in [lo,
// hi].
func (t momentTally) most(a *LossesAt, lo, hi float64) float64 {
	mean, off, _ := a.mean(t.p, t.sum, t.square, t.pp, t.pf, t.ff, lo, hi)
	return min(hi, mean+off)
}

// momentTallies returns the tallies of e^(θY) - 1, Y being in units of the
// grid, of the products of e <= E and of e < E; for a symmetric distribution
// those of cosh θY - 1. A product that is zero has an exponent below all
// others.
func (l *Losses) momentTallies(E int, θ float64) (upto, below momentTally) {
	if l.Products.alone && math.Abs(θ) <= mostOfSeries {
		return l.powerSums(E).momentTallies(θ, l.Products.symmetric)
	}
	return l.Products.momentTallies(E, l.F, θ)
}

// ofOne returns g for groups of one product each.
func (g momentTally) ofOne() momentTally {
	g.pp, g.pf, g.ff = g.p, g.sum, g.square
	return g
}

// momentOf returns e^(θy) - 1 of what a product loses, which is in units of
// the grid; for a symmetric distribution cosh θy - 1.
func (p *ProductDistribution) momentOf(product, θ float64) float64 {
	y := lossOf(product, 0)
	if p.symmetric {
		return coshm1(θ * y)
	}
	return math.Expm1(θ * y)
}

// momentTallies returns these tallies by their definition, group by group.
func (p *ProductDistribution) momentTallies(E, F int, θ float64) (upto, below momentTally) {
	scale := math.Ldexp(1, F-E)
	for lo, hi := range p.groups {
		var g momentTally
		own, w := 0., 0.
		for i := lo; i < hi; i++ {
			v, weight := p.value[i], p.weight[i]
			w += weight
			switch e := p.exp[i]; {
			case v == 0:
				g.p += weight
			case e > E:
			case e == E:
				own += weight
			default:
				f := p.momentOf(v*scale, θ)
				g.p += weight
				g.sum += weight * f
				g.square += weight * f * f
			}
		}
		if g.p > 0 {
			g.means(w)
			below.add(g)
		}
		if own > 0 {
			g.p += own
			g.means(w)
		}
		if g.p > 0 { // most groups of one product have none in the cell, or no own
			upto.add(g)
		}
	}
	return upto, below
}
