package limbs

import "math"

// Unpack returns the finite number x as (-1)^neg × sig × 2^exp.
func Unpack(x float64) (neg bool, sig uint64, exp int) {
	b := math.Float64bits(x)
	sig, exp = b&(1<<52-1), int(b>>52&0x7ff)
	if exp > 0 {
		sig |= 1 << 52
	} else {
		exp = 1
	}
	return b>>63 != 0, sig, exp - 1075
}
