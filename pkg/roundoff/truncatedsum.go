package roundoff

import (
	"math"
	"slices"
	"strconv"
)

// A TruncatedSum is a chain of truncated sums of independent products of one law, before anything
// is computed. Its error is bounded for data of that law: docs/truncation.md has the proof.
//
// It takes for granted that the products are independent, and of [Losses.Rounding] what that
// does: that the low bits of the kept sum of a block do not depend on its leading ones, nor on
// what is cut off. Nothing is assumed of what alignment cuts off, which follows from the law.
type TruncatedSum struct {
	Truncation
	Losses *Losses // of the products, with the F of the alignment

	// LogMoment returns the larger of log E e^(x(p-μ)) and log E e^(-x(p-μ)) for x > 0, or
	// more; +Inf where there is none.
	LogMoment func(x float64) float64

	// Largest is what no product exceeds in size, finite.
	Largest float64
}

// shares are the parts of the failure that pay for the size of the exact sums, for what is lost,
// and for the law as far as it is an estimate. What is left pays for products beyond Largest.
const rangeShare, lossShare, lawShare = 1. / 4, 1. / 2, 1. / 8

// ErrorBound returns what |ŝ - s| of so many sums of q blocks each does not exceed, with
// probability at least 1 - e^f for all together, an eighth of which is left for products beyond
// Largest.
// It panics if q < 1, sums < 1, a field of the truncation is out of range, Losses is of another F,
// Largest is not finite, or unless -Inf < f < 0.
//
// Source: derived here; Ville's inequality for the supermartingales.
func (t TruncatedSum) ErrorBound(q int, sums float64, f Failure) float64 {
	checkCount("q", q)
	t.Step()
	if t.Losses.F != t.FractionBits {
		panic("roundoff: Losses.F = " + strconv.Itoa(t.Losses.F) + ", want FractionBits = " + strconv.Itoa(t.FractionBits))
	}
	if !(t.Largest >= 0) || math.IsInf(t.Largest, 1) {
		panic("roundoff: Largest = " + strconv.FormatFloat(t.Largest, 'g', -1, 64) + ", want it finite and not negative")
	}
	c := &truncatedChain{TruncatedSum: t, q: q, L: float64(t.Terms)}
	each := f.share(sums)
	c.law(f + Failure(math.Log(lawShare)))
	c.ranges(each + Failure(math.Log(rangeShare)))
	each += Failure(math.Log(lossShare))

	// Every grid of θ gives a bound; the second and the third are around the best of the one
	// before.
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
	q          int
	L          float64
	resultBits int // f

	first, last int // exponents of products
	atom        float64
	lawSides    float64 // log(2/ζ) of the law
	mean        float64 // |μ|, or more
	block       float64 // no sum of a block is larger
	lines       []line  // of the bounds on sums

	grid   []float64
	powers map[int]powers
	ends   map[[2]int][]float64
	steps  map[[3]int][]float64
}

// law takes from the law of the products what it knows of it, but for a failure of e^f.
func (c *truncatedChain) law(f Failure) {
	p := c.Losses.Law
	c.resultBits = -math.Ilogb(c.Unit) - 1
	c.first, c.last = slices.Min(p.exp), slices.Max(p.exp)
	c.lawSides = f.sides()
	c.mean = math.Abs(p.Mean)
	if !p.symmetric {
		c.mean += math.Sqrt(2 * c.lawSides * p.Variance / p.Samples)
	}
	if most := ilog(c.Largest); most > c.last && !math.IsInf(p.Samples, 1) {
		c.last, c.atom = most, min(1, c.lawSides/p.Samples)
	}
}

// ilog returns the exponent of x, and that of the smallest float64 for 0.
func ilog(x float64) int {
	if x == 0 {
		return -1074
	}
	return math.Ilogb(x)
}

// ranges bounds the exact sums: |s_j - jLμ| <= t_j for all j at once, with
// t_j = min_x (l + jLψ(x))/x over a grid of x. One supermartingale for each x pays for all j.
func (c *truncatedChain) ranges(f Failure) {
	σ := math.Sqrt(c.Losses.Law.Variance)
	n := 4 + int(math.Log2(float64(c.q)))
	l := f.share(float64(n + 1)).sides()
	c.block = c.L * (c.Largest + c.mean)
	if σ > 0 {
		for k := range n {
			x := halfOctave(math.Sqrt(2*l/(float64(c.q)*c.L))/σ, k-1)
			c.lines = append(c.lines, line{l / x, c.L * c.LogMoment(x) / x})
		}
		lq := l + math.Log(float64(c.q)) // single blocks, all of them
		for k := -2; k <= 6; k++ {
			x := halfOctave(math.Sqrt(2*lq/c.L)/σ, -k)
			c.block = min(c.block, (lq+c.L*c.LogMoment(x))/x)
		}
	}
	c.block += c.L * c.mean
}

