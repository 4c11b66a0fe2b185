package bound

import (
	"math"
	"sync"

	"github.com/roundofflab/roundoff/pkg/truncation"
)

// logMoment returns an upper bound of log E e^(±z(p̂-Ep̂)), z > 0, for products
// p̂ of A and B as the machine multiplies them. If dist is exact, it is the
// value for that distribution. Otherwise it is the smallest of the proved
// bounds: for bounded products, and for products of factors with known
// distributions, as long as no factor exceeds largestX or largestY in size.
func (k Problem) logMoment(dist *truncation.Losses, largestX, largestY float64) func(z float64) float64 {
	if math.IsInf(dist.Products.Samples, 1) {
		return dist.LogMoment
	}
	p, memo := k.products(), k.logMoments()
	x, ux, ηx := k.rounded(k.Device.A, k.X)
	y, uy, ηy := k.rounded(k.Device.B, k.Y)
	exact := exactLogMoment(x, y)
	// Conversion changes a product p by at most w|p| + H.
	w, H := ux+uy+ux*uy, ηx*largestY*(1+uy)+ηy*largestX*(1+ux)+ηx*ηy
	symmetric := k.X.Symmetric() || k.Y.Symmetric()
	fourth := x.fourth() * y.fourth()
	return func(z float64) float64 {
		best := p.bennett(z, symmetric)
		if exact != nil {
			best = min(best, 2*z*H+memo.at(z, func() float64 {
				if symmetric { // E cosh zp̂ increases with |p̂|
					return exact(z * (1 + w))
				}
				c := convertedLogMoment(exact, z, w, p.center, fourth)
				if p.lo >= 0 || p.hi <= 0 { // |p̂| is at most (1+w)|p|
					c = min(c, exact(z*(1+w))+2*w*z*p.center)
				}
				return c
			}))
		}
		if math.IsNaN(best) {
			return math.Inf(1)
		}
		return best
	}
}

// A memo caches values of a function.
type memo struct {
	sync.Mutex
	known map[float64]float64
}

// at returns the value at z, and caches it.
func (m *memo) at(z float64, value func() float64) float64 {
	m.Lock()
	defer m.Unlock()
	y, ok := m.known[z]
	if !ok {
		y = value()
		m.known[z] = y
	}
	return y
}

// logMoments returns the cache of the bounds that logMoment computes, without
// their term in H. Calls share it if both distributions are known in full.
func (k Problem) logMoments() *memo {
	fresh := &memo{known: map[float64]float64{}}
	x, y := k.X.of(), k.Y.of()
	if !x.inFull() || !y.inFull() {
		return fresh
	}
	key := distributionKey{x.source, y.source, k.Device.A, k.Device.B, k.Device.Convert, 0}
	momentTables.Lock()
	defer momentTables.Unlock()
	if m, ok := momentTables.known[key]; ok {
		return m
	}
	momentTables.keep(key, fresh)
	return fresh
}

var momentTables table[distributionKey, *memo]

// bennett returns Bennett's bound for products in [lo, hi].
func (p productMoments) bennett(z float64, symmetric bool) float64 {
	c := p.largest()
	switch {
	case c == 0:
		return 0
	case math.IsInf(c, 1):
		return c
	case symmetric: // (cosh x - 1)/x² increases with x
		return math.Log1p(p.square / (c * c) * (math.Cosh(z*c) - 1))
	case p.lo >= 0 || p.hi <= 0: // the largest distance from the mean, on either side
		c = max(c-p.center, p.center-p.least()) + p.off
	default:
		c += p.mean
	}
	return math.Log1p(p.variance / (c * c) * (math.Expm1(z*c) - z*c))
}

