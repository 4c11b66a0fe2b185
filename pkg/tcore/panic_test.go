package tcore

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Invalid arguments panic, with the argument and its value.
func TestPanics(t *testing.T) {
	a, b, d := zeros(2, 8), zeros(8, 3), zeros(2, 3)
	short, narrow, empty := zeros(2, 8), zeros(2, 8), zeros(0, 8)
	short.Data = short.Data[:15]
	narrow.Stride = 7
	x, y := make([]float32, 4), make([]float32, 3)
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"tcore: MultiplyAdd: a is 0 × 8, want at least 1 × 1", func() { PaperCoreF32.MultiplyAdd(empty, b, d, d) }},
		{"tcore: MultiplyAdd: a has stride 7, want at least its 8 columns", func() { PaperCoreF32.MultiplyAdd(narrow, b, d, d) }},
		{"tcore: MultiplyAdd: a has 15 elements, want at least 16", func() { PaperCoreF32.MultiplyAdd(short, b, d, d) }},
		{"tcore: MultiplyAdd: z is 2 × 2, want 2 × 3", func() { PaperCoreF32.MultiplyAdd(a, b, blas32.General{}, zeros(2, 2)) }},
		{"tcore: MultiplyAdd: z is 3 × 3, want 2 × 3", func() { PaperCoreF32.MultiplyAdd(a, b, blas32.General{}, zeros(3, 3)) }},
		{"tcore: Float64GEMM: a has 8 columns, b has 2 rows", func() { Float64GEMM(a, zeros(2, 3)) }},
		{"tcore: StreamMAC: a has 3 elements, want 4", func() { StreamMAC(x, y, x, x) }},
		{"tcore: StreamFMA: b has 3 elements, want 4", func() { StreamFMA(x, x, y, x) }},
		{"tcore: StreamMPFMA: c has 3 elements, want 4", func() { StreamMPFMA(x, make([]uint16, 4), make([]uint16, 4), y) }},
		{"tcore: EncodeSlice16: dst has 1 elements, want 4", func() { EncodeSlice16(make([]uint16, 1), x) }},
		{"tcore: DecodeSlice16: dst has 4 elements, want 1", func() { DecodeSlice16(x, make([]uint16, 1)) }},
		{"tcore: RoundSlice32: dst has 3 elements, want 4", func() { Binary16.RoundSlice32(y, x) }},
		{"tcore: RoundSlice: dst has 0 elements, want 1", func() { Binary16.RoundSlice(nil, []float64{1}, ToZero) }},
		{"tcore: Decode of binary16: code = 0x10000, want 16 bits", func() { Binary16.Decode(0x10000) }},
		{"tcore: EncodeSlice: dst has 1 elements, want 2", func() { E2M1.EncodeSlice(make([]byte, 1), []float64{1, 2, 3}, ToZero) }},
		{"tcore: EncodeSlice: dst has 4 elements, want 3", func() { E3M2.EncodeSlice(make([]byte, 4), make([]float64, 4), ToZero) }},
		{"tcore: DecodeSlice: src has 2 elements, want 3", func() { E2M3.DecodeSlice(make([]float64, 4), make([]byte, 2)) }},
		{"tcore: Stochastic.EncodeSlice: dst has 1 elements, want 2", func() { Stochastic{Bits: 1}.EncodeSlice(E4M3, make([]byte, 1), make([]float64, 2), 0) }},
		{"tcore: Stochastic.RoundSlice: dst has 0 elements, want 1", func() { Stochastic{Bits: 1}.RoundSlice(E4M3, nil, make([]float64, 1), 0) }},
		{"tcore: Stochastic: Bits = 0, want 1 to 32", func() { Stochastic{}.Round(E4M3, 1, 0) }},
		{"tcore: Stochastic: Bits = 33, want 1 to 32", func() { Stochastic{Bits: 33}.RoundSlice(E4M3, nil, nil, 0) }},
		{"tcore: Stochastic: Bits = -1, want 1 to 32", func() { Stochastic{Bits: -1}.EncodeSlice(E4M3, nil, nil, 0) }},
		{"tcore: PackedLen: n = -1, want n >= 0", func() { E4M3.PackedLen(-1) }},
		{"tcore: mode = RoundingMode(-1),", func() { Binary16.Round(1, -1) }},
		{"tcore: mode = RoundingMode(-1),", func() { Binary16.RoundSlice(make([]float64, 1), []float64{1}, -1) }},
		{"tcore: mode = RoundingMode(6), want ToNearestEven to ToOdd", func() { Binary16.Round(1, ToOdd+1) }},
		{"tcore: format {Name: Precision:0 ", func() { Format{}.Round(1, ToNearestEven) }},
		{"tcore: format {Name: Precision:64 ", func() { Format{Precision: 64, Emin: -14, Emax: 15}.UnitRoundoff() }},
		{"tcore: format {Name: Precision:1 ", func() { Format{Precision: 1, Emax: 3}.Bits() }},
		{"tcore: format {Name: Precision:3 ", func() { Format{Precision: 3, Emax: 3, Specials: FNUZ, Sign: Unsigned}.Max() }},
		{"tcore: format {Name: Precision:3 ", func() { Format{Precision: 3, Emax: 3, Specials: FNUZ, Subnormals: NoZero}.Max() }},
		{"tcore: format {Name: Precision:3 ", func() { Format{Precision: 3, Emax: 3, Specials: 4}.Max() }},
		{"tcore: format {Name: Precision:3 ", func() { Format{Precision: 3, Emax: 3, Overflow: -1}.RoundSlice(nil, nil, ToZero) }},
		{"tcore: format {Name: Precision:53 Emin:-1023 ", func() { Format{Precision: 53, Emin: -1023, Emax: 15}.Bits() }},
		{"tcore: format {Name: Precision:8 Emin:-126 Emax:1024 ", func() { Format{Precision: 8, Emin: -126, Emax: 1024}.Max() }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, tt.want) {
					t.Errorf("panic %q, want %q", got, tt.want)
				}
			}()
			tt.call()
		})
	}
}
