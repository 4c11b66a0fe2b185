package truncation

import "math"

// The part of a product that truncation discards. On a grid of spacing g a
// product p loses D = |p| mod g; in units of g that is f = D/g in [0, 1).

// DiscardMean returns m_d = E f, where f is the fraction of a unit that is lost
// when the last d bits of the product of two independent uniform significands
// are cut off:
//
//	m_d = (1 - 2^-d (1 + d/2))/2,
//
// and 0 for d <= 0. It is less than (1 - 2^-d)/2, the mean for uniform low
// bits, since the product of two random integers ends in more zeros than a
// random integer does. It is valid as long as some bits of the product are
// kept.
//
// Source: derived here. Given that the factors end in a total of t zeros, which
// has probability (t+1) 2^-(t+2), the bits above the lowest one are uniform.
func DiscardMean(d int) float64 {
	if d <= 0 {
		return 0
	}
	return (1 - math.Ldexp(1+float64(d)/2, -d)) / 2
}

// DiscardSquare returns w_d = E f², the second moment of the fraction f whose
// mean is [DiscardMean]:
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
