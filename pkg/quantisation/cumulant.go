package quantisation

import (
	"fmt"
	"math"
	"math/cmplx"
)

// A Cumulant is the cumulant generating function K(t) = log E exp(t Σ q) of the
// error of a block of L products, q = âb̂ - ab. L is 1 if neither factor has
// scales.
type Cumulant struct {
	length int
	unit   float64 // a bound of |q|
	most   float64 // the greatest t in units of 1/unit at which the series are sums of all but 10^-16
	pairs  []pair
	total  float64 // of all pairs at t = 0, 1 but for rounding
	mean   float64 // K′(0)
}

// A pair is one scale of A with one of B: the sum over a block has the expected
// exp(tΣq) Σ share s(t)^L over the four terms of inclusion and exclusion.
type pair struct {
	share  [4]float64
	series [4]*series
}

// rare is the probability of the blocks of the least amax, which count as of
// the scale above them.
const rare = 1e-18

// NewCumulant returns the cumulant generating function of the errors of a
// product of two factors. It panics if a law is not bounded (see Law.Truncated)
// or a factor is none, or if both have blocks and they are not of one length.
//
// Source: derived here; see the package comment.
func NewCumulant(a, b Factor) *Cumulant {
	a.check("a")
	b.check("b")
	for _, x := range []Factor{a, b} {
		if lo, hi := x.Law.bounds(); x.Law.Interval != nil || math.IsInf(hi-lo, 0) {
			panic(fmt.Sprintf("quantisation: law %s is not bounded, want one that Law.Truncated returns", x.Law.Name))
		}
	}
	la, scalesA := a.block()
	lb, scalesB := b.block()
	if la != lb && len(a.Scales) > 0 && len(b.Scales) > 0 {
		panic(fmt.Sprintf("quantisation: blocks of %d and %d elements, want one length", la, lb))
	}
	c := &Cumulant{length: max(la, lb), most: degree / 2}
	at, bt := a.classes(scalesA, c.length), b.classes(scalesB, c.length)
	ab, ba := greatest(at, bt)
	if ab == 0 || ba == 0 {
		panic("quantisation: the errors of these products are 0 in float64")
	}
	c.unit = ab + ba
	// Units of size and err whose products are ab and ba.
	shrinkA, shrinkB := math.Sqrt(ab/(last(at.size)*last(bt.err))), math.Sqrt(ba/(last(bt.size)*last(at.err)))
	for _, x := range at.classes {
		x.fill(a.shells, shrinkA*last(at.size), shrinkB*last(at.err))
		x.all.split(ab/c.unit, ba/c.unit)
		x.low.split(ab/c.unit, ba/c.unit)
	}
	for _, y := range bt.classes {
		y.fill(b.shells, shrinkB*last(bt.size), shrinkA*last(bt.err))
		y.all, y.low = y.all.inner(), y.low.inner()
	}
	for _, x := range at.classes {
		for _, y := range bt.classes {
			c.pairs = append(c.pairs, newPair(x, y))
		}
	}
	for _, p := range c.pairs {
		for _, s := range p.series {
			if s != nil {
				c.most = min(c.most, s.most())
			}
		}
	}
	zero := c.sum(0)
	c.total = zero[0]
	c.mean = zero[1] / zero[0] * c.unit
	return c
}

// greatest returns the greatest |m_a δ_b| and |m_b δ_a| of pairs that shells
// leave, where their sum is greatest.
func greatest(a, b table) (ab, ba float64) {
	for i := range a.size {
		j := len(b.size) - 1 - i
		if x, y := a.size[i]*b.err[j], b.size[j]*a.err[i]; x+y > ab+ba {
			ab, ba = x, y
		}
	}
	return ab, ba
}

// newPair returns the terms of a pair of scales, without those that are 0.
func newPair(x, y *class) pair {
	p := pair{share: [4]float64{x.pAll * y.pAll, -x.pLow * y.pAll, -x.pAll * y.pLow, x.pLow * y.pLow}}
	for i, s := range [4][2]shells{{x.all, y.all}, {x.low, y.all}, {x.all, y.low}, {x.low, y.low}} {
		if p.share[i] != 0 {
			p.series[i] = s[0].times(s[1])
		}
	}
	return p
}

// last returns the last element.
func last(x []float64) float64 { return x[len(x)-1] }

// A class is the elements of blocks of one scale: the moments of those that the
// blocks can have, and of those that are at most below, too small to give them
// this scale. p is the probability that the elements besides the block are as
// small.
type class struct {
	nodes      []node
	below      float64
	all, low   shells
	pAll, pLow float64
}

// fill computes the moments in units size and err.
func (c *class) fill(intervals [][2]float64, size, err float64) {
	number := max(1, len(intervals))
	low, rest := make(shells, number), make(shells, number)
	for _, n := range c.nodes {
		s := rest
		if math.Abs(n.x) <= c.below {
			s = low
		}
		s.add(shell(intervals, n.x), n, size, err)
	}
	c.low, c.all = low, low.union(rest)
}

