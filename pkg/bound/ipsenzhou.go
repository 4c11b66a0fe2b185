package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// IpsenZhou is Azuma's inequality for the errors of the sums of a run, each at most u|ŝ|.
var IpsenZhou = register(Bound{
	Name:   "ipsen-zhou",
	Source: "Ipsen & Zhou 2020, for exact products",
	Model:  MeanIndependent,
	Needs:  Sums,
	Fails:  notOneFormat,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		return Interval{0, k.coarsest() * roundoff.Azuma(o.squares(), k.eachOutput(f))}
	},
})

// IpsenZhouHalfUlp is IpsenZhou with half a unit in the last place for u|ŝ|, which is up to
// twice as much.
var IpsenZhouHalfUlp = register(Bound{
	Name:   "ipsen-zhou-half-ulp",
	Source: "Ipsen & Zhou 2020, sharpened",
	Model:  MeanIndependent,
	Needs:  Sums,
	Fails:  notOneFormat,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		_, squares, _ := o.halfUlps(k)
		return Interval{0, roundoff.Azuma(squares, k.eachOutput(f))}
	},
})
