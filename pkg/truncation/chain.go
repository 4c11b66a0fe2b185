package truncation

import (
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// chain is the state of one evaluation of [Sum.ErrorBound].
type chain struct {
	Sum
	K          int
	resultBits int // f

	first, last int     // least and greatest exponent of a product that is not 0
	mean        float64 // upper bound on |μ|
	leastMean   float64 // lower bound on |μ|
	sums        exactSums

	rows     []lossBounds     // one for each exponent of products and sums, from first-1
	events   float64          // upper bound on the number of rows
	moments  roundoff.Failure // of each of the two moments of a row
	residues roundoff.Failure // of all characters together
	unsure   float64          // bound on the error of a character estimated from a sample

	grid  []float64
	tilts map[int]tilt
	ends  map[endingKind]*ending
	steps map[stepKind][]float64
}

// newChain returns the chain with the bounds that the distribution of the
// products, or a sample of it, gives.
func newChain(t Sum, K int, account *roundoff.Account) *chain {
	p := t.Losses.Products
	c := &chain{Sum: t, K: K, resultBits: -math.Ilogb(t.Unit) - 1}
	c.first, c.last = p.leastExponent(), max(ilog(t.Largest), p.least)
	c.means(account.Spend("mean"))
	// No running sum has a greater exponent: bound returns +Inf where the error
	// could make one so large.
	top := max(p.highest, c.last, ilog(7*float64(K)*t.Largest))
	c.rows = make([]lossBounds, top-c.first+2)
	c.events = float64(max(c.last, ilog(7*float64(K)*t.Largest)) - p.least + 2) // for every sample
	c.exponents(account.Spend("exponents").Split(c.events))
	c.moments = account.Spend("moments").Split(2 * c.events)
	c.residues = account.Spend("characters")
	// A row has fineResidues/2 characters for e <= E and as many for e < E, each of
	// a real and an imaginary part.
	c.unsure = p.unsure(1, c.residues.Split(c.events*2*fineResidues))
	return c
}

// means bounds |μ|. The mean of a sample of n is within min_x (l/n + ψ(x))/x of
// μ, and |μ| is at most Largest.
func (c *chain) means(f roundoff.Failure) {
	p, l := c.Losses.Products, f.TwoSidedLog()
	mean, off := math.Abs(p.Mean), 0.0
	if !p.symmetric && !math.IsInf(p.Samples, 1) {
		off = math.Inf(1)
		for k := -4; k <= 2; k++ {
			x := halfOctave(math.Sqrt(2*l/p.Samples)/p.deviation(c.Largest), k)
			off = min(off, (l/p.Samples+c.LogMoment(x))/x)
		}
	}
	c.mean, c.leastMean = min(mean+off, max(mean, c.Largest)), max(0, mean-off)
	if c.MostMean > 0 && !p.symmetric {
		c.mean, c.leastMean = min(c.mean, c.MostMean), max(c.leastMean, c.LeastMean)
	}
}

// exponents sets in every row an upper bound on P(e > E) of a product, which
// fails with probability at most e^f for each row.
func (c *chain) exponents(f roundoff.Failure) {
	p := c.Losses.Products
	above := make([]float64, len(c.rows)+1)
	for i, e := range p.exp {
		above[max(0, e-c.first+1)] += p.weight[i] // products that are 0 count in the lowest row
	}
	for i := len(c.rows) - 1; i >= 0; i-- {
		if E := c.first - 1 + i; E < c.last {
			c.rows[i].above = chernoff(above[i+1], -float64(f)/p.Samples)
		}
		above[i] += above[i+1]
	}
}

// chernoff returns an upper confidence bound on the expectation of a random
// number in [0, 1], given the mean of a sample of n and h = l/n. The
// expectation exceeds it with probability at most e^-l. It is the root x of
// (x-mean)² = 2hx.
//
// Source: Hoeffding 1963, Theorem 1; its exponent is at least (x-mean)²/2x. It
// is valid for the mean over all pairs of two samples of n as well (Section 5
// there).
func chernoff(mean, h float64) float64 { return min(1, mean+h+math.Sqrt(h*(h+2*mean))) }

// ilog returns the exponent of x; for 0 it returns that of the smallest
// positive float64.
func ilog(x float64) int {
	if x == 0 {
		return -1074
	}
	return math.Ilogb(x)
}

// firstScale returns a first guess of the θ that gives the least bound.
func (c *chain) firstScale(f roundoff.Failure) float64 {
	K, L := float64(c.K), float64(c.Terms)
	size := K*c.mean/2 + c.sums.apart(K)/2
	g := math.Ldexp(1, max(ilog(size), c.last)-c.FractionBits)
	u := math.Ldexp(1, ilog(size)-c.resultBits)
	return math.Sqrt(2*f.TwoSidedLog()/math.Ceil(K/L)) / (math.Sqrt(L)*g + u)
}

// bound returns the least bound on the error after all blocks over a grid of θ,
// each of which has the same share of the failure, the θ that gives it, and a
// bound on the mean of the error, which is at most Σκ_i(θ)/θ for every θ by
// Jensen's inequality.
//
// Let κ_i(θ) >= log E e^(θ loss_i) given the past, for both signs of the loss
// and all pasts that obey the bounds before block i. Then |err_j| <= e_j =
// min_θ (l + Σ_(i<=j) κ_i(θ))/θ. After the first blocks, several blocks are
// bounded together, each by the worst of them. The bound e that this assumes
// for all of them is raised until it is at least the bound that results. A last
// block with fewer products is treated by itself.
func (c *chain) bound(grid []float64, f roundoff.Failure) (bound, best, drift float64) {
	const together = 128 // the number of blocks bounded together grows by 1 with so many blocks
	c.grid = grid
	c.tilts, c.ends, c.steps = map[int]tilt{}, map[endingKind]*ending{}, map[stepKind][]float64{}
	l := f.Split(float64(len(grid))).TwoSidedLog()
	sum := make([]float64, len(grid))
	q := c.K / c.Terms
	e := 0.0
	for done, next := 0, 0; done < q; done = next {
		next = min(q, done+1+done/together)
		κ := c.stepsOf(done, next, c.Terms, e)
		after, θ := c.least(sum, κ, float64(next-done), l)
		for given := e; next > done+1 && after > given; after, θ = c.least(sum, κ, float64(next-done), l) {
			if given = after; given > float64(next*c.Terms)*c.Largest { // more than any sum of the products
				return math.Inf(1), grid[len(grid)/2], math.Inf(1)
			}
			κ = c.stepsOf(done, next, c.Terms, given)
		}
		if e, best = after, θ; e > float64(c.K)*c.Largest {
			return math.Inf(1), grid[len(grid)/2], math.Inf(1)
		}
		for k := range sum {
			sum[k] += float64(next-done) * κ[k]
		}
	}
	κ := make([]float64, len(grid))
	if rest := c.K % c.Terms; rest > 0 {
		κ = c.stepsOf(q, q+1, rest, e)
		e, best = c.least(sum, κ, 1, l)
	}
	drift, _ = c.least(sum, κ, 1, 0)
	return e, best, drift
}

// least returns min_θ (l + sum + nκ)/θ over the grid and the θ at which it is
// attained.
func (c *chain) least(sum, κ []float64, n, l float64) (e, at float64) {
	e = math.Inf(1)
	for k, θ := range c.grid {
		if x := (l + sum[k] + n*κ[k]) / θ; x < e {
			e, at = x, θ
		}
	}
	return e, at
}

// stepsOf returns a κ that is valid for each of the blocks number done+1 to
// next, if no error before them exceeds e. The last of these blocks has the
// given number of terms, the others have Terms.
func (c *chain) stepsOf(done, next, terms int, e float64) []float64 {
	L := float64(c.Terms)
	before := float64(next-1) * L
	lo, up := max(0, float64(done)*L*c.leastMean-c.sums.apart(before)-e), c.sums.within(before)+e
	all := before + float64(terms)
	after := c.sums.within(all) + e +
		L*math.Ldexp(1, max(ilog(up), c.last)-c.FractionBits)
	return c.step(lo, up, after, terms, done == 0)
}

// step returns κ for a step of the given number of terms from a running sum of
// size between lo and up to one of size at most after.
func (c *chain) step(lo, up, after float64, terms int, fromZero bool) []float64 {
	least := c.first - 1 // below the exponents of products, which then set that of the block
	from, to := max(least, ilog(lo)), max(least, ilog(up))
	if fromZero {
		from, to = least, least
	}
	κ := slices.Repeat([]float64{math.Inf(-1)}, len(c.grid))
	for e := from; e <= to; e++ {
		for k, x := range c.stepAt(stepKind{e, ilog(after), terms, fromZero}) {
			κ[k] = max(κ[k], x)
		}
	}
	return κ
}

// stepKind identifies a step of the given number of terms from a running sum of
// exponent e to one of exponent at most after.
type stepKind struct {
	e, after, terms int
	fromZero        bool
}

// stepAt returns κ of a step of that kind, and stores it for the next call.
func (c *chain) stepAt(kind stepKind) []float64 {
	κ, ok := c.steps[kind]
	if !ok {
		κ = c.stepFrom(kind.e, kind.after, kind.terms, kind.fromZero)
		c.steps[kind] = κ
	}
	return κ
}

// stepFrom returns κ for a step of L terms from a running sum of exponent e.
// With P_m = P(exponent <= m) and d_m(θ) = E(e^(θY) - 1; exponent < m),
//
//	E e^(θΣY) = (P_e+d_e)^L + Σ_(m>e) ((P_m+d_m)^L - (P_(m-1)+d_m)^L),
//
// where m is the greatest exponent of the products. Every term is multiplied by
// W_m, a factor for what alignment cuts off the running sum and for the error
// of rounding. d_m and W_m are raised so that neither falls as m grows. Then
// the sum falls in every P_m, and lower bounds on the P_m give an upper bound
// on the sum.
func (c *chain) stepFrom(e, after, terms int, fromZero bool) []float64 {
	n := len(c.grid)
	total, W, d := make([]float64, n), make([]float64, n), make([]float64, n)
	for m := e; m <= max(e, c.last); m++ {
		tilt, end, cut := c.tilt(m), c.end(m, e, terms, after), c.cut(m, e, fromZero)
		P, before := 1-c.row(m).above, 0.0
		if m > e {
			before = 1 - c.row(m-1).above
		}
		for k, θ := range c.grid {
			d[k] = max(d[k], tilt.mean[k])
			mass := power(P+d[k], terms)
			if m > e {
				mass -= power(before+d[k], terms)
			}
			w, more := end.of(k, mass)
			if cut > 0 {
				x := math.Exp(θ * cut)
				w, more = w*x, more*x
			}
			W[k] = max(W[k], w)
			total[k] += W[k]*mass + more
		}
	}
	for k, x := range total {
		total[k] = math.Log(x)
	}
	return total
}

// power returns x^n, n >= 0.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// cut returns a bound on what alignment to exponent m cuts off a running sum of
// exponent e.
func (c *chain) cut(m, e int, fromZero bool) float64 {
	g, u := math.Ldexp(1, m-c.FractionBits), math.Ldexp(1, e-c.resultBits)
	switch {
	case m == e || fromZero:
		return 0
	case e < c.first: // this e stands for all smaller exponents too
		return min(g, math.Ldexp(1, e+1))
	}
	return max(0, min(g-u, math.Ldexp(1, e+1)))
}

// lossBounds are bounds on the distribution of products aligned to an exponent
// E.
type lossBounds struct {
	above float64 // upper bound on P(e > E)

	known        bool    // whether mean and square have been computed
	mean, square float64 // upper bounds on |E(Y; e < E)| and E(Y²; e < E)
}

// row returns the bounds at E. The first row, of exponent first-1, stands for
// all smaller exponents.
func (c *chain) row(E int) *lossBounds { return &c.rows[E-c.first+1] }

// losses returns the bounds at E with the moments of Y, from the table of
// losses and with the error of estimating them from a sample.
func (c *chain) losses(E int) *lossBounds {
	b := c.row(E)
	if b.known {
		return b
	}
	below := c.Losses.below(E)
	dist, g := c.Losses.Products, math.Ldexp(1, E-c.FractionBits)
	b.known, b.mean, b.square = true, math.Abs(below.mean), below.square
	if n := dist.Samples; !math.IsInf(n, 1) {
		b.square = g * g * chernoff(min(1, b.square/(g*g)), -float64(c.moments)/n)
		// Bernstein's inequality, first with E Y² as a bound on the variance, then with
		// E Y² less the square of the lower bound on |E Y| that the first result gives.
		mean, off := b.mean, 0.0
		for range 2 {
			least := max(0, mean-off)
			if off == 0 {
				least = 0
			}
			off = roundoff.Bernstein(n*max(0, b.square-least*least), 2*g, c.moments) / n
		}
		b.mean += off
	}
	if dist.symmetric {
		b.mean = 0
	}
	return b
}

// tilt contains bounds on how the factor e^(±θY) changes expectations, for
// every θ of the grid.
type tilt struct {
	mean []float64 // upper bound on |E(e^(±θY) - 1; e < E)|
	size []float64 // upper bound on E(|e^(±θY) - 1|; e < E)
}

// tilt returns the tilt of products aligned to E. Given the moments of Y and
// its largest size, g, Bennett's inequality bounds the moment generating
// function.
func (c *chain) tilt(E int) tilt {
	if z, ok := c.tilts[E]; ok {
		return z
	}
	g := math.Ldexp(1, E-c.FractionBits)
	z := tilt{make([]float64, len(c.grid)), make([]float64, len(c.grid))}
	for k, θ := range c.grid {
		if E < c.first { // stands for all smaller exponents, at which less is lost
			z.mean[k] = math.Expm1(θ * g)
			z.size[k] = z.mean[k]
			continue
		}
		b := c.losses(E)
		rest := b.square * bennett(θ, g)
		z.mean[k], z.size[k] = θ*b.mean+rest, θ*math.Sqrt(b.square)+rest
		if c.Losses.Products.symmetric {
			z.mean[k] = b.square / (g * g) * (math.Cosh(θ*g) - 1)
		}
	}
	c.tilts[E] = z
	return z
}
