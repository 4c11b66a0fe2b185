package tcore

import (
	"math"
	"testing"
)

// Decode agrees with independent definitions: Go's own formats, whose leading
// bits are other formats, and the equations and tables of the specifications.
func TestDecode(t *testing.T) {
	float32Of := func(shift int) func(uint64) float64 {
		return func(c uint64) float64 { return float64(math.Float32frombits(uint32(c << shift))) }
	}
	nan := func(number func(uint64) float64, mask, code uint64) func(uint64) float64 {
		return func(c uint64) float64 {
			if c&mask == code {
				return math.NaN()
			}
			return number(c)
		}
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
		{E4M3, 1, nan(small(4, 3, 7), 0x7f, 0x7f)},
		{E4M3FNUZ, 1, nan(small(4, 3, 8), 0xff, 0x80)},
		{E5M2FNUZ, 1, nan(small(5, 2, 16), 0xff, 0x80)},
		{E3M2, 1, small(3, 2, 3)},
		{E2M3, 1, small(2, 3, 1)},
		{E2M1, 1, small(2, 1, 1)},
		{E8M0, 1, nan(func(c uint64) float64 { return math.Ldexp(1, int(c)-127) }, 0xff, 0xff)},
		{UE4M3, 1, nan(func(c uint64) float64 { return small(4, 3, 7)(c & 0x7f) }, 0x7f, 0x7f)},
	} {
		t.Run(tt.f.Name, func(t *testing.T) {
			last := uint64(math.MaxUint64) >> (64 - tt.f.Bits())
			for c := uint64(0); c <= last && c < math.MaxUint64-tt.step; c += tt.step {
				if got, want := tt.f.Decode(c), tt.number(c); !same(got, want) {
					t.Fatalf("Decode(%#x) = %v, want %v", c, got, want)
				}
			}
		})
	}
}

// small is the definition of the OCP specifications, as an equation: e bits of
// biased exponent, m bits of significand, no special codes.
func small(e, m, bias int) func(uint64) float64 {
	return func(c uint64) float64 {
		exponent, fraction := int(c>>m&(1<<e-1)), math.Ldexp(float64(c&(1<<m-1)), -m)
		v := math.Ldexp(1+fraction, exponent-bias)
		if exponent == 0 {
			v = math.Ldexp(fraction, 1-bias)
		}
		return signed(v, c>>(e+m) != 0)
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
		for _, f := range formats {
			if f.Bits() > 20 {
				continue
			}
			for c := range uint64(1) << f.Bits() {
				x := f.Decode(c)
				want := c
				if f.Sign == SignIgnored {
					want &= 0x7f
				}
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
			{E4M3FNUZ, -1e-9, ToNearestEven, 0},
			{E4M3FNUZ, math.NaN(), ToNearestEven, 0x80},
			{E4M3FNUZ, 248, ToNearestEven, 0x80},
			{E5M2FNUZ, 57344, ToNearestEven, 0x7f},
			{E2M1, 100, ToNearestEven, 7},
			{E2M1, math.NaN(), ToNearestEven, 7},
			{E2M1, -0.3, ToNearestEven, 9},
			{E8M0, 1, ToNearestEven, 127},
			{E8M0, 1.5, ToNearestEven, 128},
			{E8M0, 1.99, ToZero, 127},
			{E8M0, 0, ToNearestEven, 0},
			{E8M0, -1, ToNearestEven, 255},
			{UE4M3, 1, ToNearestEven, 0x38},
			{UE4M3, -1, ToNearestEven, 0x7f},
			{UE4M3, -1e-9, ToNearestEven, 0},
			{TF32, 1.0 / 3, ToNearestEven, 0x1f555},
			{Binary64, math.Inf(-1), ToNearestEven, 0xfff0000000000000},
		} {
			if got := tt.f.Encode(tt.x, tt.mode); got != tt.want {
				t.Errorf("%s: Encode(%v, %v) = %#x, want %#x", tt.f.Name, tt.x, tt.mode, got, tt.want)
			}
		}
	})
}

// The constants of IEEE 754, table 3.5; OCP OFP8, table 1; OCP MX, tables 2 to
// 6; and for fnuz those of the types' published tables.
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
		{E4M3FNUZ, 8, 0x1p-4, 240, 0x1p-7, 0x1p-10},
		{E5M2FNUZ, 8, 0x1p-3, 57344, 0x1p-15, 0x1p-17},
		{E3M2, 6, 0x1p-3, 28, 0.25, 0.0625},
		{E2M3, 6, 0x1p-4, 7.5, 1, 0.125},
		{E2M1, 4, 0x1p-2, 6, 1, 0.5},
		{E8M0, 8, 0x1p-1, 0x1p127, 0x1p-127, 0x1p-127},
		{UE4M3, 8, 0x1p-4, 448, 0x1p-6, 0x1p-9},
	} {
		f := tt.f
		if f.Bits() != tt.bits || f.UnitRoundoff() != tt.u || f.Max() != tt.max ||
			f.MinNormal() != tt.minNormal || f.MinSubnormal() != tt.minSubnormal {
			t.Errorf("%s: %d bits, u = %g, max %g, min normal %g, min subnormal %g; want %+v", f.Name,
				f.Bits(), f.UnitRoundoff(), f.Max(), f.MinNormal(), f.MinSubnormal(), tt)
		}
	}
}
