package tcore

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The packed codes are the bytes written here by hand.
func TestEncodeSlice(t *testing.T) {
	for _, tt := range []struct {
		f    Format
		src  []float64
		want []byte
	}{
		{E2M1, []float64{0.5, 1, 1.5, -6}, []byte{0x21, 0xf3}},
		{E2M1, []float64{0.5, 1, 1.5}, []byte{0x21, 0x03}},
		{E3M2, []float64{0.0625, -28, 0, 0.125}, []byte{0b11_000001, 0b0000_1111, 0b000010_00}},
		{E2M3, []float64{-7.5}, []byte{0x3f}},
		{E4M3, []float64{448, -1}, []byte{0x7e, 0xb8}},
		{UE4M3, []float64{1, 448}, []byte{0x38, 0x7e}},
		{E8M0, []float64{1, 0x1p127}, []byte{127, 254}},
		{Binary16, []float64{1, -2}, []byte{0x00, 0x3c, 0x00, 0xc0}},
		{BFloat16, []float64{1, math.Inf(-1)}, []byte{0x80, 0x3f, 0x80, 0xff}},
		{TF32, []float64{-2, 1}, []byte{0x00, 0x00, 0x06, 0xe0, 0x0f}},
		{Binary32, []float64{1}, []byte{0, 0, 0x80, 0x3f}},
		{Binary64, []float64{1}, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{E2M1, nil, []byte{}},
	} {
		dst := bytes.Repeat([]byte{0xaa}, tt.f.PackedLen(len(tt.src)))
		tt.f.EncodeSlice(dst, tt.src, ToNearestEven)
		if !bytes.Equal(dst, tt.want) {
			t.Errorf("%s: EncodeSlice(%v) = %#x, want %#x", tt.f.Name, tt.src, dst, tt.want)
		}
		back := make([]float64, len(tt.src))
		tt.f.DecodeSlice(back, dst)
		for i, x := range tt.src {
			if !same(back[i], x) {
				t.Errorf("%s: DecodeSlice(%#x)[%d] = %v, want %v", tt.f.Name, dst, i, back[i], x)
			}
		}
	}
}

// Packed codes of any width form one integer, with the first code in its lowest
// bits.
func TestPackedCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	for _, f := range append(formats, Format{Precision: 50, Emin: -1022, Emax: 1023}, Format{Precision: 2, Emin: 0, Emax: 0, Specials: FiniteOnly}) {
		src := make([]float64, 1000)
		for i := range src {
			src[i] = rng.NormFloat64()
		}
		for _, n := range []int{0, 1, 7, 64, 257, 1000} {
			dst, want := make([]byte, f.PackedLen(n)), new(big.Int)
			f.EncodeSlice(dst, src[:n], ToOdd)
			for i := n - 1; i >= 0; i-- {
				want.Lsh(want, uint(f.Bits()))
				want.Or(want, new(big.Int).SetUint64(f.Encode(src[i], ToOdd)))
			}
			big := make([]byte, len(dst)) // big-endian
			want.FillBytes(big)
			for i := range dst {
				if dst[i] != big[len(big)-1-i] {
					t.Fatalf("%s: byte %d of %d codes is %#x, want %#x", f.Name, i, n, dst[i], big[len(big)-1-i])
				}
			}
			back := make([]float64, n)
			f.DecodeSlice(back, dst)
			for i := range back {
				if want := f.Round(src[i], ToOdd); !same(back[i], want) {
					t.Fatalf("%s: element %d of %d comes back as %v, want %v", f.Name, i, n, back[i], want)
				}
			}
		}
	}
}
