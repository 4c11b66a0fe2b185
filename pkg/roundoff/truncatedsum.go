package roundoff

import (
	"math"
	"slices"
	"strconv"
)

// A TruncatedSum is a chain of truncated sums of independent products of one law, before anything
// is computed. Its error is bounded for data of that law: docs/truncation.md has the proof.
//
// It takes nothing for granted but that the products are independent, and of that law. What is
// estimated of the law is paid for. With Nearest it also takes the low bits of the kept sum of a
// block as independent of its exponent and of what is cut off: see [Losses.Rounding].
type TruncatedSum struct {
	Truncation
	Losses *Losses // of the products, with the F of the alignment

	// LogMoment returns the larger of log E e^(x(p-μ)) and log E e^(-x(p-μ)) for x > 0, or
	// more; +Inf where there is none.
	LogMoment func(x float64) float64

	// Largest is what no product exceeds in size, finite, nor the power of two that any of them is
	// aligned by: that of a subnormal factor is the least normal number.
	Largest float64

	// LeastMean and MostMean are what |E p| is between, if it is known beforehand: both 0 is unknown,
	// and the mean that of Losses.
	LeastMean, MostMean float64
}

// truncatedShares are the parts of the failure that pay for the size of the exact sums, for what is
// lost, and for what a sample leaves open of the law of the products.
var truncatedShares = map[string]float64{
	"exact sums": 1. / 4,
	"losses":     5. / 8,
	"mean":       1. / 32, // of the products
	"exponents":  1. / 32, // P(e <= E)
	"moments":    1. / 32, // of what products lose
	"characters": 1. / 32, // of what they keep
}

// ErrorBound returns what |ŝ - s| of so many sums of K products each does not exceed, with
// probability at least 1 - e^f for all together, as long as no product exceeds Largest: the
// probability that one does is the caller's to pay.
// It panics if K < 1, sums < 1, a field of the truncation is out of range, Losses is of another F,
// Largest is not finite, or unless -Inf < f < 0.
//
// Source: derived here; Ville's inequality for the supermartingales.
func (t TruncatedSum) ErrorBound(K int, sums float64, f Failure) float64 {
	checkCount("K", K)
	t.Step()
	if t.Losses.F != t.FractionBits {
		panic("roundoff: Losses.F = " + strconv.Itoa(t.Losses.F) + ", want FractionBits = " + strconv.Itoa(t.FractionBits))
	}
	if !(t.Largest >= 0) || math.IsInf(t.Largest, 1) {
		panic("roundoff: Largest = " + strconv.FormatFloat(t.Largest, 'g', -1, 64) + ", want it finite and not negative")
	}
	account := f.Account(truncatedShares)
	c := newTruncatedChain(t, K, account)
	c.ranges(account.Spend("exact sums").share(sums))
	each := account.Spend("losses").share(sums)

	// Every grid of θ gives a bound; the second and the third are around the best of the one
	// before. None of them is random, so that the least one fails no oftener than each.
	best, θ := math.Inf(1), c.firstScale(each)
	for _, ratio := range []float64{4, 2, math.Sqrt2} {
		e, at := c.bound(geometric(θ, ratio, 8), each)
		best, θ = min(best, e), at
	}
	return best
}

// geometric returns θ ratio^k, -n <= k <= n.
func geometric(θ, ratio float64, n int) []float64 {
	grid := make([]float64, 0, 2*n+1)
	for k := -n; k <= n; k++ {
		grid = append(grid, θ*math.Pow(ratio, float64(k)))
	}
	return grid
}

// truncatedChain is a TruncatedSum being bounded.
type truncatedChain struct {
	TruncatedSum
	K          int
	resultBits int // f

	first, last int     // exponents of products
	mean        float64 // |μ|, or more
	leastMean   float64 // |μ|, or less
	block       float64 // no sum of the products of a block is larger in size
	lines       []line  // of the bounds on sums

	rows     []lossBounds // of the exponents from first-1, in which products and sums lie
	events   float64      // how many rows there may be
	moments  Failure      // of each row
	residues Failure      // of all laws of residues
	unsure   float64      // how far a character may be from that of the sample

	grid  []float64
	tilts map[int]tilt
	ends  map[endingKind]*ending
	steps map[stepKind][]float64
}

