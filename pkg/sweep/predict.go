package sweep

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// predict returns what [bound.Predict] tells of the errors of a kernel with data of a law: nothing
// where the law is not told, or told wrongly.
func predict(k bound.Kernel, law Law) Prediction {
	none := Prediction{math.NaN(), math.NaN(), math.NaN()}
	if law.X.Draw == nil || law.Y.Draw == nil || law.Misled {
		return none
	}
	p, err := bound.Predict(k)
	if err != nil {
		return none
	}
	return Prediction{Mean: p.Backward, Slope: p.Slope, Spread: p.BackwardDeviation}
}
