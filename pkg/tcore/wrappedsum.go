package tcore

import "fmt"

// WrappedSum adds the products of a block of integers of 8 bits to c, modulo
// 2^32: TDPBSSD and its kin, the integer instructions of the matrix unit AMX of
// Intel processors (Intel 2024). A result that is a number of int32 is exact.
// This is so if |c| + Σ|xᵢyᵢ| < 2^31, as in a chain from zero of at most 2^15
// products of two uint8, or of at most 2^16 others.
type WrappedSum struct {
	Terms int // number of products in a block
}

func (s WrappedSum) width() int { return s.Terms }

func (s WrappedSum) sum(_ *Device, b block, _ *TraceBlock) float64 {
	z := int64(b.c)
	for i, x := range b.x {
		z += int64(x) * int64(b.y[i])
	}
	return float64(int32(z))
}

func (s WrappedSum) check(d *Device) {
	byteFormat := func(f Format) bool { return f.Equal(INT8) || f.Equal(UINT8) }
	if !byteFormat(d.A) || !byteFormat(d.B) || !d.C.Equal(INT32) {
		panic(fmt.Sprintf("tcore: device %q: WrappedSum of %s × %s in %s, want int8 or uint8, and int32", d.Name, d.A.Name, d.B.Name, d.C.Name))
	}
}
