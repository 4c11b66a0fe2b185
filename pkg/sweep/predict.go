package sweep

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// predict returns what is predicted of the errors of a kernel: their mean or, for data of mean
// zero, their slope on the exact results, and the spread of error/|A||B|. NaN is no prediction.
func predict(bound.Kernel) (mean, spread float64) {
	return math.NaN(), math.NaN()
}
