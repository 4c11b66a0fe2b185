package tcore

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFMA(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)

	t.Run("follows IEEE 754 for zeros, infinities and NaN", func(t *testing.T) {
		for _, tt := range []struct {
			a, b, c, want float64
			negative      float64 // under ToNegative
		}{
			{0, 1, 0, 0, 0},
			{zero, 1, 0, 0, zero},
			{zero, 1, zero, zero, zero},
			{1, 1, -1, 0, zero},
			{zero, 2, 3, 3, 3},
			{inf, 1, 1, inf, inf},
			{inf, 0, 1, nan, nan},
			{inf, -1, inf, nan, nan},
			{2, 3, -inf, -inf, -inf},
			{nan, 1, 1, nan, nan},
			{1, 1, nan, nan, nan},
			{0, 1, nan, nan, nan},
		} {
			for _, f := range []Format{Binary16, BFloat16, TF32, Binary32, Binary64, E5M2} {
				if got := f.FMA(tt.a, tt.b, tt.c, ToNearestEven); !same(got, tt.want) {
					t.Errorf("%s: FMA(%v, %v, %v) = %v, want %v", f.Name, tt.a, tt.b, tt.c, got, tt.want)
				}
				if got := f.FMA(tt.a, tt.b, tt.c, ToNegative); !same(got, tt.negative) {
					t.Errorf("%s: FMA(%v, %v, %v) = %v under ToNegative, want %v", f.Name, tt.a, tt.b, tt.c, got, tt.negative)
				}
			}
		}
	})
	t.Run("takes a finite product beyond binary64 for finite", func(t *testing.T) {
		// In float64 arithmetic a*b is +Inf, and +Inf - Inf NaN.
		if got := Binary64.FMA(1e300, 1e300, -inf, ToNearestEven); !math.IsInf(got, -1) {
			t.Errorf("FMA(1e300, 1e300, -Inf) = %v, want -Inf", got)
		}
	})
	t.Run("is not float64 FMA rounded to binary32", func(t *testing.T) {
		a, c := 1+0x1p-12, 0x1p-60
		want := 1 + 0x1p-11 + 0x1p-23
		if got := Binary32.FMA(a, a, c, ToNearestEven); got != want {
			t.Errorf("FMA = %x, want %x", got, want)
		}
		if got := float64(float32(math.FMA(a, a, c))); got == want {
			t.Errorf("float32(math.FMA) = %x: the example shows nothing", got)
		}
	})
	t.Run("remembers the last bit of a long product", func(t *testing.T) {
		// 1 + 2^-53 + 2^-128, as 2^75 + 1 = (2^25 + 1)(2^50 - 2^25 + 1).
		a, b := float64(1<<25+1), float64(1<<50-1<<25+1)
		if got, want := Binary64.FMA(a, b*0x1p-128, 1, ToNearestEven), 1+0x1p-52; got != want {
			t.Errorf("FMA = %x, want %x", got, want)
		}
	})
	t.Run("agrees with the oracle", func(t *testing.T) {
		n := 5000
		if testing.Short() {
			n = 200
		}
		eachMode(t, func(t *testing.T, f Format, mode RoundingMode) {
			rng := rand.New(rand.NewPCG(5, uint64(mode)))
			for range n {
				a, b, c := awkward(f, rng), awkward(f, rng), awkward(f, rng)
				if rng.IntN(2) == 0 { // a sum that cancels
					c = -f.Round(a*b, RoundingMode(rng.IntN(6)))
				}
				if !finite(c) {
					continue
				}
				if got, want := f.FMA(a, b, c, mode), oracleFMA(f, a, b, c, mode); !same(got, want) {
					t.Fatalf("FMA(%x, %x, %x) = %x, want %x", a, b, c, got, want)
				}
			}
		})
	})
	t.Run("in binary64 is math.FMA", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 0))
		for range 100_000 {
			a, b, c := awkward(Binary64, rng), awkward(Binary64, rng), awkward(Binary64, rng)
			if got, want := Binary64.FMA(a, b, c, ToNearestEven), math.FMA(a, b, c); !same(got, want) {
				t.Fatalf("FMA(%x, %x, %x) = %x, want %x", a, b, c, got, want)
			}
		}
	})
}

