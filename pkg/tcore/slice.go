package tcore

import (
	"fmt"
	"math"
)

// RoundSlice stores fl(x) in dst for every x of src. dst and src are the same
// slice or do not overlap. Long slices are rounded on GOMAXPROCS goroutines,
// and to nearest even by vector code on amd64. It panics if the lengths differ.
func (f Format) RoundSlice(dst, src []float64, mode RoundingMode) {
	checkLengths("RoundSlice", "dst", len(dst), len(src))
	f.check()
	eachPart(len(src), func(lo, hi int) {
		f.roundPart(dst[lo:hi], src[lo:hi], mode)
	})
}

func (f Format) roundPart(dst, src []float64, mode RoundingMode) {
	n := 0
	if mode == ToNearestEven {
		n = vectorNearest(f, dst, src)
	}
	for i, x := range src[n:] {
		dst[n+i] = f.Round(x, mode)
	}
}

// RoundSlice32 is a fast RoundSlice for float32 data, to nearest even. A value
// of f that is not a float32 number is rounded to float32. It panics if the
// lengths differ.
func (f Format) RoundSlice32(dst, src []float32) {
	checkLengths("RoundSlice32", "dst", len(dst), len(src))
	f.check()
	switch {
	case f.extends(Binary32):
		copy(dst, src)
	case Binary32.contains(f) && f.Precision < Binary32.Precision && f.Subnormals == Kept && f.Sign == Signed:
		n := vectorRound32(f, dst, src)
		f.roundNarrow(dst[n:], src[n:])
	default:
		for i, x := range src {
			dst[i] = float32(f.Round(float64(x), ToNearestEven))
		}
	}
}

// roundNarrow is RoundSlice32 for a format of lower precision than binary32. It
// rounds the magnitude m as an integer: adding half a quantum, minus one unit
// if the quotient is even, carries into the kept bits exactly when the rest is
// above half, or is half and the quotient odd. Below the least normal number
// the quantum is constant, and adding and subtracting 2^23 quanta rounds.
func (f Format) roundNarrow(dst, src []float32) {
	var (
		drop     = Binary32.Precision - f.Precision
		half     = uint32(1)<<drop>>1 - 1
		mask     = ^(uint32(1)<<drop - 1)
		normal   = math.Float32bits(float32(f.MinNormal()))
		greatest = math.Float32bits(float32(f.Max()))
		overflow = math.Float32bits(float32(f.infinity(false)))
		quanta   = float32(exp2(f.minQuantum() + 23))
		negZero  = math.Float32bits(float32(f.zero(true)))
	)
	for i, x := range src {
		b := math.Float32bits(x)
		sign, m := b&signBit32, b&^signBit32
		switch {
		case m > infinity32: // NaN
			dst[i] = float32(f.nan(float64(x)))
			continue
		case m >= normal:
			m = (m + half + m>>drop&1) & mask
			if m > greatest {
				m = overflow
			}
		default:
			m = math.Float32bits(float32(math.Float32frombits(m)+quanta) - quanta)
			if m == 0 {
				sign &= negZero
			}
		}
		dst[i] = math.Float32frombits(sign | m)
	}
}

const (
	signBit32  = 1 << 31
	infinity32 = 0xff << 23
)

// round16 is a fast Binary16.Round(x, ToNearestEven), by the method of
// roundNarrow.
func round16(x float64) float64 {
	const (
		normal   = (1023 - 14) << 52  // 2^-14
		overflow = 0x40effe0000000000 // 65520, the midpoint of Max and 2^16
		drop     = 53 - 11
	)
	b := math.Float64bits(x)
	m := b &^ (1 << 63)
	switch {
	case m < normal:
		const quanta = 0x1p28 // 2^52 quanta of 2^-24
		return math.Copysign(float64(math.Abs(x)+quanta)-quanta, x)
	case m < overflow:
		return math.Float64frombits((b + 1<<(drop-1) - 1 + b>>drop&1) &^ (1<<drop - 1))
	case m <= 0x7ff<<52:
		return math.Copysign(math.Inf(1), x)
	}
	return x
}

// EncodeSlice16 stores the binary16 codes of src in dst, rounding to nearest
// even. It panics if the lengths differ.
func EncodeSlice16(dst []uint16, src []float32) {
	checkLengths("EncodeSlice16", "dst", len(dst), len(src))
	for i, x := range src {
		dst[i] = encode16(x)
	}
}

// DecodeSlice16 stores in dst the numbers that the binary16 codes src
// represent. It panics if the lengths differ.
func DecodeSlice16(dst []float32, src []uint16) {
	checkLengths("DecodeSlice16", "dst", len(dst), len(src))
	for i, c := range src {
		dst[i] = decode16(c)
	}
}

// encode16 is a fast Binary16.Encode(x, ToNearestEven): a binary32 code without
// its last 13 bits and rebiased by 112 is a binary16 code.
func encode16(x float32) uint16 {
	const (
		normal   = (127 - 14) << 23
		overflow = 0x477ff000 // 65520
		rebias   = (127 - 15) << 10
		half     = 0x1p-1 // 2^23 quanta of 2^-24
	)
	b := math.Float32bits(x)
	sign, m := uint16(b>>16)&0x8000, b&^signBit32
	switch {
	case m < normal:
		return sign | uint16(math.Float32bits(math.Float32frombits(m)+half)-math.Float32bits(half))
	case m < overflow:
		return sign | uint16((m+0xfff+m>>13&1)>>13-rebias)
	case m <= infinity32:
		return sign | 0x7c00
	}
	return 0x7e00
}

// decode16 is a fast Binary16.Decode: multiplication by 2^112 rebiases normal
// and subnormal numbers alike.
func decode16(c uint16) float32 {
	sign, m := uint32(c)&0x8000<<16, uint32(c)&0x7fff
	if m >= 0x7c00 {
		return math.Float32frombits(sign | infinity32 | m<<13)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(m<<13)*0x1p112))
}

// checkLengths panics unless the slice called name has want elements.
func checkLengths(call, name string, n, want int) {
	if n != want {
		panic(fmt.Sprintf("tcore: %s: %s has %d elements, want %d", call, name, n, want))
	}
}
