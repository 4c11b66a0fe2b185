package roundoff

// SumOfNearest returns nu, the backward constant of a sum of products p added
// one after the other with n roundings to nearest: |ŝ - s| <= nuΣ|p|, for every
// n. It is γ_n without its denominator and without the condition nu < 1. It
// bounds sums only, not products of factors 1+δ. It panics if n < 1 or u is
// outside (0, 1).
//
// Source: Jeannerod & Rump 2013; derived here for a chain of FMAs of exact
// products.
//
// The proof is by induction. Let S be the sum of the |p| before the last p. The
// last rounding may then add at most uS + nu|p|. It errs by at most min(u|ŝ +
// p|, |p|), as ŝ itself is a floating-point number. If |p| <= uS, its error is
// at most |p| <= uS. Otherwise it is at most u|ŝ + p| <= u(S + |p|) + u(n-1)uS,
// where u(n-1)uS, the contribution of the previous errors, is less than
// (n-1)u|p|.
func SumOfNearest(n int, u float64) float64 {
	check.Count("n", n)
	check.Unit("u", u)
	return float64(n) * u
}
