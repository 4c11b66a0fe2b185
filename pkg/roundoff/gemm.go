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
// and Failure bounds the probability that any of the outputs violates it. The
// bounds assume rounding to nearest, products that are exact in the Product
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

// Blocks returns q = K/b, the number of steps that compute one output.
func (g GEMM) Blocks() int {
	g.check()
	return g.K / g.Block
}

// Outputs returns MN, the number of entries of D.
func (g GEMM) Outputs() float64 {
	g.check()
	return float64(g.M) * float64(g.N)
}

// Zeta returns ζ = θ_(K-1) + θ_q + θ_(K-1)θ_q, with θ_(K-1) at unit roundoff ū
// and θ_q at u_FMA. With [DBEA] it is the constant of the deterministic
// theorem, with a [VIBEA] that of the probabilistic one. It is +Inf where a
// Theta is +Inf: with DBEA at (K-1)ū >= 1 or q u_FMA >= 1, where
// [Unconditional] is finite.
//
// Source: Bhola & Duraisamy 2024, Theorems "Tensor cores without representation
// error".
//
// differs: the probabilistic theorem prints γ where it means γ̃. The index K-1
// assumes that the first product is exact in the accumulation format. Where it
// is not, K roundings occur. If Accumulate = Output the theorem is still valid,
// as θ_q covers the additional rounding; otherwise Zeta uses θ_K.
func (g GEMM) Zeta(an Analysis) float64 {
	g.check()
	return Compose(an.Theta(g.sums(), g.Accumulate), an.Theta(g.Blocks(), g.Output))
}

// ZetaSharp returns the ζ of Zeta for the roundings that occur only. It
// includes θ_q only where storing a result rounds, Output > Accumulate. It uses
// θ_(K-1) where the first product is exact in the accumulation format, 2 p_low
// <= p̄, and otherwise θ_K. For both rows of the paper's Table 2 the term θ_q
// is absent. Failure with Corrected or Deduplicated is an upper bound for
// ZetaSharp too. With DBEA it may exceed Zeta by O(u²), as γ_K may exceed
// γ_(K-1) and γ_1 composed.
//
// differs: the theorem always has both terms.
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
// constant for matrices that are first rounded from a higher precision to the
// low one. This rounding is bounded by its worst case, so Failure is unchanged.
//
// Source: Bhola & Duraisamy 2024, Theorems "Tensor cores with representation
// error".
//
// differs: the paper prints u² for u_low².
func (g GEMM) ZetaRepresented(an Analysis) float64 {
	return g.represented(g.Zeta(an))
}

// ZetaSharpRepresented returns 2u_low + u_low² + ζ(1+u_low)² with ζ =
// ZetaSharp(an): the constant of ZetaRepresented for the roundings that occur
// only.
//
// differs: in the same ways as [GEMM.ZetaSharp] and [GEMM.ZetaRepresented].
func (g GEMM) ZetaSharpRepresented(an Analysis) float64 {
	return g.represented(g.ZetaSharp(an))
}

// represented returns 2u_low + u_low² + ζ(1+u_low)².
func (g GEMM) represented(ζ float64) float64 {
	return Compose(Compose(g.Low, g.Low), ζ)
}

// sums returns the largest number of factors 1+δ, |δ| <= ū, by which Zeta
// multiplies one product x_j y_j.
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
