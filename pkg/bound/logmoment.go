package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// logMoment returns a bound on log E e^(±z(p̂-μ)), z > 0, for products p̂ of A and B as the machine
// multiplies them, μ being their mean: that of the law itself where it is known in full, else the
// least of what is proved of products that are bounded, and of uniform and normal numbers, as long as
// these do not exceed the largest factors.
func (k Kernel) logMoment(law *roundoff.Losses, largestX, largestY float64) func(z float64) float64 {
	if math.IsInf(law.Law.Samples, 1) {
		return law.LogMoment
	}
	p := k.products()
	exact := k.exactLogMoment()
	symmetric := k.X.Symmetric || k.Y.Symmetric
	w, H := k.productConversion(largestX, largestY)
	fourth := k.X.fourth() * k.Y.fourth()
	return func(z float64) float64 {
		best := p.bennett(z, symmetric)
		if exact != nil {
			if symmetric { // E cosh zp̂ grows with |p̂|
				best = min(best, exact(z*(1+w))+z*H)
			} else {
				best = min(best, convertedLogMoment(exact, z, w, p.center, fourth)+2*z*H)
			}
		}
		if math.IsNaN(best) {
			return math.Inf(1)
		}
		return best
	}
}

// productConversion returns w and H: conversion changes a product p by at most w|p| + H, if the
// factors are at most x and y in size.
func (k Kernel) productConversion(x, y float64) (w, H float64) {
	ux, ηx := k.conversion(k.A)
	uy, ηy := k.conversion(k.B)
	return ux + uy + ux*uy, ηx*y*(1+uy) + ηy*x*(1+ux) + ηx*ηy
}

// bennett returns Bennett's bound for products that are within [lo, hi].
func (p productMoments) bennett(z float64, symmetric bool) float64 {
	c := p.largest()
	switch {
	case c == 0:
		return 0
	case math.IsInf(c, 1):
		return c
	case symmetric: // (cosh x - 1)/x² grows with x
		return math.Log1p(p.square / (c * c) * (math.Cosh(z*c) - 1))
	case p.lo >= 0 || p.hi <= 0: // so far from the mean on either side
		c = max(c-p.center, p.center-p.least()) + p.off
	default:
		c += p.mean
	}
	return math.Log1p(p.variance / (c * c) * (math.Expm1(z*c) - z*c))
}

// convertedLogMoment returns a bound on log E e^(±z(p̂-Ep̂)) for |p̂-p| <= w|p|, given that for p, |Ep|
// and E p⁴: by Hölder's inequality, for r > 1 and 1/r + 1/s = 1,
//
//	ψ(rz)/r + log E e^(sz(δ-Eδ))/s,  δ = p̂ - p,
//
// the latter at most E δ²e^(sz|δ|)(sz)²/2, and that by that of Cauchy and Schwarz.
func convertedLogMoment(ψ func(float64) float64, z, w, mean, fourth float64) float64 {
	best := math.Inf(1)
	for ε := w; ε <= 64*w; ε *= 2 {
		r := 1 + ε
		s := r / ε
		λ := s * z * w
		best = min(best, ψ(r*z)/r+λ*λ/(2*s)*math.Sqrt(2*fourth*math.Exp(ψ(2*λ)+2*λ*mean)))
	}
	return best
}

// exactLogMoment returns log E e^(±z(p-μ)), or a little more, for products p before conversion; nil
// where not more is known than that they are bounded.
func (k Kernel) exactLogMoment() func(z float64) float64 {
	x, y := k.X, k.Y
	if !x.normal {
		x, y = y, x
	}
	lo, hi, uniform := y.uniform()
	switch {
	case x.normal && y.normal:
		return func(z float64) float64 { return normalLogMoment(z, x, y) }
	case x.normal && uniform:
		m, v := math.Abs(x.Mean), x.variance()
		return func(z float64) float64 {
			of := func(z float64) float64 { // given y, the product is normal
				return logMeanConvex(lo, hi, func(y float64) float64 { return z*m*(y-(lo+hi)/2) + z*z*v*y*y/2 })
			}
			return max(of(z), of(-z))
		}
	case x.normal: // given y, the product is normal, and |y| <= Max
		m, v, c := x.Mean, x.variance(), y.Max
		return func(z float64) float64 {
			e := z * z * c * c / 2
			if m == 0 { // e^(x²) lies below its chord
				return math.Log1p(y.Square / (c * c) * math.Expm1(e*v))
			}
			return e * (v + m*m)
		}
	}
	if a, b, ok := x.uniform(); ok && uniform {
		return func(z float64) float64 { return uniformLogMoment(z, a, b, lo, hi) }
	}
	return nil
}

// normalLogMoment is that of the product of two normal numbers.
func normalLogMoment(z float64, x, y Distribution) float64 {
	s, t := x.variance(), y.variance()
	zst := z * z * s * t
	if zst >= 1 {
		return math.Inf(1)
	}
	μ := math.Abs(x.Mean * y.Mean)
	return -math.Log1p(-zst)/2 + (z*z*(x.Mean*x.Mean*t+y.Mean*y.Mean*s)/2+z*μ*zst)/(1-zst)
}

// uniformLogMoment is that of the product of two uniform numbers, on [a, b] and [c, d]. With x₀ + α
// and y₀ + β for them, the product is x₀y₀ + x₀β + (y₀+β)α, and the mean over α, on [-A, A], that
// of the hyperbolic sine.
func uniformLogMoment(z, a, b, c, d float64) float64 {
	x, A := (a+b)/2, (b-a)/2
	y, B := (c+d)/2, (d-c)/2
	of := func(z float64) float64 {
		return logMeanConvex(-B, B, func(β float64) float64 { return z*x*β + logSinhc(z*A*(y+β)) })
	}
	return max(of(z), of(-z))
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

// logMeanConvex returns the logarithm of the mean of e^f over [lo, hi], or a little more: where e^f is
// convex the trapezoids lie above it.
func logMeanConvex(lo, hi float64, f func(float64) float64) float64 {
	const n = 256
	sum := 0.0
	for i := range n + 1 {
		e := math.Expm1(f(lo + (hi-lo)*float64(i)/n))
		if i == 0 || i == n {
			e /= 2
		}
		sum += e / n
	}
	return math.Log1p(sum) + 0x1p-48
}
