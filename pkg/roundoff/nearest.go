package roundoff

// SumOfNearest returns nu, the backward constant of a sum of products that are
// added one after the other, each to nearest, with n roundings in all: |ŝ - s|
// <= nuΣ|p|, for every n. It is γ_n without its denominator and without the
// condition nu < 1, but a bound on sums alone, not on products of factors. It
// panics if n < 1 or u is outside (0, 1).
//
// Source: Jeannerod & Rump 2013; for a chain of FMAs of exact products derived
// here. Rounding ŝ + p to nearest errs by at most min(u|ŝ + p|, |p|), as ŝ is a
// candidate. If |p| is at most u times the sum S of the |p| before it, take
// |p|, which S pays; else take u|ŝ + p|, of which the part that is old error is
// at most (n-1)u²S < (n-1)u|p|.
func SumOfNearest(n int, u float64) float64 {
	check.Count("n", n)
	check.Unit("u", u)
	return float64(n) * u
}
