package bound

import (
	"math"
	"math/bits"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// HalfUlpUniform is Chernoff's bound from the computed sums of a run with the
// factor that it leaves out, for independent rounding errors around their means
// for the given distribution of the data: [roundoff.SymmetricTail]. An error is
// at most h, half a unit in the last place of the sum, and has the variance of
// a uniform number on [-h, h]; or, where the lowest bits of the product and of
// the sum before it are known, that of the multiples which are left, often 0.
// The bound is that of [HalfUlpBernstein] where the distribution gives an error
// a larger variance, or the errors are few: see [smooth].
var HalfUlpUniform = register(Bound{
	Name:    "half-ulp-uniform",
	Source:  "derived from Esscher 1932 and Bobkov & Ledoux 2019",
	Formula: `\mathbb E\,\mathrm{err} \pm \frac{\ell + \sum_i \kappa_i(\theta) + \log(J/\theta)}\theta`,
	Model:   UniformErrors,
	Needs:   Sums,
	Assumes: HalfUlpBernstein.Assumes,
	Fails:   HalfUlpBernstein.Fails,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		each, x := k.eachOutput(f), o.symmetric(k)
		if !smooth(x, 3*each.TwoSidedLog()) {
			return HalfUlpBernstein.Interval(k, o, f)
		}
		return o.errors(k).around(roundoff.SymmetricTail(x, each))
	},
})

// smooth reports whether half of the variance Σv is made up by v that are at
// most Σv/n. An error of rounding takes only some values, each with a
// probability that no density has. That does not show in a sum of many: at the
// tail θ²Σv is about 2 log(2/ζ), 2n/3, so that θh is at most √2 with v = h²/3,
// and the weights exp(θx) of neighbouring values of the sum are nearly equal.
func smooth(x []roundoff.Symmetric, n float64) bool {
	all, small := 0.0, 0.0
	for _, s := range x {
		all += float64(s.N) * s.Variance
	}
	for _, s := range x {
		if s.Variance <= all/n {
			small += float64(s.N) * s.Variance
		}
	}
	return all > 0 && small >= all/2
}

// symmetric returns what is known of the errors of a run around their means. It
// returns none if the distribution of the data gives one a larger variance than
// that of uniform numbers.
func (o Entry) symmetric(k Problem) (list []roundoff.Symmetric) {
	if z := o.errors(k); z.proxies > z.squares/3*(1+1e-9) {
		return nil
	}
	p, least := precision(k.coarsest()), k.leastHalfUlp()
	first, before := o.firstRounded(k), 0.0
	if k.Device.A.Precision+k.Device.B.Precision > tcore.Binary64.Precision {
		first = -1 // products of float64 are rounded
	}
	if first > 0 {
		before = o.X[0] * o.Y[0]
	}
	// The exponent of a sum is often that of the sum before it.
	const exponent = 0x7ff << 52
	at, h, place := uint64(math.MaxUint64), 0.0, 0 // place: of 2h
	var known perExponent[kinds]
	var here *kinds
	lowest := placeOf(before)
	for i, s := range o.Sums {
		if e := math.Float64bits(s) & exponent; e != at || e == 0 {
			at, h = e, max(least, halfUlp(s, p))
			if here = nil; 0 < h && h <= math.MaxFloat64 {
				place = math.Ilogb(h) + 1
				here = known.at(place)
			}
		}
		bit := unknownBits
		if first >= 0 {
			bit = lowestOfSum(lowest, placeOf(o.X[first+i]*o.Y[first+i]))
			lowest = placeOf(s)
		}
		if here == nil || bit.place >= place {
			continue // no error, or none that is known
		}
		number := here.of(place, bit)
		if *number == 0 {
			*number = numberOf(h, varianceOfRounding(h, bit.value()), &list)
		}
		if *number > 0 {
			list[*number-1].N++
		}
	}
	return list
}

// numberOf returns the number in a list, from 1, of the errors of at most h and
// of a variance, which it appends with N = 0 if they are not there. It is -1
// where the variance is too small for a number.
func numberOf(h, variance float64, list *[]roundoff.Symmetric) int {
	if variance == 0 {
		return -1
	}
	i := slices.IndexFunc(*list, func(x roundoff.Symmetric) bool { return x.Most == h && x.Variance == variance })
	if i < 0 {
		i, *list = len(*list), append(*list, roundoff.Symmetric{Most: h, Variance: variance})
	}
	return i + 1
}

// kinds has the number that numberOf returned of the errors with one h, for
// each lowest bit that is below 2h, and 0 if it was not asked: to search the
// list for each of a million sums would take longer than all else. Of lower
// bits than it has places for, the square is nothing beside that of h.
type kinds [2][30]int

// of returns the number of the errors of numbers with a lowest bit, which are
// rounded to multiples of the bit at a higher place.
func (k *kinds) of(place int, lowest lowestBit) *int {
	i := 0
	if lowest.all {
		i = 1
	}
	return &k[i][min(place-lowest.place, len(k[i]))-1]
}

// A lowestBit is the lowest one that can be set in a number: a power of two, of
// which the number is an odd multiple or, if all is true, any.
type lowestBit struct {
	place int // its exponent
	all   bool
}

// unknownBits is the lowest bit of a number of which nothing is known. No power
// of two is as low.
var unknownBits = lowestBit{place: -1 << 20}

// value returns the lowest bit as [varianceOfRounding] takes it: with a minus
// sign if the number is any multiple, and as 0 if nothing is known.
func (l lowestBit) value() float64 {
	g := math.Ldexp(1, l.place)
	if l.all {
		return -g
	}
	return g
}

// lowestOfSum returns the lowest bit of x + y for numbers whose lowest bits are
// at places x and y. If they are the same, x + y is any multiple of twice that.
func lowestOfSum(x, y int) lowestBit {
	if x == y {
		return lowestBit{x + 1, true}
	}
	return lowestBit{min(x, y), false}
}

// varianceOfRounding returns that of the error of rounding a number to a
// multiple of 2h with the lowest bit g, or 0 if nothing is known of its bits.
// An odd multiple of g, each modulo 2h equally likely, has no error for g >=
// 2h, and (h² - g²)/3 is the mean square of odd multiples up to h - g, but for
// g = h, which are ties. Any multiple of g, which is negative then, has h²/3 +
// g²/6.
func varianceOfRounding(h, g float64) float64 {
	switch {
	case math.Abs(g) >= 2*h:
		return 0
	case g < 0:
		return h*h/3 + g*g/6
	case g == h:
		return h * h
	}
	return (h*h - g*g) / 3
}

// placeOf returns the exponent of the greatest power of two of which x is a
// multiple. For 0 it is more than that of any other number.
func placeOf(x float64) int {
	const digits = 1<<52 - 1
	b := math.Float64bits(x)
	e := int(b >> 52 & 0x7ff)
	if e == 0 {
		if b&digits == 0 {
			return 1 << 20
		}
		return bits.TrailingZeros64(b) - 1074
	}
	// The exponent of a power of two is told faster by its conversion to a
	// floating-point number than by counting zeros.
	d := int64(b&digits | 1<<52)
	return e - 1075 - 1023 + int(math.Float64bits(float64(d&-d))>>52)
}
