package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Exact is no bound but the error itself, to binary64, as one has it who has
// the factors and the result. It holds on every machine.
var Exact = register(Bound{
	Name:   "exact",
	Source: "Ogita, Rump & Oishi 2005, Algorithm 5.3",
	Model:  Model{Name: "any", Fails: func(Problem) string { return "" }},
	Needs:  Trace,
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
		// Sums of all that rounding to binary64 leaves out: the error to twice its
		// precision.
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
