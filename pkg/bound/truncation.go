package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Truncation is q(L 2^-F + 2u), what aligning and cutting off can do at worst.
var Truncation = register(Bound{
	Name:    "truncation",
	Source:  "roundoff.Truncation.Zeta, derived there",
	Model:   Truncating,
	Assumes: "factors being normal numbers or zero",
	Constant: func(k Kernel, _ roundoff.Failure) Value {
		t, ok := k.truncation()
		if !ok {
			return plain(nan)
		}
		return plain(t.Zeta(k.Blocks()))
	},
})
