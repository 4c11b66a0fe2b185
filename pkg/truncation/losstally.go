package truncation

import (
	"math"
	"slices"
)

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

// add adds a group of products. w is the sum of the weights of all its
// products, in the cell or not.
func (t *tally) add(g group, w float64) {
	t.plus(g)
	t.pp += g.p * g.p / w
	t.ps += g.p * g.s / w
	t.ss += g.s * g.s / w
	t.pq += g.p * g.q / w
	t.qq += g.q * g.q / w
}

// lossTallies contains the tallies of one kind of products, aligned to one
// exponent E.
type lossTallies struct {
	first            int // the exponent of cells[0]
	cells            []tally
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

// tally computes the tallies group by group. A product that is zero counts as
// one of an exponent below all others.
func (p *ProductDistribution) tally(E, F int, k kind) *lossTallies {
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
