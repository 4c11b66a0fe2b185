package tcore

import (
	"fmt"
	"math"
	"math/bits"
)

// Encode returns the code (bit pattern) of fl(x) in the low Bits() bits. Every
// NaN is encoded as one quiet NaN: sign 0 and, of the significand, the first
// stored bit set (0x7e00 in binary16; 0x7f in e4m3).
func (f Format) Encode(x float64, mode RoundingMode) uint64 {
	z := f.Round(x, mode)
	sign := b2u(math.Signbit(z)) << (f.Bits() - 1)
	switch {
	case math.IsNaN(z):
		return f.nanCode()
	case math.IsInf(z, 0):
		return sign | f.topExponent()<<(f.Precision-1)
	case z == 0:
		return sign
	}

	// |z| = n × 2^q. The codes of the positive numbers are in order, 2^(p-1)
	// of them for each q.
	v := unpack(z)
	q := max(v.exp+bits.Len64(v.sig)-1, f.Emin) - f.Precision + 1
	n := v.sig >> (q - v.exp)
	return sign | uint64(q-f.minQuantum())<<(f.Precision-1) + n
}

// Decode returns the number that the code stands for. It panics if the code
// has more than Bits() bits.
func (f Format) Decode(code uint64) float64 {
	if w := f.Bits(); bits.Len64(code) > w {
		panic(fmt.Sprintf("tcore: Decode of %s: code = %#x, want %d bits", f.Name, code, w))
	}
	sign := uint64(1) << (f.Bits() - 1)
	neg, mag := code&sign != 0, code&(sign-1)

	e, n := mag>>(f.Precision-1), mag&(1<<(f.Precision-1)-1)
	switch {
	case f.Specials == IEEE && e >= f.topExponent():
		if n != 0 {
			return math.NaN()
		}
		return signed(math.Inf(1), neg)
	case f.Specials == NaNOnly && mag == f.nanCode():
		return math.NaN()
	}

	if e > 0 {
		n |= 1 << (f.Precision - 1)
		e--
	}
	return signed(float64(n)*exp2(int(e)+f.minQuantum()), neg)
}

// nanCode returns the code that Encode gives a NaN.
func (f Format) nanCode() uint64 {
	if f.Specials == NaNOnly {
		return 1<<(f.Bits()-1) - 1
	}
	return f.topExponent()<<(f.Precision-1) | 1<<(f.Precision-2)
}
