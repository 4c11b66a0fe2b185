package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// HighamMary is γ̃_n(λ). The probability of failure is divided among one event
// for every different product of rounding factors in all chains.
var HighamMary = register(Bound{
	Name:    "higham-mary",
	Source:  "Higham & Mary 2019, Theorem 2.4",
	Formula: `\tilde\gamma_n(\lambda) = e^{\lambda\sqrt n\,u + nu^2/(1-u)} - 1,\quad \lambda = \frac{\sqrt{2\ell}}{1-u}`,
	Model:   Independent,
	Constant: func(k Problem, f roundoff.Failure) Value {
		λ := roundoff.HighamMaryLambda(f, k.coarsest(), k.events())
		return Value{Constant: k.theta(roundoff.HighamMary{Lambda: λ}.Theta), Absolute: math.Inf(1), Lambda: λ}
	},
})
