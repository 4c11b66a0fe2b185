package quantisation

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/roundofflab/roundoff/internal/parallel"
)

// A Cumulant is the cumulant generating function K(t) = log E exp(t Σ q) of the
// error of a block of L products, q = âb̂ - ab. L is 1 if neither factor has
// scales, and all of K if one has a scale of the tensor besides.
type Cumulant struct {
	length int
	unit   float64 // a bound of |q|
	most   float64 // the greatest t in units of 1/unit at which the series are sums of all but 10^-16
	pairs  []pair
	total  float64 // of all pairs at t = 0, 1 but for rounding
	mean   float64 // K′(0)
	slack  float64 // see rounded32, for one product

	meetings []meeting // in place of pairs, where length is that of the whole sum
}

// A pair is a part of A with one of B. With s_0 of two elements of the bodies,
// s_1 of the apex of A with the body of B, s_2 the reverse and s_3 of both
// apices, the sum over a block has the expected exp(tΣq)
//
//	w_0 s_0^L + L s_0^(L-1) (w_1 s_1 + w_2 s_2 + w_3 s_3) + L(L-1) s_0^(L-2) w_3 s_1 s_2
//
// since an apex is at each of L places, and that of B where that of A is or
// elsewhere.
type pair struct {
	share  [4]float64 // w
	series [4]*series
}

// rare is the probability of the blocks of the least amax, which count as of
// the scale above them.
const rare = 1e-18

// NewCumulant returns the cumulant generating function of the errors of a
// product of two factors. It panics if a law is not bounded (see Law.Truncated)
// or a factor is none or has a scale of the tensor (see Product.Cumulant), or
// if both have blocks and they are not of one length.
//
// Source: derived here; see the package comment.
func NewCumulant(a, b Factor) *Cumulant {
	length := lengthOf(a, b)
	for _, x := range []Factor{a, b} {
		check.Number("Tensor", x.Tensor, x.Tensor == 0, "0, or a Product, which has the number of elements")
	}
	at, bt := a.classes(length, rare), b.classes(length, rare)
	ab, ba := greatest(at, bt)
	// Units of size and err whose products are ab and ba.
	shrinkA, shrinkB := math.Sqrt(ab/(last(at.size)*last(bt.err))), math.Sqrt(ba/(last(bt.size)*last(at.err)))
	partsA := at.parts(func(x *class) { x.fill(a.shells, shrinkA*last(at.size), shrinkB*last(at.err)) })
	partsB := bt.parts(func(y *class) { y.fill(b.shells, shrinkB*last(bt.size), shrinkA*last(bt.err)) })
	c := newCumulant(length, ab, ba, partsA, inner(partsB))
	c.slack = slack(a, b)
	return c
}

// lengthOf returns the length of the blocks of two factors. It panics as
// NewCumulant does.
func lengthOf(a, b Factor) int {
	a.check("a")
	b.check("b")
	for _, x := range []Factor{a, b} {
		if lo, hi := x.Law.bounds(); x.Law.Interval != nil || math.IsInf(hi-lo, 0) {
			panic(fmt.Sprintf("quantisation: law %s is not bounded, want one that Law.Truncated returns", x.Law.Name))
		}
	}
	la, lb := a.block(), b.block()
	if la != lb && a.scaled() && b.scaled() {
		panic(fmt.Sprintf("quantisation: blocks of %d and %d elements, want one length", la, lb))
	}
	length := max(la, lb)
	check.Number("Length", float64(length), length != All, "that of a block, for which a Product has K")
	for _, x := range []Factor{a, b} {
		check.Number("Others", float64(x.Others), x.Others != All, "their number, which a Product has")
	}
	return length
}

// slack returns the allowance for binary32 of both factors, for one product.
func slack(a, b Factor) float64 {
	s := a.slack() + b.slack()
	if s > 0 {
		s *= a.Law.size() * b.Law.size()
	}
	return s
}

