package tcore

import "math"

// Chain adds each product by one IEEE FMA in C, one after the other, rounded to
// nearest even: binary64 on all tensor and matrix cores, and binary32 on AMD
// CDNA (Xie et al. 2025). With C = Binary32 and factors of lower precision it
// is the recursive FMA of the paper.
type Chain struct{}

func (Chain) width() int { return 1 }

func (Chain) sum(d *Device, b block, _ *TraceBlock) float64 {
	return d.C.FMA(b.x[0], b.y[0], b.c, ToNearestEven)
}

func (Chain) check(*Device) {}

// chain64 computes the sum of a [Chain] in binary64.
func chain64(x, y []float64, c float64) float64 {
	y = y[:len(x)]
	for i, v := range x {
		c = math.FMA(v, y[i], c)
	}
	return c
}

// chain32 computes the sum of a [Chain] in binary32.
func chain32(x, y []float64, c float64) float64 {
	s := float32(c)
	y = y[:len(x)]
	for i, v := range x {
		s = fma32(float32(v), float32(y[i]), s)
	}
	return float64(s)
}
