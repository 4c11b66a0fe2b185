package tcore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// vectorFormats returns the formats of the vector code, with all values of
// Overflow, with and without flushing.
func vectorFormats() []Format {
	var list []Format
	for _, f := range formats {
		for _, overflow := range []Overflow{ToInfinity, Saturate, ToNaN} {
			for _, subnormals := range []Subnormals{Kept, Flushed} {
				if g := f; g.Sign == Signed {
					g.Overflow, g.Subnormals = overflow, subnormals
					list = append(list, g)
				}
			}
		}
	}
	return list
}

// rare contains operands that the vector code handles separately: NaNs with and
// without payload, signaling, infinities, zeros, and the extremes of binary64.
var rare = []float64{
	math.NaN(), math.Float64frombits(0xfff8000000000123), math.Float64frombits(0x7ff0000000000001),
	math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 5e-324, -5e-324, 0x1p-1022, -0x1.fffffffffffffp-1023,
	math.MaxFloat64, -math.MaxFloat64, 0x1p1023, 1, -1,
}

// around returns the numbers of a format at which rounding changes: its own,
// the midpoints and quarters between two, and the binary64 neighbours of these,
// with either sign, also beyond the greatest one.
func around(f Format, step int) []float64 {
	list := append([]float64{}, rare...)
	add := func(x float64) {
		for _, y := range []float64{math.Nextafter(x, 0), x, math.Nextafter(x, math.Inf(1))} {
			list = append(list, y, -y)
		}
	}
	last := greatestCode(f)
	for c := 0; c < last; c += step {
		low, high := f.Decode(uint64(c)), f.Decode(uint64(c+1))
		add(low)
		add(low + (high-low)/2)
		add(low + (high-low)/4)
	}
	most, before := f.Decode(uint64(last)), f.Decode(uint64(last-1))
	for i := range 5 {
		add(most + (most-before)*float64(i)/4)
	}
	add(f.MinNormal())
	return append(list, math.Ldexp(f.Max(), 1), math.Ldexp(f.Max(), 2), -math.Ldexp(f.Max(), 3))
}

func checkBits(t *testing.T, f Format, what string, x, got, want float64) {
	if math.Float64bits(got) != math.Float64bits(want) {
		t.Helper()
		t.Fatalf("%+v: %s of %x (%#x) is %x (%#x), want %x (%#x)", f, what, x, math.Float64bits(x),
			got, math.Float64bits(got), want, math.Float64bits(want))
	}
}

// onEveryRoundWidth calls test with the vector instructions of every width that
// the machine has.
func onEveryRoundWidth(test func()) {
	best := roundBits
	defer func() { roundBits = best }()
	for _, roundBits = range []int{256, 512} {
		if roundBits <= best {
			test()
		}
	}
}

// The vector code returns the same bits as the one rounding routine, NaN
// payloads included.
func TestVector(t *testing.T) {
	for _, f := range vectorFormats() {
		step := 1
		if f.Bits() > 16 || testing.Short() && f.Bits() > 8 {
			step = 1<<max(0, f.Bits()-12) - 1
		}
		src := around(f, step)
		rng := rand.New(rand.NewPCG(5, 0))
		for range 2000 {
			src = append(src, math.Float64frombits(rng.Uint64()), awkward(f, rng)*(1+rng.Float64()/1000))
		}
		for len(src)%32 != 0 {
			src = append(src, math.NaN())
		}
		dst, want := make([]float64, len(src)), make([]float64, len(src))
		check := func(what string, round func()) {
			onEveryRoundWidth(func() {
				round()
				name := fmt.Sprintf("%s in %d bits", what, roundBits)
				for i, x := range src {
					checkBits(t, f, name, x, dst[i], want[i])
				}
			})
		}
		for i, x := range src {
			want[i] = f.Round(x, ToNearestEven)
		}
		check("RoundSlice", func() { f.RoundSlice(dst, src, ToNearestEven) })
		for _, s := range []Stochastic{{Seed: 1, Bits: 32}, {Seed: 1 << 40, Bits: 3}} {
			const index = 1<<34 - 96 // counters exceed 32 bits after a few vectors
			for i, x := range src {
				want[i] = s.Round(f, x, index+uint64(i))
			}
			check("Stochastic.RoundSlice", func() { s.RoundSlice(f, dst, src, index) })
		}
	}
}

// Slices long enough to be stored past the caches are rounded as short ones
// are: aligned or not, in place or not, whatever their length is a multiple of.
func TestVectorOfLongSlices(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one part
	const part = 1 << 10
	const n = pastCaches + 125
	src := make([]float64, n+8)
	rng := rand.New(rand.NewPCG(6, 0))
	for i := range src {
		src[i] = math.Float64frombits(rng.Uint64())
		switch {
		case i >= n: // not to be rounded
			src[i] = 1
		case i%2 == 0:
			src[i] = rng.NormFloat64()
		}
	}
	src = src[:n]
	want, memory := make([]float64, n), make([]float64, n+8)
	s := Stochastic{Seed: 2, Bits: 32}
	for _, f := range []Format{Binary16, E4M3, E2M1} {
		for name, round := range map[string]func(dst, src []float64, index int){
			"RoundSlice":            func(dst, src []float64, index int) { f.RoundSlice(dst, src, ToNearestEven) },
			"Stochastic.RoundSlice": func(dst, src []float64, index int) { s.RoundSlice(f, dst, src, uint64(index)) },
		} {
			for i := 0; i < n; i += part {
				end := min(i+part, n)
				round(want[i:end], src[i:end], i)
			}
			check := func(got []float64) {
				for i, x := range got {
					checkBits(t, f, name, src[i], x, want[i])
				}
			}
			for _, offset := range []int{0, 3} { // aligned, as long slices are, and not
				clear(memory)
				round(memory[offset:][:n], src, 0)
				check(memory[offset:][:n])
				if memory[offset+n] != 0 {
					t.Fatalf("%s writes beyond its slice", name)
				}
			}
			copy(memory, src)
			round(memory[:n], memory[:n], 0)
			check(memory[:n])
		}
	}
}
