package exact

import (
	"math"
	"math/bits"
)

// int128 is the integer hi × 2^64 + lo.
type int128 struct {
	hi int64
	lo uint64
}

// int128Of returns x in units of 2^exp; ok is false unless that is an integer
// below 2^126 in magnitude. x must be finite.
func int128Of(x float64, exp int) (z int128, ok bool) {
	if x == 0 {
		return z, true
	}
	v := unpack(x)
	n := bits.TrailingZeros64(v.sig)
	sig, shift := v.sig>>n, v.exp+n-exp
	if shift < 0 || bits.Len64(sig)+shift > 126 {
		return z, false
	}
	if shift >= 64 {
		z.hi = int64(sig << (shift - 64))
	} else {
		z.hi, z.lo = int64(sig>>(64-shift)), sig<<shift
	}
	if v.neg {
		z = int128{}.minus(z)
	}
	return z, true
}

// minus returns z - y modulo 2^128.
func (z int128) minus(y int128) int128 {
	lo, borrow := bits.Sub64(z.lo, y.lo, 0)
	return int128{z.hi - y.hi - int64(borrow), lo}
}

// plus returns z + 2^shift v modulo 2^128.
func (z int128) plus(v int64, shift int) int128 {
	lo, hi := uint64(v)<<shift, v>>(64-min(shift, 64))
	if shift >= 64 {
		hi = v << (shift - 64)
	}
	lo, carry := bits.Add64(z.lo, lo, 0)
	return int128{z.hi + hi + int64(carry), lo}
}

// float64 returns z × 2^exp rounded to nearest even. The result must be normal
// or zero in binary64.
func (z int128) float64(exp int) float64 {
	if z.hi == int64(z.lo)>>63 {
		return float64(int64(z.lo)) * exp2(exp)
	}
	sign := 1.0
	if z.hi < 0 {
		sign, z = -1, int128{}.minus(z)
	}
	hi, lo := uint64(z.hi), z.lo
	if hi != 0 { // the leading 64 bits; the last is a sticky bit for all others
		n := bits.LeadingZeros64(hi)
		hi, lo = hi<<n|lo>>(64-n), lo<<n
		if lo != 0 {
			hi |= 1
		}
		lo, exp = hi, exp+64-n
	}
	return sign * float64(lo) * exp2(exp)
}

// exp2 returns 2^exp, a normal number.
func exp2(exp int) float64 { return math.Float64frombits(uint64(1023+exp) << 52) }
