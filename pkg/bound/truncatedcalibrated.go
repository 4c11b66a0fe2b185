package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// TruncatedCalibrated is a bound that errors of truncated sums of symmetric
// data have not been observed to exceed, a few times smaller than
// [TruncatedRandomData]. It is calibrated, not proved, so it never counts as a
// valid bound. It is not defined for products with a mean other than zero:
// there it has been exceeded, and the proved bound is tight.
var TruncatedCalibrated = register(Bound{
	Name:    "truncated-calibrated",
	Source:  "derived and calibrated on emulated tensor cores",
	Formula: `\sqrt{2\ell W_d} + \ell\sqrt{2W_v}`,
	Model:   TruncatingRandom,
	Needs:   Moments,
	Fails: func(k Problem) string {
		if why := notCalibrated(k); why != "" {
			return why
		}
		return "calibrated, not proved"
	},
	Constant: func(k Problem, f roundoff.Failure) Value {
		if notCalibrated(k) != "" {
			return plain(nan)
		}
		return k.fromDistribution(f, func(tails, each roundoff.Failure) float64 {
			sum := k.truncatedSum(tails)
			if math.IsInf(sum.Largest, 1) { // a factor may overflow
				return math.Inf(1)
			}
			return k.chains(func(n int) float64 { return sum.CalibratedBound(n, k.Chains(), each) })
		})
	},
})

// notCalibrated returns why there is no calibration for the problem, or "".
func notCalibrated(k Problem) string {
	if why := notTruncatedRandomData(k); why != "" {
		return why
	}
	switch μ := k.X.Mean() * k.Y.Mean(); {
	case μ != 0:
		return fmt.Sprintf("the mean of a product is %.3g, want 0: there the calibration has been exceeded", μ)
	case !k.X.Symmetric() && !k.Y.Symmetric():
		return "the products are of mean zero but not symmetric"
	}
	return ""
}
