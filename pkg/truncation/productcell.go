package truncation

import "cmp"

// signs is the number of signs of a product: -, 0 and +.
const signs = 3

// A productCell contains the products of one exponent and sign, and their
// weights. A product that is 0 has the least exponent of all.
type productCell struct {
	exp, sign     int
	value, weight []float64
}

// cells returns the products of a distribution whose products are alone, by
// exponent and sign.
func (p *ProductDistribution) cells(yield func(productCell) bool) {
	lo := 0
	for i, hi := range p.ends {
		if lo < hi && !yield(productCell{p.lowest + i/signs, i%signs - 1, p.value[lo:hi], p.weight[lo:hi]}) {
			return
		}
		lo = hi
	}
}

// sort sorts the products by exponent, those of one exponent by sign, and sets
// alone and ends. Whoever asks for the products up to an exponent finds them
// one after the other.
func (p *ProductDistribution) sort() {
	kind := func(i int) int { return signs*(p.exp[i]-p.lowest) + cmp.Compare(p.value[i], 0) + 1 }
	n := len(p.exp)
	value, weight, exp := make([]float64, n), make([]float64, n), make([]int, n)
	p.alone, p.ends = true, make([]int, signs*(p.highest-p.lowest+1))
	for i := range p.exp {
		p.ends[kind(i)]++
	}
	first := 0
	for k, count := range p.ends {
		p.ends[k], first = first, first+count
	}
	for i := range p.exp {
		to := &p.ends[kind(i)]
		value[*to], weight[*to], exp[*to] = p.value[i], p.weight[i], p.exp[i]
		*to++
	}
	p.value, p.weight, p.exp = value, weight, exp
}

// tally returns the sums over the products of a cell, and ss for groups of one
// product each.
func (x productCell) tally(scale, c float64) tally {
	p, s, q, f, ss := 0., 0., 0., 0., 0.
	for i, v := range x.value {
		w, y := x.weight[i], lossOf(v*scale, c)
		d := float64((y - c) * (y - c))
		p += w
		s += float64(w * y)
		q += float64(w * d)
		f += float64(w * d * d)
		ss += float64(w * y * y)
	}
	return tally{group: group{p, s, q, f}, ss: ss}
}
