package tcore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"gonum.org/v1/gonum/blas/blas32"
)

// flushedCode is flushedFMA of codes of binary32.
func flushedCode(x, y, z uint32) uint32 {
	kept := func(code uint32) float64 {
		v := Binary32.Decode(uint64(code))
		if v != v {
			v = keptNaN(Binary32, uint64(code))
		}
		return v
	}
	r := flushedFMA(kept(x), kept(y), kept(z))
	if r != r {
		return uint32(codeOfNaN(Binary32, r))
	}
	return math.Float32bits(float32(r))
}

// The results of a flushed FMA at its edges, as a processor returns them.
func TestFlushedFMA(t *testing.T) {
	const (
		one, two       = 0x3f800000, 0x40000000
		zero, negative = 0, 1 << 31
		least          = 0x00800000 // 2^-126
		inf            = 0x7f800000
	)
	for _, c := range []struct {
		name          string
		x, y, z, want uint32
	}{
		{"a subnormal factor is a zero", 0x007fffff, two, zero, zero},
		{"a subnormal addend is a zero of its sign", negative, one, negative | 1, negative},
		{"subnormal times infinity is invalid", 1, inf, one, 0xffc00000},
		{"2^-126 stays", least, one, zero, least},
		{"what rounds to 2^-126 with 24 bits stays", 0x3f7ffffe, 0x00800001, zero, least},
		{"the number of 24 bits below 2^-126 is a zero", 0x3f7fffff, least, zero, zero},
		{"a sum below 2^-126 is a zero", 0x00800001, one, negative | 0x00800000, zero},
		{"a negative sum above -2^-126 is a negative zero", negative | 0x00800001, one, 0x00800000, negative},
		{"+0 from opposite zeros", negative, one, zero, zero},
		{"-0 from two negative zeros", negative, one, negative, negative},
		{"+0 from numbers that cancel", one, one, negative | one, zero},
		{"infinity on overflow", 0x7f7fffff, two, zero, inf},
		{"an infinity minus another is invalid", inf, one, negative | inf, 0xffc00000},
		{"the first of three NaN", 0x7fc00001, 0xffc00002, 0x7fc00003, 0x7fc00001},
		{"the second where the first is a number", one, 0xffc00002, 0x7fc00003, 0xffc00002},
		{"a NaN in place of invalid", inf, zero, 0x7fc00003, 0x7fc00003},
		{"a signalling NaN is made quiet", one, one, 0x7f800001, 0x7fc00001},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := flushedCode(c.x, c.y, c.z); got != c.want {
				t.Errorf("%#x × %#x + %#x = %#x, want %#x", c.x, c.y, c.z, got, c.want)
			}
		})
	}
}

// Around 2^-126 the flushed FMA is that of the oracle, which rounds with
// integers: what rounds to 2^-126 is kept, and the next lower number is not.
func TestFlushedFMANearTheLeastNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(241118747, 16))
	kept, lost := 0, 0
	for range 200000 {
		x := math.Ldexp(1-math.Ldexp(float64(r.IntN(5)), -24), -63)
		y := math.Ldexp(1+math.Ldexp(float64(r.IntN(5)), -23), -63)
		z := math.Ldexp(float64(r.IntN(3)-1), -126-r.IntN(2))
		x, y, z = float64(float32(x)), float64(float32(y)), flush(Binary32, z)
		got, want := flushedFMA(x, y, z), oracleFlushed(x, y, z)
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%x × %x + %x = %x, want %x", x, y, z, got, want)
		}
		if z == 0 && x*y < 0x1p-126 {
			if kept++; got == 0 {
				kept--
				lost++
			}
		}
	}
	if kept < 1000 || lost < 1000 {
		t.Errorf("%d kept, %d lost, want many of both", kept, lost)
	}
}

// Products near 2^-126 agree with Dot where sums come within an ulp of it, or
// of 24 bits of any exponent, in all chains and in their sums: what is below
// before it is rounded and not after is no zero, and the next number is.
func TestFlushedSumsNearTheLeastNormal(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(241118747, 17))
		small := func(rows, cols int, exponents ...int) blas32.General {
			m := zeros(rows, cols)
			for i := range m.Data {
				if e := exponents[r.IntN(len(exponents))]; r.IntN(4) > 0 {
					m.Data[i] = float32(math.Ldexp(1+float64(r.IntN(4)/3*r.IntN(128))/128, e)) * float32(1-2*r.IntN(2))
				}
			}
			return m
		}
		least := 0
		for _, d := range []Device{AMXBF16, AVX512BF16} {
			for range 20 {
				a, b := small(15, 40, -63, -63, -64, -75, -76, -87, -88), small(40, 33, -63, -63, -64)
				c := small(15, 33, -126, -127, -130)
				compareProduct(t, r, d, a, b, c, 33)
				z := zeros(15, 33)
				d.MultiplyAdd(a, b, c, z)
				for _, v := range z.Data {
					least += count(v == 0x1p-126 || v == -0x1p-126)
				}
			}
		}
		if least < 30 {
			t.Errorf("%d results are 2^-126, want more", least)
		}
	})
}

// The routines of flushed sums do so with zeros of their sign, and Go code
// after them has subnormal numbers.
func TestFlushedSumsRestoreControl(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, d := range []Device{AMXBF16, AVX512BF16} {
			a, b, c, z := zeros(1, 32), zeros(32, 1), zeros(1, 1), zeros(1, 1)
			a.Data[30], b.Data[30], a.Data[31], b.Data[31], c.Data[0] = 0x1p-64, -0x1p-64, 0x1p-64, -0x1p-64, -0x1p-140
			d.MultiplyAdd(a, b, c, z)
			if math.Float32bits(z.Data[0]) != 1<<31 {
				t.Errorf("%s: -2^-128 - 2^-128 - 2^-140 = %x, want -0", d.Name, z.Data[0])
			}
			if v := a.Data[30] * b.Data[30]; v != -0x1p-128 {
				t.Errorf("%s: afterwards 2^-64 × -2^-64 = %x", d.Name, v)
			}
		}
	})
}

// The cores of Intel refuse what their instructions do not have.
func TestFlushedCoresRefuse(t *testing.T) {
	for _, c := range []struct {
		want string
		d    Device
	}{
		{`tcore: device "odd": EvenOdd of 3 terms of bfloat16 × bfloat16 in binary32, want an even number, numbers of binary32, and binary32`,
			Device{Name: "odd", A: BFloat16, B: BFloat16, C: Binary32, Core: EvenOdd{Terms: 3}}},
		{`tcore: device "wide": OddFirst of 2 terms of binary64 × bfloat16 in binary32, want an even number, numbers of binary32, and binary32`,
			Device{Name: "wide", A: Binary64, B: BFloat16, C: Binary32, Core: OddFirst{}}},
	} {
		panics.Want(t, c.want, func() { c.d.Dot([]float64{1}, []float64{1}, 0) })
	}
}

// ExampleDevice_DotCodes_nan: of several NaN the one of the first factor is
// passed on, with its payload.
func ExampleDevice_DotCodes_nan() {
	fmt.Printf("%#x\n", AVX512BF16.DotCodes([]uint64{0x3f80, 0x7fc1}, []uint64{0xffc2, 0x3f80}, 0x7fc00003))
	// Output: 0xffc20000
}

// A processor returns the payload of a NaN among the factors, a GPU does not.
func ExampleDevice_KeepsNaN() {
	fmt.Println(AMXBF16.KeepsNaN(), HopperF16.KeepsNaN())
	// Output: true false
}
