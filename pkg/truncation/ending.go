package truncation

import "math"

// end returns the effect of rounding on blocks that are aligned to exponent m
// on a running sum of exponent e, and whose sum has an exponent of at most
// after.
func (c *chain) end(m, e, terms, after int) *ending {
	L, g := float64(terms), math.Ldexp(1, m-c.FractionBits)
	kept := min(c.sums.block+L*g, L*math.Ldexp(4, m)) // bound on the sum of the aligned products
	return c.ending(endingKind{m, min(after, ilog(math.Ldexp(2, e)+kept)), terms, m > e})
}

// of returns w and more for θ number k of the grid, with which E(e^(±θ(ΣY+r));
// m) <= w E(e^(±θΣY); m) + more, r being what rounding discards. It chooses the
// smaller of two bounds: the worst case over all residues, and the bound by
// characters. mass is approximately E(e^(±θΣY); m).
func (z *ending) of(k int, mass float64) (w, more float64) {
	switch {
	case z.worst == nil:
		return 1, 0
	case z.mean[k]*mass+z.more[k] < z.worst[k]*mass:
		return z.mean[k], z.more[k]
	}
	return z.worst[k], 0
}

// endingKind identifies a block of the given number of terms that is aligned to
// E, which a product has set or not, and whose sum has the exponent sum.
type endingKind struct {
	E, sum, terms int
	set           bool
}

// ending describes the effect of rounding for every θ of the grid. The zero
// value is that of no rounding.
type ending struct {
	worst      []float64 // upper bound on e^(θ|r|)
	mean, more []float64 // w and more by characters
}

// ending returns the effect of rounding on one kind of block.
func (c *chain) ending(kind endingKind) *ending {
	if z, ok := c.ends[kind]; ok {
		return z
	}
	z, grid := new(ending), len(c.grid)
	g, u := math.Ldexp(1, kind.E-c.FractionBits), math.Ldexp(1, kind.sum-c.resultBits)
	n := u / g
	if n > 1 || kind.E < c.first {
		z = &ending{make([]float64, grid), make([]float64, grid), make([]float64, grid)}
	}
	switch {
	case z.worst == nil:
	case kind.E < c.first: // stands for all smaller exponents too
		for k, θ := range c.grid {
			z.worst[k] = math.Exp(θ * u)
			z.mean[k] = z.worst[k]
		}
	case c.Nearest:
		r := c.Losses.Rounding(kind.terms, kind.E, u, true, c.residues.Split(c.events*c.events))
		for k, θ := range c.grid {
			z.worst[k], z.mean[k] = math.Exp(θ*u/2), 1+θ*r.Mean+r.Square*bennett(θ, u/2)
		}
	case n > fineResidues:
		for k, θ := range c.grid {
			z.worst[k] = math.Exp(θ * (u - g))
			z.mean[k] = z.worst[k]
		}
	default:
		φ := c.Losses.characters(kind.E, int(n))
		for k, θ := range c.grid {
			z.worst[k] = math.Exp(θ * (u - g))
			z.mean[k] = math.Expm1(θ*u) / (n * math.Expm1(θ*g))
			z.more[k] = z.mean[k] * c.spread(kind, φ, k)
		}
	}
	c.ends[kind] = z
	return z
}

// spread returns an upper bound on Σ_(0<h<n) |E(e^(±θΣY) χ_h; m)|
// |e^(θg)-1|/|e^(θg)χ_h-1|: what residues that are not uniform add to the mean
// of e^(θr), divided by that mean for uniform residues. Where the running sum
// sets the exponent, the expectation is a power of that of one product, φ;
// where a product sets it, a difference of two powers.
func (c *chain) spread(kind endingKind, φ []character, k int) float64 {
	n := 2 * len(φ)
	size := c.tilt(kind.E).size[k] + c.unsure
	own := c.row(kind.E - 1).above
	x := math.Expm1(c.grid[k] * math.Ldexp(1, kind.E-c.FractionBits))
	sum := 0.0
	for i, φ := range φ {
		b := power(φ.atMost+size, kind.terms)
		if kind.set {
			b = min(b+power(φ.below+size, kind.terms), float64(kind.terms)*own*power(φ.below+own+size, kind.terms-1))
		}
		b *= x / math.Sqrt(x*x+4*(1+x)*φ.sine*φ.sine)
		if sum += b; i+1 < n/2 { // and its complex conjugate, n-h
			sum += b
		}
	}
	return sum
}
