package tcore

import (
	"fmt"
	"math"
)

// StageSum summarises one block of a chain of [TwoStage] sums.
type StageSum struct {
	Parts  [2]StagePart // all products and none; or, if added separately, those of even and of odd index
	Result float64      // c of the next block
	Size   float64      // Σ|xy|

	// Exponent is e, the exponent to which the second stage aligns. Moved is the
	// error of all that follows the first stage: Result minus c and minus the
	// products as the first stage truncates them. It is exact up to 2^(e-70), and
	// inexact only where a number that is rounded down is far below the last bit
	// kept.
	Exponent int
	Moved    float64
}

// StagePart summarises the first stage for products that are aligned together.
type StagePart struct {
	Exponent int     // to which they are aligned; less than that of any nonzero product if all are zero
	Lost     float64 // sum of the parts of the products that the truncation discards

	// Bounds on Lost that depend only on the signs and exponents of the products:
	// Least <= Lost <= Most.
	Least, Most float64
}

// Error returns the error of the block, Result minus c and minus the exact
// products: the error of the second stage minus what the first stage discards.
func (s StageSum) Error() float64 { return s.Moved - s.Parts[0].Lost - s.Parts[1].Lost }

// StageSums returns the blocks of [Device.Dot] of x, y and 0. Moved is infinite
// in a block whose result overflows. It is NaN in a block with an operand or a
// product that is not finite, and in all blocks after either. It panics if the
// lengths differ or the core is not a [TwoStage].
func (d Device) StageSums(x, y []float64) []StageSum {
	d.check("StageSums", len(x), len(y))
	core, ok := d.Core.(TwoStage)
	if !ok {
		panic(fmt.Sprintf("tcore: StageSums: device %q, want a TwoStage core", d.Name))
	}
	x, y = d.convert(d.A, x), d.convert(d.B, y)
	blocks := make([]StageSum, d.padded(len(x))/core.Terms)
	c := 0.0
	for i := range blocks {
		lo := i * core.Terms
		c = core.observed(&d, block{x: padZeros(x, lo, core.Terms), y: padZeros(y, lo, core.Terms), c: c}, nil, &blocks[i])
	}
	return blocks
}

// special records a block with a number that is not finite.
func (s *StageSum) special(result float64) {
	if s != nil {
		s.Moved, s.Result = math.NaN(), result
	}
}

// part records that terms, the products from index first on, are aligned to
// exponent top.
func (s *StageSum) part(first int, terms []summand, top int) {
	if s == nil {
		return
	}
	p := StagePart{Exponent: top}
	for _, t := range terms {
		bit := t.exp - t.frac // exponent of the last bit of the product
		if t.sig == 0 || bit >= top-twoStageProducts {
			continue
		}
		most := math.Ldexp(1, top-twoStageProducts) - math.Ldexp(1, bit)
		if t.sig > 0 {
			p.Most += most
		} else {
			p.Least -= most
		}
		kept := math.Ldexp(float64(t.truncate(twoStageProducts-top)), top-twoStageProducts)
		p.Lost += math.Ldexp(float64(t.sig), bit) - kept
	}
	s.Parts[first] = p
}

// move records that x × 2^ex has been replaced by y × 2^ey.
func (s *StageSum) move(x int64, ex int, y int64, ey int) {
	if s != nil {
		s.Moved += math.Ldexp(float64(y), ey) - math.Ldexp(float64(x), ex)
	}
}

// finish records that total × 2^exp, the sum of all parts kept, has been
// rounded to the result.
func (s *StageSum) finish(b block, total int64, exp int, result float64) {
	if s == nil {
		return
	}
	s.Moved += result - math.Ldexp(float64(total), exp)
	s.Result, s.Exponent = result, exp+twoStageSum
	for i, x := range b.x {
		s.Size += math.Abs(x * b.y[i])
	}
}