// convertedLogMoment returns an upper bound of log E e^(±z(p̂-Ep̂)) for |p̂-p|
// <= w|p|, given the bound ψ for p, mean = |Ep| and fourth = E p⁴. By Hölder's
// inequality, for r > 1 and 1/r + 1/s = 1, it is at most
//
//	ψ(rz)/r + log E e^(sz(δ-Eδ))/s,  δ = p̂ - p,
//
// The expectation in the second term has a logarithm of at most E
// δ²e^(sz|δ|)(sz)²/2, which the Cauchy-Schwarz inequality bounds.
func convertedLogMoment(ψ func(float64) float64, z, w, mean, fourth float64) float64 {
	if w == 0 {
		return ψ(z)
	}
	best := math.Inf(1)
	for ε := w; ε <= 64*w; ε *= 2 {
		r := 1 + ε
		s := r / ε
		λ := s * z * w
		best = min(best, ψ(r*z)/r+λ*λ/(2*s)*math.Sqrt(2*fourth*math.Exp(ψ(2*λ)+2*λ*mean)))
	}
	return best
}

// exactLogMoment returns log E e^(±z(p-μ)), or a slightly larger value, for
// products p of numbers of two distributions. It is nil if nothing is known of
// the distributions except that they are bounded.
func exactLogMoment(x, y Distribution) func(z float64) float64 {
	if y.of().family == normalFamily {
		x, y = y, x
	}
	if x.of().family == normalFamily && y.of().family == normalFamily {
		return func(z float64) float64 { return normalLogMoment(z, x.Moments(), y.Moments()) }
	}
	of, μx, μy := x.logMoment(), x.Mean(), y.Mean()
	switch {
	case of == nil:
		return nil
	case y.of().coarse() != nil:
		// Given y, the moment generating function follows from that of x. It is convex
		// in y, so that the coarse distribution of y gives an upper bound.
		above := y.of().coarse()
		signed := func(z float64) float64 {
			return math.Log1p(above.mean(func(v float64) float64 { return math.Expm1(of(z*v) + z*μx*(v-μy)) }))
		}
		return func(z float64) float64 { return max(signed(z), signed(-z)) + 0x1p-48 }
	case x.of().family == normalFamily: // given y, the product is normal, and |y| <= c
		v, c, square := x.Variance(), y.MaxAbs(), y.MeanSquare()
		return func(z float64) float64 {
			e := z * z * c * c / 2
			if μx == 0 { // e^(x²) lies below its chord
				return math.Log1p(square / (c * c) * math.Expm1(e*v))
			}
			return e * (v + μx*μx)
		}
	}
	return nil
}

// logMoment returns log E e^(t(x-Ex)), or a slightly larger value. It is nil if
// the distribution is not known.
func (d Distribution) logMoment() func(t float64) float64 {
	o := d.of()
	switch {
	case o.family == normalFamily:
		v := o.variance()
		return func(t float64) float64 { return t * t * v / 2 }
	case o.family == uniformFamily:
		half := (o.hi - o.lo) / 2
		return func(t float64) float64 { return logSinhc(t * half) }
	}
	above := o.coarse()
	if above == nil {
		return nil
	}
	return func(t float64) float64 {
		return math.Log1p(above.mean(func(v float64) float64 { return math.Expm1(t * (v - o.Mean)) }))
	}
}

// normalLogMoment returns log E e^(±z(p-μ)) for the product p of two normal
// numbers, +Inf if it is infinite.
func normalLogMoment(z float64, x, y DataMoments) float64 {
	s, t := x.variance(), y.variance()
	zst := z * z * s * t
	if zst >= 1 {
		return math.Inf(1)
	}
	μ := math.Abs(x.Mean * y.Mean)
	return -math.Log1p(-zst)/2 + (z*z*(x.Mean*x.Mean*t+y.Mean*y.Mean*s)/2+z*μ*zst)/(1-zst)
}

// logSinhc returns log (sinh x)/x.
func logSinhc(x float64) float64 {
	x = math.Abs(x)
	switch {
	case x < 1e-2:
		return x * x / 6 * (1 - x*x/30 + 2*x*x*x*x/945)
	case x > 20:
		return x - math.Log(2*x)
	}
	return math.Log(math.Sinh(x) / x)
}