// newTruncatedChain returns the chain with what is known of the law of the products.
func newTruncatedChain(t TruncatedSum, K int, account *Account) *truncatedChain {
	p := t.Losses.Law
	c := &truncatedChain{TruncatedSum: t, K: K, resultBits: -math.Ilogb(t.Unit) - 1}
	c.first, c.last = p.leastExponent(), max(ilog(t.Largest), p.least)
	c.means(account.Spend("mean"))
	// No sum is larger: there is no bound where the error could be as large as that.
	top := max(slices.Max(p.exp), c.last, ilog(7*float64(K)*t.Largest))
	c.rows = make([]lossBounds, top-c.first+2)
	c.events = float64(max(c.last, ilog(7*float64(K)*t.Largest)) - p.least + 2) // whatever the sample is
	c.exponents(account.Spend("exponents").share(c.events))
	c.moments = account.Spend("moments").share(2 * c.events)
	c.residues = account.Spend("characters")
	c.unsure = p.unsure(1, c.residues.share(c.events*2*fineResidues)) // two of each half of them, of two parts
	return c
}

// means bounds the mean of the products: that of a sample is within min_x (l/n + ψ(x))/x of it, and it
// is no larger than the largest product.
func (c *truncatedChain) means(f Failure) {
	p, l := c.Losses.Law, f.sides()
	mean, off := math.Abs(p.Mean), 0.0
	if !p.symmetric && !math.IsInf(p.Samples, 1) {
		off = math.Inf(1)
		for k := -4; k <= 2; k++ {
			x := halfOctave(math.Sqrt(2*l/p.Samples)/c.deviation(), k)
			off = min(off, (l/p.Samples+c.LogMoment(x))/x)
		}
	}
	c.mean, c.leastMean = min(mean+off, max(mean, c.Largest)), max(0, mean-off)
	if c.MostMean > 0 && !p.symmetric {
		c.mean, c.leastMean = min(c.mean, c.MostMean), max(c.leastMean, c.LeastMean)
	}
}

// deviation returns about the standard deviation of a product, never 0.
func (c *truncatedChain) deviation() float64 {
	if σ := math.Sqrt(c.Losses.Law.Variance); σ > 0 {
		return σ
	}
	return max(c.Largest, math.SmallestNonzeroFloat32) * 0x1p-20
}

// exponents bounds P(e > E) of a product for every row, but for a failure of e^f each.
func (c *truncatedChain) exponents(f Failure) {
	p := c.Losses.Law
	above := make([]float64, len(c.rows)+1)
	for i, e := range p.exp {
		above[max(0, e-c.first+1)] += p.weight[i] // a product that is 0 has the least exponent of all
	}
	for i := len(c.rows) - 1; i >= 0; i-- {
		if E := c.first - 1 + i; E < c.last {
			c.rows[i].above = chernoff(above[i+1], -float64(f)/p.Samples)
		}
		above[i] += above[i+1]
	}
}

// chernoff returns what the mean of a random number in [0, 1] exceeds with probability at most e^-l,
// given the mean of a sample of n and h = l/n: the root x of (x-mean)² = 2hx.
//
// Source: Hoeffding 1963, Theorem 1; its exponent is at least (x-mean)²/2x. It is good for the mean
// over all pairs of two samples of n as well (Section 5 there).
func chernoff(mean, h float64) float64 { return min(1, mean+h+math.Sqrt(h*(h+2*mean))) }

// ilog returns the exponent of x, and that of the smallest float64 for 0.
func ilog(x float64) int {
	if x == 0 {
		return -1074
	}
	return math.Ilogb(x)
}

