package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// manyBits tests how likely it is that two nonzero products of an output are
// equal. If products have D equally likely values, a product that is added to a
// sum of given exponent has one of D rounding errors. By chance, the mean of
// these D errors is about a standard deviation over √D. Over n terms, this mean
// adds up to n/√D standard deviations, while random errors add up to √n. The
// mean is therefore unimportant as long as D >= n.
//
// D is the reciprocal of the probability that two products are equal. It is
// estimated from pairs of elements at any positions, from the chosen outputs,
// and from the row and the column with the fewest values.
func (c chosen) manyBits(x, y lines) Finding {
	const pairs = 1 << 14
	rng := rand.New(rand.NewPCG(dataSeed, 7))
	z := Finding{Name: "values of products", Tests: ManyBits, Limit: 1, Power: nan, Words: "all are 0 or different"}
	test := func(p []float64, of string) {
		values, equal, n := variety(p)
		if n < 2 || equal < fewestEqual && n > fewestEqual {
			return
		}
		terms := float64(x.k) * float64(n) / float64(len(p))
		if ratio := terms / values; ratio >= z.Statistic {
			z.Statistic = ratio
			z.Words = fmt.Sprintf("the products of %s are as of %.3g values that are equally likely, of a sum of %.3g want more", of, values, terms)
		}
	}
	p := make([]float64, pairs)
	for i := range p {
		p[i] = x.at(rng.IntN(x.n), rng.IntN(x.k)) * y.at(rng.IntN(y.n), rng.IntN(y.k))
	}
	test(p, "all pairs")
	for _, s := range c.products() {
		test(s, "an output")
	}
	u, v := x.poorest(rng), y.poorest(rng)
	for k := range u {
		u[k] *= v[k]
	}
	test(u, "the row and column of fewest values")
	return z
}

// fewestEqual is the number of equal pairs needed to estimate their
// probability.
const fewestEqual = 16

// variety returns the reciprocal of the share of equal pairs among the nonzero
// numbers, +Inf if no two are equal; the number of equal pairs; and the number
// of nonzero numbers.
func variety(p []float64) (values float64, equal, n int) {
	p = slices.DeleteFunc(slices.Clone(p), func(x float64) bool { return x == 0 })
	slices.Sort(p)
	n = len(p)
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && p[hi] == p[lo] {
			hi++
		}
		equal += (hi - lo) * (hi - lo - 1) / 2
		lo = hi
	}
	if equal == 0 {
		return math.Inf(1), 0, n
	}
	return float64(n) * float64(n-1) / 2 / float64(equal), equal, n
}

// poorest returns the line with the fewest values, judged by a sample of its
// elements.
func (l lines) poorest(rng *rand.Rand) []float64 {
	const elements = 256
	places := sample(rng, l.k, elements)
	best, least := 0, math.Inf(1)
	x := make([]float64, len(places))
	for i := range l.n {
		for j, k := range places {
			x[j] = l.at(i, k)
		}
		if values, _, _ := variety(x); values < least {
			best, least = i, values
		}
	}
	return l.line(best)
}
