package tcore

import (
	"math"
	"testing"
)

// The results of FDOT of 8-bit numbers at its edges, by the text of the
// architecture.
func TestExactSum_of_Arm(t *testing.T) {
	const (
		one, half = 0x3c, 0x38 // of e5m2
		least     = 0x01       // 2^-16
		greatest  = 0x7b       // 57344
		inf, nan  = 0x7c, 0x7e
		minus     = 0x80
		wide      = 1 << 31
	)
	type sum struct {
		name           string
		x0, y0, x1, y1 uint64
		c, want        uint64
	}
	check := func(t *testing.T, d Device, c sum) {
		t.Run(c.name, func(t *testing.T) {
			x, y := []uint64{c.x0, c.x1, 0, 0}, []uint64{c.y0, c.y1, 0, 0}
			if c.c>>(d.C.Bits()-1) == 1 { // the other products are -0 too
				x[2], x[3] = minus, minus
			}
			w := d.BlockTerms()
			if got := d.DotCodes(x[:w], y[:w], c.c); got != c.want {
				t.Errorf("%#x, want %#x", got, c.want)
			}
		})
	}
	for _, c := range []sum{
		{"no bit of a product is lost before the sum", greatest, greatest, minus | greatest, greatest, 1, 1},
		{"nor of the least product", greatest, one, least, least, 0, 0x47600000},
		{"a tie goes to even", one, one, 0, 0, 0x4b800000, 0x4b800000},
		{"and is none beside the least product", one, one, least, least, 0x4b800000, 0x4b800001},
		{"+0 from numbers that cancel", one, one, minus | one, one, wide, 0},
		{"-0 from negative zeros alone", minus, one, minus, one, wide, wide},
		{"+0 from zeros of both signs", minus, one, 0, one, wide, 0},
		{"+0 from c of the other sign", minus, one, minus, one, 0, 0},
		{"a subnormal c stays", minus, one, minus, one, wide | 1, wide | 1},
		{"an infinity times zero is the default NaN", minus | inf, 0, one, one, 0, 0x7fc00000},
		{"the difference of infinities is the default NaN", inf, one, minus | inf, one, 0, 0x7fc00000},
		{"and so is any NaN", nan, one, one, one, 0xffc00002, 0x7fc00000},
		{"an infinity stays", inf, one, minus | one, one, 0, 0x7f800000},
		{"a sum beyond the range is an infinity", greatest, greatest, 0, 0, 0x7f7fffff, 0x7f7fffff},
	} {
		check(t, ArmE5M2, c)
	}
	for _, c := range []sum{
		{"binary16: a sum beyond the range is an infinity", greatest, one, half, greatest, 0, 0x7c00},
		{"binary16: but not if c brings it back", greatest, one, greatest, one, 0xfb00, 0x7b00},
		{"binary16: a tiny negative sum is -0", minus | least, least, 0, 0, 0, 0x8000},
		{"binary16: a subnormal sum stays", least, one, 0, 0, 0, 0x0100},
	} {
		check(t, ArmE5M2F16, c)
	}
}

// GEMM of SignedZeros keeps -0 of C where all products are -0, as Dot does,
// with vectors and without.
func TestExactSum_keeps_signs_of_zeros(t *testing.T) {
	const m, n = 33, 20
	minus := math.Copysign(0, -1)
	for _, d := range []Device{ArmE5M2, ArmE5M2F16, CDNA1F16} {
		for _, k := range []int{3, 4, 8, 64} {
			a, b, c, z := zeros(m, k), zeros(k, n), zeros(m, n), zeros(m, n)
			x, y := make([]float64, k), make([]float64, k)
			for i := range a.Data {
				a.Data[i] = float32(minus)
			}
			for i := range b.Data {
				b.Data[i] = 1
			}
			for i := range c.Data {
				c.Data[i] = float32(minus)
			}
			for i := range x {
				x[i], y[i] = minus, 1
			}
			want := d.Dot(x, y, minus)
			if negative := k%d.BlockTerms() == 0 && d != CDNA1F16; math.Signbit(want) != negative {
				t.Errorf("%s: K = %d: Dot gives %v", d.Name, k, want)
			}
			d.MultiplyAdd(a, b, c, z)
			for i, got := range z.Data {
				if !same(float64(got), want) {
					t.Fatalf("%s: K = %d: element %d is %v, want %v", d.Name, k, i, got, want)
				}
			}
		}
	}
}
