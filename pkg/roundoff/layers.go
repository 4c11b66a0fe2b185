package roundoff

import "math"

// layer is the grid of the running sum after block steps: points start + i h. To the next layer
// it is count steps, and nodes and weights are the standardised law of the sum of their products.
type layer struct {
	block, count   int
	start, h       float64
	nodes, weights []float64
}

const (
	points     = 97 // of a layer
	resolution = 64 // layers while the number of steps grows by a factor of e
)

// newLayers returns the grid. It follows the mean of the running sum.
func (c *Chain) newLayers() []layer {
	var z []layer
	var mean [1]float64
	σ := math.Sqrt(float64(c.truncation.Terms) * c.law.Variance)
	drift := c.tilt(0, false).drift
	s := 0.0
	for i := 0; ; {
		half := max(tails*σ*math.Sqrt(float64(i)), c.reach/64)
		n := min(max(1, i/resolution), c.blocks-i)
		l := layer{block: i, count: n, start: s - half, h: 2 * half / (points - 1)}
		if n == 0 {
			return append(z, l)
		}
		l.nodes, l.weights = quadrature(c.central, float64(n*c.truncation.Terms))
		z = append(z, l)
		for range n {
			drift.averages(mean[:], s, l.h)
			s += mean[0]
		}
		i += n
	}
}

// logMoment returns log E exp(θ (ŝ-s) + φ s), s being the exact sum: the logarithm of the joint
// moment generating function of the error and the sum.
//
// With τ = θ-φ the exponent is τ times the error plus φ times the computed sum, so that
// Φ_i(x) = E(exp(τ Σ_(k>i) X_k + φ ŝ_q) | ŝ_i = x) obeys Φ_q(x) = e^(φx) and
// Φ_(i-1)(x) = E(e^(τX_i) Φ_i(ŝ_i) | ŝ_(i-1) = x), and the result is log Φ_0(0). Several steps
// are taken at once where Φ has long ceased to notice a single one.
func (c *Chain) logMoment(θ, φ float64, upper bool) float64 {
	t := c.tilt(θ-φ, upper)
	σ := math.Sqrt(float64(c.truncation.Terms) * c.law.Variance)

	var next, now, η, drift, spread [points]float64
	last := len(c.layers) - 1
	for i := range next {
		next[i] = φ * (c.layers[last].start + float64(i)*c.layers[last].h)
	}
	for k := last - 1; k >= 0; k-- {
		l, m := &c.layers[k], &c.layers[k+1]
		n := float64(l.count)
		if l.count > 1 { // the trapezoidal rule for the steps in between
			t.η.averages(η[:], m.start, m.h)
			for i := range next {
				next[i] += (n - 1) / 2 * η[i]
			}
		}
		t.η.averages(η[:], l.start, l.h)
		t.drift.averages(drift[:], l.start, l.h)
		t.spread.averages(spread[:], l.start, l.h)
		for i := range now {
			s := l.start + float64(i)*l.h + n*drift[i]
			now[i] = (n+1)/2*η[i] + l.logMean(next[:], m, s, σ*math.Sqrt(n)*spread[i])
		}
		next = now
	}
	return next[points/2]
}

// logMean returns log Σ w exp f(s + scale x) over the nodes x, f being given on the grid of m.
func (l *layer) logMean(f []float64, m *layer, s, scale float64) float64 {
	var y [order]float64
	most := math.Inf(-1)
	for k, x := range l.nodes {
		y[k] = interpolate(f, (s+scale*x-m.start)/m.h)
		most = max(most, y[k])
	}
	sum := 0.0
	for k, w := range l.weights {
		sum += w * math.Exp(y[k]-most)
	}
	return most + math.Log(sum)
}

// interpolate returns f at t, f being given at 0, 1, 2 and so on: by the parabola through the
// three nearest points, and beyond the ends by a line of the slope that f has over the last
// points together, since f may have steps.
func interpolate(f []float64, t float64) float64 {
	const end = points / 8
	n := len(f) - 1
	switch {
	case t < 0:
		return f[0] + t*(f[end]-f[0])/end
	case t > float64(n):
		return f[n] + (t-float64(n))*(f[n]-f[n-end])/end
	}
	j := min(max(int(t+0.5), 1), n-1)
	d := t - float64(j)
	return f[j] + d/2*(f[j+1]-f[j-1]) + d*d/2*(f[j+1]-2*f[j]+f[j-1])
}
