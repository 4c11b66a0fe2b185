package tcore

import "math/bits"

// wide is the number (-1)^neg × (hi 2^64 + lo) × 2^exp. It has bits to spare
// for the exact product of two float64 values, which has at most 106 bits.
type wide struct {
	neg    bool
	hi, lo uint64
	exp    int
}

// widen returns the finite number x as a wide.
func widen(x float64) wide {
	v := unpack(x)
	return wide{neg: v.neg, lo: v.sig, exp: v.exp}
}

// product returns the exact product of two finite numbers.
func product(a, b float64) wide {
	x, y := unpack(a), unpack(b)
	hi, lo := bits.Mul64(x.sig, y.sig)
	return wide{neg: x.neg != y.neg, hi: hi, lo: lo, exp: x.exp + y.exp}
}

func (x wide) isZero() bool { return x.hi|x.lo == 0 }

// add returns x + y for two products of float64 values, up to a sticky last
// bit, which [wide.jam] preserves. The caller sets the sign of a zero sum.
//
// With the leading bits at position 126, a term of 106 bits ends in 21 zeros,
// so no nonzero bit is cut off unless the exponents differ by at least 22. Then
// at most one leading bit cancels, and the sticky bit stays 60 places below the
// half bit of any format.
func (x wide) add(y wide) wide {
	if x.isZero() {
		return y
	}
	if y.isZero() {
		return x
	}

	// Align.
	x, y = x.normalize(), y.normalize()
	if x.exp < y.exp {
		x, y = y, x
	}
	y = y.shiftRightJam(x.exp - y.exp)

	// Add magnitudes, or subtract the smaller from the larger.
	if x.neg == y.neg {
		lo, carry := bits.Add64(x.lo, y.lo, 0)
		hi, _ := bits.Add64(x.hi, y.hi, carry)
		return wide{x.neg, hi, lo, x.exp}
	}
	if x.hi < y.hi || x.hi == y.hi && x.lo < y.lo {
		x, y = y, x
	}
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, borrow)
	return wide{x.neg, hi, lo, x.exp}
}

// normalize returns a term x ≠ 0 with its leading bit at position 126, one
// below the top, so that the sum of two such terms does not overflow.
func (x wide) normalize() wide {
	return x.shiftLeft(x.leadingZeros() - 1)
}

func (x wide) leadingZeros() int {
	if x.hi == 0 {
		return 64 + bits.LeadingZeros64(x.lo)
	}
	return bits.LeadingZeros64(x.hi)
}

func (x wide) shiftLeft(n int) wide {
	if n >= 64 {
		x.hi, x.lo, x.exp, n = x.lo, 0, x.exp-64, n-64
	}
	x.hi, x.lo, x.exp = x.hi<<n|x.lo>>(64-n), x.lo<<n, x.exp-n
	return x
}

// shiftRightJam returns x in units of 2^(exp+n), with the last bit set if any
// nonzero bit is shifted out.
func (x wide) shiftRightJam(n int) wide {
	x.exp += n
	if n >= 64 {
		x.hi, x.lo, n = 0, x.hi|b2u(x.lo != 0), n-64
		x.lo = shiftRightJam(x.lo, n)
		return x
	}
	lost := b2u(x.lo<<(64-n) != 0)
	x.hi, x.lo = x.hi>>n, x.hi<<(64-n)|x.lo>>n|lost
	return x
}

// jam returns the leading 64 bits of x, with the last bit set if any lower bit
// is set.
func (x wide) jam() unrounded {
	if x.isZero() {
		return unrounded{neg: x.neg}
	}
	x = x.shiftLeft(x.leadingZeros())
	return unrounded{x.neg, x.hi | b2u(x.lo != 0), x.exp + 64}
}
