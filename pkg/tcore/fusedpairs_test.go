package tcore

import (
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

// The results of BFDOT with FPCR.EBF = 1 at its edges, by the text of the
// architecture.
func TestFusedPairs(t *testing.T) {
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
		{"a pair is rounded to nearest", 0x4b80, one, half, half, 0, 0x4b800000},
		{"and a tie to even", 0x4b80, one, one, one, 0, 0x4b800000},
		{"the sum of a pair counts for c, not its products", one, one, one, one, 0x4b800000, 0x4b800001},
		{"a subnormal factor stays", 0x0001, two, 0, one, 0, 0x00020000},
		{"a subnormal c stays", minus, one, minus, one, 0x80000001, 0x80000001},
		{"two products of half the least number are that number", 0x0001, 0x3700, 0x0001, 0x3700, 0, 1},
		{"+0 from numbers that cancel", one, one, minus | one, one, 0x80000000, 0},
		{"-0 from negative zeros alone", minus, one, minus, one, 0x80000000, 0x80000000},
		{"products beyond the range may cancel", 0x7f00, two, minus | 0x7f00, two, 0x3f800000, 0x3f800000},
		{"a sum beyond the range is an infinity", 0x7f00, one, 0x7f00, one, 0, 0x7f800000},
		{"even if c would bring it back", 0x7f00, one, 0x7f00, one, 0xff7fffff, 0x7f800000},
		{"an infinity times zero is the default NaN", minus | inf, 0, one, one, 0, 0x7fc00000},
		{"an infinity times a subnormal number is infinite", inf, 1, one, one, 0, 0x7f800000},
		{"the difference of infinities is the default NaN", inf, one, minus | inf, one, 0, 0x7fc00000},
		{"and so is any NaN", 0xffc1, one, one, one, 0xffc00002, 0x7fc00000},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ArmEBF16.DotCodes([]uint64{c.x0, c.x1}, []uint64{c.y0, c.y1}, c.c); got != c.want {
				t.Errorf("%#x, want %#x", got, c.want)
			}
		})
	}
	panics.Want(t, `tcore: device "wide": FusedPairs of 2 terms of binary32 × binary16 in binary32, want an even number, numbers of binary32, and products of no more bits than sums`, func() {
		Device{Name: "wide", A: Binary32, B: Binary16, C: Binary32, Core: FusedPairs{Terms: 2}}.Dot([]float64{1}, []float64{1}, 0)
	})
	panics.Want(t, `tcore: device "three": FusedPairs of 3 terms of binary16 × binary16 in binary32, want an even number, numbers of binary32, and products of no more bits than sums`, func() {
		Device{Name: "three", A: Binary16, B: Binary16, C: Binary32, Core: FusedPairs{Terms: 3}}.Dot([]float64{1}, []float64{1}, 0)
	})
}

// A BFMMLA is two BFDOT, one after the other, and has a second pair of zeros
// where one pair is left.
func TestBlocksOfTwoPairs(t *testing.T) {
	x, y := []uint64{0x3f80, 0x4b80, 0xbf80, 0x3f00}, []uint64{0x3f81, 0x3f80, 0x4b81, 0x3f80}
	want := ArmBF16.DotCodes(x[2:], y[2:], ArmBF16.DotCodes(x[:2], y[:2], 0x40490fdb))
	if got := ArmMMLABF16.DotCodes(x, y, 0x40490fdb); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	minus := []uint64{0x8000, 0x8000}
	one := []uint64{0x3f80, 0x3f80}
	if dot, mmla := ArmBF16.DotCodes(minus, one, 1<<31), ArmMMLABF16.DotCodes(minus, one, 1<<31); dot != 1<<31 || mmla != 0 {
		t.Errorf("%#x and %#x, want -0 of one pair and 0 of a second one", dot, mmla)
	}
}

// Both roundings of a pair are among the sums, unless a term is zero.
func TestRoundedSumsOfFusedPairs(t *testing.T) {
	x, y := []float64{4096, 1, -4096, 1, 1, 0}, []float64{4096, 1, 4096, 1, 1, 1}
	want := []float64{1 << 24, 1 - 1<<24, 1, 2}
	if got := ArmMOPAF16.RoundedSums(x, y); !slices.Equal(got.Sums, want) || got.Flushed != 0 {
		t.Errorf("%v, want the sums %v", got, want)
	}
}
