package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Linear is nu, for n roundings to one format in any order.
var Linear = register(Bound{
	Name:   "linear",
	Source: "Jeannerod & Rump 2013",
	Model:  Nearest,
	Fails: func(k Kernel) string {
		if _, pairs := k.Core.(tcore.Pairwise); pairs || len(k.roundings()) > 1 {
			return k.Name + " rounds to more than one format, or flushes subnormal sums"
		}
		return ""
	},
	Constant: func(k Kernel, _ roundoff.Failure) Value {
		n := k.Length()
		if _, sums := k.Core.(tcore.ExactSum); sums {
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
