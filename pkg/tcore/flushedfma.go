package tcore

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/fma"
)

// flushedFMA returns fl(xy + z) in binary32 as dot products of Intel processors
// compute it, whatever their control register says. Subnormal operands count as
// zeros of their sign. The exact result is rounded once, to nearest even, to 24
// bits without regard to its exponent; if it is then below 2^-126, it is a zero
// of its sign. Of several NaN the first of x, y, z is returned, made quiet, and
// an invalid operation returns the NaN 0xffc00000 (Intel 2024; the order of the
// NaN and the threshold were found by comparison with a processor). Operands
// are numbers of binary32, and a NaN is one of [keptNaN].
func flushedFMA(x, y, z float64) float64 {
	x, y, z = flushed(x), flushed(y), flushed(z)
	s := fma.ToOdd(fma.TwoSum(float64(x*y), z))
	const least = 0x1p-126 - 0x1p-151 // what rounds to 2^-126
	switch {
	case s != s:
		return nanOf(x, y, z)
	case math.Abs(s) < least:
		return signed(0, math.Signbit(s))
	}
	return float64(float32(s))
}

// flushed is flush for f = binary32.
func flushed(x float64) float64 {
	if math.Abs(x) < 0x1p-126 {
		return signed(0, math.Signbit(x))
	}
	return x
}

// The quiet bit of a NaN in binary64, and the NaN of invalid operations.
const (
	quietBit   = 1 << 51
	invalidNaN = 0xfff8 << 48
)

// nanOf returns the first of the operands of an FMA that is a NaN, made quiet,
// or that of an invalid operation.
func nanOf(x, y, z float64) float64 {
	for _, v := range [...]float64{x, y, z} {
		if v != v {
			return quiet(v)
		}
	}
	return math.Float64frombits(invalidNaN)
}

// quiet returns a NaN with its quiet bit set.
func quiet(x float64) float64 { return math.Float64frombits(math.Float64bits(x) | quietBit) }

// keptNaN returns, for the code of a NaN of f, a NaN whose sign and leading
// bits in binary64 are those of the code.
func keptNaN(f Format, code uint64) float64 {
	fraction := f.Precision - 1
	neg, rest := code>>(f.Bits()-1), code&(1<<fraction-1)
	return math.Float64frombits(neg<<63 | 0x7ff<<52 | rest<<(52-fraction))
}

// codeOfNaN returns the code of f that keptNaN takes to x.
func codeOfNaN(f Format, x float64) uint64 {
	fraction, z := f.Precision-1, math.Float64bits(x)
	return z>>63<<(f.Bits()-1) | f.topExponent()<<fraction | z&(1<<52-1)>>(52-fraction)
}

// keepsNaN reports whether results of the core that are NaN depend on those
// among the operands.
func keepsNaN(c Core) bool {
	switch c := c.(type) {
	case EvenOdd, OddFirst:
		return true
	case Chain:
		return c.NaN != OneNaN
	}
	return false
}

// KeepsNaN reports whether a result that is NaN has the payload of an operand,
// as those of Intel's dot products have. Otherwise all NaN of the device are
// one.
func (d Device) KeepsNaN() bool { return d.NaN == 0 && keepsNaN(d.Core) }

// checkFlushed panics unless the device has factors that are numbers of
// binary32, sums in binary32, and an even number of terms in a block.
func checkFlushed(d *Device, core string, terms int) {
	if terms%2 != 0 || !d.C.Equal(Binary32) || !Binary32.contains(d.A) || !Binary32.contains(d.B) {
		panic(fmt.Sprintf("tcore: device %q: %s of %d terms of %s × %s in %s, want an even number, numbers of binary32, and binary32",
			d.Name, core, terms, d.A.Name, d.B.Name, d.C.Name))
	}
}
