package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An Output is one element of D as it was computed: every sum after it was rounded, in the order
// of the machine, the exponents that its blocks were aligned to on a machine that does so, two of
// each block where products of even and of odd index are aligned apart, and Σ|xy|. Its slices are
// good until the next output.
type Output struct {
	Sums      []float64
	Exponents []int
	Abs       float64

	// Flushed is what a machine took that counts subnormal numbers as zero, the sum of its sizes;
	// the errors of roundings are on top.
	Flushed float64

	// The trace, as an emulator has it; nil where it is not known.
	X, Y   []float64        // the factors, after their conversion
	Blocks []tcore.BlockSum // what each block kept and lost, on a machine that aligns
	Stages []tcore.StageSum // the same where products are aligned first, and then their sum

	// Losses returns what a product of an element of A and one of B loses, wherever they
	// stand; nil if that is not known.
	Losses func() *roundoff.Losses
}

// relative returns the backward constant of an error, error/Σ|xy|. No error is 0 also where
// there is nothing to compare it with.
func (o Output) relative(e float64) float64 {
	if e == 0 {
		return 0
	}
	return e / o.Abs
}

// squares returns Σŝ².
func (o Output) squares() float64 {
	sum := 0.0
	for _, s := range o.Sums {
		sum += s * s
	}
	return sum
}

// halfUlps returns the sum of half a unit in the last place of every computed sum, the sum of
// their squares, and the largest.
func (o Output) halfUlps(k Kernel) (sum, squares, largest float64) {
	p, least := precision(k.coarsest()), k.leastHalfUlp()
	for _, s := range o.Sums {
		h := max(halfUlp(s, p), least)
		sum += h
		squares += h * h
		largest = max(largest, h)
	}
	return sum, squares, largest
}

// leastHalfUlp returns half the distance of subnormal sums, which no rounding to nearest errs by less
// at most; 0 where sums are never between two of them.
func (k Kernel) leastHalfUlp() float64 {
	switch c := k.Core.(type) {
	case tcore.TensorCore:
		return halfStep(c.Accumulate, k.productGrid())
	case tcore.Pairwise: // has none
		return 0
	}
	return halfStep(k.C, k.productGrid())
}

// halfUlp returns half a unit in the last place of a number of precision p: the most that
// rounding to nearest can have changed what became s.
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
