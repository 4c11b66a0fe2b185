package roundoff

import "math"

// Chain is the model of a chain of truncated sums on random data, from which the a-priori bound
// and the prediction of its error are made. It takes for granted:
//
//   - H0. The products are independent and of one law.
//   - H1. Given the exponents, what the products of a block lose is independent of the past, and
//     of the law that [Products.Discard] gives.
//   - H2. What rounding the sum takes away is what the kept parts of the products of a block
//     leave on top of a multiple of its unit, and bits of the running sum that it cuts off are
//     uniform.
//
// Then the running sum ŝ_i is a Markov chain, and the error
//
//	ŝ_q - s = -Σ_i (a_i + r_i + Σ_j sgn(p_ij) D_ij)
//
// is the sum of what its steps lose: a_i of the running sum and D_ij of product j, by aligning
// them, r_i of the result, by rounding it. Every step depends on the past through ŝ_(i-1) alone,
// so that expectations of e^(θ error) are products of operators, which are evaluated on a grid:
// the bound is proved for the model, and evaluated by quadrature, not rounded outward.
//
// Source: derived here. The arithmetic is that of Fasi et al. 2021 and Khattak & Mikaitis 2025.
type Chain struct {
	truncation Truncation
	law        *Products
	resultBits int // f = p-1 of the format of the sum

	blocks  int
	exps    []int // of the greatest product of a block, ascending
	probs   []float64
	losses  []blockLoss // by alignment exponent, from exps[0] on
	central []float64   // moments of a product
	reach   float64     // of a block sum

	knots  []float64   // values of the running sum, ascending
	steps  [][]outcome // of a step from every knot
	layers []layer
}

// blockLoss is what a block loses at one alignment exponent.
type blockLoss struct {
	discard Discard
	residue residue
}

// NewChain returns the model of the chain of q steps of t on products of the given law.
// It panics if q or a field of t is out of range, as [Truncation.Zeta] does.
func NewChain(t Truncation, p *Products, q int) *Chain {
	const sample, nodes = 1024, 16
	t.Zeta(q) // checks
	c := &Chain{truncation: t, law: p, resultBits: -math.Ilogb(t.Unit) - 1, blocks: q}
	c.exps, c.probs = p.MaxExponent(t.Terms)
	c.central = p.centralMoments(2*order - 1)

	L := float64(t.Terms)
	σ := math.Sqrt(L * p.Variance)
	c.reach = L*math.Abs(p.Mean) + 4*σ
	most := float64(q)*L*math.Abs(p.Mean) + tails*math.Sqrt(float64(q))*σ + 2*c.reach
	drawn := newBlocks(p, sample, t.Terms)
	for E := c.exps[0]; E <= ilogb(most)+1; E++ {
		g, u := math.Ldexp(1, E-t.FractionBits), math.Ldexp(1, E-c.resultBits)
		c.losses = append(c.losses, blockLoss{p.Discard(E, t.FractionBits), drawn.residue(E, g, u)})
	}

	c.knots = knots(most, c.reach)
	sums := drawn.nodes(nodes)
	for _, s := range c.knots {
		c.steps = append(c.steps, c.outcomes(s, sums))
	}
	c.layers = c.newLayers()
	return c
}

const (
	tails = 12 // standard deviations of the running sum that are looked at, on each side
	order = 5  // nodes of the quadrature of a step
)

// ilogb returns ⌊log2 |x|⌋, and something far below any exponent for 0.
func ilogb(x float64) int {
	if x == 0 {
		return noExponent / 2
	}
	return math.Ilogb(x)
}

// knots returns points up to most on both sides of zero: close together near zero and where a
// block sum within reach changes the exponent, and else two to an exponent.
func knots(most, reach float64) []float64 {
	const near, step = 4, 1.0 / 16
	var x []float64
	add := func(s float64) {
		if len(x) == 0 || s > x[len(x)-1] {
			x = append(x, s)
		}
	}
	for t := step / 2; t <= near; t += step {
		add(t * reach)
	}
	for k := ilogb(near*reach) + 1; x[len(x)-1] < most; k++ {
		edge := math.Ldexp(1, k)
		for t := 1.0; t > 0; t -= 2 * step {
			add(edge - t*reach)
		}
		add(math.Nextafter(edge, 0))
		for t := 0.0; t <= 1; t += 2 * step {
			add(edge + t*reach)
		}
	}
	z := make([]float64, 0, 2*len(x))
	for i := len(x) - 1; i >= 0; i-- {
		z = append(z, -x[i])
	}
	return append(z, x...)
}
