package tcore

import (
	"math"
	"testing"
)

// Decode against definitions that owe nothing to it: Go's own formats, of which
// the others are leading parts, and for e4m3 the table of the OCP specification.
func TestDecode(t *testing.T) {
	float32Of := func(shift int) func(uint64) float64 {
		return func(c uint64) float64 { return float64(math.Float32frombits(uint32(c << shift))) }
	}
	e4m3 := func(c uint64) float64 {
		e, m := int(c>>3&15), float64(c&7)
		switch {
		case c&0x7f == 0x7f:
			return math.NaN()
		case e == 0:
			return signed(math.Ldexp(m/8, -6), c >= 0x80)
		}
		return signed(math.Ldexp(1+m/8, e-7), c >= 0x80)
	}
	for _, tt := range []struct {
		f      Format
		step   uint64
		number func(uint64) float64
	}{
		{Binary64, 0x3_1415_9265_3589, math.Float64frombits},
		{Binary32, 0x3145, float32Of(0)},
		{TF32, 1, float32Of(13)},
		{BFloat16, 1, float32Of(16)},
		{Binary16, 1, binary16},
		{E5M2, 1, func(c uint64) float64 { return binary16(c << 8) }},
		{E4M3, 1, e4m3},
	} {
		t.Run(tt.f.Name, func(t *testing.T) {
			last := uint64(math.MaxUint64) >> (64 - tt.f.Bits())
			for c := uint64(0); c <= last-tt.step; c += tt.step {
				if got, want := tt.f.Decode(c), tt.number(c); !same(got, want) {
					t.Fatalf("Decode(%#x) = %v, want %v", c, got, want)
				}
			}
		})
	}
}

// binary16 is the definition of IEEE 754, section 3.4, as an equation.
func binary16(c uint64) float64 {
	e, m := int(c>>10&31), float64(c&1023)
	v := math.Ldexp(1+m/1024, e-15)
	switch {
	case e == 0:
		v = math.Ldexp(m/1024, -14)
	case e == 31 && m == 0:
		v = math.Inf(1)
	case e == 31:
		return math.NaN()
	}
	return signed(v, c >= 0x8000)
}

func TestEncode(t *testing.T) {
	t.Run("inverts Decode on all codes in all modes", func(t *testing.T) {
		for _, f := range []Format{Binary16, BFloat16, TF32, E4M3, E5M2} {
			for c := range uint64(1) << f.Bits() {
				x := f.Decode(c)
				want := c
				if math.IsNaN(x) {
					want = f.nanCode()
				}
				for _, mode := range modes {
					if math.IsInf(x, 0) && f.Overflow != ToInfinity {
						continue
					}
					if got := f.Encode(x, mode); got != want {
						t.Fatalf("%s: Encode(Decode(%#x), %v) = %#x", f.Name, c, mode, got)
					}
				}
			}
		}
	})
	t.Run("inverts Decode on wide formats", func(t *testing.T) {
		for c := uint64(0); c < 1<<32; c += 0x3145 {
			if x := float64(math.Float32frombits(uint32(c))); !math.IsNaN(x) && Binary32.Encode(x, ToOdd) != c {
				t.Fatalf("binary32: Encode(Decode(%#x)) = %#x", c, Binary32.Encode(x, ToOdd))
			}
			d := c<<32 | c
			if x := math.Float64frombits(d); !math.IsNaN(x) && Binary64.Encode(x, ToZero) != d {
				t.Fatalf("binary64: Encode(Decode(%#x)) = %#x", d, Binary64.Encode(x, ToZero))
			}
		}
	})
	t.Run("rounds", func(t *testing.T) {
		for _, tt := range []struct {
			f    Format
			x    float64
			mode RoundingMode
			want uint64
		}{
			{Binary16, 1, ToNearestEven, 0x3c00},
			{Binary16, math.Copysign(0, -1), ToNearestEven, 0x8000},
			{Binary16, 0x1p-25, ToNearestEven, 0},
			{Binary16, 0x1p-25, ToPositive, 1},
			{Binary16, 1e9, ToNearestEven, 0x7c00},
			{Binary16, 1e9, ToZero, 0x7bff},
			{Binary16, math.NaN(), ToZero, 0x7e00},
			{E4M3, 448, ToNearestEven, 0x7e},
			{E4M3, -465, ToNearestEven, 0x7f},
			{E4M3, -465, ToZero, 0xfe},
			{TF32, 1.0 / 3, ToNearestEven, 0x1f555},
			{Binary64, math.Inf(-1), ToNearestEven, 0xfff0000000000000},
		} {
			if got := tt.f.Encode(tt.x, tt.mode); got != tt.want {
				t.Errorf("%s: Encode(%v, %v) = %#x, want %#x", tt.f.Name, tt.x, tt.mode, got, tt.want)
			}
		}
	})
}

// The constants of IEEE 754, table 3.5, and of OCP OFP8, table 1.
func TestFormat(t *testing.T) {
	for _, tt := range []struct {
		f                               Format
		bits                            int
		u, max, minNormal, minSubnormal float64
	}{
		{Binary16, 16, 0x1p-11, 65504, 0x1p-14, 0x1p-24},
		{BFloat16, 16, 0x1p-8, 0x1.fep127, 0x1p-126, 0x1p-133},
		{TF32, 19, 0x1p-11, 0x1.ffcp127, 0x1p-126, 0x1p-136},
		{Binary32, 32, 0x1p-24, math.MaxFloat32, 0x1p-126, math.SmallestNonzeroFloat32},
		{Binary64, 64, 0x1p-53, math.MaxFloat64, 0x1p-1022, math.SmallestNonzeroFloat64},
		{E4M3, 8, 0x1p-4, 448, 0x1p-6, 0x1p-9},
		{E5M2, 8, 0x1p-3, 57344, 0x1p-14, 0x1p-16},
	} {
		f := tt.f
		if f.Bits() != tt.bits || f.UnitRoundoff() != tt.u || f.Max() != tt.max ||
			f.MinNormal() != tt.minNormal || f.MinSubnormal() != tt.minSubnormal {
			t.Errorf("%s: %d bits, u = %g, max %g, min normal %g, min subnormal %g; want %+v", f.Name,
				f.Bits(), f.UnitRoundoff(), f.Max(), f.MinNormal(), f.MinSubnormal(), tt)
		}
	}
}
