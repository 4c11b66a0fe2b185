package truncation

import "math"

// A tally sums, over the products of a cell, what they lose, y in units of the
// grid, and its square about the centre.
type tally struct {
	group                      // sums over all products of the cell
	pp, ps, ss, pq, qq float64 // weighted sums over groups of squares and products of group means
}

// group contains the sum of the weights p of products, and the weighted sums of
// y, of (y-c)² and of (y-c)⁴.
type group struct{ p, s, q, f float64 }

func (g *group) plus(h group) {
	g.p += h.p
	g.s += h.s
	g.q += h.q
	g.f += h.f
}

// means returns squares and products of the means over a group of products, of
// which g are the sums over those in the cell, times w, the sum of the weights
// of all.
func (g group) means(w float64) (pp, ps, ss, pq, qq float64) {
	return g.p * g.p / w, g.p * g.s / w, g.s * g.s / w, g.p * g.q / w, g.q * g.q / w
}

// add adds the sums over a group of products, and their means.
func (t *tally) add(g group, pp, ps, ss, pq, qq float64) {
	t.plus(g)
	t.pp += pp
	t.ps += ps
	t.ss += ss
	t.pq += pq
	t.qq += qq
}

// lossTallies contains the tallies of one kind of products, aligned to one
// exponent E.
type lossTallies struct {
	first            int     // the exponent of cells[0]
	cells            []tally // all zero for the kind whole, of which nobody asks for them
	below, upto, own tally
}

type tallyKind struct {
	E int
	kind
}

// tally returns the tallies of a kind at E, and stores them for the next call.
func (l *Losses) tally(E int, k kind) *lossTallies {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := tallyKind{E, k}
	t, ok := l.tallies[key]
	if !ok {
		t = l.Products.tally(E, l.F, k)
		l.tallies[key] = t
	}
	return t
}

// tally computes the tallies. A product that is zero counts as one of an
// exponent below all others.
func (p *ProductDistribution) tally(E, F int, k kind) *lossTallies {
	if p.alone {
		return p.tallyAlone(E, F, k)
	}
	return p.tallyOfGroups(E, F, k)
}

// tallyAlone is tally where every product is a group: the means over a group,
// times its weight, are what the product has.
func (p *ProductDistribution) tallyAlone(E, F int, k kind) *lossTallies {
	scale, c := math.Ldexp(1, F-E), p.centre(k)
	t := &lossTallies{first: p.lowest, cells: make([]tally, p.highest-p.lowest+1)}
	own := 0.0
	for x := range p.cells {
		switch {
		case !k.includes(x.sign):
		case x.sign == 0:
			t.below = x.tally(scale, c)
		case x.exp < E:
			cell, z := &t.cells[x.exp-p.lowest], x.tally(scale, c)
			cell.plus(z.group)
			cell.ss += z.ss
		case x.exp == E:
			for _, w := range x.weight {
				own += w
			}
		}
	}
	t.below = t.below.ofOne()
	for i := range t.cells {
		z := &t.cells[i]
		*z = z.ofOne()
		t.below.add(z.group, z.pp, z.ps, z.ss, z.pq, z.qq)
		if k == whole {
			*z = tally{}
		}
	}
	t.upto = t.below
	t.upto.plus(lossGroup(0, c, own))
	t.upto = t.upto.ofOne()
	t.own.group = group{p: t.below.p + own, s: own}
	t.own.ss = own
	t.own = t.own.ofOne()
	return t
}

// ofOne returns t, of which ss is known, for groups of one product each.
func (t tally) ofOne() tally {
	t.pp, t.ps, t.pq, t.qq = t.p, t.s, t.q, t.f
	return t
}

// tallyOfGroups is tally, group by group.
func (p *ProductDistribution) tallyOfGroups(E, F int, k kind) *lossTallies {
	scale, c := math.Ldexp(1, F-E), p.centre(k)
	first := p.lowest
	t := &lossTallies{first: first, cells: make([]tally, p.highest-first+1)}
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
				s := &below
				if k != whole {
					if s = &sums[e-first]; s.p == 0 {
						used = append(used, e-first)
					}
				}
				s.plus(lossGroup(lossOf(v*scale, c), c, weight))
			}
		}
		if len(used) == 0 && below.p == 0 && own == 0 {
			continue
		}
		var pp, ps, ss, pq, qq float64
		told := len(used) == 1 // by one cell, which has all
		for _, j := range used {
			pp, ps, ss, pq, qq = sums[j].means(w)
			t.cells[j].add(sums[j], pp, ps, ss, pq, qq)
			below.plus(sums[j])
			sums[j] = group{}
		}
		used = used[:0]
		if !told {
			pp, ps, ss, pq, qq = below.means(w)
		}
		t.below.add(below, pp, ps, ss, pq, qq)
		if own == 0 { // the most frequent case, without more divisions
			t.own.add(group{p: below.p}, pp, 0, 0, 0, 0)
			t.upto.add(below, pp, ps, ss, pq, qq)
			continue
		}
		ours := group{p: below.p + own, s: own}
		pp, ps, ss, pq, qq = ours.means(w)
		t.own.add(ours, pp, ps, ss, pq, qq)
		below.plus(lossGroup(0, c, own))
		pp, ps, ss, pq, qq = below.means(w)
		t.upto.add(below, pp, ps, ss, pq, qq)
	}
	return t
}

// lossOf returns what a product loses, both in units of the grid: with its sign
// if it is tallied about c = 0, otherwise its size.
func lossOf(product, c float64) float64 {
	y := product - math.Trunc(product)
	if c != 0 {
		y = math.Abs(y)
	}
	return y
}

// lossGroup returns the group of one product.
func lossGroup(y, c, weight float64) group {
	d := (y - c) * (y - c)
	return group{weight, weight * y, weight * d, weight * d * d}
}

// groups calls f with the range [lo, hi) of the products of every group.
func (p *ProductDistribution) groups(f func(lo, hi int) bool) {
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
