package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// LongestIntegerSum returns the greatest K for which no sum of K products of
// numbers of A and B can wrap on a device of integers: K max|x| max|y| < 2^31,
// so that the error of every sum is 0. It panics if the core of d is no
// [tcore.WrappedSum].
func LongestIntegerSum(d tcore.Device) int {
	if !(Problem{Machine: tcore.Machine{Device: d}}).sumsIntegers() {
		panic(fmt.Sprintf("bound: LongestIntegerSum: device %q has the core %T, want a WrappedSum", d.Name, d.Core))
	}
	return int(math.Ceil(beyondIntegers/(greatest(d.A)*greatest(d.B)))) - 1
}

// beyondIntegers is the least magnitude that not both signs of int32 have.
const beyondIntegers = 1 << 31

// sumsIntegers reports whether the device adds integers modulo 2^32.
func (k Problem) sumsIntegers() bool {
	_, ok := k.Device.Core.(tcore.WrappedSum)
	return ok
}

// greatest returns the magnitude of the number of f, int8 or uint8, of the
// greatest magnitude.
func greatest(f tcore.Format) float64 {
	return max(f.Max(), -f.Round(math.Inf(-1), tcore.ToNearestEven))
}

// integers returns the one result of a device of integers. With S = K max|a|
// max|b|, all sums are exact if S < 2^31, and all D if S <= 2^p for the format
// of D and for that in which parts are added. If parts are not added, D is
// otherwise the sum rounded once. If S >= 2^31 a sum may be wrong by a multiple
// of 2^32, which no bound in proportion to |A||B| covers.
func (k Problem) integers() Result {
	r := Result{Bound: "integers", Constant: math.Inf(1), Absolute: math.Inf(1), Lambda: nan, Confidence: roundoff.Never, Source: "Intel 2024"}
	a, b := k.magnitude(k.Device.A, k.RangeX, k.X), k.magnitude(k.Device.B, k.RangeY, k.Y)
	sum := float64(k.K) * a * b
	of := fmt.Sprintf("K max|a| max|b| = %d × %g × %g = %.0f", k.K, a, b, sum)
	exact := func(f tcore.Format) bool {
		return sum <= min(f.Max(), math.Ldexp(1, f.Precision)) && f.Sign == tcore.Signed || f.Equal(tcore.INT32)
	}
	out := k.output()
	switch {
	case k.Represented:
		r.Why = fmt.Sprintf("A and B are integers as given; rounding to %s and %s has no bound in proportion to |A||B|", k.Device.A.Name, k.Device.B.Name)
	case a > greatest(k.Device.A) || b > greatest(k.Device.B):
		r.Why = fmt.Sprintf("A reaches %g and B %g, %s ends at %g and %s at %g",
			a, b, k.Device.A.Name, greatest(k.Device.A), k.Device.B.Name, greatest(k.Device.B))
	case !(sum < beyondIntegers):
		r.Why = of + " >= 2^31: a sum may wrap"
	case k.parts() > 1 && !exact(tcore.Binary32):
		r.Why = of + " > 2^24: parts that are added in binary32 may be rounded"
	case exact(out):
		r.Constant, r.Absolute, r.Holds = 0, 0, true
		r.Why = of + " < 2^31: no sum wraps, and all are exact"
	case sum > out.Max() || out.MinNormal() > 1 || out.Sign != tcore.Signed:
		r.Why = of + ": not all such numbers are in the range of " + out.Name
	default:
		r.Constant, r.Holds = out.UnitRoundoff(), true
		r.Parts.Storing = r.Constant
		r.Why = of + " < 2^31: no sum wraps; D is rounded to " + out.Name
	}
	return r
}

// magnitude returns the greatest |x| that an element can have, as far as its
// format, the matrix or the distribution tell, rounded up to an integer.
func (k Problem) magnitude(f tcore.Format, r Range, d Distribution) float64 {
	switch {
	case r.known():
		return math.Ceil(r.Max)
	case d.told() && !math.IsInf(d.MaxAbs(), 1):
		return math.Ceil(d.MaxAbs())
	}
	return greatest(f)
}