// ranges bounds the exact sums of n products: |s_n - nμ| <= t_n for all n at once, with
// t_n = min_x (l + nψ(x))/x over a grid of x. One supermartingale for each x pays for all n.
func (c *truncatedChain) ranges(f Failure) {
	K, L, σ := float64(c.K), float64(c.Terms), c.deviation()
	n := 4 + int(math.Log2(max(1, K/L)))
	l := f.share(float64(n + 1)).sides()
	for k := range n {
		x := halfOctave(math.Sqrt(2*l/K)/σ, k-1)
		c.lines = append(c.lines, line{l / x, c.LogMoment(x) / x})
	}
	c.block = c.Largest
	lq := l + math.Log(math.Ceil(K/L)) // single blocks, all of them
	for k := -2; k <= 6; k++ {
		x := halfOctave(math.Sqrt(2*lq/L)/σ, -k)
		c.block = min(c.block, c.mean+(lq/L+c.LogMoment(x))/x)
	}
	c.block *= L
}

// halfOctave returns the power of √2 below x times √2^k: sums of any length ask for the same few
// moments.
func halfOctave(x float64, k int) float64 {
	return math.Pow(2, (math.Floor(2*math.Log2(x))+float64(k))/2)
}

// line is a + nb.
type line struct{ a, b float64 }

// sum returns t_n.
func (c *truncatedChain) sum(n float64) float64 {
	t := n * (c.Largest + c.mean)
	for _, l := range c.lines {
		t = min(t, l.a+n*l.b)
	}
	return t
}

// firstScale returns a first guess of the best θ.
func (c *truncatedChain) firstScale(f Failure) float64 {
	K, L := float64(c.K), float64(c.Terms)
	size := K*c.mean/2 + c.sum(K)/2
	g := math.Ldexp(1, max(ilog(size), c.last)-c.FractionBits)
	u := math.Ldexp(1, ilog(size)-c.resultBits)
	return math.Sqrt(2*f.sides()/math.Ceil(K/L)) / (math.Sqrt(L)*g + u)
}

// bound returns the bound on the error after all blocks from the best θ of a grid, each of which
// has the same share of the failure, and that θ.
//
// With κ_i(θ) >= log E e^(θ loss_i) given the past, for both signs of the loss and all pasts that
// obey the bounds before i, |err_j| <= e_j = min_θ (l + Σ_(i<=j) κ_i(θ))/θ. After the first
// blocks some are taken together, all of them as the worst: the e that they are given is then
// raised until it is no less than the one they come to. The last block may have fewer products,
// and is taken by itself then.
func (c *truncatedChain) bound(grid []float64, f Failure) (bound, best float64) {
	const together = 128 // of so many blocks one more
	c.grid = grid
	c.tilts, c.ends, c.steps = map[int]tilt{}, map[endingKind]*ending{}, map[stepKind][]float64{}
	l := f.share(float64(len(grid))).sides()
	sum := make([]float64, len(grid))
	q := c.K / c.Terms
	e := 0.0
	for done, next := 0, 0; done < q; done = next {
		next = min(q, done+1+done/together)
		κ := c.stepsOf(done, next, c.Terms, e)
		after, θ := c.least(sum, κ, float64(next-done), l)
		for given := e; next > done+1 && after > given; after, θ = c.least(sum, κ, float64(next-done), l) {
			if given = after; given > float64(next*c.Terms)*c.Largest { // no products have such a sum
				return math.Inf(1), grid[len(grid)/2]
			}
			κ = c.stepsOf(done, next, c.Terms, given)
		}
		if e, best = after, θ; e > float64(c.K)*c.Largest {
			return math.Inf(1), grid[len(grid)/2]
		}
		for k := range sum {
			sum[k] += float64(next-done) * κ[k]
		}
	}
	if rest := c.K % c.Terms; rest > 0 {
		e, best = c.least(sum, c.stepsOf(q, q+1, rest, e), 1, l)
	}
	return e, best
}