// shell returns the index of the first of nested intervals that contains x, the
// last one if none does.
func shell(intervals [][2]float64, x float64) int {
	k := 0
	for k < len(intervals)-1 && (x < intervals[k][0] || x > intervals[k][1]) {
		k++
	}
	return k
}

// A table contains the classes of a factor, and the greatest |x + x̂|/2 and
// |x̂ - x| up to each shell.
type table struct {
	size, err []float64
	classes   []*class
}

// classes returns the classes that blocks of the given length have.
func (x Factor) classes(scales []Scale, length int) table {
	lo, hi := x.Law.bounds()
	most := max(math.Abs(lo), math.Abs(hi))
	for len(scales) > 1 && scales[len(scales)-2].Top >= most {
		scales = scales[:len(scales)-1]
	}
	number := max(1, len(x.shells))
	t := table{size: make([]float64, number), err: make([]float64, number)}
	for i := len(scales) - 1; i >= 0; i-- {
		c, top := &class{}, scales[i].Top
		if i == len(scales)-1 {
			top = math.Inf(1)
		}
		if i > 0 {
			c.below = scales[i-1].Top
		}
		cuts := []float64{top, -top, c.below, -c.below}
		for _, interval := range x.shells {
			cuts = append(cuts, interval[:]...)
		}
		low, all := 0.0, 0.0
		for _, n := range x.Law.nodes(x.Format, scales[i].Value, cuts) {
			if math.Abs(n.x) > top {
				continue
			}
			c.nodes = append(c.nodes, n)
			all += n.weight
			if math.Abs(n.x) <= c.below {
				low += n.weight
			}
			k := shell(x.shells, n.x)
			t.size[k] = max(t.size[k], math.Abs(n.x+n.delta/2))
			t.err[k] = max(t.err[k], math.Abs(n.delta))
		}
		c.pAll, c.pLow = math.Pow(all, float64(x.Others)), math.Pow(low, float64(x.Others))
		t.classes = append(t.classes, c)
		if math.Pow(low, float64(length+x.Others)) < rare {
			c.pLow = 0
			break
		}
	}
	for k := range number - 1 {
		t.size[k+1] = max(t.size[k+1], t.size[k])
		t.err[k+1] = max(t.err[k+1], t.err[k])
	}
	return t
}

// sum returns the jet of E exp(t Σ q), t in units of 1/unit.
func (c *Cumulant) sum(t float64) jet {
	var sum jet
	n := max(terms(t), len(sum))
	for _, p := range c.pairs {
		for i, s := range p.series {
			if s != nil {
				sum = sum.plus(p.share[i], s.at(t, n).power(c.length))
			}
		}
	}
	return sum
}

// jet returns the jet of K(t) - tK′(0), t and its derivatives in units of unit.
func (c *Cumulant) jet(t float64) jet {
	f := c.sum(t)
	for i := range f {
		f[i] /= c.total
	}
	k := f.log(f[0] - 1)
	μ := c.mean / c.unit
	k[0] -= float64(t * μ)
	k[1] -= μ
	return k
}

// complex returns K(z) - zK′(0) for complex z of the real part t, in units of
// 1/unit, and of how many series it is summed. Pairs are left out whose terms,
// which are greatest where z is real, are together below 10^-15 of the sum.
func (c *Cumulant) complex(t float64) (k func(z complex128) complex128, number int) {
	type term struct {
		share float64
		*series
	}
	var list []term
	n := terms(t)
	least := 1e-15 * c.sum(t)[0] / float64(4*len(c.pairs))
	for _, p := range c.pairs {
		for i, s := range p.series {
			if s != nil && math.Abs(p.share[i])*math.Pow(s.at(t, n)[0], float64(c.length)) > least {
				list = append(list, term{p.share[i], s})
			}
		}
	}
	return func(z complex128) complex128 {
		sum := 0i
		n := terms(cmplx.Abs(z))
		for _, x := range list {
			sum += complex(x.share, 0) * power(x.complex(z, n), c.length)
		}
		return cmplx.Log(sum/complex(c.total, 0)) - z*complex(c.mean/c.unit, 0)
	}, len(list)
}

// Length returns L.
func (c *Cumulant) Length() int { return c.length }

// Mean returns μ = E q, the drift of one product: that of a sum of K products
// is Kμ.
func (c *Cumulant) Mean() float64 { return c.mean / float64(c.length) }

// Variance returns Var Σ q / L, the variance of a block for each of its
// products: that of a sum of K products is K times this.
func (c *Cumulant) Variance() float64 {
	return 2 * c.jet(0)[2] * c.unit * c.unit / float64(c.length)
}

// At returns K(t), K′(t) and K″(t). Where t is so large that the first 96
// moments do not tell them, K(t) is +Inf, which is no less, and the others are
// NaN.
func (c *Cumulant) At(t float64) (k, k1, k2 float64) {
	if τ := t * c.unit; math.Abs(τ) <= c.most {
		j := c.jet(τ)
		return j[0] + float64(t*c.mean), j[1]*c.unit + c.mean, 2 * j[2] * c.unit * c.unit
	}
	return math.Inf(1), math.NaN(), math.NaN()
}
