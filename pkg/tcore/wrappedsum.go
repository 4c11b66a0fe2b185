package tcore

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/parallel"
)

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

// gridOfIntegers is GridCodes of a WrappedSum, which does not depend on blocks:
// sums modulo 2^32 have the same result in every order.
func (d *Device) gridOfIntegers(k int, x, y, c, z []uint64) {
	a, b := d.integers(d.A, x), d.integers(d.B, y)
	n := len(b) / k
	parallel.Ranges(len(a)/k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := a[i*k : (i+1)*k]
			for j := range n {
				if c[i*n+j]>>32 != 0 {
					d.decode(d.C, c[i*n+j]) // panics
				}
				sum := int32(uint32(c[i*n+j]))
				for l, v := range b[j*k:][:len(row)] {
					sum += row[l] * v
				}
				z[i*n+j] = uint64(uint32(sum))
			}
		}
	})
}

// integers returns the integers that codes of f, int8 or uint8, represent.
func (d *Device) integers(f Format, codes []uint64) []int32 {
	var numbers [256]int32
	for code := range numbers {
		numbers[code] = int32(d.decode(f, uint64(code)))
	}
	z := make([]int32, len(codes))
	for i, code := range codes {
		if code >= uint64(len(numbers)) {
			d.decode(f, code) // panics
		}
		z[i] = numbers[code]
	}
	return z
}
