package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// ConnollyHighamMary is [HighamMary] for errors that may depend on each other,
// as those of stochastic rounding do.
var ConnollyHighamMary = register(Bound{
	Name:    "connolly-higham-mary",
	Source:  "Connolly, Higham & Mary 2021",
	Formula: `e^{(\lambda\sqrt n\,u + nu^2)/(1-u)} - 1,\quad \lambda = \sqrt{2\ell}`,
	Model:   MeanIndependent,
	Constant: func(k Problem, f roundoff.Failure) Value {
		λ := roundoff.MeanIndependentLambda(f, k.events())
		return Value{Constant: k.theta(roundoff.MeanIndependent{Lambda: λ}.Theta), Absolute: math.Inf(1), Lambda: λ}
	},
})
