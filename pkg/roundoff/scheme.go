package roundoff

// The theorem uses the same λ for products of every length. The shortest
// products, which have the largest probability of failure, determine it.
// ZetaPerEvent divides the same probability of failure differently: every event
// gets the same share. Its argument dist returns the model of the errors at a
// unit roundoff, such as [UniformErrors].

// ZetaPerEvent returns the constant ζ of Zeta if each of the 2KMN events of the
// theorem has the same share of the probability of failure e^f, and a bound of
// its own. The longest product then determines ζ. It panics unless -Inf < f <
// 0.
//
// Source: Bhola & Duraisamy 2024b, later versions.
func (g GEMM) ZetaPerEvent(dist func(u float64) ErrorModel, f Failure) float64 {
	g.check()
	checkFailure(f)
	each := f.Split(g.events())
	return Compose(dist(g.Accumulate).Theta(g.sums(), each), dist(g.Output).Theta(g.Blocks(), each))
}
