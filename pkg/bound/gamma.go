package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Gamma is γ_n, where n is the number of roundings that a product can meet.
var Gamma = register(Bound{
	Name:    "gamma",
	Source:  "Higham 2002, Lemma 3.1",
	Formula: `\gamma_n = \frac{nu}{1-nu}`,
	Model:   Nearest,
	Constant: func(k Problem, _ roundoff.Failure) Value {
		return plain(k.theta(roundoff.Gamma))
	},
})

// Unrestricted is (1-u)^-n - 1, which does not require nu < 1.
var Unrestricted = register(Bound{
	Name:    "unrestricted",
	Source:  "derived from the definition of θ_n",
	Formula: `(1-u)^{-n} - 1`,
	Model:   Nearest,
	Constant: func(k Problem, _ roundoff.Failure) Value {
		return plain(k.theta(roundoff.Unrestricted))
	},
})
