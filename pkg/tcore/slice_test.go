package tcore

import (
	"math"
	"math/rand/v2"
	"testing"
)

// variants returns formats that together exercise every branch of RoundSlice32.
func variants() []Format {
	saturating, wide, narrow24 := E4M3, Binary64, Binary32
	saturating.Overflow = Saturate
	wide.Name, wide.Precision = "8 bits, wide range", 8
	narrow24.Name, narrow24.Emin, narrow24.Emax = "24 bits, narrow range", -14, 15
	return append([]Format{saturating, wide, narrow24}, formats...)
}

// The fast rounding of float32 data agrees with the one rounding routine around
// every number and every midpoint of the narrow formats, which by monotonicity
// is everywhere, and on a sample of all float32 numbers.
func TestRoundSlice32(t *testing.T) {
	check := func(t *testing.T, f Format, src []float32) {
		t.Helper()
		dst := make([]float32, len(src))
		f.RoundSlice32(dst, src)
		for i, x := range src {
			if want := float64(float32(f.Round(float64(x), ToNearestEven))); !same(float64(dst[i]), want) {
				t.Fatalf("%s: RoundSlice32(%x) = %x, want %x", f.Name, x, dst[i], want)
			}
		}
	}
	t.Run("around all numbers and midpoints of narrow formats", func(t *testing.T) {
		for _, f := range formats {
			if f.Bits() > 19 {
				continue
			}
			var src []float32
			for c := range uint64(greatestCode(f)) {
				low, high := float32(f.Decode(c)), float32(f.Decode(c+1))
				mid := low + (high-low)/2
				for _, x := range []float32{low, math.Nextafter32(mid, low), mid, math.Nextafter32(mid, high)} {
					src = append(src, x, -x)
				}
			}
			check(t, f, src)
		}
	})
	t.Run("on a sample of all float32 numbers", func(t *testing.T) {
		step := uint32(10007)
		if testing.Short() {
			step = 1000003
		}
		var src []float32
		for b := uint32(0); b < math.MaxUint32-step; b += step {
			src = append(src, math.Float32frombits(b))
		}
		for _, b := range []uint32{0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fffffff, 0xff800000, 0xffffffff, 0x80000000} {
			src = append(src, math.Float32frombits(b))
		}
		for _, f := range variants() {
			check(t, f, src)
		}
	})
	t.Run("in place", func(t *testing.T) {
		x := []float32{1.0 / 3, -1e9}
		Binary16.RoundSlice32(x, x)
		if x[0] != 0.33325195 || !math.IsInf(float64(x[1]), -1) {
			t.Errorf("RoundSlice32 in place gives %v", x)
		}
	})
}

func TestRoundSlice(t *testing.T) {
	src := []float64{1.0 / 3, -1.0 / 3, 1e9, math.Inf(-1)}
	for _, f := range formats {
		for _, mode := range modes {
			dst := make([]float64, len(src))
			f.RoundSlice(dst, src, mode)
			for i, x := range src {
				if !same(dst[i], f.Round(x, mode)) {
					t.Errorf("%s, %v: %v gives %v", f.Name, mode, x, dst[i])
				}
			}
		}
	}
}

// The fast binary16 routines agree with the methods of the formats.
func TestBinary16Fast(t *testing.T) {
	t.Run("DecodeSlice16 is Decode on all codes", func(t *testing.T) {
		codes, dst := make([]uint16, 1<<16), make([]float32, 1<<16)
		for i := range codes {
			codes[i] = uint16(i)
		}
		DecodeSlice16(dst, codes)
		for i, x := range dst {
			if want := Binary16.Decode(uint64(i)); !same(float64(x), want) {
				t.Fatalf("code %#x is %v, want %v", i, x, want)
			}
		}
	})
	t.Run("EncodeSlice16 is Encode", func(t *testing.T) {
		var src []float32
		for c := range uint64(0x7c00) {
			low, high := decode16(uint16(c)), decode16(uint16(c+1))
			if c == 0x7bff {
				high = 65536 // where the next number would be
			}
			mid := low + (high-low)/2
			src = append(src, low, -low, mid, -mid, math.Nextafter32(mid, low), math.Nextafter32(mid, high))
		}
		rng := rand.New(rand.NewPCG(3, 0))
		for range 100_000 {
			src = append(src, math.Float32frombits(rng.Uint32()))
		}
		dst := make([]uint16, len(src))
		EncodeSlice16(dst, src)
		for i, x := range src {
			if want := Binary16.Encode(float64(x), ToNearestEven); uint64(dst[i]) != want {
				t.Fatalf("%x has code %#x, want %#x", x, dst[i], want)
			}
		}
	})
	t.Run("round16 is Round", func(t *testing.T) {
		check := func(x float64) {
			if got, want := round16(x), Binary16.Round(x, ToNearestEven); !same(got, want) {
				t.Fatalf("round16(%x) = %x, want %x", x, got, want)
			}
		}
		for c := range uint64(0x7bff) {
			low, high := Binary16.Decode(c), Binary16.Decode(c+1)
			mid := (low + high) / 2
			for _, x := range []float64{low, mid, math.Nextafter(mid, low), math.Nextafter(mid, high)} {
				check(x)
				check(-x)
			}
		}
		rng := rand.New(rand.NewPCG(4, 0))
		for range 100_000 {
			check(math.Float64frombits(rng.Uint64()))
		}
		for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 65519.999, 65520, -65520, math.Copysign(0, -1)} {
			check(x)
		}
	})
}
