package tcore

import (
	"fmt"
	"math"
)

// StageSum is what one block of a chain of [TwoStage] sums did, in short.
type StageSum struct {
	Parts  [2]StagePart // of all products and of none; or, added apart, of even and of odd index
	Result float64      // c of the next block
	Size   float64      // Σ|xy|

	// Exponent is e, that the second stage aligns to, and Moved all that it did:
	// Result less c and what was kept of the products. It is exact but for
	// 2^(e-70), where a number that is rounded down is far below the last bit that
	// is kept.
	Exponent int
	Moved    float64
}

// StagePart is what the first stage did to the products that it aligns
// together.
type StagePart struct {
	Exponent int     // that they are aligned to, less than that of any product if all are zero
	Lost     float64 // the sum of what was cut off

	// Between which Lost is, as the signs and the exponents of the products tell
	// alone.
	Least, Most float64
}

// Error returns the error that the block made, Result less c and the exact
// products: what its second stage did and what its first stage did not keep.
func (s StageSum) Error() float64 { return s.Moved - s.Parts[0].Lost - s.Parts[1].Lost }

// StageSums returns the blocks of [Device.Dot] of x and y and 0, as it computes
// them. Where a number is not finite Moved is NaN from there on. It panics if
// the lengths differ or the core is not a [TwoStage].
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

// special notes a block that is not finite.
func (s *StageSum) special(result float64) {
	if s != nil {
		s.Moved, s.Result = math.NaN(), result
	}
}

// part notes the alignment to top of the products from the first on.
func (s *StageSum) part(first int, terms []summand, top int) {
	if s == nil {
		return
	}
	p := StagePart{Exponent: top}
	for _, t := range terms {
		bit := t.exp - t.frac // the last of the product
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

// move notes that x × 2^ex has become y × 2^ey.
func (s *StageSum) move(x int64, ex int, y int64, ey int) {
	if s != nil {
		s.Moved += math.Ldexp(float64(y), ey) - math.Ldexp(float64(x), ex)
	}
}

// finish notes that total × 2^exp, all that was kept, has become the result.
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
