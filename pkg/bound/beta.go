package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Beta allows rounding errors a bias: log(1+δ) is from Beta(1.9, 2), the
// mildest bias of the experiments of its source, and a twentieth part of the
// errors' size adds up without cancelling.
var Beta = register(Bound{
	Name:    "beta",
	Source:  "Bhola & Duraisamy 2024b, third version",
	Model:   Independent,
	Spread:  1.2,
	Assumes: "or of a bias of 0.026u at most, as of Beta(1.9, 2)",
	Constant: func(k Problem, f roundoff.Failure) Value {
		return plain(k.maximal(func(u float64) roundoff.ErrorModel {
			return roundoff.BetaErrors(u, 1.9, 2)
		}, f))
	},
})
