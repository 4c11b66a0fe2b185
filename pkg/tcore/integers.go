package tcore

import "math"

// integerKernel computes products of numbers of narrow formats as integers. Its
// tiles have rows × columns sums; strides are in bytes.
type integerKernel struct {
	rows, columns int

	// Sums of bytes without any rounding, for [integerSum]: z is start + ab times
	// the unit, for terms in fours. Two products must be less than pair.
	pair       float32
	sumBytes   func(z *float32, ldz int, a *uint8, lda int, b *int8, start *int32, quads int, unit *float32)
	rowBytes   func(dst *uint8, most, src *float32, n int, p *uint32)
	panelBytes func(dst *int8, sum *int32, most, src *float32, stride, quads int, p *uint32)

	// Sums of blocks of words, each rounded toward zero, for [integerBlocks]. It
	// returns how many blocks are left when a limit is exceeded.
	addBlocks  func(c *float32, a *int16, lda int, ta *float32, b *int16, limit *float32, blocks int, p *uint32) int
	rowWords   func(dst *int16, low, top *float32, step int, src *float32, blocks int, p *uint32)
	panelWords func(dst *int16, top, rounded, src *float32, stride int, p *uint32)
}

// packConstants contains the constants of the packing of numbers of a narrow
// format, bits of binary32 and integers.
type packConstants struct {
	field   uint32 // mask of the exponent field
	emin    uint32 // bits of 2^Emin
	magic   uint32 // bits of 1.5 × 2^(24-p), as a factor
	most    float32
	least   float32
	units   float32 // 2^-u for the least number 2^u
	size    uint32  // mask of all bits but the sign
	digits  uint32  // p-1 in the exponent field
	nothing uint32  // what is less by 1 than the bits of emptyUnit × 2^(p-1)
	twice   uint32  // the exponent field of 1, twice
	bias    int32   // what is added to the bytes of a row
	byte    uint32
	word    uint32
	ones    uint32
}

// emptyUnit is the exponent of the unit of a block of zeros.
const emptyUnit = 60

// newPackConstants returns the constants for numbers of f and bytes with the
// given bias. Numbers beyond the greatest become ±Max if f has no infinities
// and no NaN, and stay beyond it if it has.
func newPackConstants(f Format, bias int) packConstants {
	most := math.Inf(1)
	if f.Specials == FiniteOnly {
		most = f.Max()
	}
	digits := uint32(f.Precision-1) << 23
	return packConstants{
		field:   infinity32,
		emin:    exponentBits(f.Emin),
		magic:   uint32(Binary32.Precision-f.Precision)<<23 | 1<<22,
		most:    float32(most),
		least:   -float32(most),
		units:   float32(exp2(-f.minQuantum())),
		size:    signBit32 - 1,
		digits:  digits,
		nothing: exponentBits(emptyUnit) + digits - 1,
		twice:   2 * 127 << 23,
		bias:    int32(bias),
		byte:    1<<8 - 1,
		word:    1<<16 - 1,
		ones:    1<<32 - 1,
	}
}

// integerCore returns the core of d if its sums of narrow numbers are, where it
// cuts nothing, exact sums that are rounded toward zero to binary32.
func (d *Device) integerCore() (f Fused, ok bool) {
	narrow := func(f Format) bool {
		return f.Sign == Signed && f.Subnormals == Kept && f.Specials != FNUZ && f.Precision <= 8 && f.Emax-f.Emin < 40
	}
	f, ok = d.Core.(Fused)
	return f, ok && f.Group == 0 && f.Rounding == ToZero && f.Result.Equal(Binary32) && d.C.Equal(Binary32) &&
		d.Convert == ToNearestEven && narrow(d.A) && narrow(d.B)
}

// integerCache is the number of bytes of rows that stay in the cache while they
// are multiplied by all panels.
const integerCache = 1 << 19
