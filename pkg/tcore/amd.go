package tcore

import (
	"fmt"
	"math"
	"math/bits"
)

// ExactSum adds the products of a block and the accumulator exactly and rounds
// once, to nearest even: binary16 and bfloat16 on AMD CDNA1 (Xie et al. 2025).
type ExactSum struct {
	Terms int // products of a block
}

func (s ExactSum) width() int { return s.Terms }

func (s ExactSum) sum(d *Device, b block, _ *TraceBlock) float64 {
	if z := specials(b); z != 0 {
		return z
	}

	// A fixed-point accumulator that holds every product and every c.
	low := min(d.A.minQuantum()+d.B.minQuantum(), d.C.minQuantum())
	high := max(d.A.Emax+d.B.Emax+2, d.C.Emax+1) + bits.Len(uint(s.Terms)) + 1
	z := make([]uint64, (high-low)/64+2)

	for i := range b.x {
		x, ex := d.A.split(b.x[i])
		y, ey := d.B.split(b.y[i])
		addShifted(z, x*y, uint(ex+ey-d.A.Precision-d.B.Precision+2-low))
	}
	c, ec := d.C.split(b.c)
	addShifted(z, c, uint(ec-d.C.Precision+1-low))

	return d.C.round(jamLimbs(z, low), ToNearestEven)
}

func (s ExactSum) check(d *Device) {
	if d.A.Precision+d.B.Precision > 62 || d.C.Precision > 62 {
		panic(fmt.Sprintf("tcore: device %q: ExactSum of %s × %s, want products of at most 62 bits", d.Name, d.A.Name, d.B.Name))
	}
}

// jamLimbs returns the two's complement number z × 2^exp with the bits below
// the leading 64 gathered in the sticky bit. It overwrites z.
func jamLimbs(z []uint64, exp int) unrounded {
	neg := int64(z[len(z)-1]) < 0
	if neg {
		carry := uint64(1)
		for i := range z {
			z[i], carry = bits.Add64(^z[i], 0, carry)
		}
	}
	n := len(z) - 1
	for n > 0 && z[n] == 0 {
		n--
	}
	if n == 0 {
		return unrounded{neg, z[0], exp}
	}
	rest := uint64(0)
	for _, limb := range z[:n-1] {
		rest |= limb
	}
	w := wide{neg: neg, hi: z[n], lo: z[n-1] | b2u(rest != 0), exp: exp + 64*(n-1)}
	return w.jam()
}

// Pairwise adds the products of a block in pairs, each step an IEEE operation
// in C that is rounded to nearest even and flushes subnormal results to zero:
// binary16 and bfloat16 on AMD CDNA2 (Xie et al. 2025). Subnormal operands
// count as +0.
type Pairwise struct {
	Terms int // products of a block, a power of two
}

func (p Pairwise) width() int { return p.Terms }

func (p Pairwise) sum(d *Device, b block, _ *TraceBlock) float64 {
	s := make([]float64, p.Terms)
	for i := range s {
		s[i] = flush(d.C, d.C.Mul(flushInput(d.A, b.x[i]), flushInput(d.B, b.y[i]), ToNearestEven))
	}
	for n := p.Terms / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] = flush(d.C, d.C.Add(s[2*i], s[2*i+1], ToNearestEven))
		}
	}
	return flush(d.C, d.C.Add(flushInput(d.C, b.c), s[0], ToNearestEven))
}

func (p Pairwise) check(d *Device) {
	if p.Terms&(p.Terms-1) != 0 {
		panic(fmt.Sprintf("tcore: device %q: Pairwise of %d terms, want a power of two", d.Name, p.Terms))
	}
}

// chain32 is the chain of a Pairwise core in binary32, in which products and
// sums of the operands are single operations of the processor.
func (p Pairwise) chain32(d *Device, x, y []float64, c float64) float64 {
	s := make([]float32, p.Terms)
	for ; len(x) > 0; x, y = x[p.Terms:], y[p.Terms:] {
		for i := range s {
			s[i] = flush32(float32(flushInput(d.A, x[i])) * float32(flushInput(d.B, y[i])))
		}
		for n := p.Terms / 2; n > 0; n /= 2 {
			for i := range n {
				s[i] = flush32(s[2*i] + s[2*i+1])
			}
		}
		c = float64(flush32(float32(flushInput(d.C, c)) + s[0]))
	}
	return c
}

// flush32 is flush in binary32.
func flush32(x float32) float32 {
	if b := math.Float32bits(x) &^ signBit32; b < 1<<23 {
		return math.Float32frombits(math.Float32bits(x) & signBit32)
	}
	return x
}

// flush returns x, or a zero of its sign if it is subnormal in f.
func flush(f Format, x float64) float64 {
	if math.Abs(x) < f.MinNormal() {
		return signed(0, math.Signbit(x))
	}
	return x
}

// flushInput returns x, or +0 if it is subnormal in f.
func flushInput(f Format, x float64) float64 {
	if x != 0 && math.Abs(x) < exp2(f.Emin) {
		return 0
	}
	return x
}

// TwoStage is the matrix core of AMD CDNA3 (Xie et al. 2025). The products of a
// block are aligned to their greatest exponent, truncated to 24 fraction bits
// and added; then the sum and c are aligned to the greater exponent, each
// rounded down, added, cut to 32 bits and rounded to nearest even to C. A
// product of 2^128 or more counts as an infinity.
type TwoStage struct {
	Terms int // products of a block
	Parts int // 1, or 2: products of even and of odd index are added apart first
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

func (s TwoStage) sum(d *Device, b block, t *TraceBlock) float64 {
	b = s.overflow(b)
	if z := specials(b); z != 0 {
		return z
	}

	// First stage: total × 2^(top-24) is the sum of the products.
	total, top := s.part(d, b, 0, t)
	if s.Parts == 2 {
		odd, oddTop := s.part(d, b, 1, t)
		greater := max(top, oddTop)
		total = shiftFloor(total, top-greater) + shiftFloor(odd, oddTop-greater)
		top = greater
	}

	// Second stage: in units of 2^(e-32), both rounded down.
	c, ec := d.C.split(b.c)
	e := max(top, ec)
	total = shiftFloor(total, twoStageSum-twoStageProducts+top-e)
	if s.Parts == 1 || ec >= e-twoStageProducts-1 {
		c = shiftFloor(c, twoStageProducts-d.C.Precision+1+ec-e)
		total += c << (twoStageSum - twoStageProducts)
	}
	if t != nil {
		t.Exponent = e
	}

	// Cut to 31 bits below the leading one, then round.
	unit := e - twoStageSum
	lead := max(unit+bits.Len64(magnitude(total))-1, d.C.Emin)
	if cut := lead - twoStageResult - unit; cut > 0 {
		total, unit = total>>cut, unit+cut
	}
	return d.C.round(unrounded{neg: total < 0, sig: magnitude(total), exp: unit}, ToNearestEven)
}

// part returns the truncated sum of every Parts-th product from the first on,
// in units of 2^(top-24).
func (s TwoStage) part(d *Device, b block, first int, t *TraceBlock) (total int64, top int) {
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
	if t != nil {
		for i, p := range terms {
			t.Terms[first+i*s.Parts].cut(p, top, twoStageProducts)
		}
	}
	return total, top
}

// overflow returns b with the factors of a product of 2^128 or more replaced
// by ±Inf and 1.
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
