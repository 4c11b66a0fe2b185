package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Exact is not a bound but the error itself, computed in binary64 from the
// factors and the result. It is valid on every machine whose products are exact
// in binary64.
var Exact = register(Bound{
	Name:    "exact",
	Source:  "Ogita, Rump & Oishi 2005, Algorithm 5.3",
	Formula: `\mathrm{err} = \hat s - s`,
	Model:   Model{Name: "any", Fails: func(Problem) string { return "" }},
	Needs:   Trace,
	Fails: func(k Problem) string {
		if k.Device.A.Precision+k.Device.B.Precision > 53 {
			return "products of " + k.Device.A.Name + " are not exact in binary64"
		}
		return ""
	},
	Interval: func(k Problem, o Entry, _ roundoff.Failure) Interval {
		if len(o.Sums) == 0 || len(o.X) == 0 {
			return Interval{nan, nan}
		}
		// Add up all rounding errors of the sums in binary64. This gives the error as
		// if computed in twice that precision.
		s, rest := o.Sums[len(o.Sums)-1], 0.0
		for l, x := range o.X {
			p := -float64(x * o.Y[l])
			sum := s + p
			z := sum - s
			rest += (s - (sum - z)) + (p - z)
			s = sum
		}
		return Interval{s + rest, 0}
	},
})
