package probe

import (
	"context"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A prober evaluates sums on a unit. After a failure all its results are zeros,
// and err is the failure.
type prober struct {
	ctx context.Context
	u   Unit
	d   tcore.Device
	k   int
	err error
}

// A product is a factor of A times a factor of B.
type product struct{ x, y float64 }

// question is a sum to evaluate: c plus products, given by their indices; the
// other products are zeros.
type question struct {
	c        float64
	products map[int]product
}

// ask returns the unit's results as codes.
func (p *prober) ask(qs []question) []uint64 {
	d := make([]uint64, len(qs))
	x, y := make([]uint64, len(qs)*p.k), make([]uint64, len(qs)*p.k)
	c := make([]uint64, len(qs))
	for i, q := range qs {
		c[i] = code(p.d.C, q.c)
		for k, m := range q.products {
			x[i*p.k+k], y[i*p.k+k] = code(p.d.A, m.x), code(p.d.B, m.y)
		}
	}
	if p.err == nil {
		p.err = p.u.Dots(p.ctx, x, y, c, d)
	}
	if p.err != nil {
		clear(d)
	}
	return d
}

// values returns the unit's results as numbers.
func (p *prober) values(qs []question) []float64 {
	z := make([]float64, len(qs))
	for i, d := range p.ask(qs) {
		z[i] = p.d.C.Decode(d)
	}
	return z
}

// value returns the unit's result of one sum as a number.
func (p *prober) value(c float64, products map[int]product) float64 {
	return p.values([]question{{c, products}})[0]
}

// power returns factors whose product is ±2^e, normal ones if possible. If
// there are none, ok is false.
func (p *prober) power(e int, sign float64) (m product, ok bool) {
	a, b := p.d.A, p.d.B
	x := min(max(e/2, a.Emin), a.Emax)
	y := min(max(e-x, b.Emin-b.Precision+1), b.Emax)
	x = e - y
	if x < a.Emin-a.Precision+1 || x > a.Emax {
		return product{}, false
	}
	return product{sign * math.Ldexp(1, x), math.Ldexp(1, y)}, true
}

// exponent returns the exponent E by which the unit aligns a product: the sum
// of the exponents of its factors, without normalisation of the product.
func (p *prober) exponent(m product) int {
	return max(math.Ilogb(m.x), p.d.A.Emin) + max(math.Ilogb(m.y), p.d.B.Emin)
}

// holds reports whether 2^e is a number of C.
func (p *prober) holds(e int) bool {
	c := p.d.C
	return e >= c.Emin-c.Precision+1 && e <= c.Emax
}

// pair is c and two products. It is used to find out whether a unit adds the
// two products in one step or in two.
type pair struct {
	c             float64
	first, second product
}

// pairs returns pairs for which c + p₀ + p_j, rounded once, differs from the
// sum rounded after each addition. There are three kinds. In the first, p₀ and
// p_j are small and equal: each alone is lost in the rounding of c + p₀, but
// their sum is not. In the second they cancel, and each alone is not lost. In
// the third, p₀ cancels c, and p_j is so small that it is lost if it is added
// together with c.
func (p *prober) pairs() []pair {
	var ps []pair
	c := p.d.C
	for _, e := range []int{12, c.Precision + 1} {
		if !p.holds(e) {
			continue
		}
		for s := 8; s <= c.Precision+1; s++ {
			up, ok := p.power(e-s, 1)
			down, _ := p.power(e-s, -1)
			if ok {
				ps = append(ps, pair{math.Ldexp(1, e), up, up}, pair{math.Ldexp(1, e), up, down})
			}
		}
		for s := 100; s > 0; s-- {
			small, ok := p.power(e-s, 1)
			down, can := p.power(e, -1)
			if ok && can && p.holds(e-s) {
				ps = append(ps, pair{math.Ldexp(1, e), down, small})
				break
			}
		}
	}
	return ps
}

// blockOfFirst returns the indices of the products that the unit adds in one
// step with product 0. An index j is among them if, for some operands, the
// result of c + p₀ + p_j in one instruction differs from that in two.
func (p *prober) blockOfFirst() []int {
	ps := p.pairs()
	var half, once, twice []question
	for j := 1; j < p.k; j++ {
		for _, t := range ps {
			half = append(half, question{t.c, map[int]product{0: t.first}})
			once = append(once, question{t.c, map[int]product{0: t.first, j: t.second}})
			twice = append(twice, question{0, map[int]product{j: t.second}})
		}
	}
	for i, z := range p.values(half) {
		twice[i].c = z
	}
	together := make([]bool, p.k)
	together[0] = true
	a, b := p.ask(once), p.ask(twice)
	for i := range a {
		if a[i] != b[i] {
			together[1+i/len(ps)] = true
		}
	}
	var block []int
	for j, t := range together {
		if t {
			block = append(block, j)
		}
	}
	return block
}

// fractionBits returns F, the number of fraction bits kept in alignment: a term
// 2^(e-s) beside terms of exponent e is kept for s <= F and lost for s > F. The
// terms are 2^e, -2^e and c = 2^(e-s), so that the result is what was kept of
// c. If every c that the format C can represent is kept, all is true and f is
// the last s tested. Partner is the index of a product in the block of product
// 0.
func (p *prober) fractionBits(partner int) (f int, all bool) {
	e := 15
	_, ok := p.power(e, 1)
	for !ok && e > 0 {
		e--
		_, ok = p.power(e, 1)
	}
	up, _ := p.power(e, 1)
	down, _ := p.power(e, -1)
	var qs []question
	for s := 0; s <= 100 && p.holds(e-s); s++ {
		qs = append(qs, question{math.Ldexp(1, e-s), map[int]product{0: up, partner: down}})
	}
	for s, z := range p.values(qs) {
		if z != qs[s].c {
			return s - 1, false
		}
	}
	return len(qs) - 1, true
}

// wide returns a sum whose exact value has n significant bits, and this value:
// (2^(n-1) + k) 2^(1-n+j), times sign. It consists of 2^j products of 1 and of
// c, where j is chosen so that at most frac of the bits are below the unit bit
// of a single term. If the block has fewer than 2^j products, ok is false.
func (p *prober) wide(n, k, terms, frac int, sign float64) (q question, exact float64, ok bool) {
	j := max(0, n-1-frac)
	if 1<<j > terms {
		return question{}, 0, false
	}
	q = question{sign * math.Ldexp(float64(k), j-n+1), map[int]product{}}
	for i := range 1 << j {
		q.products[i] = product{sign, 1}
	}
	return q, sign * (math.Ldexp(1, j) + math.Ldexp(float64(k), j-n+1)), true
}

// precision returns the number of bits in the significand of a result: the
// greatest n for which the unit returns 2^(n-1) + 1, scaled, exactly. If every
// sum that fits into the block is exact, visible is false and the answer is the
// precision of C.
func (p *prober) precision(terms, frac int) (bits int, visible bool) {
	for n := 2; n <= p.d.C.Precision+1; n++ {
		q, exact, ok := p.wide(n, 1, terms, frac, 1)
		if !ok {
			break
		}
		if p.value(q.c, q.products) != exact {
			return n - 1, true
		}
	}
	return p.d.C.Precision, false
}

// rounding returns the rounding modes that round sums to the given precision as
// the unit does. It tests quarters of a unit in the last place, or only halves
// if the block is too short for quarters, after an even and an odd last digit
// and with both signs.
func (p *prober) rounding(precision, terms, frac int) []tcore.RoundingMode {
	f := p.d.C
	f.Precision = precision
	var qs []question
	var exact []float64
	for extra := 1; extra <= 2; extra++ {
		for k := range 8 {
			for _, sign := range []float64{1, -1} {
				if q, z, ok := p.wide(precision+extra, k, terms, frac, sign); ok {
					qs, exact = append(qs, q), append(exact, z)
				}
			}
		}
	}
	if len(qs) == 0 || precision < 2 {
		return nil
	}
	got := p.values(qs)
	var modes []tcore.RoundingMode
	for m := tcore.ToNearestEven; m <= tcore.ToOdd; m++ {
		fits := true
		for i := range qs {
			fits = fits && got[i] == f.Round(exact[i], m)
		}
		if fits {
			modes = append(modes, m)
		}
	}
	return modes
}

// tinyNegative returns the unit's result for the negative sum of magnitude a
// quarter of the least positive number of C. The unit may round it to -0, to +0
// or to another number. If no product is so small, visible is false. The
// product is in the last block, since a later block would add +0 to the result.
func (p *prober) tinyNegative() (z float64, visible bool) {
	c := p.d.C
	m, ok := p.power(c.Emin-c.Precision-1, -1)
	if !ok {
		return 0, false
	}
	return p.value(0, map[int]product{p.k - 1: m}), true
}

// zeroExponent returns the exponent E with which a zero term takes part in
// alignment.
//
// A single product ±2^q among zero terms is kept if q >= E - F, where F = frac,
// even if 2^q is far below the least number of C. Two effects show whether it
// was kept. It changes the rounding of a sum of half that least number, which
// would otherwise be a tie and be rounded to even (nearest). Or it makes the
// result other than +0 (negative). If E is not decided by the zeros, visible is
// false and the answer is the greatest E that is possible.
func (p *prober) zeroExponent(frac int, nearest, negative bool) (e int, visible bool) {
	least := p.d.C.Emin - p.d.C.Precision + 1
	half, tie := p.power(least-1, 1)
	tie = tie && nearest
	if !tie && !negative {
		return math.MaxInt, false
	}
	for q := least - 2; ; q-- {
		m, ok := p.power(q, -1)
		if !ok {
			return q + 1 + frac, false
		}
		products, top := map[int]product{p.k - 1: m}, p.exponent(m)
		if tie {
			products, top = map[int]product{p.k - 1: half, p.k - 2: {-m.x, m.y}}, max(top, p.exponent(half))
		}
		z := p.value(0, products)
		if z == 0 && (tie || !math.Signbit(z)) {
			e = q + 1 + frac
			return e, e > top && q < least-2
		}
	}
}
