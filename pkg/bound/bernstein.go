package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// HalfUlpBernstein is Hoeffding's bound for errors that are uniform on half a
// unit in the last place of the sums of a run, h: √(2 log(2/ζ) Σh²/3), around
// what errors of these data are in the mean. An error on ±h that is symmetric
// and of no more variance than a uniform one, h²/3, has no larger a moment
// generating function than a normal number of that variance: the mean of cosh
// θr is at most 1 + (cosh θh - 1)/3 <= exp(θ²h²/6), as cosh √x is convex. Where
// the data are such that the errors have more variance it is h², which holds
// for any error on ±h of mean zero.
var HalfUlpBernstein = register(Bound{
	Name:    "half-ulp-bernstein",
	Source:  "derived from Hoeffding 1963, Theorem 2",
	Model:   MeanIndependent,
	Needs:   Sums,
	Assumes: "uniform between neighbouring numbers, but for what the distribution of the data tells",
	Fails: func(k Problem) string {
		if k.stochastic() {
			return "errors of stochastic rounding are not uniform between neighbouring numbers"
		}
		return notOneFormat(k)
	},
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		z := o.errors(k)
		return z.around(roundoff.Azuma(z.proxies, k.eachOutput(f)))
	},
})
