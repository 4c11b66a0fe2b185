// Package limbs takes numbers apart into integers, and adds integers of any
// length, in two's complement, the low limb first.
package limbs

import "math/bits"

// AddShifted adds p × 2^shift to z.
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
