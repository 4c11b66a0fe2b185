package roundoff

// The theorem spends one λ on products of every length, and the shortest ones, which fail most,
// set it. Two other ways to spend the same failure follow. They take a law of the errors at each
// unit roundoff, such as [UniformErrors], and any number of products: those of [GEMM.Zeta].

// ZetaPerEvent returns the constant of Zeta when each of the 2KMN events of the theorem gets the
// same share of the failure, and so a bound of its own: the longest product sets ζ.
// It panics unless -Inf < f < 0.
//
// Source: Bhola & Duraisamy 2024b, later versions.
func (g GEMM) ZetaPerEvent(law func(u float64) ErrorLaw, f Failure) float64 {
	g.check()
	checkFailure(f)
	each := f.Split(g.events())
	return Compose(law(g.Accumulate).Theta(g.sums(), each), law(g.Output).Theta(g.Blocks(), each))
}

// ZetaMaximal returns the constant of [GEMM.ZetaSharp] when one event stands for all products
// of an output, at each precision in which something is rounded: the factors that a product
// meets are the last ones of a common sequence, and Theta holds for all of these at once.
// It panics unless -Inf < f < 0.
//
// Source: derived here from Freedman 1975, Theorem 1.6.
func (g GEMM) ZetaMaximal(law func(u float64) ErrorLaw, f Failure) float64 {
	g.check()
	checkFailure(f)
	sums := g.K
	if g.exactProducts() {
		sums--
	}
	if g.Output <= g.Accumulate {
		return law(g.Accumulate).Theta(sums, f.Split(g.Outputs()))
	}
	each := f.Split(2 * g.Outputs())
	return Compose(law(g.Accumulate).Theta(sums, each), law(g.Output).Theta(g.Blocks(), each))
}
