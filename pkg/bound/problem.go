package bound

import (
	"fmt"
	"iter"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Problem is the product D = AB whose error is to be bounded, with A of size
// M by K and B of size K by N, and what is known of it. A dot product has M = N
// = 1.
//
// The machine is that of package tcore: a device, the number of parts into
// which K is split, or their length (added in binary32), the format of D, the
// order of summation, and whether roundings are stochastic. The bounds are for
// products that do not overflow; the Underflow of a [Result] accounts for
// underflow.
type Problem struct {
	M, N, K int
	tcore.Machine
	Represented bool // A and B are given in finer formats and first rounded to those of the device

	// Recipes quantise A and B in place of rounding each element to the format of
	// the device by itself; nil if none do. It takes Represented.
	Recipes *Recipes

	X, Y Distribution // of the elements of A and B; the zero value means unknown

	// RangeX and RangeY are the sizes of the elements of A and B, if the matrices
	// are given; the zero value means unknown.
	RangeX, RangeY Range

	// Given are A and B, if they are given and what converting them loses is to be
	// known; nil if not.
	Given *Given

	// Weights are B, if that alone is given and the elements of A are independent
	// numbers of density X. They tell what converting both loses, for a product of
	// their K and N: a statement that holds with a probability, which bounds use
	// where it is less than the worst case. They cannot stand beside Recipes. nil
	// if they are not given.
	Weights *Weights

	Data *Inspection // what tests of the given matrices found; nil if they were not tested

	Run iter.Seq[Entry] // every output as it was computed; nil means unknown

	// planned is the plan that takes the place of the machine; nil if there is
	// none.
	planned *planned

	// subnormals says that Underflow is to have what subnormal numbers of formats
	// of at most 6 bits change, and RangeX and RangeY are known.
	subnormals bool

	// blocks are those of which a prediction draws the factors, X and Y being the
	// distributions of the numbers that they stand for; nil if elements of X and Y
	// are drawn by themselves.
	blocks *quantisedBlocks
}

// Length returns ℓ, the number of products in one chain, that is, in the
// longest part of K. It panics if the device has no core.
func (k Problem) Length() int {
	if k.planned != nil {
		return k.shape().length
	}
	if k.Promote > 0 {
		return min(k.K, k.Promote)
	}
	w, parts := k.Width(), max(k.SplitK, 1)
	blocks := (k.K + w - 1) / w
	return min(k.K, (blocks+parts-1)/parts*w)
}

// Blocks returns q, the number of steps of one chain. It panics if the device
// has no core.
func (k Problem) Blocks() int {
	if k.planned != nil {
		return k.shape().steps
	}
	w := k.Width()
	return (k.Length() + w - 1) / w
}

// parts returns the number of chains that are added to one output.
func (k Problem) parts() int {
	if k.planned == nil {
		return (k.K + k.Length() - 1) / k.Length()
	}
	n := 0
	for _, count := range k.shape().chains {
		n += count
	}
	return n
}

// Outputs returns MN, the number of outputs.
func (k Problem) Outputs() float64 { return float64(k.M) * float64(k.N) }

// Chains returns the number of chains of the problem, MN times the parts of K.
// It panics if the device has no core.
func (k Problem) Chains() float64 { return k.Outputs() * float64(k.parts()) }

// wholeAbsolute returns the absolute bound of an output, given that of its
// chains. It is +Inf where the chains are added or rounded after they are
// summed, or A and B are rounded before: these errors are bounded in proportion
// to Σ|xy| alone.
func (k Problem) wholeAbsolute(v Value) float64 {
	if z, _ := k.whole(0); z > 0 {
		return math.Inf(1)
	}
	return v.Absolute
}

// whole returns the constant of an output, given that of each chain, and its
// parts. It adds the errors of adding the parts of K, of rounding the sum to
// the format of D, and of rounding A and B. If chain is NaN or +Inf, so is the
// constant.
func (k Problem) whole(chain float64) (constant float64, p Parts) {
	p.Accumulation = chain
	if math.IsNaN(chain) || math.IsInf(chain, 1) {
		return chain, p
	}
	z := chain
	add := func(c float64) (part float64) {
		before := z
		z = roundoff.Compose(z, c)
		return z - before
	}
	if merging := k.merging(); merging > 0 {
		p.Merging = add(merging)
	}
	if out := k.output(); out.Precision < k.carried().Precision {
		p.Storing = add(out.UnitRoundoff())
	}
	if k.Represented {
		p.Conversion = add(k.conversion())
	}
	return z, p
}

// merging returns the constant of what is done to the sums of chains until one
// is left.
func (k Problem) merging() float64 {
	if k.planned != nil {
		return k.shape().merging
	}
	if n := k.parts(); n > 1 {
		return roundoff.SumOfNearest(n-1, tcore.Binary32.UnitRoundoff())
	}
	return 0
}

// conversion returns c with |ÂB̂ - AB| <= c |A||B| elementwise, where A and B
// are rounded to the formats of the device.
func (k Problem) conversion() float64 {
	a, b := k.Device.A.UnitRoundoff(), k.Device.B.UnitRoundoff()
	if k.Device.Convert != tcore.ToNearestEven { // such as tf32, where the low bits are ignored
		a, b = 2*a, 2*b
	}
	return roundoff.Compose(a, b)
}

// output returns the format of D, and carried the format of the sums before
// they are rounded to it.
func (k Problem) output() tcore.Format {
	if k.Output == (tcore.Format{}) {
		return k.Device.C
	}
	return k.Output
}

func (k Problem) carried() tcore.Format {
	if k.planned != nil {
		return k.shape().carried
	}
	if k.parts() > 1 {
		return tcore.Binary32
	}
	return k.Device.C
}

// knows reports whether the problem contains the given knowledge of the data.
func (k Problem) knows(what Knowledge) bool {
	switch what {
	case Moments:
		return k.X.told() && k.Y.told()
	case Sums, Trace:
		return k.Run != nil
	}
	return true
}

// overflows returns which of A and B has elements beyond the largest number of
// its format, as far as the matrix or its distribution shows, or "". For a
// statement that holds with a probability, random, it neglects what has at most
// the probability [impossible].
func (k Problem) overflows(random bool) string {
	for _, factor := range []struct {
		name string
		rows int // or columns
		d    Distribution
		r    Range
		f    tcore.Format
	}{{"A", k.M, k.X, k.RangeX, k.Device.A}, {"B", k.N, k.Y, k.RangeY, k.Device.B}} {
		greatest := factor.d.MaxAbs()
		if random && factor.d.of().law != nil && math.IsInf(greatest, 1) {
			greatest = factor.d.Largest(float64(k.K)*float64(factor.rows), impossible)
		}
		if factor.r.known() {
			greatest = factor.r.Max
		}
		switch most := factor.f.Max(); {
		case !(greatest > most):
		case !math.IsInf(greatest, 1):
			return fmt.Sprintf("%s reaches %.3g, %s ends at %.3g", factor.name, greatest, factor.f.Name, most)
		case k.Represented && factor.f.Overflow == tcore.Saturate: // the result does not show it
			return fmt.Sprintf("%s has no largest number, %s ends at %.3g", factor.name, factor.f.Name, most)
		}
	}
	return ""
}

// impossible is the logarithm of a probability that is neglected, that of
// numbers hundreds of standard deviations from the mean, in statements that
// hold with a probability far from 1.
const impossible roundoff.Failure = -1e4

// within returns the assumption that no element is beyond the largest number of
// its format, where nothing is known of the sizes of the elements and the
// result would not show it; else "".
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

// check panics if the sizes or the machine of the problem are invalid.
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
	emulated.Stochastic = tcore.Stochastic{} // its errors are bounded on more machines than can be emulated
	if err := emulated.Check(); err != nil {
		panic(fmt.Sprintf("bound: %v", err))
	}
	if k.Stochastic.Bits < 0 || k.Stochastic.Bits > 32 {
		panic(fmt.Sprintf("bound: Stochastic.Bits = %d, want 0 to 32", k.Stochastic.Bits))
	}
	if k.stochastic() && k.truncates() {
		panic(fmt.Sprintf("bound: Stochastic on device %q, want a device that rounds to nearest", k.Device.Name))
	}
	if k.Recipes != nil && !k.Represented {
		panic(fmt.Sprintf("bound: Represented = false with recipe %v, want true: it takes finer numbers than its codes", k.Recipes))
	}
	k.checkPlan()
	k.Width()
}

// stochastic reports whether sums are rounded stochastically instead of to
// nearest.
func (k Problem) stochastic() bool { return k.Stochastic.Bits > 0 }
