package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// An Entry is one element of D as the machine computed it. It contains every
// rounded sum, in the order of the machine, and Σ|xy|. On a machine that
// aligns, it contains the exponent to which each block was aligned, or two
// exponents per block if products of even and of odd index are aligned
// separately. Its slices are valid until the next output.
type Entry struct {
	Sums      []float64
	Exponents []int
	Abs       float64

	// Flushed is the sum of the sizes of the subnormal numbers that the machine
	// replaced by zero. Rounding errors are not included.
	Flushed float64

	// The trace, as an emulator returns it; nil if it is unknown.
	X, Y   []float64        // the factors, after conversion
	Blocks []tcore.BlockSum // what each block kept and lost, on a machine that aligns
	Stages []tcore.StageSum // the same on a machine that first aligns products, and then their sum

	// Losses returns the distribution of what a product of an element of A and one
	// of B loses by truncation, whatever their positions. It is nil if that is
	// unknown.
	Losses func() *truncation.Losses

	// known caches the result of errors, for the step distribution that it names.
	// It is nil if the result is not cached.
	known *runErrors
}

// copyFrom makes o a copy of p that stays valid, in the memory of its slices.
func (o *Entry) copyFrom(p Entry) {
	was := *o
	*o = p
	o.Sums, o.Exponents = copied(was.Sums, p.Sums), copied(was.Exponents, p.Exponents)
	o.X, o.Y = copied(was.X, p.X), copied(was.Y, p.Y)
	o.Blocks, o.Stages = copied(was.Blocks, p.Blocks), copied(was.Stages, p.Stages)
}

// copied returns a copy of x in the memory of z if it has enough, and nil for
// nil.
func copied[T any](z, x []T) []T {
	if x == nil {
		return nil
	}
	return append(z[:0], x...)
}

// relative returns the backward constant of an error, error/Σ|xy|. It is 0 for
// an error of 0, even if Σ|xy| = 0.
func (o Entry) relative(e float64) float64 {
	if e == 0 {
		return 0
	}
	return e / o.Abs
}

// runErrors contains what the sums of a run imply for the rounding errors of a
// machine that rounds to nearest.
type runErrors struct {
	sizes float64 // Σŝ², where |ŝ| is at least the size at which half a unit is least

	halfUlps float64 // Σh of all sums, an upper bound of the sum of all |error|
	squares  float64 // Σh²
	// Σ of h²/3 for errors with a variance of at most that of uniform numbers on
	// [-h, h], and of h² for others: see [truncation.NearestError].
	proxies float64

	dist *stepDistribution // the step distribution that was used

	centre float64 // expected sum of the errors, if the distribution of the data is known
	slack  float64 // uncertainty of centre, plus what was flushed
}

// errors returns what the sums imply for the errors. Adding a product that is 0
// causes no rounding error.
func (o Entry) errors(k Problem) runErrors {
	dist := k.stepDistribution()
	if o.known != nil && o.known.halfUlps > 0 && o.known.dist == dist {
		return *o.known
	}
	z := o.tell(k, dist)
	if o.known != nil {
		*o.known = z
	}
	return z
}

// tell computes the result of errors, with the distribution of a step if it is
// not nil.
func (o Entry) tell(k Problem, dist *stepDistribution) runErrors {
	z := runErrors{dist: dist}
	u, least := k.coarsest(), k.leastHalfUlp()
	p := precision(u)
	var unsure perExponent[float64]
	some := k.flushes()
	if some { // some sums are omitted: which product was added last is unknown
		dist = nil
	}
	first, before := o.firstRounded(k), 0.0
	if first > 0 {
		before = o.X[0] * o.Y[0]
	}
	// The moments of the error after a nonzero product, over those after any
	// product: a product 0 causes no error, and is known to be 0.
	given := 1.0
	if dist != nil && first >= 0 {
		if given = 1 / dist.nonzero; dist.nonzero == 0 {
			dist = nil
		}
	}
	// What a sum adds depends on its exponent, which is often that of the sum
	// before it, and on whether the sum before it was on the grid.
	const exponent = 0x7ff << 52
	at, h, square, proxy := uint64(math.MaxUint64), 0., 0., 0.
	place := 0                                             // of 2h
	drawn, mean, estimate, drawnProxy := false, 0., 0., 0. // computed when first used
	doubt := 0.                                            // unsure at this exponent
	leave := func() {
		if drawn {
			*unsure.at(math.Ilogb(2 * h)) = doubt
		}
		drawn = false
	}
	for i, s := range o.Sums {
		size := math.Abs(s)
		if size < least/u {
			size = least / u
		}
		z.sizes += size * size
		if first >= 0 && (o.X[first+i] == 0 || o.Y[first+i] == 0) {
			continue
		}
		if e := math.Float64bits(s) & exponent; e != at || e == 0 {
			leave()
			at, h = e, max(least, halfUlp(s, p))
			square, proxy, place = h*h, h*h/3, math.Ilogb(h)+1
		}
		z.halfUlps += h
		z.squares += square
		if dist != nil && 0 < h && h < math.MaxFloat64 && placeOf(before) >= place {
			if !drawn {
				e := math.Ilogb(2 * h)
				r := dist.at(e)
				drawn, mean, estimate, drawnProxy = true, r.Mean*given, r.Estimate*given, proxy
				if r.Square*given > 1.02*proxy {
					drawnProxy = square
				}
				doubt = *unsure.at(e)
			}
			z.centre += mean
			doubt += estimate
			z.proxies += drawnProxy
		} else {
			z.proxies += proxy
		}
		before = s
	}
	leave()
	for _, u := range unsure.values {
		z.slack += u * u
	}
	z.slack = sure*math.Sqrt(z.slack) + o.Flushed
	if !some {
		return z
	}
	if d, known := k.drift(); known {
		z.slack += d.most
		if d.variance > 1.02 {
			z.proxies = z.squares
		}
	}
	return z
}

// firstRounded returns the index of the product after which the first of the
// sums was rounded, if every sum is rounded after one product. Otherwise, or if
// the factors are unknown, it returns -1.
func (o Entry) firstRounded(k Problem) int {
	switch k.Device.Core.(type) {
	case tcore.Chain, tcore.TensorCore:
		if first := len(o.X) - len(o.Sums); 0 <= first && first <= 1 && len(o.Y) == len(o.X) {
			return first
		}
	}
	return -1
}

// around returns the interval of a sum of errors that differs from its mean by
// at most radius.
func (z runErrors) around(radius float64) Interval { return Interval{z.centre, radius + z.slack} }

// leastHalfUlp returns half the distance between subnormal numbers of the sum.
// The error of rounding to nearest can be this large, however small the sum. It
// is 0 if exact sums never lie between two of these numbers.
func (k Problem) leastHalfUlp() float64 {
	if k.flushes() {
		return 0
	}
	if c, ok := k.Device.Core.(tcore.TensorCore); ok {
		return halfStep(c.Accumulate, k.productGrid())
	}
	return halfStep(k.Device.C, k.productGrid())
}

// halfUlp returns half a unit in the last place of s in precision p: an upper
// bound of the error of rounding to nearest with the result s.
func halfUlp(s float64, p int) float64 {
	const exponent = 0x7ff << 52
	if e := math.Float64bits(s) & exponent; uint64(p)<<52 < e && e < exponent {
		return math.Float64frombits(e - uint64(p)<<52)
	}
	if s == 0 {
		return 0
	}
	return math.Ldexp(1, math.Ilogb(s)-p)
}

// precision returns the p of u = 2^-p.
func precision(u float64) int { return -math.Ilogb(u) }

var nan = math.NaN()
