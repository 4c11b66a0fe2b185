package roundoff

import "math"

// ErrorBound returns x such that |ŝ - s| <= x with probability 1 - e^f, for one chain: for N of
// them at once, f is that of all less log N. It is Chernoff's bound,
//
//	x = min over θ of (l + log E e^(θ(ŝ-s)))/θ,  l = log(2/ζ), ζ = e^f,
//
// the larger one of those for ŝ-s and s-ŝ. It panics unless -Inf < f < 0.
//
// Source: derived here, from the model of [Chain]; Chernoff 1952.
func (c *Chain) ErrorBound(f Failure) float64 {
	l := f.sides()
	return c.bothSides(0, func(Λ, θ float64) float64 { return (l + Λ) / θ })
}

// BackwardBound returns β such that |ŝ - s| <= β Σ|p| with probability 1 - e^f. With r the mean
// relative error, |ŝ - s| <= |r| Σ|p| + |ŝ - (1+r)s|, and the last term is bounded as in
// [Chain.ErrorBound], but in terms of a sum that is random itself: as e^-x <= 1 - x + x²/2,
//
//	P(ŝ - (1+r)s > bΣ|p|) <= E exp(θ(ŝ - (1+r)s) - θbΣ|p|) <= exp(Λ(θ) - y + y²ρ/2K)
//
// with y = θbK E|p| and ρ = E p²/(E|p|)², provided that larger products err more, so that the
// two factors are not correlated positively. b is the least for which this is ζ/2, and β =
// |r| + b. It is +Inf where K is so small that the sum may be near zero.
// It panics unless -Inf < f < 0.
//
// Source: derived here, from the model of [Chain].
func (c *Chain) BackwardBound(f Failure) float64 {
	l := f.sides()
	K, a := c.terms(), c.law.AbsMean
	if a == 0 {
		return 0
	}
	ρ := (c.law.Variance + c.law.Mean*c.law.Mean) / (a * a)
	r := 0.0
	if c.law.Mean != 0 {
		mean, _ := c.moments(0)
		r = mean / (K * c.law.Mean)
	}
	return math.Abs(r) + c.bothSides(r, func(Λ, θ float64) float64 {
		root := 1 - 2*ρ/K*(l+Λ)
		if !(root >= 0) {
			return math.Inf(1)
		}
		return 2 * (l + Λ) / (1 + math.Sqrt(root)) / (θ * K * a)
	})
}

// terms returns K, the number of products.
func (c *Chain) terms() float64 { return float64(c.blocks) * float64(c.truncation.Terms) }

// bothSides returns the larger of the minima over θ > 0 of bound(Λ(θ), θ) and bound(Λ(-θ), θ),
// Λ being the logarithm of the moment generating function of ŝ - (1+r)s. An error that is
// certain is returned as it is.
func (c *Chain) bothSides(r float64, bound func(Λ, θ float64) float64) float64 {
	mean, deviation := c.moments(r)
	if deviation == 0 {
		return math.Abs(mean)
	}
	side := func(sign float64) func(float64) float64 {
		return func(t float64) float64 {
			θ := math.Exp(t) / deviation
			return bound(c.logMoment(sign*θ, -sign*r*θ, true), θ)
		}
	}
	at := minimum(side(math.Copysign(1, mean)))
	if c.law.symmetric {
		return at.y
	}
	other := side(-math.Copysign(1, mean))
	if other(at.x) <= at.y { // any θ will do
		return at.y
	}
	return max(at.y, minimum(other).y)
}

// point is a point of the graph of a function.
type point struct{ x, y float64 }

// minimum returns the lowest point found of a function of one minimum near 1 that may be
// infinite beyond it: downhill in steps, then by parabolas through three points.
func minimum(f func(float64) float64) point {
	const step, downhill, parabolas = 0.5, 20, 3
	at := func(x float64) point {
		y := f(x)
		if math.IsNaN(y) {
			y = math.Inf(1)
		}
		return point{x, y}
	}
	a, b, c := at(1-step), at(1), at(1+step)
	for range downhill {
		switch {
		case a.y <= b.y:
			a, b, c = at(a.x-step), a, b
		case c.y < b.y:
			a, b, c = b, c, at(c.x+step)
		}
	}
	for range parabolas {
		switch p := at(vertex(a, b, c)); {
		case p.y < b.y && p.x < b.x:
			b, c = p, b
		case p.y < b.y:
			a, b = b, p
		case p.x < b.x:
			a = p
		default:
			c = p
		}
	}
	return b
}

// vertex returns where the parabola through three points is lowest, or some place between the
// last two if it cannot tell.
func vertex(a, b, c point) float64 {
	u, v := (b.x-a.x)*(b.y-c.y), (b.x-c.x)*(b.y-a.y)
	x := b.x - ((b.x-a.x)*u-(b.x-c.x)*v)/(2*(u-v))
	if a.x < x && x < c.x && x != b.x {
		return x
	}
	return (b.x + c.x) / 2
}
