package truncation

import (
	"fmt"
	"math"
	"slices"
)

// ProductDistribution is the distribution of one product p = xy, as a list of
// values with weights: pairs sampled from the data themselves, or every pair of
// values of a format of few bits. Losses depend on the low bits of products. So
// x and y must be the numbers that the unit multiplies, after conversion to its
// input format.
type ProductDistribution struct {
	value  []float64
	weight []float64 // their sum is 1
	exp    []int     // e = eₓ + e_y, not normalised: |p| is in [2^e, 2^(e+2)) unless subnormal
	least  int       // lower bound on all exponents, and the exponent of a product that is zero

	lowest, highest int // of exp

	symmetric bool  // p and -p are equally likely; the signs in value are ignored
	sign      int   // ±1 if all nonzero products are known to have that sign, else 0
	starts    []int // indices of the first product of every x, if all pairs are listed; else nil
	alone     bool  // every product is a group; the products are sorted, see sort
	ends      []int // if alone, where the products of each exponent and sign end

	Mean     float64 // μ = E p
	Variance float64 // σ²
	AbsMean  float64 // E|p|
	Grid     float64 // a power of two that divides all values

	// Samples is the number of independent elements of the smaller of the two
	// samples, one of each factor, from which the distribution was estimated; +Inf
	// where it is exact. Partners is the number of independent elements of the
	// larger sample for each element of the smaller; 0 means one. It is that of
	// [StarProducts], may be set for [ValueProducts], where x is the smaller
	// sample, and is one for [PairProducts].
	Samples, Partners float64
}

// PairProducts returns the distribution of x[i]y[i], where every pair has the
// same probability. Numbers below 2^eminX and 2^eminY are subnormal and count
// with these exponents. Products that are zero count with the exponent
// eminX+eminY, the least there is. PairProducts panics if the lengths differ,
// there are no pairs, or a product is not finite.
func PairProducts(x, y []float64, eminX, eminY int) *ProductDistribution {
	return StarProducts(x, y, 1, eminX, eminY)
}

// StarProducts is [PairProducts] where each element of the smaller of two
// samples has several partners: the pairs come in runs of that length, of which
// the last may be shorter, each with one element of the smaller sample and
// with different elements of the larger. It panics as PairProducts does, and if
// partners < 1.
func StarProducts(x, y []float64, partners, eminX, eminY int) *ProductDistribution {
	check.Count("partners", partners)
	if len(x) != len(y) {
		panic(fmt.Sprintf("truncation: x has %d elements, y has %d", len(x), len(y)))
	}
	p := newProducts(len(x), eminX+eminY)
	p.Samples, p.Partners = float64(len(x)), float64(partners)
	for i := range x {
		p.add(i, x[i], y[i], 1, eminX, eminY)
	}
	p.finish()
	if partners == 1 {
		p.sort()
	}
	return p
}

// ValueProducts returns the distribution of xy for independent x and y that
// have the values x[i] and y[j] with probabilities px[i] and py[j], for formats
// of few bits. The probabilities are normalised. The distribution counts as
// exact; where the probabilities are those of a sample, set Samples. See
// [PairProducts] for eminX and eminY. ValueProducts panics if the lengths of
// values and probabilities differ, no pair has a positive probability, the
// probability of a pair is negative or NaN, or a product is not finite.
func ValueProducts(x, px, y, py []float64, eminX, eminY int) *ProductDistribution {
	if len(x) != len(px) || len(y) != len(py) {
		panic(fmt.Sprintf("truncation: %d and %d probabilities of %d and %d values", len(px), len(py), len(x), len(y)))
	}
	p := newProducts(len(x)*len(y), eminX+eminY)
	p.Samples = math.Inf(1)
	for i := range x {
		p.starts = append(p.starts, len(p.value))
		for j := range y {
			if w := px[i] * py[j]; w != 0 {
				p.add(i, x[i], y[j], w, eminX, eminY)
			}
		}
	}
	return p.finish()
}

// newProducts returns an empty distribution with capacity for n products.
func newProducts(n, least int) *ProductDistribution {
	return &ProductDistribution{value: make([]float64, 0, n), weight: make([]float64, 0, n), exp: make([]int, 0, n), least: least}
}

// add appends the product of x and y with weight w; i is the index of x, for
// the message of a panic.
func (p *ProductDistribution) add(i int, x, y, w float64, eminX, eminY int) {
	z := x * y
	if math.IsNaN(z) || math.IsInf(z, 0) || !(w > 0) {
		panic(fmt.Sprintf("truncation: x[%d] y = %v of weight %v, want a finite number of positive weight", i, z, w))
	}
	e := p.least
	if z != 0 {
		e = max(math.Ilogb(x), eminX) + max(math.Ilogb(y), eminY)
	}
	p.value, p.weight, p.exp = append(p.value, z), append(p.weight, w), append(p.exp, e)
}

