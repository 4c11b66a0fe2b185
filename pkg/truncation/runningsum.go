package truncation

import "math"

// RunningSum is a model of the running sum of a machine that adds Terms
// products in one step. Where the products are independent and of one
// distribution, a step depends on the past only through the running sum s,
// which is a Markov chain. The error of a step from s has a mean D(s), a
// variance V(s) and a covariance C(s) with the sum of the products of the step.
// These three functions determine the mean and the variance of the error of a
// long sum.
type RunningSum struct {
	Terms    int // L
	Products ProductMoments

	// Step returns the means of D, V and C over s in [lo, hi].
	Step func(lo, hi float64) ErrorMoments
}

// Error returns the moments of the error of a sum of K products, of K/L steps.
// A last step of fewer than L products counts as a fraction of a step.
//
// The error still to come after a step depends on the past only through s. So
// its moments are functions of s. They are computed from the end of the sum
// backwards to its beginning, by the formulas of total expectation, variance
// and covariance,
//
//	A(s) = E(X + A(s')),  Var = E Var(s') + Var(X + A(s')),  Cov = E Cov(s') + Cov(X + A(s'), p),
//
// where X is the error and p the exact sum of the step to s' = s + p + X. They
// are evaluated on a grid, with X and p approximated as jointly normal, and for
// several steps at once where the sum is long. Error panics if K < 1 or Terms <
// 1.
//
// Source: derived here.
func (r RunningSum) Error(K int) ErrorMoments {
	check.Count("K", K)
	check.Count("Terms", r.Terms)
	layers := r.layers(float64(K) / float64(r.Terms))
	next := new(toCome)
	for i := len(layers) - 2; i >= 0; i-- {
		next = r.back(layers[i], layers[i+1], next)
	}
	const middle = points / 2
	return ErrorMoments{next.mean[middle], next.variance[middle], next.covariance[middle]}
}

const (
	points = 129 // of the grid of a layer
	tails  = 6.5 // half the width of the grid, in standard deviations of s
)

// layer is the grid of the running sums after some number of steps, and the
// number of steps to the next layer.
type layer struct {
	start, h float64
	steps    float64
}

// at returns point i of the grid.
func (l layer) at(i int) float64 { return l.start + float64(i)*l.h }

// step returns the mean moments of a step over the running sums within h/2 of
// point i and those up to along beyond them. The first step is from 0.
func (r RunningSum) step(l layer, i int, along float64) ErrorMoments {
	s := l.at(i)
	return r.Step(s-l.h/2+min(along, 0), s+l.h/2+max(along, 0))
}

// layers returns the grids along the mean path of s. The first grid, and every
// grid of sums without variance, is a single point.
func (r RunningSum) layers(q float64) []layer {
	var z []layer
	block := float64(r.Terms)
	centre := 0.0
	for i := 0.0; ; {
		deviation := math.Sqrt(i * block * r.Products.Variance)
		l := layer{start: centre - tails*deviation, h: 2 * tails * deviation / (points - 1)}
		l.steps = min(r.atOnce(i, deviation), q-i)
		z = append(z, l)
		if l.steps <= 0 {
			return z
		}
		centre += l.steps * (block*r.Products.Mean + r.step(l, points/2, 0).Mean)
		i += l.steps
	}
}

// atOnce returns how many steps are evaluated at once after i steps: i/64, so
// that the distribution of s changes little, or fewer if s would drift by more
// than half its standard deviation, over which the error of a step may change
// abruptly. It returns at least i/512, and at least 1.
func (r RunningSum) atOnce(i, deviation float64) float64 {
	n := i / 64
	if drift := float64(r.Terms) * math.Abs(r.Products.Mean); n*drift > deviation/2 {
		n = max(i/512, deviation/2/drift)
	}
	return max(1, math.Floor(n))
}

// toCome contains the moments of the error still to come, at the points of a
// layer.
type toCome struct{ mean, variance, covariance [points]float64 }

// hermite is the Gauss quadrature rule of five nodes for the standard normal
// distribution. Opposite nodes are in pairs so that their sums cancel.
var hermite = [...]struct{ node, weight float64 }{
	{0, 8.0 / 15},
	{-math.Sqrt(5 - math.Sqrt(10)), (7 + 2*math.Sqrt(10)) / 60},
	{math.Sqrt(5 - math.Sqrt(10)), (7 + 2*math.Sqrt(10)) / 60},
	{-math.Sqrt(5 + math.Sqrt(10)), (7 - 2*math.Sqrt(10)) / 60},
	{math.Sqrt(5 + math.Sqrt(10)), (7 - 2*math.Sqrt(10)) / 60},
}

// back returns the error to come after layer l, given that after the next layer
// m. Of the n steps between them, (n+1)/2 are evaluated as steps on the first
// half of the way from l, and the others as steps on the second half of the way
// to the point of m where they arrive.
func (r RunningSum) back(l, m layer, next *toCome) *toCome {
	n, block := l.steps, float64(r.Terms)
	late := max(0, (n-1)/2)
	way := late * block * r.Products.Mean
	if late > 0 {
		for i := range points {
			x := r.step(m, i, -way)
			next.mean[i] += late * x.Mean
			next.variance[i] += late * x.Variance
			next.covariance[i] += late * x.Covariance
		}
	}
	z := new(toCome)
	for i := range points {
		if l.h == 0 && i != points/2 {
			continue
		}
		x := r.step(l, i, way)
		arrival := l.at(i) + n*(block*r.Products.Mean+x.Mean)
		change := math.Sqrt(n * max(0, block*r.Products.Variance+2*x.Covariance+x.Variance))
		var ρX, ρP float64 // covariances of X and p with the change of s, over its deviation
		if change > 0 {
			ρX = n * (x.Covariance + x.Variance) / change
			ρP = n * (block*r.Products.Variance + x.Covariance) / change
		}
		var e [len(hermite)]float64
		z.variance[i] = (n-late)*x.Variance - ρX*ρX
		z.covariance[i] = (n-late)*x.Covariance - ρX*ρP
		for j, g := range hermite {
			t := m.find(arrival + change*g.node)
			e[j] = ρX*g.node + t.of(&next.mean)
			z.mean[i] += g.weight * e[j]
			z.variance[i] += g.weight * t.of(&next.variance)
			z.covariance[i] += g.weight * (e[j]*ρP*g.node + t.of(&next.covariance))
		}
		for j, g := range hermite {
			d := e[j] - z.mean[i]
			z.variance[i] += g.weight * d * d
		}
		z.mean[i] += (n - late) * x.Mean
	}
	return z
}

// place is a position in a grid: the nearest point that has a neighbour on both
// sides, and the distance from it in units of h.
type place struct {
	i int
	d float64
}

// find returns the position of s. If s is outside of the grid, it returns the
// nearer end.
func (l layer) find(s float64) place {
	if l.h == 0 {
		return place{points / 2, 0}
	}
	t := min(max((s-l.start)/l.h, 0), points-1)
	i := min(max(int(t+0.5), 1), points-2)
	return place{i, t - float64(i)}
}

// of returns the value at p of a function given at the points, interpolated by
// a parabola.
func (p place) of(f *[points]float64) float64 {
	a, b, c := f[p.i-1], f[p.i], f[p.i+1]
	return b + p.d/2*(c-a) + p.d*p.d/2*(c-2*b+a)
}
