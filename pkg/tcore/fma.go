package tcore

import "math"

// Add returns fl(a + b), one rounding to f. The operands are values of f; any
// other float64 is used unrounded. NaN and infinities follow IEEE 754, and an
// exact zero sum of unlike signs is +0, or -0 under ToNegative.
func (f Format) Add(a, b float64, mode RoundingMode) float64 {
	return f.FMA(a, 1, b, mode)
}

// Mul returns fl(a × b), one rounding to f. Operands as in [Format.Add].
func (f Format) Mul(a, b float64, mode RoundingMode) float64 {
	if !finite(a) || !finite(b) {
		return f.Round(a*b, mode)
	}
	return f.round(product(a, b).jam(), mode)
}

// FMA returns fl(a × b + c), the fused multiply-add: the exact result, rounded
// once to f. Operands as in [Format.Add].
func (f Format) FMA(a, b, c float64, mode RoundingMode) float64 {
	return f.fma(a, b, c, mode, 0)
}

// FMA returns the exact a × b + c, rounded once to f with the random bits of
// the index. It panics unless 1 <= Bits <= 32.
func (s Stochastic) FMA(f Format, a, b, c float64, index uint64) float64 {
	s.check()
	if !finite(a) || !finite(b) || !finite(c) {
		return f.FMA(a, b, c, ToNearestEven)
	}
	return f.fma(a, b, c, stochastic, s.random(s.words(index / 16)[index%16]))
}

// fma is FMA in every mode, the stochastic one included.
func (f *Format) fma(a, b, c float64, mode RoundingMode, random uint64) float64 {
	switch {
	case !finite(a) || !finite(b):
		return f.Round(float64(a*b)+c, mode)
	case !finite(c):
		return f.Round(c, mode)
	}
	p, s := product(a, b), widen(c)
	z := p.add(s)
	if z.isZero() {
		z.neg = p.neg && s.neg || p.neg != s.neg && mode == ToNegative
	}
	return f.roundRandom(z.jam(), mode, random)
}

// MAC returns fl(fl(a × b) + c), the multiply-accumulate without FMA: two
// roundings to f. Operands as in [Format.Add].
func (f Format) MAC(a, b, c float64, mode RoundingMode) float64 {
	return f.Add(f.Mul(a, b, mode), c, mode)
}

func finite(x float64) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0)
}
