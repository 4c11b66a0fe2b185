package tcore

import (
	"math"
	"sort"
	"testing"
)

// narrowOracle is an oracle for formats of at most 16 bits, fast enough for
// exhaustive tests: their numbers, midpoints and the numbers that would follow
// Max are numbers of binary64.
type narrowOracle struct {
	f, plain Format
	numbers  []float64 // by code
}

func newNarrowOracle(f Format) narrowOracle {
	o := narrowOracle{f: f, plain: withoutChoices(f)}
	for code := range greatestCode(o.plain) + 1 {
		o.numbers = append(o.numbers, o.plain.Decode(uint64(code)))
	}
	return o
}

func (o narrowOracle) round(x float64, mode RoundingMode) float64 {
	neg, mag, last := math.Signbit(x), math.Abs(x), len(o.numbers)-1
	switch {
	case math.IsNaN(x) && o.f.Specials == FiniteOnly:
		return o.numbers[last]
	case math.IsNaN(x):
		return x
	case math.IsInf(x, 0):
		return withChoices(o.f, oraclePick(o.plain, last, last, true, neg), neg)
	case x == 0:
		return oracleZero(o.f, neg)
	}
	low := sort.Search(last+1, func(code int) bool { return o.numbers[code] > mag }) - 1
	if low < 0 || o.numbers[low] == mag {
		return withChoices(o.f, signed(o.numbers[max(low, 0)], neg), neg)
	}
	gap, _ := gapAbove(o.plain, low, last).Float64()
	side := 0
	switch middle := o.numbers[low] + gap/2; {
	case mag < middle:
		side = -1
	case mag > middle:
		side = 1
	}
	up := oracleUp(o.plain, low, last, side, neg, false, mode)
	return withChoices(o.f, oraclePick(o.plain, low, last, up, neg), neg)
}

// narrow returns the formats of at most 16 bits, and those of at most 8 bits
// with all values of Overflow and Subnormals.
func narrow() []Format {
	var list []Format
	for _, f := range formats {
		if w := f.Bits(); 8 < w && w <= 16 {
			list = append(list, f)
		}
	}
	for _, f := range append(vectorFormats(), E8M0, UE4M3) {
		if f.Bits() <= 8 {
			list = append(list, f)
		}
	}
	flushing := Binary16
	flushing.Subnormals = Flushed
	return append(list, flushing)
}

// Round agrees with the oracle in all modes on all numbers, midpoints and
// quarters, and on the binary64 numbers next to them. By monotonicity it then
// agrees on all numbers.
func TestRoundEverywhere(t *testing.T) {
	for _, f := range narrow() {
		o, step := newNarrowOracle(f), 1
		if testing.Short() && f.Bits() > 8 {
			step = 61
		}
		src := around(o.plain, step)
		for _, mode := range modes {
			for _, x := range src {
				if got, want := f.Round(x, mode), o.round(x, mode); !same(got, want) {
					t.Fatalf("%+v: Round(%x, %v) = %x, want %x", f, x, mode, got, want)
				}
			}
		}
	}
}

// Every number of every format of at most 16 bits is converted to every other
// such format as the oracle converts it.
func TestConvertEverything(t *testing.T) {
	var targets []narrowOracle
	for _, f := range narrow() {
		targets = append(targets, newNarrowOracle(f))
	}
	for _, from := range formats {
		w, step := from.Bits(), uint64(1)
		if w > 16 {
			continue
		}
		if testing.Short() && w > 8 {
			step = 251
		}
		for code := uint64(0); code < 1<<w; code += step {
			x := from.Decode(code)
			for _, to := range targets {
				for _, mode := range modes {
					want := to.round(x, mode)
					if got := to.f.Decode(to.f.Encode(x, mode)); !same(got, want) {
						t.Fatalf("%s %#x = %v to %+v, %v: %v, want %v", from.Name, code, x, to.f, mode, got, want)
					}
				}
			}
		}
	}
}

// A format that flushes subnormals has no numbers between 0 and 2^Emin: a
// number that would be rounded to a subnormal becomes zero, and one that is
// rounded up to 2^Emin remains 2^Emin.
func TestFlushed(t *testing.T) {
	f := Binary16
	f.Subnormals = Flushed
	const least = 0x1p-14
	negZero := math.Copysign(0, -1)
	for _, tt := range []struct {
		x    float64
		mode RoundingMode
		want float64
	}{
		{least, ToNearestEven, least},
		{least - 0x1p-24, ToNearestEven, 0},
		{-least + 0x1p-24, ToNearestEven, negZero},
		{least - 0x1p-25, ToNearestEven, least}, // a tie: 2^-14 is even
		{least - 0x1p-26, ToNearestEven, least},
		{least - 0x1p-26, ToZero, 0},
		{-least + 0x1p-26, ToZero, negZero},
		{0x1p-24, ToPositive, 0},
		{0x1p-30, ToPositive, 0},
		{-0x1p-30, ToNegative, negZero},
		{least - 0x1p-26, ToPositive, least},
		{negZero, ToNearestEven, negZero},
	} {
		if got := f.Round(tt.x, tt.mode); !same(got, tt.want) {
			t.Errorf("Round(%x, %v) = %x, want %x", tt.x, tt.mode, got, tt.want)
		}
	}
	if got := f.Mul(0x1p-10, 0x1p-10, ToNearestEven); got != 0 {
		t.Errorf("2^-10 × 2^-10 = %v, want 0", got)
	}
	if got := f.Add(3*0x1p-15, -0x1p-14, ToNearestEven); got != 0 {
		t.Errorf("3 × 2^-15 - 2^-14 = %v, want 0", got)
	}
	if got := f.Decode(0x83ff); !same(got, negZero) {
		t.Errorf("Decode(0x83ff) = %v, want -0", got)
	}
	if got := f.MinSubnormal(); got != least {
		t.Errorf("MinSubnormal() = %v, want %v", got, least)
	}
}
