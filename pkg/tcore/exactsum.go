package tcore

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/fma"
	"github.com/roundofflab/roundoff/internal/limbs"
	"gonum.org/v1/gonum/blas/blas32"
)

// ExactSum adds the products of a block and the accumulator exactly and rounds
// once, to nearest even: binary16 and bfloat16 on AMD CDNA1 (Xie et al. 2025),
// and the 8-bit dot products of Arm (Arm 2024).
type ExactSum struct {
	Terms int // number of products in a block

	// SignedZeros is set if a zero has the sign that IEEE 754 gives it: -0 if c and
	// all products are -0. Otherwise sums that are exactly zero are +0.
	SignedZeros bool
}

func (s ExactSum) width() int { return s.Terms }

func (s ExactSum) sum(d *Device, b block, _ *TraceBlock) float64 {
	if z := specials(b); z != 0 {
		return z
	}

	// A fixed-point accumulator wide enough for every sum of products and c.
	low := min(d.A.minQuantum()+d.B.minQuantum(), d.C.minQuantum())
	high := max(d.A.Emax+d.B.Emax+2, d.C.Emax+1) + bits.Len(uint(s.Terms)) + 1
	z := make([]uint64, (high-low)/64+2)

	for i := range b.x {
		x, ex := d.A.split(b.x[i])
		y, ey := d.B.split(b.y[i])
		limbs.AddShifted(z, x*y, uint(ex+ey-d.A.Precision-d.B.Precision+2-low))
	}
	c, ec := d.C.split(b.c)
	limbs.AddShifted(z, c, uint(ec-d.C.Precision+1-low))

	if s.SignedZeros && allNegativeZeros(b) {
		return d.C.zero(true)
	}
	return d.C.round(jamLimbs(z, low), ToNearestEven)
}

// allNegativeZeros reports whether c and all products are -0.
func allNegativeZeros(b block) bool {
	negative := func(v float64) bool { return v == 0 && math.Signbit(v) }
	for i, v := range b.x {
		if !negative(v * b.y[i]) {
			return false
		}
	}
	return negative(b.c)
}

func (s ExactSum) check(d *Device) {
	if d.A.Precision+d.B.Precision > 62 || d.C.Precision > 62 {
		panic(fmt.Sprintf("tcore: device %q: ExactSum of %s × %s, want products of at most 62 bits", d.Name, d.A.Name, d.B.Name))
	}
}

// fits64 reports whether chain64 computes the sums of d: the products of
// factors are exact in binary64, no sum overflows there, and what it rounds off
// is not needed to round once more, to C.
func (s ExactSum) fits64(d *Device) bool {
	return Binary32.contains(d.C) && Binary32.contains(d.A) && Binary32.contains(d.B) && d.A.Precision+d.B.Precision <= 53
}

// chain64 computes the sum of an ExactSum. It adds the products of a block to c
// in binary64, and what these sums round off apart from them. If both together
// are exact, one rounding remains.
func (s ExactSum) chain64(d *Device, x, y []float64, c float64) float64 {
	for ; len(x) > 0; x, y = x[s.Terms:], y[s.Terms:] {
		sum, lost, exact := c, 0.0, true
		if c == 0 && !s.SignedZeros {
			sum = 0 // not -0
		}
		for i, v := range x[:s.Terms] {
			var e, f float64
			sum, e = fma.TwoSum(sum, float64(v*y[i]))
			lost, f = fma.TwoSum(lost, e)
			exact = exact && f == 0
		}
		switch {
		case exact && lost == 0 || !finite(sum):
			c = d.C.Round(sum, ToNearestEven)
		case exact:
			c = d.C.Round(fma.ToOdd(fma.TwoSum(sum, lost)), ToNearestEven)
		default:
			c = s.sum(d, block{x: x[:s.Terms], y: y[:s.Terms], c: c}, nil)
		}
	}
	return c
}

var (
	exactPath  = newPath("sums exact in binary64")
	redonePath = newPath("sums of blocks that are not exact in binary64")
)

// newExactProduct prepares a and b for an [ExactSum] in binary32. It returns
// false for another core or format, if there is no kernel, and if products are
// too small or too large for it:
//
//   - If a product can have bits below those of binary32, a sum may be rounded
//     to -0, whose sign the kernel would keep.
//   - If the products of a sum can add up to 2^102, a quarter of the last bit
//     of the greatest number, a sum may overflow.
func newExactProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	s, ok := d.Core.(ExactSum)
	if !ok || !d.C.Equal(Binary32) || !s.fits64(d) {
		return nil, false
	}
	rows, columns, tile, ok := exactTileFor(s.Terms, b.Cols)
	least := exp2(Binary32.minQuantum() + d.A.Precision + d.B.Precision - 2)
	if !ok || !d.factorsWithin(a, b, least, 0x1p102/float64(a.Cols), false) {
		return nil, false
	}
	t := exactTiles{d, s, rows, columns, tile}
	kernel := sumsKernel[float32, float64]{rows: rows, columns: columns, terms: s.Terms, run: t.run}
	start := func(row []float32) {
		for i := range row {
			row[i] += 0 // not -0
		}
	}
	if s.SignedZeros {
		start = func([]float32) {}
	}
	p := newSumsProduct(a, b, kernel, converter64(d, d.A), converter64(d, d.B))
	return &sums32[float64]{p, start, exactPath}, true
}

// exactTiles continues tiles of sums of an ExactSum.
type exactTiles struct {
	d             *Device
	core          ExactSum
	rows, columns int
	routine       exactTile
}

// run is the run of a sumsKernel. Where the sums are not exact in binary64, it
// looks for the blocks that are not, half by half, and computes these one by
// one.
func (t *exactTiles) run(c []float32, ldc int, a []float64, lda int, b []float64, k int) {
	if t.routine(&c[0], ldc*size[float32](), &a[0], lda*size[float64](), &b[0], k) == 0 {
		return
	}
	if blocks := k / t.core.Terms; blocks > 1 {
		half := blocks / 2 * t.core.Terms
		t.run(c, ldc, a, lda, b, half)
		t.run(c, ldc, a[half:], lda, b[half*t.columns:], k-half)
		return
	}
	redonePath.count(t.rows, k, t.columns)
	y := make([]float64, k)
	for j := range t.columns {
		for l := range y {
			y[l] = b[l*t.columns+j]
		}
		for i := range t.rows {
			sum := &c[i*ldc+j]
			*sum = float32(t.core.chain64(t.d, a[i*lda:][:k], y, float64(*sum)))
		}
	}
}

// jamLimbs returns the two's complement number z × 2^exp with its leading 64
// bits, the last of which is sticky: it is set if any lower bit is set. It
// overwrites z.
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
