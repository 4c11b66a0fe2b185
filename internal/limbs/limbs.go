// Package limbs decomposes numbers into sign, significand and exponent, and
// adds integers of any length. These are in two's complement, as slices of
// 64-bit limbs, the lowest limb first.
package limbs

import "math/bits"

// AddShifted adds p × 2^shift to z. It panics unless z has at least shift/64 +
// 2 limbs.
func AddShifted(z []uint64, p int64, shift uint) {
	i, r := shift/64, shift%64
	sign := uint64(p >> 63)
	var carry uint64
	z[i], carry = bits.Add64(z[i], uint64(p)<<r, 0)
	z[i+1], carry = bits.Add64(z[i+1], uint64(p>>(64-r)), carry)
	for i += 2; i < uint(len(z)) && sign+carry != 0; i++ {
		z[i], carry = bits.Add64(z[i], sign, carry)
	}
}