func TestAddMul(t *testing.T) {
	eachMode(t, func(t *testing.T, f Format, mode RoundingMode) {
		rng := rand.New(rand.NewPCG(7, uint64(mode)))
		for range 200 {
			a, b := awkward(f, rng), awkward(f, rng)
			if got, want := f.Add(a, b, mode), oracleFMA(f, a, 1, b, mode); !same(got, want) {
				t.Fatalf("Add(%x, %x) = %x, want %x", a, b, got, want)
			}
			zero := signed(0, math.Signbit(a) != math.Signbit(b))
			if got, want := f.Mul(a, b, mode), oracleFMA(f, a, b, zero, mode); !same(got, want) {
				t.Fatalf("Mul(%x, %x) = %x, want %x", a, b, got, want)
			}
		}
	})
	t.Run("in binary32 are Go's", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 0))
		for range 100_000 {
			a, b := math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
			if got := Binary32.Add(float64(a), float64(b), ToNearestEven); !same(got, float64(a+b)) {
				t.Fatalf("%x + %x = %x, want %x", a, b, got, a+b)
			}
			if got := Binary32.Mul(float64(a), float64(b), ToNearestEven); !same(got, float64(a*b)) {
				t.Fatalf("%x × %x = %x, want %x", a, b, got, a*b)
			}
		}
	})
}

func TestMAC(t *testing.T) {
	t.Run("rounds twice", func(t *testing.T) {
		a := 1 + 0x1p-12
		if got, want := Binary32.MAC(a, a, -1, ToNearestEven), 0x1p-11; got != want {
			t.Errorf("MAC = %x, want %x", got, want)
		}
		if got, want := Binary32.FMA(a, a, -1, ToNearestEven), 0x1p-11+0x1p-24; got != want {
			t.Errorf("FMA = %x, want %x", got, want)
		}
	})
	t.Run("in binary32 is Go's multiply and add", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 0))
		for range 10_000 {
			a, b, c := rng.Float32(), rng.Float32(), -rng.Float32()
			got := Binary32.MAC(float64(a), float64(b), float64(c), ToNearestEven)
			if want := float32(a*b) + c; got != float64(want) {
				t.Fatalf("MAC(%x, %x, %x) = %x, want %x", a, b, c, got, want)
			}
		}
	})
}

func TestMPFMA(t *testing.T) {
	row1, row2 := PaperF32.MPFMA, PaperF16.MPFMA
	t.Run("converts its inputs", func(t *testing.T) {
		if got, want := row1.FMA(1+0x1p-20, 1, 0x1p-30), 1.0; got != want {
			t.Errorf("FMA = %v, want %v", got, want)
		}
		if got, want := row1.FMA(1, 0x1p-20, 1+0x1p-30), 1+0x1p-20; got != want {
			t.Errorf("FMA = %v, want %v", got, want)
		}
	})
	t.Run("with binary16 products in binary32 is an FMA", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(10, 0))
		for range 10_000 {
			a, b := awkward(Binary16, rng), awkward(Binary16, rng)
			c, c16 := awkward(Binary32, rng), awkward(Binary16, rng)
			if got, want := row1.FMA(a, b, c), Binary32.FMA(a, b, c, ToNearestEven); !same(got, want) {
				t.Fatalf("row 1: FMA(%x, %x, %x) = %x, want %x", a, b, c, got, want)
			}
			if got, want := row2.FMA(a, b, c16), Binary16.FMA(a, b, c16, ToNearestEven); !same(got, want) {
				t.Fatalf("row 2: FMA(%x, %x, %x) = %x, want %x", a, b, c16, got, want)
			}
		}
	})
	t.Run("rounds a product that does not fit", func(t *testing.T) {
		m := MPFMA{Binary32, Binary32, Binary32, Binary32, Binary32}
		rng := rand.New(rand.NewPCG(11, 0))
		for range 10_000 {
			a, b, c := awkward(Binary32, rng), awkward(Binary32, rng), awkward(Binary32, rng)
			if got, want := m.FMA(a, b, c), Binary32.MAC(a, b, c, ToNearestEven); !same(got, want) {
				t.Fatalf("FMA(%x, %x, %x) = %x, want %x", a, b, c, got, want)
			}
		}
	})
	t.Run("rounds sum and output, in this order", func(t *testing.T) {
		m := row1
		m.Output = Binary16
		// 1 + 2^-11 + 2^-26 is above a midpoint of binary16; binary32 first
		// makes it the midpoint, and the tie goes down.
		if got := m.FMA(0x1p-13, 0x1p-13, 1+0x1p-11); got != 1 {
			t.Errorf("FMA = %x, want 1", got)
		}
		if got, want := Binary16.FMA(0x1p-13, 0x1p-13, 1+0x1p-11, ToNearestEven), 1+0x1p-10; got != want {
			t.Errorf("one rounding = %x, want %x", got, want)
		}
	})
}
