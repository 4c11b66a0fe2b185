package exact

import "math"

// A float is the number (-1)^neg × sig × 2^exp.
type float struct {
	neg bool
	sig uint64
	exp int
}

// unpack returns the finite number x.
func unpack(x float64) float {
	b := math.Float64bits(x)
	sig, e := b&(1<<52-1), int(b>>52&0x7ff)
	if e > 0 {
		sig |= 1 << 52
	} else {
		e = 1
	}
	return float{neg: b>>63 != 0, sig: sig, exp: e - 1075}
}

func finite(x float64) bool { return !math.IsNaN(x - x) }
