package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Beta is the bound for rounding errors with a bias: log(1+δ) has the
// distribution Beta(1.9, 2), scaled to its range. This is the smallest bias in
// the experiments of its source. About one twentieth of the sizes of the errors
// adds up without cancelling.
var Beta = register(Bound{
	Name:    "beta",
	Source:  "Bhola & Duraisamy 2024b, third version",
	Formula: `\hat\gamma_n,\quad \frac{\log(1+\delta) - \log(1-u)}{2\,\mathrm{artanh}\,u} \sim \mathrm{Beta}(1.9,\,2)`,
	Model:   Independent,
	Spread:  1.2,
	Assumes: "or of a bias of 0.026u at most, as of Beta(1.9, 2)",
	Constant: func(k Problem, f roundoff.Failure) Value {
		return plain(k.maximal(func(u float64) roundoff.ErrorModel {
			return roundoff.BetaErrors(u, 1.9, 2)
		}, f))
	},
})
