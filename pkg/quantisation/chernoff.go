package quantisation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// Chernoff returns x with P(E - Kμ >= x) <= e^f for one element E of a product
// of K products: the least x = (nK(t) + l)/t over t > 0, where K(t) is that of
// a block less its mean, n = K/L and l = -f. With below it is that of P(Kμ - E
// >= x). It panics unless K is a positive multiple of L and -Inf < f < 0.
//
// Source: Chernoff 1952.
func (c *Cumulant) Chernoff(K int, f roundoff.Failure, below bool) float64 {
	x, _ := c.blocks(c.number(K)).chernoff(f, below)
	return c.size(K, x)
}

// size returns x, which is in units of unit, with what rounding of scales adds.
func (c *Cumulant) size(K int, x float64) float64 {
	return x*c.unit + float64(float64(K)*c.slack)
}

// A walk is what Chernoff's bound needs of a sum of independent errors: the jet
// of its K(t) less the mean, for t up to most.
type walk struct {
	jet  func(t float64) jet
	most float64
}

// blocks returns the walk of n blocks, t in units of 1/unit.
func (c *Cumulant) blocks(n float64) walk {
	return walk{func(t float64) jet { return jet{}.plus(n, c.jet(t)) }, c.most}
}

// side returns the jet of K(-t) for below, of K(t) otherwise.
func (s walk) side(t float64, below bool) jet {
	if !below {
		return s.jet(t)
	}
	k := s.jet(-t)
	k[1], k[3] = -k[1], -k[3]
	return k
}

// chernoff returns the bound and its t. At the least x is tK′ - K = l, which
// increases with t. Newton's method for the logarithms of both sides starts
// where a normal law has it, and bisection replaces a step out of the interval
// where it is known to be. Every t is a valid one, and x hardly changes where
// it is least.
func (s walk) chernoff(f roundoff.Failure, below bool) (x, t float64) {
	l := -float64(f)
	check.Number("f", float64(f), l > 0 && l <= math.MaxFloat64, "-Inf < f < 0")
	x = math.Inf(1)
	lo, hi := 0.0, s.most
	next := min(math.Sqrt(l/s.jet(0)[2]), s.most)
	for range 60 {
		k := s.side(next, below)
		if bound := (k[0] + l) / next; bound < x {
			x, t = bound, next
		}
		if math.IsInf(k[0], 1) || math.IsNaN(k[0]) { // beyond the range of float64
			hi = next
			next = (lo + hi) / 2
			continue
		}
		exponent := float64(next*k[1]) - k[0]
		miss := math.Log(exponent / l)
		if !(math.Abs(miss) > 1e-4) || next == s.most && miss < 0 {
			break
		}
		if miss < 0 {
			lo = next
		} else {
			hi = next
		}
		if next -= miss * exponent / (2 * next * k[2]); next <= lo || next > hi {
			next = (lo + hi) / 2
		}
	}
	return x, t
}

// number returns K/L.
func (c *Cumulant) number(K int) float64 {
	check.Count("K", K)
	check.Number("K", float64(K), K%c.length == 0, "a multiple of the length of blocks")
	return float64(K / c.length)
}

// shevtsova is C of the Berry-Esseen inequality for terms of one law.
const shevtsova = 0.469

// Tilted returns an x as Chernoff does, that follows from
//
//	P(E - Kμ >= nK′(t)) <= exp(n(K(t) - tK′(t))) [erfcx(ts/√2)/2 + 2Cr/√n],
//
// s² = nK″(t), C = 0.469, where r² = 3 + K⁽⁴⁾(t)/K″(t)² is the kurtosis of
// the tilted law of a block, whose root is at least E|Σq - K′|³ / K″^1.5. It is
// at most Chernoff's. It panics as Chernoff does.
//
// Source: Esscher 1932 for the change of measure, Shevtsova 2013 for C.
func (c *Cumulant) Tilted(K int, f roundoff.Failure, below bool) float64 {
	n := c.number(K)
	s := c.blocks(n)
	x, t := s.chernoff(f, below)
	return c.size(K, s.refined(x, t, f, below, func(t float64, k jet) (factor, slope float64) {
		variance := 2 * k[2]
		kurtosis := 3 + n*24*k[4]/(variance*variance)
		normal := erfcx(t*math.Sqrt(variance/2)) / 2
		factor = normal + 2*shevtsova*math.Sqrt(kurtosis/n)
		return factor, normal / (factor * t) // of erfcx(x) about that of 1/x
	}))
}

// refined returns an x as Chernoff's x, where the probability of K′(t) or more
// is at most exp(K(t) - tK′(t)) times a factor, and t is that of x. The factor
// is a function of t and the jet there; slope is about the derivative of its
// logarithm, without its sign.
func (s walk) refined(x, t float64, f roundoff.Failure, below bool, factor func(t float64, k jet) (factor, slope float64)) float64 {
	// Where the logarithm of the probability is f or less, K′(t) is a bound.
	// Newton's method looks for the t where it is less by 10^-4, down from
	// Chernoff's t.
	const aim = 1e-4
	for range 20 {
		k := s.side(t, below)
		times, slope := factor(t, k)
		spare := float64(t*k[1]) - k[0] - math.Log(times) + float64(f)
		if spare >= 0 {
			x = min(x, k[1])
		}
		next := min(max(t-(spare-aim)/(2*t*k[2]+slope), t/2), s.most)
		if !(math.Abs(spare-aim) > aim) || next == t {
			break
		}
		t = next
	}
	return x
}

// erfcx returns exp(x²) erfc(x) for x >= 0, by the continued fraction of
// Laplace where the factors leave the range of float64.
func erfcx(x float64) float64 {
	if x < 20 {
		return math.Exp(x*x) * math.Erfc(x)
	}
	f := x
	for k := 20; k > 0; k-- {
		f = x + float64(k)/2/f
	}
	return 1 / (f * math.Sqrt(math.Pi))
}
