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
	z := Prediction{Mean: p.Backward, Slope: p.Slope, Spread: math.NaN()}
	switch {
	case oneSign(law.X) && oneSign(law.Y): // |A||B| is the exact result, up to its sign
		z.Spread = p.Deviation
	case law.X.Mean*law.Y.Mean == 0: // |A||B| varies with nothing that the error does
		z.Spread = p.BackwardDeviation
	}
	return z
}

// oneSign reports whether all numbers of a distribution have one sign.
func oneSign(d bound.Distribution) bool { return d.Abs == math.Abs(d.Mean) }
