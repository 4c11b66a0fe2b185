package truncation

import (
	"math"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A TwoStageSum is a chain of sums of independent products of one distribution
// on a matrix core of two stages, whose error is bounded before anything is
// computed: see [TwoStage]. The first stage aligns Terms products among
// themselves, or those of even and of odd index apart, and truncates them,
// independently of the running sum.
//
// It assumes that the products are independent and, like [Losses.Rounding],
// that the low bits of the sum of a block do not depend on its leading ones,
// nor on what is cut off. The distribution of the greatest exponent of a block
// is that of Losses. It counts as exact, except that products which a sample
// does not contain have a probability too.
type TwoStageSum struct {
	Terms, Parts int
	Unit         float64 // unit roundoff u = 2^-p of the format of the sum
	Grid         float64 // a power of two that divides every product
	Losses       *Losses // of the products, with F = 24

	// LogMoment returns an upper bound on the larger of log E e^(x(p-μ)) and log E
	// e^(-x(p-μ)) for x > 0; +Inf where there is none.
	LogMoment func(x float64) float64

	// Largest is a finite upper bound on the size of every product.
	Largest float64
}

// The numbers of bits below the leading one that a machine of two stages keeps
// of products, of their sum, and of the result.
const stageProductBits, stageSumBits, stageResultBits = 24, 32, 31

// ErrorBound returns a bound on |ŝ - s| of the given number of sums of K
// products each, in q = ⌈K/Terms⌉ blocks. It holds for all of them together
// with probability at least 1 - e^f, as long as no product exceeds Largest. It
// spends 7/8 of e^f; an eighth is reserved for products beyond Largest:
//
//	e_q = q|M| + min_θ (l + Σ_j κ_j(θ))/θ,
//
// where M is the mean of what the first stage cuts off a block, and κ_j(θ)
// bounds log E e^(±θX) for the rest X of the error of block j, for every
// running sum that is possible before block j. ErrorBound panics if K < 1, sums
// < 1, Terms < 1, Parts is not 1 or 2, Unit is outside (0, 1), Losses.F is not
// 24, Largest is negative or not finite, or unless -Inf < f < 0.
//
// Source: derived here. What the first stage cuts off has the same distribution
// in every block, whatever happened before. The exact sums are bounded by the
// supermartingales exp(±x(s_j - jLμ) - jLψ(x)), one for each x of a grid. As
// long as the running sums are within their bounds, exp(±θ(err_j + jM) -
// Σκ_i(θ)) is a supermartingale too, for each θ.
func (t TwoStageSum) ErrorBound(K int, sums float64, f roundoff.Failure) float64 {
	check.Count("K", K)
	check.Count("Terms", t.Terms)
	check.Unit("Unit", t.Unit)
	if t.Parts != 1 && t.Parts != 2 {
		panic("truncation: Parts = " + strconv.Itoa(t.Parts) + ", want 1 or 2")
	}
	if t.Losses.F != stageProductBits {
		panic("truncation: Losses.F = " + strconv.Itoa(t.Losses.F) + ", want 24")
	}
	if !(t.Largest >= 0) || math.IsInf(t.Largest, 1) {
		panic("truncation: Largest = " + strconv.FormatFloat(t.Largest, 'g', -1, 64) + ", want it finite and not negative")
	}
	account := f.Account(map[string]float64{"exact sums": 1. / 4, "losses": 1. / 2, "distribution": 1. / 16, "characters": 1. / 16})
	q := (K + t.Terms - 1) / t.Terms
	c := &stageChain{TwoStageSum: t, K: K, q: q, L: float64(t.Terms)}
	c.dist(account.Spend("distribution"))
	const kinds = 1 << 12 // upper bound on the pairs of an exponent and a unit in the last place
	c.ends = account.Spend("characters").Split(kinds)
	c.sums = newExactSums(q*t.Terms, t.Terms, c.mean, t.Largest, t.Losses.Products.deviation(t.Largest), t.LogMoment,
		account.Spend("exact sums").Split(sums))
	each := account.Spend("losses").Split(sums)

	// Each grid is centred at the best θ of the one before, and gives a bound by
	// itself.
	best, θ := math.Inf(1), math.Sqrt(2*each.TwoSidedLog()/float64(q))/c.unitOf(c.sums.within(float64(q)*c.L)/2)
	for _, ratio := range []float64{4, 2, math.Sqrt2} {
		e, at := c.bound(geometric(θ, ratio, 8), each)
		best, θ = min(best, e), at
	}
	return best
}

// stageChain is the state of one evaluation of [TwoStageSum.ErrorBound].
type stageChain struct {
	TwoStageSum
	K, q       int
	L          float64
	mean, less float64 // upper and lower bound on |μ|
	sums       exactSums
	first      int // the least greatest exponent of a block
	parts      [][]stageTop
	ends       roundoff.Failure // of the bounds on the error of rounding, each
	lost       float64          // M, the mean of what the first stage cuts off a block

	grid  []float64
	tops  [][2][]float64 // [θ][sign][exponent-first]: see topsOf
	steps map[[4]int][]float64
}

// stageTop is one value of the greatest exponent of products that are aligned
// together: its probability, and a bound on what these products then lose.
type stageTop struct {
	weight float64
	loss   LossBound
	blur   float64 // bound on the error of loss.Mean
}

// dist sets what the chain needs of the distribution of the products. The
// bounds of it fail with probability at most e^f.
func (c *stageChain) dist(f roundoff.Failure) {
	p := c.Losses.Products
	known := p.exponentDistribution()
	rest := f.Split(2)
	l := rest.Split(2).TwoSidedLog()
	c.mean, c.less = math.Abs(p.Mean), math.Abs(p.Mean)
	if !p.symmetric {
		d := math.Sqrt(2*l*p.Variance/p.Samples) + 7./3*l*c.Largest/p.Samples
		c.mean, c.less = c.mean+d, max(0, c.less-d)
	}
	c.first = known[0].exp
	last := max(known[len(known)-1].exp, ilog(c.Largest))
	cell := rest.Split(3 * float64(last-c.first+1)) // three cells of each exponent
	for j := range c.Parts {
		n := (c.Terms + c.Parts - 1 - j) / c.Parts
		tops := make([]stageTop, last-c.first+1)
		exponents, weights := p.MaxExponent(n)
		for i, E := range exponents {
			tops[E-c.first].weight = weights[i]
		}
		if !math.IsInf(p.Samples, 1) { // products that the sample does not contain
			atom := min(1, float64(n)*l/p.Samples)
			for i := range tops {
				tops[i].weight *= 1 - atom
			}
			tops[len(tops)-1].weight += atom
		}
		for i := range tops {
			if t := &tops[i]; t.weight > 0 {
				t.loss = c.Losses.At(c.first+i, cell).Block(n, true)
				t.blur = math.Abs(t.loss.Error) + t.loss.Slack
				c.lost += t.weight * t.loss.Mean
			}
		}
		c.parts = append(c.parts, tops)
	}
}

// unitOf returns the unit in the last place of a sum of size s.
func (c *stageChain) unitOf(s float64) float64 { return math.Ldexp(2*c.Unit, ilog(s)) }

// bound returns the least bound on the error after all blocks over a grid of θ,
// each of which has the same share of the failure, and the θ that gives it.
// Several blocks are bounded together, each by the worst of them: among them
// the error grows by no more than [TwoStage] allows.
func (c *stageChain) bound(grid []float64, f roundoff.Failure) (bound, best float64) {
	const together = 128 // the number of blocks bounded together grows by 1 with so many blocks
	c.grid, c.steps = grid, map[[4]int][]float64{}
	c.topsOf()
	l := f.Split(float64(len(grid))).TwoSidedLog()
	w := TwoStage(c.Terms, 1, c.Unit)
	sum := make([]float64, len(grid))
	e := 0.0
	for done, next := 0, 0; done < c.q; done = next {
		terms := c.Terms
		if whole := c.K / c.Terms; done < whole {
			next = min(whole, done+1+done/together)
		} else { // the last block has fewer products
			next, terms = c.q, c.K-whole*c.Terms
		}
		n := float64(next - done)
		if n*w >= 0.5 {
			return math.Inf(1), grid[len(grid)/2]
		}
		products := float64(next) * c.L
		exact := c.sums.within(products)
		up := (exact + e + n*w*c.L*c.Largest) / (1 - n*w) // bound on the size of all running sums
		lo := float64(done)*c.L*c.less - c.sums.apart(products) - (up - exact)
		for k, κ := range c.step(max(0, lo), up, terms, done == 0) {
			sum[k] += n * κ
		}
		e, best = math.Inf(1), grid[len(grid)/2]
		for k, θ := range grid {
			if x := (l+sum[k])/θ + float64(next)*math.Abs(c.lost); x < e {
				e, best = x, θ
			}
		}
		if math.IsInf(e, 1) {
			break
		}
	}
	return e, best
}

// topsOf sets tops. For each θ and either sign it is the mean of exp(±θ(ΣY -
// M)) over blocks whose greatest exponent is E, times the probability of these
// blocks: the value for blocks in which no part has an exponent above E, less
// the value for blocks in which all parts have exponents below E.
func (c *stageChain) topsOf() {
	c.tops = make([][2][]float64, len(c.grid))
	for k, θ := range c.grid {
		for sign := range 2 {
			s := θ * float64(1-2*sign)
			z := make([]float64, len(c.parts[0]))
			sums, before := make([]float64, len(c.parts)), 0.0
			for i := range z {
				product := math.Exp(-s * c.lost)
				for j, part := range c.parts {
					if t := part[i]; t.weight > 0 {
						sums[j] += t.weight * math.Exp(s*t.loss.Mean+θ*t.blur+t.loss.Variance*bennett(θ, t.loss.Largest))
					}
					product *= sums[j]
				}
				z[i], before = product-before, product
				if !(product < math.Inf(1)) { // θ is too large for binary64
					z[i] = math.Inf(1)
				}
			}
			c.tops[k][sign] = z
		}
	}
}

// step returns κ for blocks of the given number of products on a running sum of
// size between lo and up, which leave one of at most up. The fewer the products
// are, the greater can the bias of rounding to nearest be.
func (c *stageChain) step(lo, up float64, terms int, fromZero bool) []float64 {
	least := c.first - 2 // stands for all smaller exponents
	from, to := max(least, ilog(lo)), max(least, ilog(up))
	if fromZero {
		from, to = least, least
	}
	key := [4]int{from, to, ilog(up), terms}
	if κ, ok := c.steps[key]; ok {
		return κ
	}
	κ := make([]float64, len(c.grid))
	for k := range κ {
		κ[k] = math.Inf(-1)
	}
	for e := from; e <= to; e++ {
		after := c.after(e, up) // the error of the second stage is largest with the largest result
		down, ends := make([]float64, len(c.parts[0])), make([]RoundingLoss, len(c.parts[0]))
		u := math.Ldexp(2*c.Unit, after)
		for i := range down {
			down[i] = c.down(c.first+i, e, after)
			if c.tops[0][0][i] > 0 {
				E := max(c.first+i, ilog(c.Grid)+stageProductBits) // no product has finer bits
				ends[i] = c.Losses.Rounding(terms, E, u, true, c.ends)
			}
		}
		for k, θ := range c.grid {
			for _, tops := range c.tops[k] {
				total := 0.0
				for i, w := range tops {
					if w > 0 {
						total += w * math.Exp(θ*down[i]) * (1 + θ*ends[i].Mean + ends[i].Square*bennett(θ, u/2))
					}
				}
				κ[k] = max(κ[k], math.Log(total))
			}
		}
	}
	c.steps[key] = κ
	return κ
}

// after returns the greatest exponent of the sum of a block and a running sum
// of exponent e, if that sum is at most up.
func (c *stageChain) after(e int, up float64) int {
	return min(ilog(up), ilog(math.Ldexp(1, e+1)+c.sums.block))
}

// down returns an upper bound on what is rounded down in a block of greatest
// exponent E on a running sum of exponent e, if the exponent of the result is
// at most after.
func (c *stageChain) down(E, e, after int) float64 {
	top := max(E, e)
	grid := max(math.Ldexp(1, E-stageProductBits), c.Grid) // spacing of what is kept of products
	unit := math.Ldexp(1, top-stageSumBits)
	sum := max(0, unit-grid) + max(0, math.Ldexp(1, after-stageResultBits)-max(unit, c.Grid))
	if e < E-1 { // else the running sum is a multiple of 2^(E-24)
		sum += math.Ldexp(1, E-stageProductBits)
	}
	if c.Parts == 2 {
		sum += grid - min(grid, c.Grid)
	}
	return sum
}
