package tcore

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
)

// Encode returns the code (bit pattern) of fl(x) in the low Bits() bits. Every
// NaN has the same code: in an IEEE format the quiet NaN of sign 0 with only
// the first stored bit of the significand set (0x7e00 in binary16), in the
// other formats their NaN, of sign 0 if it has a sign (0x7f in e4m3; 0x80 in
// e4m3fnuz).
func (f Format) Encode(x float64, mode RoundingMode) uint64 {
	return f.code(f.Round(x, mode))
}

// code returns the code of a number or NaN z of f.
func (f *Format) code(z float64) uint64 {
	if f.Sign == TwosComplement {
		return uint64(int64(z/exp2(f.minQuantum()))) & (1<<f.Bits() - 1)
	}
	var sign uint64
	if f.Sign == Signed {
		sign = b2u(math.Signbit(z)) << (f.Bits() - 1)
	}
	switch {
	case math.IsNaN(z):
		return f.nanCode()
	case math.IsInf(z, 0):
		return sign | f.topExponent()<<(f.Precision-1)
	case z == 0:
		return sign
	}

	// |z| = n × 2^q. The codes of the positive numbers increase with the number.
	// Each q has 2^(p-1) codes. In a format without zero the least number, of code
	// 0, has n = 2^(p-1).
	v := unpack(z)
	q := max(v.exp+bits.Len64(v.sig)-1, f.Emin) - f.Precision + 1
	n := v.sig >> (q - v.exp)
	if f.Subnormals == NoZero {
		n -= f.minNormalSignificand()
	}
	return sign | uint64(q-f.minQuantum())<<(f.Precision-1) + n
}

// Decode returns the number that the code represents, or NaN if it represents
// none. It panics if the code has more than Bits() bits.
func (f Format) Decode(code uint64) float64 {
	w := f.Bits()
	if bits.Len64(code) > w {
		panic(fmt.Sprintf("tcore: Decode of %s: code = %#x, want %d bits", f.Name, code, w))
	}
	if f.Sign == TwosComplement {
		unused := 64 - w
		return float64(int64(code<<unused)>>unused) * exp2(f.minQuantum())
	}
	neg, mag := false, code
	if f.Sign != Unsigned {
		sign := uint64(1) << (w - 1)
		neg, mag = f.Sign == Signed && code&sign != 0, code&(sign-1)
	}

	e, n := mag>>(f.Precision-1), mag&(f.minNormalSignificand()-1)
	switch top := f.topExponent(); {
	case f.Specials == IEEE && e == top && n == 0:
		return signed(math.Inf(1), neg)
	case e > top, f.Specials == IEEE && e == top,
		f.Specials == NaNOnly && mag == f.nanCode(),
		f.Specials == FNUZ && code == f.nanCode():
		return math.NaN()
	}

	switch {
	case f.Subnormals == NoZero:
		n |= f.minNormalSignificand()
	case e > 0:
		n |= f.minNormalSignificand()
		e--
	case f.Subnormals == Flushed:
		return f.zero(neg)
	}
	return signed(float64(n)*exp2(int(e)+f.minQuantum()), neg)
}

// numbers returns the number of every code of f, which has at most 8 bits,
// rounded to binary32.
func (f Format) numbers() *[256]float32 {
	f.Name = ""
	if kept, ok := keptNumbers.Load(f); ok {
		return kept.(*[256]float32)
	}
	x := new([256]float32)
	for code := range 1 << f.Bits() {
		x[code] = float32(f.Decode(uint64(code)))
	}
	keptNumbers.Store(f, x)
	return x
}

// keptNumbers are the results of numbers, which take longer than many a small
// product, and keptNumbers16 those of numbers16.
var keptNumbers, keptNumbers16 sync.Map

// numbers16 is numbers for a format of at most 16 bits.
func (f Format) numbers16() *[1 << 16]float32 {
	f.Name = ""
	if kept, ok := keptNumbers16.Load(f); ok {
		return kept.(*[1 << 16]float32)
	}
	x := new([1 << 16]float32)
	for code := range 1 << f.Bits() {
		x[code] = float32(f.Decode(uint64(code)))
	}
	keptNumbers16.Store(f, x)
	return x
}

// nanCode returns the code to which Encode maps a NaN.
func (f *Format) nanCode() uint64 {
	switch f.Specials {
	case NaNOnly:
		return (f.topExponent()+1)<<(f.Precision-1) - 1
	case FNUZ:
		return 1 << (f.Bits() - 1)
	}
	return f.topExponent()<<(f.Precision-1) | 1<<(f.Precision-2)
}
