package quantisation

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An extreme is a matrix with a scale of the tensor, given that its greatest
// magnitude is X. The other elements are independent, and at most X. A row of
// blocks meets the block or tile that has ±X with probability chance.
type extreme struct {
	weight, chance  float64 // of X, and 0 without a scale of the tensor
	ordinary, crown side    // other blocks, and that one
}

// A side is the parts of one matrix, in units of the greatest |x + x̂|/2 and
// |x̂ - x|.
type side struct {
	size, err float64
	parts     []part
}

// side returns that of a table without shells.
func (t table) side() side {
	s := side{size: last(t.size), err: last(t.err)}
	s.parts = t.parts(func(c *class) { c.fill(nil, s.size, s.err) })
	return s
}

// seldom is rare where there is a table for each greatest magnitude.
const seldom = 1e-6

// extremeNodes returns how many nodes the rule of Gauss has for the greatest
// magnitude of so many numbers. That of few numbers varies more.
var extremeNodes = func(number int) int {
	if number < 1024 {
		return 9
	}
	return 4
}

// extremes returns the nodes of the rule of Gauss for the density of the
// greatest magnitude X of a matrix of so many vectors of K numbers, in blocks
// of the given length, from P(amax <= X) = e^-8 up to the end of the law. There
// they are closer, as (1 - s)^1.5: of laws with heavy tails cut far out, the
// rare X near it contribute as much as the others.
func (x Factor) extremes(vectors, K, length int) []extreme {
	if x.Tensor == 0 {
		return []extreme{{weight: 1, ordinary: x.classes(length, rare).side()}}
	}
	const level, power = 8, 1.5
	number := vectors * K
	logF := x.Law.logWithin()
	lo, hi := x.Law.bounds()
	from, most := x.Law.amax(logF, number, level), max(math.Abs(lo), math.Abs(hi))
	s, w := make([]float64, extremeNodes(number)), make([]float64, extremeNodes(number))
	quad.Legendre{}.FixedLocations(s, w, 0, 1)
	list := make([]extreme, len(s))
	total := 0.0
	for i := range list {
		X := most - float64((most-from)*math.Pow(1-s[i], power))
		list[i].weight = w[i] * math.Pow(1-s[i], power-1) * (x.Law.at(X) + x.Law.at(-X)) * math.Exp(float64(number-1)*logF(X))
		list[i].chance = float64(length+x.Others) / (float64(length) * float64(vectors))
		given := x.given(X)
		list[i].ordinary, list[i].crown = given.classes(length, seldom).side(), given.crown(length).side()
		total += list[i].weight
	}
	for i := range list {
		list[i].weight /= total
	}
	return list
}

// at returns the density at x, 0 out of the bounds.
func (l Law) at(x float64) float64 {
	if lo, hi := l.bounds(); x < lo || x > hi {
		return 0
	}
	return l.Density(x)
}

// given returns the factor of the other numbers where X is the greatest
// magnitude of the matrix.
func (x Factor) given(X float64) Factor {
	scales := make([]Scale, len(x.Scales))
	for i, s := range x.Scales {
		scales[i] = Scale{s.Value * (X / x.Tensor), s.Top * (X / x.Tensor)}
	}
	x.Law, x.Scales, x.Tensor = x.Law.Truncated(-X, X), scales, 0
	return x
}

// crown returns the only class of the block or the tile that has the greatest
// magnitude X of its matrix, where x is the factor given X. ±X is at each place
// equally often, and some places are of other rows.
func (x Factor) crown(length int) table {
	lo, hi := x.Law.bounds()
	X := max(math.Abs(lo), math.Abs(hi))
	i := 0
	for x.Scales[i].Top < X {
		i++
	}
	scale, t, f := x.Scales[i].Value, x.table(), x.Format
	c := x.class(scale, X, 0, &t)
	f.Overflow = tcore.Saturate
	for _, y := range [2]float64{-X, X} {
		if p := x.Law.at(y); p > 0 {
			δ := f.Round(y/scale, tcore.ToNearestEven)*scale - y
			c.apex = append(c.apex, node{y, δ, p / (x.Law.at(-X) + x.Law.at(X))})
			t.size[0], t.err[0] = max(t.size[0], math.Abs(y+δ/2)), max(t.err[0], math.Abs(δ))
		}
	}
	places := float64(length + x.Others)
	c.pAll, c.pLow, c.pApex = float64(x.Others)/places, 0, 1/places
	t.add(c)
	return t
}

// givenAmax returns the Cumulant of an element E of a product of bounded laws,
// which counts as one block, as a mean over the greatest magnitudes of factors
// with scales of the tensor. Given these, E is a sum of independent blocks. All
// elements have one law: a magnitude is in their row or tile with its chance,
// and then in each block equally often.
func (p Product) givenAmax() *Cumulant {
	length := lengthOf(p.A, p.B)
	check.Number("K", float64(p.K), p.K%length == 0, "a multiple of the length of blocks")
	as, bs := p.A.extremes(p.M, p.K, length), p.B.extremes(p.N, p.K, length)
	for i := range bs {
		bs[i].ordinary.parts, bs[i].crown.parts = inner(bs[i].ordinary.parts), inner(bs[i].crown.parts)
	}
	c := &Cumulant{length: p.K, most: math.Inf(1), slack: slack(p.A, p.B)}
	n := p.K / length
	for _, x := range as {
		for _, y := range bs {
			m := meeting{weight: x.weight * y.weight, number: n}
			u, v := x.chance/float64(n), y.chance/float64(n)
			m.share = [4]float64{(1 - x.chance) * (1 - y.chance), u * (1 - y.chance), (1 - x.chance) * v, u * v}
			for i, s := range [4][2]side{{x.ordinary, y.ordinary}, {x.crown, y.ordinary}, {x.ordinary, y.crown}, {x.crown, y.crown}} {
				if a, b := s[0], s[1]; len(a.parts) > 0 && len(b.parts) > 0 {
					m.blocks[i] = newCumulant(length, a.size*b.err, b.size*a.err, a.parts, b.parts)
					c.unit = max(c.unit, m.blocks[i].unit)
				}
			}
			c.meetings = append(c.meetings, m)
		}
	}
	for _, m := range c.meetings {
		for _, b := range m.blocks {
			if b != nil {
				c.most = min(c.most, b.most*(c.unit/b.unit))
			}
		}
	}
	c.normalise()
	return c
}

// A meeting is a pair of greatest magnitudes of two matrices, which have a
// weight. Its sum is as that over a block of a pair, of so many blocks in place
// of elements, of which one may be the crown of A, of B or of both.
type meeting struct {
	weight float64
	number int
	share  [4]float64
	blocks [4]*Cumulant // nil for a factor without a scale of the tensor
}

// at returns the jet of E exp(tE) given the magnitudes, t in units of 1/unit.
func (m meeting) at(t, unit float64) jet {
	var s [4]jet
	for i, c := range m.blocks {
		if c != nil {
			s[i] = jet{}.plus(1/c.total, c.sum(t*(c.unit/unit)).scaled(c.unit/unit))
		}
	}
	return crowned(m.share, s, m.number)
}

// met returns the mean of all meetings.
func (c *Cumulant) met(t float64) jet {
	jets := make([]jet, len(c.meetings))
	parallel.Each(len(jets), func(i int) { jets[i] = c.meetings[i].at(t, c.unit) })
	var sum jet
	for i, m := range c.meetings {
		sum = sum.plus(m.weight, jets[i])
	}
	return sum
}
