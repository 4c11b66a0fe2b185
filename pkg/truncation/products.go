package truncation

import (
	"fmt"
	"math"
	"slices"
)

// ProductDistribution is the distribution of one product p = xy, as a list of
// values with weights: pairs sampled from the data themselves, or every pair of
// values of a format of few bits. Accumulator looks at the low bits of
// products, so it is the numbers that the unit multiplies that count, after
// their conversion.
type ProductDistribution struct {
	value  []float64
	weight []float64 // of sum 1
	exp    []int     // e = eₓ + e_y, not normalised: |p| is in [2^e, 2^(e+2)) unless subnormal
	least  int       // no exponent is less; that of a product that is zero

	symmetric bool  // the signs of values do not count, both are equally likely
	sign      int   // of all products that are not zero, ±1; 0 if it is not known that they have one
	starts    []int // of the products of every x, where those of all pairs are listed

	Mean     float64 // μ = E p
	Variance float64 // σ²
	AbsMean  float64 // E|p|
	Grid     float64 // a power of two that divides all values

	// Samples is the number of independent elements of the smaller of two samples
	// that the distribution was estimated from, +Inf where it is exact, and
	// Partners how many independent elements of the other one there are to each, 0
	// for one. Every Partners pairs in a row that [PairProducts] was given have the
	// same element of the smaller sample, and no other element twice; of
	// [ValueProducts] x is the smaller sample.
	Samples, Partners float64
}

// PairProducts returns the distribution of x[i]y[i], every pair as likely as
// the others. Numbers below 2^eminX and 2^eminY are subnormal: they count with
// these exponents, and zero products with their sum, below which no exponent
// lies. It panics if the lengths differ, there are no pairs, or a number is not
// finite.
func PairProducts(x, y []float64, eminX, eminY int) *ProductDistribution {
	if len(x) != len(y) {
		panic(fmt.Sprintf("truncation: x has %d elements, y has %d", len(x), len(y)))
	}
	p := newProducts(len(x), eminX+eminY)
	p.Samples = float64(len(x))
	for i := range x {
		p.add(i, x[i], y[i], 1, eminX, eminY)
	}
	return p.finish()
}

// ValueProducts returns the distribution of xy for independent x and y that
// take the values x[i] and y[j] with probabilities px[i] and py[j], for formats
// of so few bits that all pairs fit. The probabilities are normalised. The
// distribution counts as exact; where the probabilities are those of a sample,
// set Samples. See [PairProducts] for eminX and eminY and for panics.
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

// newProducts returns a distribution with room for n products.
func newProducts(n, least int) *ProductDistribution {
	return &ProductDistribution{value: make([]float64, 0, n), weight: make([]float64, 0, n), exp: make([]int, 0, n), least: least}
}

// add appends the product of element i of x and a y.
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
// data of mean zero whose signs are independent of their sizes. A sample of
// them has a mean that is not zero, which in a long sum would be all that
// counts.
func (p *ProductDistribution) Symmetric() *ProductDistribution {
	q := *p
	q.symmetric = true
	q.Variance += q.Mean * q.Mean
	q.Mean = 0
	return &q
}

// OneSign returns the distribution of products of which it is known that none
// is negative or none is positive, as all elements of the data have the same
// sign: not those of a sample alone. It panics if there are products of both
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

// finish normalises the weights and takes the moments.
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
// > 0, of this distribution: of a sample it is that of the sample.
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

// MaxExponent returns the distribution of the greatest exponent among L
// independent products, as exponents in ascending order and their
// probabilities, P(M <= m) = P(e <= m)^L. What lies below 10^-6 at the lower
// end is added to the exponent above it. It panics if L < 1.
func (p *ProductDistribution) MaxExponent(L int) (exps []int, probs []float64) {
	check.Count("L", L)
	const negligible = 1e-6
	below := 0.0
	for _, c := range p.exponentDistribution() {
		q := math.Pow(c.below, float64(L))
		if q-below > negligible || q >= 1-1e-12 {
			exps, probs = append(exps, c.exp), append(probs, q-below)
			below = q
		}
		if q >= 1-1e-12 {
			break
		}
	}
	return exps, probs
}

// leastExponent returns the least exponent of a product that is not 0, of 0
// where all are.
func (p *ProductDistribution) leastExponent() int {
	least := slices.Max(p.exp)
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
	lo, hi := slices.Min(p.exp), slices.Max(p.exp)
	mass := make([]float64, hi-lo+1)
	for i, e := range p.exp {
		mass[e-lo] += p.weight[i]
	}
	var dist []exponentCount
	for i, m := range mass {
		if m > 0 {
			dist = append(dist, exponentCount{lo + i, m})
		}
	}
	for i := 1; i < len(dist); i++ {
		dist[i].below += dist[i-1].below
	}
	dist[len(dist)-1].below = 1
	return dist
}
