package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Linear is nu for n roundings to one format, in any order of summation: γ_n
// without its denominator.
var Linear = register(Bound{
	Name:    "linear",
	Source:  "Jeannerod & Rump 2013",
	Formula: `(K-1)\,u`,
	Model:   Nearest,
	Fails: func(k Problem) string {
		if k.flushes() {
			return "a sum of " + k.Device.Name + " that is subnormal is lost"
		}
		return notOneFormat(k)
	},
	Constant: func(k Problem, _ roundoff.Failure) Value {
		n := k.Length()
		if _, exact := k.Device.Core.(tcore.ExactSum); exact {
			n = k.Blocks()
		} else if k.exactProducts() {
			n--
		}
		if n == 0 {
			return plain(0)
		}
		return plain(roundoff.SumOfNearest(n, k.coarsest()))
	},
})
