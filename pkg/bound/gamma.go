package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Gamma is γ_n, where n is the number of roundings that a product can meet. If
// they are to odd, u is twice the unit roundoff.
var Gamma = register(Bound{
	Name:    "gamma",
	Source:  "Higham 2002, Lemma 3.1",
	Formula: `\gamma_n = \frac{nu}{1-nu}`,
	Model:   Nearest.orOdd(),
	Constant: func(k Problem, _ roundoff.Failure) Value {
		return plain(k.theta(roundoff.Gamma))
	},
})

// Unrestricted is (1-u)^-n - 1, which does not require nu < 1. If sums are
// rounded to odd, u is twice the unit roundoff.
var Unrestricted = register(Bound{
	Name:    "unrestricted",
	Source:  "derived from the definition of θ_n",
	Formula: `(1-u)^{-n} - 1`,
	Model:   Nearest.orOdd(),
	Constant: func(k Problem, _ roundoff.Failure) Value {
		return plain(k.theta(roundoff.Unrestricted))
	},
})