// least returns min_θ (l + sum + nκ)/θ and where it is.
func (c *truncatedChain) least(sum, κ []float64, n, l float64) (e, at float64) {
	e = math.Inf(1)
	for k, θ := range c.grid {
		if x := (l + sum[k] + n*κ[k]) / θ; x < e {
			e, at = x, θ
		}
	}
	return e, at
}

// stepsOf returns κ for each of the blocks after the first done, up to next, before which no error
// exceeds e. The last of them has so many terms, the others all.
func (c *truncatedChain) stepsOf(done, next, terms int, e float64) []float64 {
	L := float64(c.Terms)
	before := float64(next-1) * L
	t := c.sum(before)
	lo, up := max(0, float64(done)*L*c.leastMean-t-e), min(before*c.mean+t, before*c.Largest)+e
	all := before + float64(terms)
	after := min(all*c.mean+c.sum(all), all*c.Largest) + e +
		L*math.Ldexp(1, max(ilog(up), c.last)-c.FractionBits)
	return c.step(lo, up, after, terms, done == 0)
}

// step returns κ for a step of so many terms from a running sum of size lo to up, that makes one of
// at most after.
func (c *truncatedChain) step(lo, up, after float64, terms int, fromZero bool) []float64 {
	least := c.first - 1 // as small as any: products set the exponent
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

// stepKind is a step of so many terms from a running sum of exponent e to one of at most the exponent
// after.
type stepKind struct {
	e, after, terms int
	fromZero        bool
}

// stepAt returns κ of such a step.
func (c *truncatedChain) stepAt(kind stepKind) []float64 {
	κ, ok := c.steps[kind]
	if !ok {
		κ = c.stepFrom(kind.e, kind.after, kind.terms, kind.fromZero)
		c.steps[kind] = κ
	}
	return κ
}

// stepFrom returns what a step of L terms from a running sum of exponent e does. With
// P_m = P(exponent <= m) and d_m(θ) = E(e^(θY) - 1; exponent < m),
//
//	E e^(θΣY) = (P_e+d_e)^L + Σ_(m>e) ((P_m+d_m)^L - (P_(m-1)+d_m)^L),
//
// m being the greatest exponent of the products. Every term is multiplied by W_m for what the
// running sum loses and what rounding takes. Where d_m and W_m do not fall as m grows, and they are
// raised so that they do not, the sum falls in every P_m: the least that P_m may be is the worst.
func (c *truncatedChain) stepFrom(e, after, terms int, fromZero bool) []float64 {
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

// cut returns what a running sum of exponent e loses that is aligned to m.
func (c *truncatedChain) cut(m, e int, fromZero bool) float64 {
	g, u := math.Ldexp(1, m-c.FractionBits), math.Ldexp(1, e-c.resultBits)
	switch {
	case m == e || fromZero:
		return 0
	case e < c.first: // or of a smaller exponent
		return min(g, math.Ldexp(1, e+1))
	}
	return max(0, min(g-u, math.Ldexp(1, e+1)))
}

// lossBounds is what is known of products aligned to an exponent E.
type lossBounds struct {
	above float64 // P(e > E), or more

	known        bool    // the rest
	mean, square float64 // |E(Y; e < E)| and E(Y²; e < E), or more
}

// row returns the bounds at E. The least of all rows is that of whatever is smaller.
func (c *truncatedChain) row(E int) *lossBounds { return &c.rows[E-c.first+1] }

// losses returns the bounds at E with the moments of Y, those of the table and what a sample leaves
// open of them.
func (c *truncatedChain) losses(E int) *lossBounds {
	b := c.row(E)
	if b.known {
		return b
	}
	c.Losses.mu.Lock()
	below := c.Losses.row(E).below
	c.Losses.mu.Unlock()
	law, g := c.Losses.Law, math.Ldexp(1, E-c.FractionBits)
	b.known, b.mean, b.square = true, math.Abs(below.mean), below.square
	if n := law.Samples; !math.IsInf(n, 1) {
		b.square = g * g * chernoff(min(1, b.square/(g*g)), -float64(c.moments)/n)
		// Bernstein's inequality, once with E Y² for the variance, then with what that leaves of it.
		mean, off := b.mean, 0.0
		for range 2 {
			least := max(0, mean-off)
			if off == 0 {
				least = 0
			}
			off = Bernstein(n*max(0, b.square-least*least), 2*g, c.moments) / n
		}
		b.mean += off
	}
	if law.symmetric {
		b.mean = 0
	}
	return b
}

// tilt is what the losses of products do to expectations, over the grid of θ.
type tilt struct {
	mean []float64 // |E(e^(±θY) - 1; e < E)|, or more
	size []float64 // E(|e^(±θY) - 1|; e < E), or more
}

// tilt returns the tilt of products aligned to E: between the moments of Y and the largest loss, g,
// the moment generating function is at most that of Bennett's inequality.
func (c *truncatedChain) tilt(E int) tilt {
	if z, ok := c.tilts[E]; ok {
		return z
	}
	g := math.Ldexp(1, E-c.FractionBits)
	z := tilt{make([]float64, len(c.grid)), make([]float64, len(c.grid))}
	for k, θ := range c.grid {
		if E < c.first { // or aligned to anything smaller, which loses less
			z.mean[k] = math.Expm1(θ * g)
			z.size[k] = z.mean[k]
			continue
		}
		b := c.losses(E)
		rest := b.square * bennett(θ, g)
		z.mean[k], z.size[k] = θ*b.mean+rest, θ*math.Sqrt(b.square)+rest
		if c.Losses.Law.symmetric {
			z.mean[k] = b.square / (g * g) * (math.Cosh(θ*g) - 1)
		}
	}
	c.tilts[E] = z
	return z
}

// end returns what rounding does to blocks aligned to m, from a running sum of exponent e, that reach at
// most the exponent after.
func (c *truncatedChain) end(m, e, terms, after int) *ending {
	L, g := float64(terms), math.Ldexp(1, m-c.FractionBits)
	kept := min(c.block+L*g, L*math.Ldexp(4, m)) // the products of the block
	return c.ending(endingKind{m, min(after, ilog(math.Ldexp(2, e)+kept)), terms, m > e})
}

// of returns w and more with E(e^(±θ(ΣY+r)); m) <= w E(e^(±θΣY); m) + more, for number k of the grid: the
// lesser of what rounding does at worst and of what it does to residues that the characters tell,
// mass being about E(e^(±θΣY); m).
func (z *ending) of(k int, mass float64) (w, more float64) {
	switch {
	case z.worst == nil:
		return 1, 0
	case z.mean[k]*mass+z.more[k] < z.worst[k]*mass:
		return z.mean[k], z.more[k]
	}
	return z.worst[k], 0
}

// endingKind is a block of so many terms that is aligned to E, set by a product or not, and whose
// sum has the exponent sum.
type endingKind struct {
	E, sum, terms int
	set           bool
}

// ending is what rounding does, over the grid of θ; the zero value is nothing.
type ending struct {
	worst      []float64 // e^(θ|r|) is at most that
	mean, more []float64 // w and more of the characters
}

// ending returns it for one kind of block.
func (c *truncatedChain) ending(kind endingKind) *ending {
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
	case kind.E < c.first: // or aligned to anything smaller
		for k, θ := range c.grid {
			z.worst[k] = math.Exp(θ * u)
			z.mean[k] = z.worst[k]
		}
	case c.Nearest:
		r := c.Losses.Rounding(c.Terms, kind.E, u, true, c.residues.share(c.events*c.events))
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

// spread returns Σ_(0<h<n) |E(e^(±θΣY) χ_h; m)| |e^(θg)-1|/|e^(θg)χ_h-1|, or more: what residues that
// are not uniform add to the mean of e^(θr), over that mean. The expectation is a power of that
// of one product, φ, where the running sum sets the exponent, and a difference of two powers where
// a product does.
func (c *truncatedChain) spread(kind endingKind, φ []character, k int) float64 {
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
		if sum += b; i+1 < n/2 { // and the conjugate
			sum += b
		}
	}
	return sum
}
