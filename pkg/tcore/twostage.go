package tcore

import (
	"fmt"
	"math"
	"math/bits"
)

// TwoStage is the matrix core of AMD CDNA3 (Xie et al. 2025). The first stage
// aligns the products of a block to their greatest exponent, truncates them to
// 24 fraction bits and adds them. The second stage aligns this sum and c to the
// greater exponent of the two, rounds each down, adds them, cuts the result to
// 32 bits and rounds it to nearest even to C. If Parts is 2, it discards a c
// whose exponent is more than 25 below the greater one. A product of magnitude
// at least 2^128 counts as an infinity.
type TwoStage struct {
	Terms int // number of products in a block
	Parts int // 1, or 2: the first stage adds products of even and of odd index separately
}

// The fraction bits of TwoStage.
const (
	twoStageProducts    = 24 // kept of products, and of c, below the greatest exponent
	twoStageSum         = 32 // kept of the sum of products
	twoStageResult      = 31 // kept of the result, below its own leading bit
	twoStageZero        = -999
	twoStageProductEmax = 127
)

func (s TwoStage) width() int { return s.Terms }

func (s TwoStage) sum(d *Device, b block, t *TraceBlock) float64 { return s.observed(d, b, t, nil) }

// observed is sum. It records the two stages in z and the alignment in t,
// unless they are nil.
func (s TwoStage) observed(d *Device, b block, t *TraceBlock, z *StageSum) float64 {
	b = s.overflow(b)
	if x := specials(b); x != 0 {
		z.special(x)
		return x
	}

	// First stage: total × 2^(top-24) is the sum of the products.
	total, top := s.part(d, b, 0, t, z)
	if s.Parts == 2 {
		odd, oddTop := s.part(d, b, 1, t, z)
		greater := max(top, oddTop)
		evenKept, oddKept := shiftFloor(total, top-greater), shiftFloor(odd, oddTop-greater)
		z.move(total, top-twoStageProducts, evenKept, greater-twoStageProducts)
		z.move(odd, oddTop-twoStageProducts, oddKept, greater-twoStageProducts)
		total, top = evenKept+oddKept, greater
	}

	// Second stage: in units of 2^(e-32), both rounded down.
	c, ec := d.C.split(b.c)
	e := max(top, ec)
	products := total
	total = shiftFloor(products, twoStageSum-twoStageProducts+top-e)
	z.move(products, top-twoStageProducts, total, e-twoStageSum)
	kept := int64(0)
	if s.Parts == 1 || ec >= e-twoStageProducts-1 {
		kept = shiftFloor(c, twoStageProducts-d.C.Precision+1+ec-e)
		total += kept << (twoStageSum - twoStageProducts)
	}
	z.move(c, ec-d.C.Precision+1, kept, e-twoStageProducts)
	if t != nil {
		t.Exponent = e
	}

	// Cut to 31 bits below the leading one, then round.
	unit := e - twoStageSum
	sum := unrounded{neg: total < 0, sig: magnitude(total), exp: unit}
	lead := max(unit+bits.Len64(magnitude(total))-1, d.C.Emin)
	if cut := lead - twoStageResult - unit; cut > 0 {
		sum = unrounded{neg: total < 0, sig: magnitude(total >> cut), exp: unit + cut}
	}
	result := d.C.round(sum, ToNearestEven)
	z.finish(b, total, e-twoStageSum, result)
	return result
}

// part returns the truncated sum of every Parts-th product from the first on,
// in units of 2^(top-24).
func (s TwoStage) part(d *Device, b block, first int, t *TraceBlock, z *StageSum) (total int64, top int) {
	terms := make([]summand, 0, s.Terms)
	top = math.MinInt
	for i := first; i < s.Terms; i += s.Parts {
		x, ex := d.A.split(b.x[i])
		y, ey := d.B.split(b.y[i])
		p := summand{sig: x * y, exp: ex + ey, frac: d.A.Precision + d.B.Precision - 2}
		if p.sig == 0 {
			p.exp = twoStageZero
		}
		terms = append(terms, p)
		top = max(top, p.exp)
	}
	for _, p := range terms {
		total += p.truncate(twoStageProducts - top)
	}
	z.part(first, terms, top)
	if t != nil {
		for i, p := range terms {
			t.Terms[first+i*s.Parts].cut(p, top, twoStageProducts)
		}
	}
	return total, top
}

// overflow returns b with the factors of a product of magnitude at least 2^128
// replaced by ±Inf and 1.
func (s TwoStage) overflow(b block) block {
	limit := math.Ldexp(1, twoStageProductEmax+1)
	for i := range b.x {
		if p := b.x[i] * b.y[i]; finite(p) && math.Abs(p) >= limit {
			x, y := append([]float64(nil), b.x...), append([]float64(nil), b.y...)
			x[i], y[i] = signed(math.Inf(1), p < 0), 1
			b.x, b.y = x, y
		}
	}
	return b
}

func (s TwoStage) check(d *Device) {
	if s.Parts != 1 && s.Parts != 2 || s.Terms%s.Parts != 0 {
		panic(fmt.Sprintf("tcore: device %q: TwoStage of %d terms in %d parts, want 1 or 2 equal ones", d.Name, s.Terms, s.Parts))
	}
	if d.A.Precision+d.B.Precision > 24 || d.C.Precision > 24 || s.Terms > 1<<20 {
		panic(fmt.Sprintf("tcore: device %q: TwoStage of %s × %s + %s, want products and c of at most 24 bits",
			d.Name, d.A.Name, d.B.Name, d.C.Name))
	}
}

// shiftFloor returns x × 2^n, rounded down.
func shiftFloor(x int64, n int) int64 {
	if n >= 0 {
		return x << n
	}
	return x >> min(-n, 63)
}
