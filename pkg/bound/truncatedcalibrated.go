package bound

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// TruncatedCalibrated is what errors of truncated sums of symmetric data have not been seen to
// exceed, a few times less than [TruncatedRandomData]. It is calibrated, not proved: it never
// counts as a bound that holds. For data of a mean there is none, since there it has been exceeded
// and the proved one is tight.
var TruncatedCalibrated = register(Bound{
	Name:    "truncated-calibrated",
	Source:  "derived and calibrated on emulated tensor cores",
	Model:   TruncatingRandom,
	Needs:   Moments,
	Assumes: "over the mean of |A||B|",
	Fails: func(k Kernel) string {
		if why := notCalibrated(k); why != "" {
			return why
		}
		return "calibrated, not proved"
	},
	Constant: func(k Kernel, f roundoff.Failure) Value {
		if notCalibrated(k) != "" {
			return plain(nan)
		}
		e := k.truncatedSum(f).CalibratedBound(k.Blocks(), k.Chains(), f)
		return plain(e / (float64(k.Length()) * k.X.Abs * k.Y.Abs))
	},
})

// notCalibrated returns why there is no calibration for the kernel, or "".
func notCalibrated(k Kernel) string {
	if why := notTruncatedRandomData(k); why != "" {
		return why
	}
	switch μ := k.X.Mean * k.Y.Mean; {
	case μ != 0:
		return fmt.Sprintf("the mean of a product is %.3g, want 0: there the calibration has been exceeded", μ)
	case !k.X.Symmetric && !k.Y.Symmetric:
		return "the products are of mean zero but not symmetric"
	}
	return ""
}
