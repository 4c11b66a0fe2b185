package truncation

import "math"

// What truncation discards of a product. On the grid of weight g the part D =
// |p| mod g of a product is lost; in units of g it is f = D/g in [0, 1).

// DiscardMean returns m_d = E f, where f is the fraction of a unit that is lost
// when the last d bits of the product of two independent uniform significands
// are cut off:
//
//	m_d = (1 - 2^-d (1 + d/2))/2,
//
// and 0 for d <= 0. It is less than the (1 - 2^-d)/2 of uniform low bits, since
// the product of two random integers ends in more zeros than a random integer
// does. It holds while some bits of the product stay.
//
// Source: derived here. Given that the factors end in a total of t zeros, which
// has probability (t+1) 2^-(t+2), the bits above the lowest one are uniform.
func DiscardMean(d int) float64 {
	if d <= 0 {
		return 0
	}
	return (1 - math.Ldexp(1+float64(d)/2, -d)) / 2
}

// DiscardSquare returns w_d = E f², the second moment of what [DiscardMean] is
// the first of:
//
//	w_d = (2(1-2^-d) - (3/2) d 2^-d + (2^-d - 4^-d)/2)/6,
//
// and 0 for d <= 0.
//
// Source: derived here, as for [DiscardMean].
func DiscardSquare(d int) float64 {
	if d <= 0 {
		return 0
	}
	h := math.Ldexp(1, -d)
	return (2*(1-h) - 1.5*float64(d)*h + (h-h*h)/2) / 6
}