// Symmetric returns the distribution of ±p, both signs equally likely: that of
// data of mean zero whose signs are independent of their sizes. The mean of a
// sample of such data is not zero, and would dominate the error predicted for a
// long sum.
func (p *ProductDistribution) Symmetric() *ProductDistribution {
	q := *p
	q.symmetric = true
	q.Variance += q.Mean * q.Mean
	q.Mean = 0
	return &q
}

// OneSign returns the distribution with the information that no product is
// negative, or none is positive. The caller must know this of all elements of
// the data, not only of a sample. OneSign panics if there are products of both
// signs.
func (p *ProductDistribution) OneSign() *ProductDistribution {
	q := *p
	for _, v := range p.value {
		if v*float64(q.sign) < 0 {
			panic(fmt.Sprintf("truncation: product %v, want products of one sign", v))
		}
		if v != 0 && q.sign == 0 {
			q.sign = int(math.Copysign(1, v))
		}
	}
	if q.sign == 0 { // of zeros
		q.sign = 1
	}
	return &q
}

// finish normalises the weights and computes the moments. It panics if there
// are no products.
func (p *ProductDistribution) finish() *ProductDistribution {
	if len(p.value) == 0 {
		panic("truncation: 0 products, want at least 1")
	}
	total := 0.0
	for _, w := range p.weight {
		total += w
	}
	p.Grid = math.Inf(1)
	for i := range p.weight {
		p.weight[i] /= total
		p.Grid = min(p.Grid, lastBit(p.value[i]))
		p.Mean += p.weight[i] * p.value[i]
		p.AbsMean += p.weight[i] * math.Abs(p.value[i])
	}
	p.Variance = p.centralMoments(2)[2]
	p.lowest, p.highest = slices.Min(p.exp), slices.Max(p.exp)
	return p
}

// lastBit returns the greatest power of two that divides x, +Inf for 0.
func lastBit(x float64) float64 {
	if x == 0 {
		return math.Inf(1)
	}
	fraction, exp := math.Frexp(x)
	n := int64(math.Ldexp(fraction, 53))
	return math.Ldexp(float64(n&-n), exp-53)
}

// centralMoments returns E (p-μ)^r for r = 0 ... n.
func (p *ProductDistribution) centralMoments(n int) []float64 {
	m := make([]float64, n+1)
	for i, v := range p.value {
		power := p.weight[i]
		for r := range m {
			m[r] += power
			power *= v - p.Mean
		}
	}
	for r := 1; r < len(m) && p.symmetric; r += 2 {
		m[r] = 0
	}
	return m
}

// LogMoment returns the larger of log E e^(x(p-μ)) and log E e^(-x(p-μ)), for x
// > 0. For a distribution estimated from a sample these are means over the
// sample.
func (p *ProductDistribution) LogMoment(x float64) float64 {
	var up, down float64
	for i, v := range p.value {
		z := x * (v - p.Mean)
		up += p.weight[i] * math.Expm1(z)
		down += p.weight[i] * math.Expm1(-z)
	}
	if p.symmetric {
		up = (up + down) / 2
		down = up
	}
	return math.Log1p(max(up, down))
}

// MaxExponent returns the distribution of the greatest exponent M among L
// independent products, P(M <= m) = P(e <= m)^L, as exponents in ascending
// order and their probabilities. An exponent of probability at most 10^-6 is
// merged with the next greater one. MaxExponent panics if L < 1.
func (p *ProductDistribution) MaxExponent(L int) (exps []int, probs []float64) {
	check.Count("L", L)
	const negligible = 1e-6
	below := 0.0
	all := p.exponentDistribution()
	for i, c := range all {
		q := math.Pow(c.below, float64(L))
		if q-below > negligible || i == len(all)-1 {
			exps, probs = append(exps, c.exp), append(probs, q-below)
			below = q
		}
	}
	return exps, probs
}

// leastExponent returns the least exponent of a product that is not 0; if all
// are 0, the exponent of 0.
func (p *ProductDistribution) leastExponent() int {
	least := p.highest
	for i, e := range p.exp {
		if p.value[i] != 0 {
			least = min(least, e)
		}
	}
	return least
}

// exponentCount is one exponent with P(e <= exp).
type exponentCount struct {
	exp   int
	below float64
}

// exponentDistribution returns the distribution function of the exponents.
func (p *ProductDistribution) exponentDistribution() []exponentCount {
	mass := make([]float64, p.highest-p.lowest+1)
	for i, e := range p.exp {
		mass[e-p.lowest] += p.weight[i]
	}
	var dist []exponentCount
	for i, m := range mass {
		if m > 0 {
			dist = append(dist, exponentCount{p.lowest + i, m})
		}
	}
	for i := 1; i < len(dist); i++ {
		dist[i].below += dist[i-1].below
	}
	dist[len(dist)-1].below = 1
	return dist
}
