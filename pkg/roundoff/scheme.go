package roundoff

// The theorem spends one λ on products of every length, and the shortest ones,
// which fail most, set it. Here is another way to spend the same failure. It
// takes a distribution of the errors at each unit roundoff, such as
// [UniformErrors].

// ZetaPerEvent returns the constant of Zeta when each of the 2KMN events of the
// theorem gets the same share of the failure, and so a bound of its own: the
// longest product sets ζ. It panics unless -Inf < f < 0.
//
// Source: Bhola & Duraisamy 2024b, later versions.
func (g GEMM) ZetaPerEvent(dist func(u float64) ErrorModel, f Failure) float64 {
	g.check()
	checkFailure(f)
	each := f.Split(g.events())
	return Compose(dist(g.Accumulate).Theta(g.sums(), each), dist(g.Output).Theta(g.Blocks(), each))
}
