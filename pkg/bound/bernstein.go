package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// HalfUlpBernstein is Bernstein's inequality for errors that are uniform on half a unit in the
// last place of the sums of a run.
var HalfUlpBernstein = register(Bound{
	Name:    "half-ulp-bernstein",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   MeanIndependent,
	Needs:   Sums,
	Assumes: "uniform between neighbouring numbers",
	Fails: func(k Kernel) string {
		if k.Stochastic {
			return "errors of stochastic rounding are not uniform between neighbouring numbers"
		}
		return notOneFormat(k)
	},
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		_, squares, largest := o.halfUlps(k)
		return Interval{0, roundoff.Bernstein(squares/3, largest, k.eachOutput(f))}
	},
})