// newCumulant returns that of blocks of so many products, of parts of A and of
// inner parts of B in units of which the products are ab and ba, see greatest.
func newCumulant(length int, ab, ba float64, partsA, partsB []part) *Cumulant {
	if ab == 0 || ba == 0 {
		panic("quantisation: the errors of these products are 0 in float64")
	}
	c := &Cumulant{length: length, unit: ab + ba, most: degree / 2}
	halves := make([]part, len(partsA))
	parallel.Each(len(halves), func(i int) {
		halves[i] = partsA[i].with(func(s shells) shells { return s.split(ab/c.unit, ba/c.unit) })
	})
	c.pairs = make([]pair, len(partsA)*len(partsB))
	parallel.Each(len(c.pairs), func(i int) {
		c.pairs[i] = newPair(halves[i/len(partsB)], partsB[i%len(partsB)])
	})
	for _, p := range c.pairs {
		for _, s := range p.series {
			if s != nil {
				c.most = min(c.most, s.most())
			}
		}
	}
	c.normalise()
	return c
}

// normalise finds the total and the mean.
func (c *Cumulant) normalise() {
	zero := c.sum(0)
	c.total = zero[0]
	c.mean = zero[1] / zero[0] * c.unit
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

// newPair returns the terms of a pair of parts, without those that are 0.
func newPair(x, y part) pair {
	p := pair{share: [4]float64{x.share * y.share, x.crown * y.share, x.share * y.crown, x.crown * y.crown}}
	if p.share != [4]float64{} {
		p.series[0] = x.body.times(y.body)
	}
	if x.crown > 0 {
		p.series[1] = x.apex.times(y.body)
	}
	if y.crown > 0 {
		p.series[2] = x.body.times(y.apex)
	}
	if x.crown*y.crown > 0 {
		p.series[3] = x.apex.times(y.apex)
	}
	return p
}

// last returns the last element.
func last(x []float64) float64 { return x[len(x)-1] }

// A class is the elements of blocks of one scale: the moments of those that the
// blocks can have, and of those that are at most below, too small to give them
// this scale. p is the probability that the elements besides the block are as
// small. An apex is an element that gives the block its scale, where the scale
// is a continuous function of it.
type class struct {
	nodes, apex       []node
	below, seldom     float64 // an element is at most below with probability seldom
	all, low, top     shells
	pAll, pLow, pApex float64
}

// A part of a class is blocks of which all elements are of the body, which
// count share times, and those of which one is of the apex, which count crown
// times.
type part struct {
	share, crown float64
	body, apex   shells
}

// with returns the part with other moments.
func (p part) with(of func(s shells) shells) part {
	p.body, p.apex = of(p.body), of(p.apex)
	return p
}

// inner returns the parts with their inner moments.
func inner(list []part) []part {
	z := make([]part, len(list))
	parallel.Each(len(z), func(i int) { z[i] = list[i].with(shells.inner) })
	return z
}

// parts returns the terms of inclusion and exclusion.
func (c *class) parts() []part {
	list := []part{{c.pAll, c.pApex, c.all, c.top}}
	if c.pLow > 0 {
		list = append(list, part{share: -c.pLow, body: c.low})
	}
	return list
}

// parts returns those of all classes, which fill computes.
func (t table) parts(fill func(c *class)) (list []part) {
	parallel.Each(len(t.classes), func(i int) { fill(t.classes[i]) })
	for _, c := range t.classes {
		list = append(list, c.parts()...)
	}
	return list
}

// fill computes the moments in units size and err.
func (c *class) fill(intervals [][2]float64, size, err float64) {
	number := max(1, len(intervals))
	low, rest, top := make(shells, number), make(shells, number), make(shells, number)
	for _, n := range c.nodes {
		s := rest
		if math.Abs(n.x) <= c.below {
			s = low
		}
		s.add(shell(intervals, n.x), n, size, err)
	}
	for _, n := range c.apex {
		top.add(shell(intervals, n.x), n, size, err)
	}
	c.low, c.all, c.top = low, low.union(rest), top
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

// table returns one without classes.
func (x Factor) table() table {
	number := max(1, len(x.shells))
	return table{size: make([]float64, number), err: make([]float64, number)}
}

// add adds a class.
func (t *table) add(c *class) {
	t.classes = append(t.classes, c)
	for k := range len(t.size) - 1 {
		t.size[k+1] = max(t.size[k+1], t.size[k])
		t.err[k+1] = max(t.err[k+1], t.err[k])
	}
}

// class returns the elements up to top of blocks of a scale, for which t learns
// how large they are.
func (x Factor) class(scale, top, below float64, t *table) *class {
	c := &class{below: below}
	cuts := []float64{top, -top, below, -below}
	for _, interval := range x.shells {
		cuts = append(cuts, interval[:]...)
	}
	all := 0.0
	for _, n := range x.Law.nodes(x.Format, scale, cuts) {
		if math.Abs(n.x) > top {
			continue
		}
		c.nodes = append(c.nodes, n)
		all += n.weight
		if math.Abs(n.x) <= below {
			c.seldom += n.weight
		}
		k := shell(x.shells, n.x)
		t.size[k] = max(t.size[k], math.Abs(n.x+n.delta/2))
		t.err[k] = max(t.err[k], math.Abs(n.delta))
	}
	c.pAll, c.pLow = math.Pow(all, float64(x.Others)), math.Pow(c.seldom, float64(x.Others))
	return c
}

// classes returns the classes that blocks of the given length have, but those
// of the least amax that have the probability rare.
func (x Factor) classes(length int, rare float64) table {
	if x.Aim != 0 {
		return x.amaxes(length)
	}
	scales := x.Scales
	if len(scales) == 0 {
		scales = []Scale{{1, math.Inf(1)}}
	}
	lo, hi := x.Law.bounds()
	most := max(math.Abs(lo), math.Abs(hi))
	for len(scales) > 1 && scales[len(scales)-2].Top >= most {
		scales = scales[:len(scales)-1]
	}
	t := x.table()
	for i := len(scales) - 1; i >= 0; i-- {
		top, below := scales[i].Top, 0.0
		if i == len(scales)-1 {
			top = math.Inf(1)
		}
		if i > 0 {
			below = scales[i-1].Top
		}
		c := x.class(scales[i].Value, top, below, &t)
		t.add(c)
		if math.Pow(c.seldom, float64(length+x.Others)) < rare {
			c.pLow = 0
			break
		}
	}
	return t
}

// sum returns the jet of E exp(t Σ q), t in units of 1/unit.
func (c *Cumulant) sum(t float64) jet {
	if c.meetings != nil {
		return c.met(t)
	}
	var sum jet
	n := max(terms(t), len(sum))
	for _, p := range c.pairs {
		sum = sum.plus(1, p.at(t, n, c.length))
	}
	return sum
}

// at returns the jet of a pair at t, of n+1 terms of each series.
func (p pair) at(t float64, n, length int) jet {
	var s [4]jet
	for i, x := range p.series {
		if x != nil {
			s[i] = x.at(t, n)
		}
	}
	return crowned(p.share, s, length)
}

// crowned returns the jet of the sum of a pair, of the shares w and the jets s.
func crowned(w [4]float64, s [4]jet, length int) jet {
	if [3]float64(w[1:]) == [3]float64{} {
		return jet{}.plus(w[0], s[0].power(length))
	}
	L := float64(length)
	apices := jet{}.plus(L*w[1], s[1]).plus(L*w[2], s[2]).plus(L*w[3], s[3])
	if length == 1 {
		return apices.plus(w[0], s[0])
	}
	sum := apices.plus(w[0], s[0]).times(s[0]).plus(L*(L-1)*w[3], s[1].times(s[2]))
	return sum.times(s[0].power(length - 2))
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
	var list []pair
	n := terms(t)
	least := 1e-15 * c.sum(t)[0] / float64(len(c.pairs))
	for _, p := range c.pairs {
		if math.Abs(p.at(t, n, c.length)[0]) > least {
			list = append(list, p)
			number += p.number()
		}
	}
	return func(z complex128) complex128 {
		sum := 0i
		n := terms(cmplx.Abs(z))
		for _, p := range list {
			sum += p.complex(z, n, c.length)
		}
		return cmplx.Log(sum/complex(c.total, 0)) - z*complex(c.mean/c.unit, 0)
	}, number
}

// number returns how many series a pair has.
func (p pair) number() (n int) {
	for _, s := range p.series {
		if s != nil {
			n++
		}
	}
	return n
}

// complex returns the value of at for complex t.
func (p pair) complex(t complex128, n, length int) complex128 {
	var s, w [4]complex128
	for i, x := range p.series {
		if x != nil {
			s[i] = x.complex(t, n)
		}
		w[i] = complex(p.share[i], 0)
	}
	if p.series[1] == nil && p.series[2] == nil {
		return w[0] * power(s[0], length)
	}
	L := complex(float64(length), 0)
	apices := L * (w[1]*s[1] + w[2]*s[2] + w[3]*s[3])
	if length == 1 {
		return apices + w[0]*s[0]
	}
	return ((apices+w[0]*s[0])*s[0] + L*(L-1)*w[3]*s[1]*s[2]) * power(s[0], length-2)
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
