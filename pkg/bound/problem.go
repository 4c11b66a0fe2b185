package bound

import (
	"fmt"
	"iter"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Problem is the product D = AB that is to be bounded, A of size M by K and B
// of size K by N, and what is known of it. A dot product has M = N = 1.
//
// The machine is that of package tcore: a device, into how many parts it splits
// K, which are added in binary32, the format of D, the order of sums, and
// whether they are rounded stochastically. Its bounds are of products that do
// not overflow; what underflow does is the Underflow of a [Result].
type Problem struct {
	M, N, K int
	tcore.Machine
	Represented bool // A and B are first rounded to the formats of the device, from finer ones

	X, Y Distribution // of the elements of A and B; the zero value is unknown

	// Sizes of the elements of A and B themselves, where the matrices are at hand;
	// the zero value is unknown.
	RangeX, RangeY Range

	Data *Inspection // what was found of the matrices at hand; nil is that nobody looked

	Run iter.Seq[Entry] // every output as it was computed; nil is unknown
}

// Length returns ℓ, the products of one chain, the longest part of K.
func (k Problem) Length() int {
	w, parts := k.Width(), max(k.SplitK, 1)
	blocks := (k.K + w - 1) / w
	return min(k.K, (blocks+parts-1)/parts*w)
}

// Blocks returns q, the steps of one chain.
func (k Problem) Blocks() int {
	w := k.Width()
	return (k.Length() + w - 1) / w
}

// parts returns how many chains make one output.
func (k Problem) parts() int { return (k.K + k.Length() - 1) / k.Length() }

// Outputs returns MN.
func (k Problem) Outputs() float64 { return float64(k.M) * float64(k.N) }

// Chains returns the number of chains of the problem, MN times the parts of K.
func (k Problem) Chains() float64 { return k.Outputs() * float64(k.parts()) }

// wholeAbsolute returns the Absolute of D. What is done to chains after they
// are summed is known in proportion to Σ|xy| alone.
func (k Problem) wholeAbsolute(v Value) float64 {
	if k.whole(0) > 0 {
		return math.Inf(1)
	}
	return v.Absolute
}

// whole returns the constant of D, given that of each chain: the parts of K are
// added and the sum is stored, to nearest, and A and B may have been rounded
// before. That of NaN is NaN.
func (k Problem) whole(chain float64) float64 {
	if math.IsNaN(chain) {
		return chain
	}
	z := chain
	if n := k.parts(); n > 1 {
		z = roundoff.Compose(z, roundoff.SumOfNearest(n-1, tcore.Binary32.UnitRoundoff()))
	}
	if out := k.output(); out.Precision < k.carried().Precision {
		z = roundoff.Compose(z, out.UnitRoundoff())
	}
	if k.Represented {
		a, b := k.Device.A.UnitRoundoff(), k.Device.B.UnitRoundoff()
		if k.Device.Convert != tcore.ToNearestEven { // as tf32, of which low bits are ignored
			a, b = 2*a, 2*b
		}
		z = roundoff.Compose(z, roundoff.Compose(a, b))
	}
	return z
}

// output returns the format of D, and carried that of what is stored there.
func (k Problem) output() tcore.Format {
	if k.Output == (tcore.Format{}) {
		return k.Device.C
	}
	return k.Output
}

func (k Problem) carried() tcore.Format {
	if k.parts() > 1 {
		return tcore.Binary32
	}
	return k.Device.C
}

// knows returns what is known of the data.
func (k Problem) knows(what Knowledge) bool {
	switch what {
	case Moments:
		return k.X.told() && k.Y.told()
	case Sums, Trace:
		return k.Run != nil
	}
	return true
}

// overflows returns which factor has elements beyond the numbers of its format,
// as far as the matrix or its distribution tells, or "".
func (k Problem) overflows() string {
	for _, factor := range []struct {
		name string
		d    Distribution
		r    Range
		f    tcore.Format
	}{{"A", k.X, k.RangeX, k.Device.A}, {"B", k.Y, k.RangeY, k.Device.B}} {
		greatest := factor.d.MaxAbs()
		if factor.r.known() {
			greatest = factor.r.Max
		}
		switch most := factor.f.Max(); {
		case !(greatest > most):
		case !math.IsInf(greatest, 1):
			return fmt.Sprintf("%s reaches %.3g, %s ends at %.3g", factor.name, greatest, factor.f.Name, most)
		case k.Represented && factor.f.Overflow == tcore.Saturate: // nothing tells of it in the result
			return fmt.Sprintf("%s has no largest number, %s ends at %.3g", factor.name, factor.f.Name, most)
		}
	}
	return ""
}

// within returns what is taken for granted of the sizes of elements that
// nothing is known of, or "".
func (k Problem) within() string {
	for _, factor := range []struct {
		d Distribution
		r Range
		f tcore.Format
	}{{k.X, k.RangeX, k.Device.A}, {k.Y, k.RangeY, k.Device.B}} {
		if k.Represented && factor.f.Overflow == tcore.Saturate && !factor.r.known() && !factor.d.told() {
			return "if no element is beyond the numbers of " + factor.f.Name
		}
	}
	return ""
}

// check panics unless there is such a product.
func (k Problem) check() {
	for _, size := range []struct {
		name string
		n    int
	}{{"M", k.M}, {"N", k.N}, {"K", k.K}} {
		if size.n < 1 {
			panic(fmt.Sprintf("bound: %s = %d, want %s >= 1", size.name, size.n, size.name))
		}
	}
	emulated := k.Machine
	emulated.Stochastic = tcore.Stochastic{} // whose errors are bounded on more machines than emulate them
	if err := emulated.Check(); err != nil {
		panic(fmt.Sprintf("bound: %v", err))
	}
	if k.Stochastic.Bits < 0 || k.Stochastic.Bits > 32 {
		panic(fmt.Sprintf("bound: Stochastic.Bits = %d, want 0 to 32", k.Stochastic.Bits))
	}
	if k.stochastic() && k.truncates() {
		panic(fmt.Sprintf("bound: Stochastic on device %q, want a device that rounds to nearest", k.Device.Name))
	}
	k.Width()
}

// stochastic reports whether roundings to nearest are stochastic instead.
func (k Problem) stochastic() bool { return k.Stochastic.Bits > 0 }
