package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// HallmanIpsen is a martingale bound for any tree of sums. It bounds the sum of
// the squares of the nodes by h(Σ|p|)², where h is the height of the tree. A
// pairwise sum has height log₂ K.
var HallmanIpsen = register(Bound{
	Name:    "hallman-ipsen",
	Source:  "Hallman & Ipsen 2023",
	Formula: `u\sqrt{2h\ell}\,(1+\varphi)`,
	Model:   MeanIndependent,
	Fails:   notOneFormat,
	Constant: func(k Problem, f roundoff.Failure) Value {
		r := k.roundings()[0]
		if r.n == 0 {
			return plain(0)
		}
		return plain(roundoff.Tree(float64(r.n), r.n, k.Length(), r.u, k.each(f)))
	},
})

// HallmanIpsenSums is [HallmanIpsen] with the computed sums of a run at the
// nodes.
var HallmanIpsenSums = register(Bound{
	Name:    "hallman-ipsen-sums",
	Source:  "Hallman & Ipsen 2023",
	Formula: `\mathbb E\,\mathrm{err} \pm u\sqrt{2\ell\sum_i \hat s_i^2}\,(1+\varphi)`,
	Model:   MeanIndependent,
	Needs:   Sums,
	Fails:   notOneFormat,
	Assumes: "computed sums in place of exact ones",
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		r := k.roundings()[0]
		if r.n == 0 {
			return Interval{0, o.Flushed}
		}
		z := o.errors(k)
		return z.around(roundoff.Tree(z.sizes, r.n, len(o.Sums), r.u, k.eachOutput(f)))
	},
})
