package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// averages reports whether the errors of converting A and B average out in a
// known way: the factors are independent numbers of known densities, and the
// device rounds them to nearest, each by itself.
func (k Problem) averages() bool {
	x, y := k.X.of().law, k.Y.of().law
	return k.roundsToNearest() && x != nil && y != nil && x.wide() && y.wide()
}

// roundsToNearest reports whether the device rounds A and B to nearest, each
// element by itself, and neither the matrices nor the run are known.
func (k Problem) roundsToNearest() bool {
	return k.Represented && k.Data == nil && k.Run == nil &&
		k.Device.Convert == tcore.ToNearestEven && k.Device.ScaleBlock == 0 &&
		max(k.Device.A.Precision, k.Device.B.Precision) <= tcore.Binary32.Precision
}

// averaged returns randomConversion at half of e^f, and true if a bound is to
// use it in place of the worst case. It returns false for sums of so few
// products that the worst case is smaller and, without always, for bounds that
// do not need the distributions.
func (k Problem) averaged(b Bound, f roundoff.Failure, always bool) (c float64, ok bool) {
	if b.Constant == nil || !always && !(b.Model.Random && b.Needs == Moments) || !k.averages() {
		return 0, false
	}
	c = k.randomConversion(f.Split(2))
	few := min(k.Device.A.Bits(), k.Device.B.Bits()) <= 6 // of which the worst case is underflow
	return c, few || c < k.conversion()
}

// randomConversion returns c with |ÂB̂ - AB| <= c |A||B| for all outputs with
// probability at least 1 - e^f, underflow included, where A and B are rounded
// to the formats of the device and [Problem.averages] is true. It falls as
// 1/√K, where [Problem.conversion] is the same for every K.
func (k Problem) randomConversion(f roundoff.Failure) (c float64) {
	x, y := k.X.of().law, k.Y.of().law
	account := f.Account(conversionShares)
	tails := account.Spend("tails").Split(2)
	each := account.Spend("error").Split(2 * k.Outputs())
	most := sumKey{cumulantKey{
		x.around(tails.Split(float64(k.M) * float64(k.K))), k.Device.A,
		y.around(tails.Split(float64(k.K) * float64(k.N))), k.Device.B,
	}, k.K, each}.most()
	return most / k.leastGiven(account.Spend("sizes"))
}

// conversionShares are the shares of the probability of failure of
// randomConversion.
var conversionShares = map[string]float64{
	"error": 13. / 16,
	"sizes": 1. / 16, // that |A||B| is less than its lower bound
	"tails": 2. / 16, // that a factor without a largest value exceeds its bound
}

// A cumulantKey contains what the errors of converting A and B depend on: the
// laws, cut to an interval where they have no bounds, and the formats.
type cumulantKey struct {
	x cutLaw
	a tcore.Format
	y cutLaw
	b tcore.Format
}

var cumulants table[cumulantKey, func() *quantisation.Cumulant]

// cumulant returns the cumulant generating function of the errors.
func cumulant(key cumulantKey) *quantisation.Cumulant {
	return once(&cumulants, key, func() *quantisation.Cumulant {
		return quantisation.NewCumulant(
			quantisation.Factor{Law: key.x.law(), Format: key.a},
			quantisation.Factor{Law: key.y.law(), Format: key.b},
		)
	})
}

// A sumKey contains what the sum of K such errors depends on, which one output
// exceeds on each side with probability at most e^f.
type sumKey struct {
	cumulantKey
	K int
	f roundoff.Failure
}

var conversionSums table[sumKey, func() float64]

// most returns a bound of the size of the sum.
func (key sumKey) most() float64 {
	return once(&conversionSums, key, func() float64 {
		e := cumulant(key.cumulantKey)
		drift := float64(key.K) * e.Mean()
		return max(e.Tightest(key.K, key.f, false)+drift, e.Tightest(key.K, key.f, true)-drift)
	})
}

// leastGiven returns a lower bound of Σ|xy| over the factors as they are given,
// which all outputs together violate with probability at most e^f.
func (k Problem) leastGiven(f roundoff.Failure) float64 {
	x, y := k.X.of(), k.Y.of()
	return roundoff.LeastSum(k.K, x.MeanAbs*y.MeanAbs, x.MeanSquare*y.MeanSquare, k.eachOutput(f))
}

// A law identifies a distribution whose density is known.
type law struct {
	family family
	a, b   float64
}

// wide reports whether float64 tells the numbers of the law apart, and the
// squares of their products are in its range.
func (l law) wide() bool {
	width, size := l.b, math.Abs(l.a)
	if l.family == uniformFamily {
		width, size = l.b-l.a, max(math.Abs(l.a), math.Abs(l.b))
	}
	return width > 0x1p-20*size && max(width, size) < 0x1p200 && width > 0x1p-200
}

// of returns the distribution for package quantisation.
func (l law) of() quantisation.Law {
	switch l.family {
	case uniformFamily:
		return quantisation.Uniform(l.a, l.b)
	case normalFamily:
		return quantisation.Normal(l.a, l.b)
	}
	return quantisation.Laplace(l.a, l.b)
}

// A cutLaw is a law and, if it has no bounds, the interval to which it is cut:
// the one that it leaves with probability at most e^f, where f is 8 times a
// whole number. So products of many sizes have the same one.
type cutLaw struct {
	of law
	f  roundoff.Failure
}

// around returns the law cut to an interval that it leaves with probability at
// most e^f.
func (l law) around(f roundoff.Failure) cutLaw {
	if l.of().Interval == nil {
		return cutLaw{of: l}
	}
	return cutLaw{l, 8 * roundoff.Failure(math.Floor(float64(f)/8))}
}

// law returns the distribution for package quantisation.
func (c cutLaw) law() quantisation.Law {
	l := c.of.of()
	if l.Interval == nil {
		return l
	}
	lo, hi := l.Interval(c.f)
	return l.Truncated(lo, hi)
}
