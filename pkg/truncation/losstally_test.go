package truncation

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// The tallies are those of their definition, group by group and in the same
// order of additions, but for those of groups of one, which are so up to
// rounding: for groups of one, of many and of unequal lengths, for weights that
// are and are not powers of two, products that are zero, and exponents E below,
// within and above those of the products.
func TestTally(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for _, n := range []int{1, 64, 90} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = math.Round(64*rng.NormFloat64())/64, math.Ldexp(math.Round(64*rng.NormFloat64()), rng.IntN(12)-12)
		}
		pairs := PairProducts(x, y, -20, -20)
		runs := StarProducts(x, y, 7, -20, -20)
		w := make([]float64, n)
		for i := range w {
			w[i] = rng.Float64()
		}
		for _, p := range []*ProductDistribution{pairs, runs, ValueProducts(x, w, y, w, -20, -20), pairs.Symmetric()} {
			for E := slices.Min(p.exp) - 1; E <= slices.Max(p.exp)+1; E++ {
				for k := whole; k < kinds; k++ {
					got, want := p.tally(E, 6, k), slowTally(p, E, 6, k)
					if k == whole {
						want.cells = make([]tally, len(want.cells))
					}
					equal := reflect.DeepEqual(got, want)
					if p.alone {
						equal = got.near(want)
					}
					if !equal {
						t.Fatalf("%d products, E = %d, kind %d:\n%+v, want\n%+v", n, E, k, got, want)
					}
				}
			}
		}
	}
}

// near reports whether t is w up to rounding.
func (t *lossTallies) near(w *lossTallies) bool {
	x, y := append(t.cells[:len(t.cells):len(t.cells)], t.below, t.upto, t.own), append(w.cells[:len(w.cells):len(w.cells)], w.below, w.upto, w.own)
	return t.first == w.first && slices.EqualFunc(x, y, func(x, y tally) bool {
		return near(x.p, y.p) && near(x.s, y.s) && near(x.q, y.q) && near(x.f, y.f) &&
			near(x.pp, y.pp) && near(x.ps, y.ps) && near(x.ss, y.ss) && near(x.pq, y.pq) && near(x.qq, y.qq)
	})
}

// near reports whether x and y, sums of at most a hundred numbers below 1, are
// equal up to rounding.
func near(x, y float64) bool { return math.Abs(x-y) <= 1e-14 }

// slowTally computes the tallies by their definition: the sums over the
// products of a group that are in a cell, and then what tally says of them.
func slowTally(p *ProductDistribution, E, F int, k kind) *lossTallies {
	first := slices.Min(p.exp)
	z := &lossTallies{first: first, cells: make([]tally, slices.Max(p.exp)-first+1)}
	c := p.centre(k)
	for lo, hi := range p.groups {
		w := 0.0
		var below, own group
		cells := map[int]*group{}
		var order []int
		for i := lo; i < hi; i++ {
			v, e, weight := p.value[i], p.exp[i], p.weight[i]
			w += weight
			isKind := k == whole || k == nonzero && v != 0 || k == positives && v > 0 || k == negatives && v < 0
			switch {
			case !isKind || v != 0 && e > E:
			case v == 0:
				below.plus(lossGroup(0, c, weight))
			case e == E:
				own.p += weight
			default:
				_, y := math.Modf(math.Ldexp(v, F-E))
				if c != 0 {
					y = math.Abs(y)
				}
				if k == whole { // nobody asks for its cells
					below.plus(lossGroup(y, c, weight))
					continue
				}
				if cells[e] == nil {
					cells[e], order = new(group), append(order, e)
				}
				cells[e].plus(lossGroup(y, c, weight))
			}
		}
		add := func(t *tally, g group) {
			t.plus(g)
			t.pp += g.p * g.p / w
			t.ps += g.p * g.s / w
			t.ss += g.s * g.s / w
			t.pq += g.p * g.q / w
			t.qq += g.q * g.q / w
		}
		for _, e := range order {
			add(&z.cells[e-first], *cells[e])
			below.plus(*cells[e])
		}
		add(&z.below, below)
		add(&z.own, group{p: below.p + own.p, s: own.p})
		below.plus(lossGroup(0, c, own.p))
		add(&z.upto, below)
	}
	return z
}
