// Package fma computes multiply-adds of binary32 with one rounding, where there
// is no instruction for them.
package fma

import "math"

// Float32 returns ab + c, rounded to binary32 to nearest even. It is not
// float32(math.FMA(a, b, c)), which rounds to 53 bits and then to 24. The
// product is exact in binary64. The sum is rounded to odd there; rounding it to
// binary32 then gives the result of one rounding (Boldo & Melquiond 2008).
func Float32(a, b, c float32) float32 {
	return float32(ToOdd(TwoSum(float64(float64(a)*float64(b)), float64(c))))
}

// TwoSum returns s = fl(p + q) and e = p + q - s (Knuth 1969). e is NaN if s is
// infinite or NaN.
func TwoSum(p, q float64) (s, e float64) {
	s = p + q
	t := s - p
	return s, (p - (s - t)) + (q - t)
}

// ToOdd returns s + e rounded to odd, where s = fl(s + e): if s is even and
// inexact, the neighbour on the side of e. A NaN or infinite s is unchanged,
// since its e is NaN.
func ToOdd(s, e float64) float64 {
	if m := math.Float64bits(s); e != 0 && e == e && m&1 == 0 {
		if (e > 0) == (s > 0) {
			m++
		} else {
			m--
		}
		s = math.Float64frombits(m)
	}
	return s
}
