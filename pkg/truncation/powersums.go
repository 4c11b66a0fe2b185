package truncation

import "math"

// powerSums contains sums over the products of e < E, each of which is a group:
// of the weights, and of the weighted powers Y to Y^32. For a symmetric
// distribution odd powers are left out. own is the weight of e = E.
type powerSums struct {
	below, own float64
	powers     [33]float64
}

// mostOfSeries is the largest θ for which the series of powerSums, which are
// those of e^(2θY) and less, leave out terms of at most 4^33/33!, 10^-17.
const mostOfSeries = 2

// powerSums returns these sums at E, and stores them for the next call: those
// of every θ follow from them.
func (l *Losses) powerSums(E int) *powerSums {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.powers[E]
	if ok {
		return s
	}
	s = &powerSums{}
	scale := math.Ldexp(1, l.F-E)
	for x := range l.Products.cells {
		switch {
		case x.exp < E || x.sign == 0:
			for i, v := range x.value {
				s.below += x.weight[i]
				s.add(x.weight[i], lossOf(v*scale, 0), l.Products.symmetric)
			}
		case x.exp == E:
			for _, w := range x.weight {
				s.own += w
			}
		}
	}
	l.powers[E] = s
	return s
}

// add adds the powers of y.
func (s *powerSums) add(weight, y float64, symmetric bool) {
	if symmetric {
		for k := 2; k < len(s.powers); k += 2 {
			weight = float64(weight * (y * y))
			s.powers[k] += weight
		}
		return
	}
	for k := 1; k < len(s.powers); k++ {
		weight = float64(weight * y)
		s.powers[k] += weight
	}
}

// momentTallies returns the tallies by their series. The square of e^x - 1 is
// e^(2x) - 1 less twice that, and the square of cosh x - 1 half of cosh 2x - 1
// less twice that.
func (s *powerSums) momentTallies(θ float64, symmetric bool) (upto, below momentTally) {
	below.p = s.below
	term, twice := 1., 1. // θ^k/k!, 2^k
	if symmetric {
		twice = 0.5
	}
	for k, power := range s.powers[1:] {
		term *= θ / float64(k+1)
		twice *= 2
		below.sum += float64(term * power)
		below.square += float64((twice - 2) * term * power)
	}
	upto = below
	upto.p += s.own
	return upto.ofOne(), below.ofOne()
}
