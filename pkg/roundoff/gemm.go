package roundoff

import "strconv"

// A GEMM is the matrix product D = AB, with A of size M by K and B of size K by
// N, on a tensor core that adds Block products to the accumulator at a time
// (the paper's Algorithm 1, with K = qb).
//
// Its constants ζ bound the forward error of every output,
//
//	|D̂ - D|/|D| <= ζ |A||B|/|AB|  elementwise,
//
// and Failure bounds the probability that any of the outputs breaks the bound.
// The bounds assume rounding to nearest, products that are exact in the Product
// format, and no underflow in the conversion of inputs.
//
// Every method panics if a size is below 1, K is not a multiple of Block, or
// Low, Accumulate or Output is outside (0, 1).
//
// differs: the paper calls the inner dimension n in its section 3 and t in its
// section 4.
type GEMM struct {
	M, N, K int
	Block   int // b, the products added per step: 4 on Volta, 16 on Hopper
	Roundoffs
}

// Blocks returns q = K/b, the number of steps that make one output.
func (g GEMM) Blocks() int {
	g.check()
	return g.K / g.Block
}

// Outputs returns MN, the number of entries of D.
func (g GEMM) Outputs() float64 {
	g.check()
	return float64(g.M) * float64(g.N)
}

// Zeta returns ζ = θ_(K-1) + θ_q + θ_(K-1)θ_q, the first at ū and the second at
// u_FMA: with [DBEA] the constant of the deterministic theorem, with a [VIBEA]
// that of the probabilistic one. It is +Inf where Theta is: with DBEA at (K-1)ū
// >= 1 or q u_FMA >= 1, where [Unconditional] is finite.
//
// Source: Bhola & Duraisamy 2024, Theorems "Tensor cores without representation
// error".
//
// differs: the probabilistic theorem prints γ where it means γ̃. And K-1 takes
// the first product to be exact in the accumulation format. Where it is not, K
// roundings occur; the theorem survives if Accumulate = Output, as its θ_q pays
// for the extra one, and otherwise Zeta counts K.
func (g GEMM) Zeta(an Analysis) float64 {
	g.check()
	return Compose(an.Theta(g.sums(), g.Accumulate), an.Theta(g.Blocks(), g.Output))
}

// ZetaSharp returns the ζ of the roundings that occur, and no others: θ_q only
// where storing rounds, Output > Accumulate, and θ_(K-1) only where the first
// product is exact in the accumulation format, 2 p_low <= p̄, otherwise θ_K.
// Both rows of the paper's table lose θ_q. Failure counts at least the events
// that it needs. With DBEA, γ_K may exceed the γ_(K-1) and γ_1 of Zeta in the
// order of u².
//
// differs: the theorem has both terms always.
func (g GEMM) ZetaSharp(an Analysis) float64 {
	g.check()
	sums, stores := g.K, 0
	if g.exactProducts() {
		sums = g.K - 1
	}
	if g.Output > g.Accumulate {
		stores = g.Blocks()
	}
	return Compose(an.Theta(sums, g.Accumulate), an.Theta(stores, g.Output))
}

// ZetaRepresented returns 2u_low + u_low² + ζ(1+u_low)² with ζ = Zeta(an), the
// constant for matrices that are first rounded to the low precision, from a
// finer one. That rounding is taken at its worst, so Failure is unchanged.
//
// Source: Bhola & Duraisamy 2024, Theorems "Tensor cores with representation
// error".
//
// differs: the paper prints u² for u_low².
func (g GEMM) ZetaRepresented(an Analysis) float64 {
	return g.represented(g.Zeta(an))
}

// ZetaSharpRepresented returns 2u_low + u_low² + ζ(1+u_low)² with ζ =
// ZetaSharp(an): the constant of ZetaRepresented for the roundings that occur,
// and no others.
//
// differs: as [GEMM.ZetaSharp] and [GEMM.ZetaRepresented] do.
func (g GEMM) ZetaSharpRepresented(an Analysis) float64 {
	return g.represented(g.ZetaSharp(an))
}

// represented returns 2u_low + u_low² + ζ(1+u_low)².
func (g GEMM) represented(ζ float64) float64 {
	return Compose(Compose(g.Low, g.Low), ζ)
}

// sums returns the largest number of factors 1+δ, |δ| <= ū, that Zeta puts on
// one product.
func (g GEMM) sums() int {
	if g.exactProducts() || g.Accumulate == g.Output {
		return g.K - 1
	}
	return g.K
}

func (g GEMM) check() {
	check.Count("M", g.M)
	check.Count("N", g.N)
	check.Count("K", g.K)
	check.Count("Block", g.Block)
	if g.K%g.Block != 0 {
		panic("roundoff: K = " + strconv.Itoa(g.K) + ", want a multiple of Block = " + strconv.Itoa(g.Block))
	}
	check.Unit("Low", g.Low)
	check.Unit("Accumulate", g.Accumulate)
	check.Unit("Output", g.Output)
}
