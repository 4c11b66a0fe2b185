package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// IpsenZhou is Azuma's inequality for the rounding errors of the computed sums
// ŝ of a run, each of size at most u|ŝ|.
var IpsenZhou = register(Bound{
	Name:    "ipsen-zhou",
	Source:  "Ipsen & Zhou 2020, for exact products",
	Formula: `\mathbb E\,\mathrm{err} \pm u\sqrt{2\ell\sum_i \hat s_i^2}`,
	Model:   MeanIndependent,
	Needs:   Sums,
	Fails:   notOneFormat,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		z := o.errors(k)
		return z.around(k.coarsest() * roundoff.Azuma(z.sizes, k.eachOutput(f)))
	},
})

// IpsenZhouHalfUlp is [IpsenZhou] with half a unit in the last place of ŝ in
// place of u|ŝ|, which is up to twice as large.
var IpsenZhouHalfUlp = register(Bound{
	Name:    "ipsen-zhou-half-ulp",
	Source:  "Ipsen & Zhou 2020, sharpened",
	Formula: `\mathbb E\,\mathrm{err} \pm \sqrt{2\ell\sum_i h_i^2}`,
	Model:   MeanIndependent,
	Needs:   Sums,
	Fails:   notOneFormat,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		z := o.errors(k)
		return z.around(roundoff.Azuma(z.squares, k.eachOutput(f)))
	},
})
