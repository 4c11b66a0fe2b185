package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// Truncation is the worst-case constant of a machine that aligns and truncates,
// for every such machine: q(L 2^-F + 2u) on tensor cores of NVIDIA.
var Truncation = register(Bound{
	Name:    "truncation",
	Source:  "derived from the arithmetic of Fasi et al. 2021 and Xie et al. 2025",
	Formula: `q\,(L\,2^{-F} + 2u)\text{; rounded to nearest } \tfrac wu\left((1+u)^q - 1\right),\ w = L\,2^{-F} + u`,
	Model:   Truncating,
	Constant: func(k Problem, _ roundoff.Failure) Value {
		q := k.Blocks()
		switch c := k.Device.Core.(type) {
		case tcore.Fused:
			t := k.truncation(c)
			t.FractionBits -= k.subnormalBits()
			return plain(t.Zeta(q))
		case tcore.Split:
			z := k.truncation(c.By).Zeta(2) // two steps from zero, whose sum is then added with rounding to nearest
			if q > 1 {
				z = roundoff.Compose(z, roundoff.SumOfNearest(q-1, k.Device.C.UnitRoundoff()))
			}
			return plain(z)
		case tcore.TwoStage:
			return plain(truncation.TwoStage(c.Terms, q, k.Device.C.UnitRoundoff()))
		}
		return plain(nan)
	},
})

// TruncationSums is Truncation with the exponents and sums of a run in place of
// bounds on them.
var TruncationSums = register(Bound{
	Name:    "truncation-sums",
	Source:  "derived from the arithmetic of Fasi et al. 2021, Khattak & Mikaitis 2025 and Xie et al. 2025",
	Formula: `\sum_i \left(L\,g_i + \max(0,\ \mathrm{ulp}(\hat s_i) - g_i)\right)`,
	Model:   Truncating,
	Needs:   Sums,
	Fails: func(k Problem) string {
		switch k.Device.Core.(type) {
		case tcore.Fused, tcore.TwoStage:
			return ""
		}
		return "a run of " + k.Device.Name + " has no exponent for each sum"
	},
	Interval: func(k Problem, o Entry, _ roundoff.Failure) Interval {
		switch c := k.Device.Core.(type) {
		case tcore.Fused:
			if len(o.Exponents) == len(o.Sums) {
				return k.fusedSums(c, o)
			}
		case tcore.TwoStage:
			if len(o.Exponents) == c.Parts*len(o.Sums) {
				return k.stageSums(c, o)
			}
		}
		return Interval{0, nan}
	},
})

// fusedSums is TruncationSums for a machine that aligns all terms of a block at
// once.
func (k Problem) fusedSums(c tcore.Fused, o Entry) Interval {
	t, sum := k.truncation(c), 0.0
	for i, s := range o.Sums {
		sum += t.Error(o.Exponents[i], s)
	}
	return Interval{0, sum}
}
