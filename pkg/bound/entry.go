package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// An Entry is one element of D as it was computed: every sum after it was
// rounded, in the order of the machine, the exponents that its blocks were
// aligned to on a machine that does so, two of each block where products of
// even and of odd index are aligned apart, and Σ|xy|. Its slices are good until
// the next output.
type Entry struct {
	Sums      []float64
	Exponents []int
	Abs       float64

	// Flushed is what a machine took that counts subnormal numbers as zero, the sum
	// of its sizes; the errors of roundings are on top.
	Flushed float64

	// The trace, as an emulator has it; nil where it is not known.
	X, Y   []float64        // the factors, after their conversion
	Blocks []tcore.BlockSum // what each block kept and lost, on a machine that aligns
	Stages []tcore.StageSum // the same where products are aligned first, and then their sum

	// Losses returns what a product of an element of A and one of B loses, wherever
	// they stand; nil if that is not known.
	Losses func() *truncation.Losses

	known *runErrors // what errors has returned, of the distribution that it says; nil if that is not kept
}

// relative returns the backward constant of an error, error/Σ|xy|. No error is
// 0 also where there is nothing to compare it with.
func (o Entry) relative(e float64) float64 {
	if e == 0 {
		return 0
	}
	return e / o.Abs
}

// runErrors is what the sums of a run tell of the errors of a machine that
// rounds them to nearest.
type runErrors struct {
	sizes float64 // Σŝ², of no sum less than where half a unit is least

	halfUlps float64 // of all sums, and so at most of every error: Σh
	squares  float64 // Σh²
	proxies  float64 // of the variance of errors as uniform numbers of ±h, or more: see [truncation.NearestError]

	dist *stepDistribution // that they were asked with

	centre float64 // what the errors add up to in the mean, where the distribution of the data is known
	slack  float64 // what of that is not known, and what has been flushed
}

// errors returns what the sums tell of the errors. A product 0 rounds nothing.
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

// tell is errors, with the distribution of a step if there is one.
func (o Entry) tell(k Problem, dist *stepDistribution) runErrors {
	z := runErrors{dist: dist}
	u, least := k.coarsest(), k.leastHalfUlp()
	p := precision(u)
	var rows perExponent[*truncation.NearestError]
	var unsure perExponent[float64]
	tree := false
	if _, tree = k.Device.Core.(tcore.Pairwise); tree { // sums of all nodes, which tell not their place
		dist = nil
	}
	first, before := o.firstRounded(k), 0.0
	if first > 0 {
		before = o.X[0] * o.Y[0]
	}
	given := 1.0 // of a rounding, over that of a step: a product 0 rounds nothing, and is seen
	if dist != nil && first >= 0 {
		if given = 1 / dist.nonzero; dist.nonzero == 0 {
			dist = nil
		}
	}
	for i, s := range o.Sums {
		size := max(math.Abs(s), least/u)
		z.sizes += size * size
		if first >= 0 && (o.X[first+i] == 0 || o.Y[first+i] == 0) {
			continue
		}
		h := max(least, halfUlp(s, p))
		z.halfUlps += h
		z.squares += h * h
		proxy := h * h / 3
		if dist != nil && 0 < h && h < math.MaxFloat64 && onGrid(before, 2*h) {
			e := math.Ilogb(2 * h)
			r := rows.at(e)
			if *r == nil {
				*r = dist.at(e)
			}
			z.centre += (*r).Mean * given
			*unsure.at(e) += (*r).Estimate * given
			if (*r).Square*given > 1.02*proxy {
				proxy = h * h
			}
		}
		z.proxies += proxy
		before = s
	}
	for _, u := range unsure.values {
		z.slack += u * u
	}
	z.slack = sure*math.Sqrt(z.slack) + o.Flushed
	if d, known := k.drift(); tree && known {
		z.slack += d.most
		if d.variance > 1.02 {
			z.proxies = z.squares
		}
	}
	return z
}

// firstRounded returns the index of the product that the first of the sums was
// rounded after, where each is rounded after one product; -1 where it is not
// so, or the factors are not known.
func (o Entry) firstRounded(k Problem) int {
	switch k.Device.Core.(type) {
	case tcore.Chain, tcore.TensorCore:
		if first := len(o.X) - len(o.Sums); 0 <= first && first <= 1 && len(o.Y) == len(o.X) {
			return first
		}
	}
	return -1
}

// around returns the interval of a sum of errors that is no farther than radius
// from its mean.
func (z runErrors) around(radius float64) Interval { return Interval{z.centre, radius + z.slack} }

// onGrid reports whether x is a multiple of u, a power of two.
func onGrid(x, u float64) bool {
	t := x / u
	return t == math.Trunc(t)
}

// leastHalfUlp returns half the distance of subnormal sums, which no rounding
// to nearest errs by less at most; 0 where sums are never between two of them.
func (k Problem) leastHalfUlp() float64 {
	switch c := k.Device.Core.(type) {
	case tcore.TensorCore:
		return halfStep(c.Accumulate, k.productGrid())
	case tcore.Pairwise: // has none
		return 0
	}
	return halfStep(k.Device.C, k.productGrid())
}

// halfUlp returns half a unit in the last place of a number of precision p: the
// most that rounding to nearest can have changed what became s.
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