// halfOctave returns the power of √2 below x times √2^k: sums of any length ask for the same few
// moments.
func halfOctave(x float64, k int) float64 {
	return math.Pow(2, (math.Floor(2*math.Log2(x))+float64(k))/2)
}

// line is a + jb.
type line struct{ a, b float64 }

// sum returns t_j.
func (c *truncatedChain) sum(j int) float64 {
	if c.Losses.Law.Variance == 0 {
		return 0
	}
	t := float64(j) * c.L * (c.Largest + c.mean)
	for _, l := range c.lines {
		t = min(t, l.a+float64(j)*l.b)
	}
	return t
}

// firstScale returns a first guess of the best θ.
func (c *truncatedChain) firstScale(f Failure) float64 {
	size := float64(c.q)*c.L*c.mean/2 + c.sum(c.q)/2
	g := math.Ldexp(1, max(ilog(size), c.last)-c.FractionBits)
	u := math.Ldexp(1, ilog(size)-c.resultBits)
	return math.Sqrt(2*f.sides()/float64(c.q)) / (math.Sqrt(c.L)*g + u)
}

// bound returns the bound on the error after all blocks from the best θ of a grid, each of which
// has the same share of the failure, and that θ.
//
// With κ_i(θ) >= log E e^(θ loss_i) given the past, for both signs of the loss and all pasts that
// obey the bounds before i, |err_j| <= e_j = min_θ (l + Σ_(i<=j) κ_i(θ))/θ. After the first
// blocks some are taken together, all of them as the worst: the e that they are given is then
// raised until it is no less than the one they come to.
func (c *truncatedChain) bound(grid []float64, f Failure) (bound, best float64) {
	const together = 128 // of so many blocks one more
	c.grid = grid
	c.powers, c.ends, c.steps = map[int]powers{}, map[[2]int][]float64{}, map[[3]int][]float64{}
	l := f.share(float64(len(grid))).sides()
	sum := make([]float64, len(grid))
	e := 0.0
	for done, next := 0, 0; done < c.q; done = next {
		next = min(c.q, done+1+done/together)
		κ := c.stepsOf(done, next, e)
		after, θ := c.least(sum, κ, float64(next-done), l)
		for given := e; next > done+1 && after > given; after, θ = c.least(sum, κ, float64(next-done), l) {
			if given = after; given > float64(next)*c.L*c.Largest { // no products have such a sum
				return math.Inf(1), grid[len(grid)/2]
			}
			κ = c.stepsOf(done, next, given)
		}
		if e, best = after, θ; math.IsInf(e, 1) {
			return e, grid[len(grid)/2]
		}
		for k := range sum {
			sum[k] += float64(next-done) * κ[k]
		}
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
// exceeds e.
func (c *truncatedChain) stepsOf(done, next int, e float64) []float64 {
	t := c.sum(next - 1)
	lo, up := 0.0, float64(next-1)*c.L*c.mean+t+e
	if μ := c.lower(); μ > 0 {
		lo = max(0, float64(done)*c.L*μ-t-e)
	}
	after := float64(next)*c.L*c.mean + c.sum(next) + e +
		c.L*math.Ldexp(1, max(ilog(up), c.last)-c.FractionBits)
	return c.step(lo, up, after, done == 0)
}

// lower returns |μ|, or less.
func (c *truncatedChain) lower() float64 {
	return max(0, 2*math.Abs(c.Losses.Law.Mean)-c.mean)
}

// step returns κ for a step from a running sum of size lo to up, that makes one of at most after.
func (c *truncatedChain) step(lo, up, after float64, fromZero bool) []float64 {
	least := c.first - 1 // as small as any: products set the exponent
	from, to := max(least, ilog(lo)), max(least, ilog(up))
	if fromZero {
		from, to = least, least
	}
	key := [3]int{from, to, ilog(after)}
	if fromZero {
		key[0]--
	}
	if κ, ok := c.steps[key]; ok {
		return κ
	}
	κ := make([]float64, len(c.grid))
	for k := range κ {
		κ[k] = math.Inf(-1)
	}
	for e := from; e <= to; e++ {
		c.stepFrom(κ, e, ilog(after), fromZero)
	}
	c.steps[key] = κ
	return κ
}

// stepFrom raises κ to what a step from a running sum of exponent e does: with b_E(θ) =
// E(e^(θY); exponent < E) and ρ_E the probability of exponent E,
//
//	E e^(θΣY) = (b_e+ρ_e)^L + Σ_(m>e) ((b_m+ρ_m)^L - b_m^L),
//
// m being the greatest exponent of the products, times what the running sum loses and what
// rounding takes for each m.
func (c *truncatedChain) stepFrom(κ []float64, e, after int, fromZero bool) {
	sum := min(after, ilog(math.Ldexp(1, e+1)+c.block))
	own, end := c.power(e), c.end(e, sum)
	total := make([]float64, len(c.grid))
	for k := range total {
		total[k] = own.atMost[k] * end[k]
	}
	for m := e + 1; m <= c.last; m++ {
		p, end, cut := c.power(m), c.end(m, sum), 0.0
		if g, u := math.Ldexp(1, m-c.FractionBits), math.Ldexp(1, e-c.resultBits); g > u && !fromZero {
			cut = min(g-u, math.Ldexp(1, e+1))
			if e < c.first {
				cut = min(g, math.Ldexp(1, e+1))
			}
		}
		for k, θ := range c.grid {
			if d := p.atMost[k] - p.less[k]; d > 0 {
				total[k] += d * math.Exp(θ*cut) * end[k]
			}
		}
	}
	for k, x := range total {
		κ[k] = max(κ[k], math.Log(x))
	}
}

// powers holds (b_E+ρ_E)^L and b_E^L over the grid of θ.
type powers struct{ atMost, less []float64 }

// power returns the powers for an alignment to E. The moments of Y are those of the table, and
// what a sample leaves open of them (Maurer & Pontil 2009, Theorem 4); between them and the largest loss, g, the moment generating
// function is at most that of Bennett's inequality.
func (c *truncatedChain) power(E int) powers {
	if p, ok := c.powers[E]; ok {
		return p
	}
	c.Losses.mu.Lock()
	r := c.Losses.row(E)
	c.Losses.mu.Unlock()
	law := c.Losses.Law
	g := math.Ldexp(1, E-c.FractionBits)
	mean, square := math.Abs(r.below.mean), r.below.square
	deviation := math.Sqrt(2 * c.lawSides * square / law.Samples)
	grain := 7. / 3 * c.lawSides * g / law.Samples
	if !law.symmetric {
		mean += deviation + grain
	}
	square += g * (deviation + grain)
	below, own := r.below.weight*(1-c.atom), r.own*(1-c.atom)
	lost := 0.0 // by products beyond the sample
	switch {
	case E == c.last:
		own += c.atom
	case E > c.last:
		lost = c.atom
		below += c.atom
	}
	p := powers{make([]float64, len(c.grid)), make([]float64, len(c.grid))}
	for k, θ := range c.grid {
		b := below + lost*math.Expm1(θ*g)
		if law.symmetric {
			b += square / (g * g) * (math.Cosh(θ*g) - 1)
		} else {
			b += θ*mean + square*bennett(θ, g)
		}
		if below == 0 {
			b = 0
		}
		p.less[k], p.atMost[k] = math.Pow(b, c.L), math.Pow(b+own, c.L)
	}
	c.powers[E] = p
	return p
}

// end returns a bound on E e^(±θr) for blocks aligned to E with a sum of exponent at most sum.
func (c *truncatedChain) end(E, sum int) []float64 {
	key := [2]int{E, sum}
	if z, ok := c.ends[key]; ok {
		return z
	}
	z := make([]float64, len(c.grid))
	u, g := math.Ldexp(1, sum-c.resultBits), math.Ldexp(1, E-c.FractionBits)
	r := c.Losses.Rounding(c.Terms, E, u, c.Nearest)
	largest := u - g
	if c.Nearest {
		largest = u / 2
	}
	for k, θ := range c.grid {
		z[k] = 1
		if u > g {
			z[k] += θ*r.Mean + r.Square*bennett(θ, largest)
		}
	}
	c.ends[key] = z
	return z
}
