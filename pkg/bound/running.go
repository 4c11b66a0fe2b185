package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// Running is Σ max(u|ŝ|, h) over all computed sums ŝ, plus what was flushed to
// zero. Each rounding to nearest has an error of at most max(u|ŝ|, h), where h
// is half the spacing of subnormal sums.
var Running = register(Bound{
	Name:    "running",
	Source:  "Higham 2002, running error analysis",
	Formula: `\sum_i \max(u\lvert\hat s_i\rvert,\ h_0)`,
	Model:   Nearest,
	Needs:   Sums,
	Fails:   notOneFormat,
	Interval: func(k Problem, o Entry, _ roundoff.Failure) Interval {
		sum, u, least := o.Flushed, k.coarsest(), k.leastHalfUlp()
		for _, s := range o.Sums {
			sum += max(u*math.Abs(s), least)
		}
		return Interval{0, sum}
	},
})

// RunningHalfUlp is Running with half a unit in the last place of ŝ in place of
// u|ŝ|.
var RunningHalfUlp = register(Bound{
	Name:    "running-half-ulp",
	Source:  "Higham 2002, running error analysis, sharpened",
	Formula: `\sum_i h_i`,
	Model:   Nearest,
	Needs:   Sums,
	Fails:   notOneFormat,
	Interval: func(k Problem, o Entry, _ roundoff.Failure) Interval {
		return Interval{0, o.errors(k).halfUlps + o.Flushed}
	},
})
