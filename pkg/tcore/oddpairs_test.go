package tcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

// The results of BFDOT at its edges, by the text of the architecture.
func TestOddPairs(t *testing.T) {
	const (
		one, two, half = 0x3f80, 0x4000, 0x3f00
		least          = 0x0080 // 2^-126
		inf            = 0x7f80
		minus          = 0x8000
	)
	for _, c := range []struct {
		name           string
		x0, y0, x1, y1 uint64
		c, want        uint64
	}{
		{"exact sums stay", one, two, one, one, 0x40000000, 0x40a00000},
		{"what is cut off sets the last bit", 0x4b80, one, half, half, 0, 0x4b800001},
		{"an odd last bit stays", 0, 0, 0, 0, 0x4b800001, 0x4b800001},
		{"below a power of two, a difference is odd", 0x4b80, one, minus | half, half, 0, 0x4b7fffff},
		{"a subnormal factor is a zero", 0x007f, two, 0, one, 0, 0},
		{"a subnormal c is a zero of its sign", minus, one, minus, one, 0x80000001, 0x80000000},
		{"a product below 2^-126 is a zero of its sign", minus | least, 0x3f7f, minus, one, 0x80000000, 0x80000000},
		{"a sum below 2^-126 is a zero of its sign", 0x0081, one, minus | least, one, 0x80000000, 0},
		{"+0 from numbers that cancel", one, one, minus | one, one, 0x80000000, 0},
		{"-0 from negative zeros alone", minus, one, minus, one, 0x80000000, 0x80000000},
		{"the greatest number stays, whatever is added", 0, 0, one, one, 0x7f7fffff, 0x7f7fffff},
		{"a product from 2^128 on is an infinity", 0x7f00, two, 0, one, 0, 0x7f800000},
		{"so is a sum", 0x7f00, one, 0x7f00, one, 0, 0x7f800000},
		{"an infinity times zero is the default NaN", minus | inf, 0, one, one, 0, 0x7fc00000},
		{"so is an infinity times a subnormal number", inf, 1, one, one, 0, 0x7fc00000},
		{"and the difference of infinities", inf, one, minus | inf, one, 0, 0x7fc00000},
		{"and any NaN", 0xffc1, one, one, one, 0xffc00002, 0x7fc00000},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ArmBF16.DotCodes([]uint64{c.x0, c.x1}, []uint64{c.y0, c.y1}, c.c); got != c.want {
				t.Errorf("%#x, want %#x", got, c.want)
			}
		})
	}
	panics.Want(t, `tcore: device "half": OddPairs of 2 terms of binary16 × binary16 in binary32, want an even number, bfloat16 and binary32`, func() {
		Device{Name: "half", A: Binary16, B: Binary16, C: Binary32, Core: OddPairs{Terms: 2}}.Dot([]float64{1}, []float64{1}, 0)
	})
	panics.Want(t, `tcore: device "three": OddPairs of 3 terms of bfloat16 × bfloat16 in binary32, want an even number, bfloat16 and binary32`, func() {
		Device{Name: "three", A: BFloat16, B: BFloat16, C: Binary32, Core: OddPairs{Terms: 3}}.Dot([]float64{1}, []float64{1}, 0)
	})
}

// A chain that passes NaN on returns the first one among x, y and c, made
// quiet, or that of invalid operations; otherwise it is the FMA of IEEE 754.
func TestChainPassesNaN(t *testing.T) {
	const one, inf, least = 0x3c00, 0x7c00, 1
	for _, c := range []struct{ x, y, c, want uint64 }{
		{0x7e01, 0xfe02, 0x7e03, 0x7e01},
		{one, 0xfe02, 0x7e03, 0xfe02},
		{one, one, 0x7d03, 0x7f03},
		{0xfc01, one, one, 0xfe01},
		{inf, 0, 0x7e03, 0x7e03},
		{inf, 0, one, 0xfe00},
		{inf, one, 0xfc00, 0xfe00},
		{least, one, least, 2},
		{0x8000, one, 0x8000, 0x8000},
	} {
		if got := AVX512F16.DotCodes([]uint64{c.x}, []uint64{c.y}, c.c); got != c.want {
			t.Errorf("%#x × %#x + %#x = %#x, want %#x", c.x, c.y, c.c, got, c.want)
		}
	}
}

// Sums of matrices that are rounded to odd agree with Dot where C is so great,
// or unknown, that they may overflow, where a sum is below 2^-126 and where it
// is a zero.
func TestOddPairsAtEdges(t *testing.T) {
	const m, k, n = 9, 6, 40
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(91, 0))
		for _, d := range []Device{ArmBF16, ArmMMLABF16} {
			for _, size := range []float64{0x1p-64, 1, 0x1p61, 0x1p63} {
				a, b, c := zeros(m, k), zeros(k, n), zeros(m, n)
				for _, x := range [][]float32{a.Data, b.Data} {
					for i := range x {
						x[i] = float32(size * float64(rng.IntN(9)-4) / 4) // some products cancel
					}
				}
				for _, great := range []float32{0, 0x1p125, 0x1p127, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN())} {
					for i := range c.Data {
						c.Data[i] = math.MaxFloat32 * float32(rng.IntN(3)-1)
						if great < 0x1p126 {
							c.Data[i] = great * float32(rng.IntN(3)-1)
						}
					}
					c.Data[rng.IntN(len(c.Data))] = great
					compareProduct(t, rng, d, a, b, c, m*n/4)
				}
			}
		}
	})
}
