package roundoff

import "math"

// outcome is one of the ways in which a step can go, given the exponent and the block sum.
type outcome struct {
	weight   float64 // its probability
	change   float64 // mean change of the running sum
	error    float64 // mean change of the error
	variance float64 // of that
	proxy    float64 // variance proxy of that
}

// outcomes returns how a step from s can go: for every exponent of a block that decides, and
// every node of the law of a block sum.
func (c *Chain) outcomes(s float64, sums []float64) []outcome {
	var z []outcome
	e, below := ilogb(s), 0.0
	for i, E := range c.exps {
		below += c.probs[i]
		if E < e && i < len(c.exps)-1 {
			continue // aligned to s, as with the next exponent
		}
		for _, p := range sums {
			o := c.outcome(s, max(E, e), p)
			o.weight = below / float64(len(sums))
			z = append(z, o)
		}
		below = 0
	}
	return z
}

// outcome returns the step from s with the alignment exponent E and the exact block sum p.
//
// The losses Y of the products are correlated with the products: given their sum p, their sum is
// near L E Y + Cov(p, Y)(p - Lμ)/σ².
func (c *Chain) outcome(s float64, E int, p float64) outcome {
	l := c.losses[min(E-c.exps[0], len(c.losses)-1)]
	L, d := float64(c.truncation.Terms), l.discard
	o := outcome{error: -L * d.Mean}
	explained := 0.0
	if σ2 := c.law.Variance; σ2 > 0 {
		o.error -= d.Cross / σ2 * (p - L*c.law.Mean)
		explained = d.Cross * d.Cross / σ2
	}
	o.variance = L * max(0, d.variance()-explained)
	o.proxy = L * max(0, d.Proxy-explained)

	g := max(math.Ldexp(1, E-c.truncation.FractionBits), c.law.Grid)
	unit := math.Ldexp(1, ilogb(s)-c.resultBits) // of s
	o.lose(cutOff(s, g, max(unit, c.law.Grid)))

	S := s + p + o.error
	u := math.Ldexp(1, ilogb(S)-c.resultBits)
	bits := math.Ldexp(1, E-c.resultBits) // s is a multiple of that
	if E > ilogb(s) && s != 0 {
		bits = max(unit, g)
	}
	if u > g {
		o.lose(c.rounded(S, l.residue, max(g, min(bits, u)), u))
	}
	o.change = p + o.error
	return o
}

// lose takes a loss into account.
func (o *outcome) lose(l spread) {
	o.error -= l.mean
	o.variance += l.variance
	o.proxy += l.proxy
}

// cutOff returns what aligning takes of s, a multiple of u, at a weight g.
func cutOff(s, g, u float64) spread {
	switch {
	case g <= u:
		return spread{}
	case g > math.Abs(s):
		return spread{mean: s}
	}
	v := (g*g - u*u) / 12
	return spread{math.Copysign((g-u)/2, s), v, v}
}

// rounded returns what rounding S to a multiple of u takes away. The products leave a residue on
// top of a multiple of bits, and the bits from there to u are uniform.
func (c *Chain) rounded(S float64, r residue, bits, u float64) spread {
	if c.truncation.Nearest {
		v := (u*u - bits*bits) / 12
		return spread{math.Copysign(r.nearest.mean*bits, S), r.nearest.variance*bits*bits + v, r.nearest.proxy*bits*bits + v}
	}
	left, v := r.positive, (u*u-bits*bits)/12
	if S < 0 {
		left = r.negative
	}
	return spread{
		math.Copysign(left.mean*bits+(u-bits)/2, S),
		left.variance*bits*bits + v,
		left.proxy*bits*bits + v,
	}
}
