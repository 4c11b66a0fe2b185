package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// HalfUlpBernstein is Hoeffding's bound from the computed sums of a run, for
// rounding errors that are uniform on [-h, h], where h is half a unit in the
// last place of a sum: √(2 log(2/ζ) Σh²/3) around the mean error for the given
// distribution of the data. For an error r in [-h, h] that is symmetric and has
// variance at most h²/3, the moment generating function is at most that of a
// normal number with variance h²/3: the mean of cosh θr is at most 1 + (cosh θh
// - 1)/3 <= exp(θ²h²/6), because cosh √x is convex. Where the distribution of
// the data gives the errors a larger variance, h² replaces h²/3. That is valid
// for every error in [-h, h] of mean zero.
var HalfUlpBernstein = register(Bound{
	Name:    "half-ulp-bernstein",
	Source:  "derived from Hoeffding 1963, Theorem 2",
	Formula: `\mathbb E\,\mathrm{err} \pm \sqrt{2\ell\sum_i v_i},\quad v_i = h_i^2/3 \text{ or } h_i^2`,
	Model:   MeanIndependent,
	Needs:   Sums,
	Assumes: "uniform between neighbouring numbers, except for the mean that follows from the distribution of the data",
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
