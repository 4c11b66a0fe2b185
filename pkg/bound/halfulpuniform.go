package bound

import (
	"math"
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
	var known kindPlaces
	lowest := lowestBit(before)
	for i, s := range o.Sums {
		h, g := halfUlp(s, p), 0.0
		if h < least {
			h = least
		}
		if first >= 0 {
			g = lowestBitOfSum(lowest, lowestBit(o.X[first+i]*o.Y[first+i]))
			lowest = lowestBit(s)
		}
		at := known.of(h, g)
		if at.number == 0 || at.h != h || at.g != g {
			*at = kindPlace{h, g, numberOf(h, varianceOfRounding(h, g), &list)}
		}
		if at.number > 0 {
			list[at.number-1].N++
		}
	}
	return list
}

// numberOf returns the number in a list, from 1, of the errors of at most h and
// of a variance, which it appends with N = 0 if they are not there. It is -1
// for what makes no error, or none that is known.
func numberOf(h, variance float64, list *[]roundoff.Symmetric) int {
	if variance == 0 || h > math.MaxFloat64 {
		return -1
	}
	i := slices.IndexFunc(*list, func(x roundoff.Symmetric) bool { return x.Most == h && x.Variance == variance })
	if i < 0 {
		i, *list = len(*list), append(*list, roundoff.Symmetric{Most: h, Variance: variance})
	}
	return i + 1
}

// kindPlaces remembers where in a list the errors with one h and one lowest bit
// g are, unless another kind has the same place: to search the list for each of
// a million sums would take longer than all else.
type kindPlaces [256]kindPlace

// kindPlace is one of them, with what numberOf returns of it, and 0 if the
// place is empty.
type kindPlace struct {
	h, g   float64
	number int
}

func (p *kindPlaces) of(h, g float64) *kindPlace {
	const mix = 0x9e3779b97f4a7c15 // 2^64/1.618, whose multiples differ in their leading bits
	return &p[(math.Float64bits(h)+math.Float64bits(g)*3)*mix>>56]
}

// lowestBitOfSum returns the lowest bit of x + y for numbers with the given
// lowest bits, both powers of two, if they differ. If they are the same, x + y
// is any multiple of twice that, which it returns with a minus sign.
func lowestBitOfSum(x, y float64) float64 {
	switch {
	case x < y:
		return x
	case x > y:
		return y
	}
	return -2 * x
}

// varianceOfRounding returns that of the error of rounding a number to a
// multiple of 2h, with what [lowestBitOfSum] returns of it, or 0 if nothing is
// known of its bits. An odd multiple of g, each modulo 2h equally likely, has
// no error for g >= 2h, and (h² - g²)/3 is the mean square of odd multiples up
// to h - g, but for g = h, which are ties. Any multiple of g, which is negative
// then, has h²/3 + g²/6.
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

// lowestBit returns the greatest power of two of which x is a multiple, +Inf
// for 0.
func lowestBit(x float64) float64 {
	x = math.Abs(x)
	switch b := math.Float64bits(x); {
	case b == 0:
		return math.Inf(1)
	case b&(1<<52-1) == 0:
		return x
	default:
		return x - math.Float64frombits(b&(b-1))
	}
}
