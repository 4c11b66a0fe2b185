package tcore

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Between every two neighbours of binary16, in every mode and with either sign:
// the midpoint and the binary64 numbers next to it.
func TestRound(t *testing.T) {
	t.Run("breaks ties as the mode says", func(t *testing.T) {
		for c := range uint64(0x7bff) {
			low, high := Binary16.Decode(c), Binary16.Decode(c+1)
			even, odd := low, high
			if c%2 == 1 {
				even, odd = high, low
			}
			mid := (low + high) / 2
			below, above := math.Nextafter(mid, 0), math.Nextafter(mid, 1e9)
			for _, tt := range []struct {
				mode                 RoundingMode
				below, mid, above    float64 // of positive numbers
				nbelow, nmid, nabove float64 // magnitudes of negative numbers
			}{
				{ToNearestEven, low, even, high, low, even, high},
				{ToNearestAway, low, high, high, low, high, high},
				{ToZero, low, low, low, low, low, low},
				{ToPositive, high, high, high, low, low, low},
				{ToNegative, low, low, low, high, high, high},
				{ToOdd, odd, odd, odd, odd, odd, odd},
			} {
				r := func(x float64) float64 { return Binary16.Round(x, tt.mode) }
				if r(below) != tt.below || r(mid) != tt.mid || r(above) != tt.above ||
					r(-below) != -tt.nbelow || r(-mid) != -tt.nmid || r(-above) != -tt.nabove {
					t.Fatalf("%v between %v and %v: %v %v %v, %v %v %v", tt.mode, low, high,
						r(below), r(mid), r(above), r(-below), r(-mid), r(-above))
				}
			}
		}
	})

	t.Run("overflows as the mode and the format say", func(t *testing.T) {
		inf, nan := math.Inf(1), math.NaN()
		saturating, saturating16 := E4M3, Binary16
		saturating.Overflow, saturating16.Overflow = Saturate, Saturate
		for _, tt := range []struct {
			f    Format
			x    float64
			want [6]float64 // by mode
		}{
			{Binary16, 65519, [6]float64{65504, 65504, 65504, inf, 65504, 65504}},
			{Binary16, 65520, [6]float64{inf, inf, 65504, inf, 65504, 65504}},
			{Binary16, 1e300, [6]float64{inf, inf, 65504, inf, 65504, 65504}},
			{Binary16, -1e300, [6]float64{-inf, -inf, -65504, -65504, -inf, -65504}},
			{Binary16, inf, [6]float64{inf, inf, inf, inf, inf, inf}},
			{saturating16, -1e300, [6]float64{-65504, -65504, -65504, -65504, -65504, -65504}},
			{saturating16, inf, [6]float64{65504, 65504, 65504, 65504, 65504, 65504}},
			{E4M3, 464, [6]float64{448, nan, 448, nan, 448, 448}},
			{E4M3, 465, [6]float64{nan, nan, 448, nan, 448, 448}},
			{E4M3, inf, [6]float64{nan, nan, nan, nan, nan, nan}},
			{saturating, 465, [6]float64{448, 448, 448, 448, 448, 448}},
			{saturating, -inf, [6]float64{-448, -448, -448, -448, -448, -448}},
			{E5M2, 61439, [6]float64{57344, 57344, 57344, inf, 57344, 57344}},
			{E5M2, 61440, [6]float64{inf, inf, 57344, inf, 57344, 57344}},
			{BFloat16, math.MaxFloat32, [6]float64{inf, inf, 0x1.fep127, inf, 0x1.fep127, 0x1.fep127}},
			{Binary32, math.MaxFloat64, [6]float64{inf, inf, math.MaxFloat32, inf, math.MaxFloat32, math.MaxFloat32}},
		} {
			for _, mode := range modes {
				if got := tt.f.Round(tt.x, mode); !same(got, tt.want[mode]) {
					t.Errorf("%s: Round(%v, %v) = %v, want %v", tt.f.Name, tt.x, mode, got, tt.want[mode])
				}
			}
		}
	})

	t.Run("keeps NaN and the sign of zero", func(t *testing.T) {
		eachMode(t, func(t *testing.T, f Format, mode RoundingMode) {
			if f.Specials != IEEE && f.Specials != NaNOnly || f.Sign != Signed {
				t.Skip("no NaN, or no -0, to keep")
			}
			for _, x := range []float64{0, math.Copysign(0, -1), math.NaN()} {
				if got := f.Round(x, mode); !same(got, x) {
					t.Errorf("Round(%v) = %v", x, got)
				}
			}
			if got := f.Round(-f.MinSubnormal()/4, ToZero); f.Name != "binary64" && !same(got, math.Copysign(0, -1)) {
				t.Errorf("an underflow to zero gives %v, want -0", got)
			}
		})
	})

	t.Run("agrees with the oracle", func(t *testing.T) {
		eachMode(t, func(t *testing.T, f Format, mode RoundingMode) {
			rng := rand.New(rand.NewPCG(1, uint64(mode)))
			for range 400 {
				// A number of f, or of a format of 3 bits more, nudged or not.
				x := awkward(f, rng)
				if f.Name != "binary64" {
					g := Format{Precision: f.Precision + 3, Emin: f.Emin - 2, Emax: f.Emax + 1}
					x = awkward(g, rng)
					x = math.Nextafter(x, x*float64(rng.IntN(3)))
				}
				if x == 0 {
					continue
				}
				if got, want := f.Round(x, mode), oracleRound(f, exactly(x), mode); !same(got, want) {
					t.Fatalf("Round(%x) = %x, want %x", x, got, want)
				}
			}
		})
	})
}

// float32 and float64 conversions of Go are roundings to nearest even.
func TestRoundIsGoConversion(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for range 100_000 {
		x := math.Float64frombits(rng.Uint64())
		if y := Binary32.Round(x, ToNearestEven); !same(y, float64(float32(x))) {
			t.Fatalf("Round(%x) = %x, want %x", x, y, float32(x))
		}
		if y := Binary64.Round(x, ToNearestEven); !same(y, x) {
			t.Fatalf("Round(%x) = %x", x, y)
		}
	}
}
