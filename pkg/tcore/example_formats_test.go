package tcore_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// All sixteen numbers of e2m1, the format of MXFP4 and NVFP4.
func ExampleFormat_fourBits() {
	for code := range uint64(16) {
		fmt.Print(tcore.E2M1.Decode(code), " ")
	}
	fmt.Println()
	// Output: 0 0.5 1 1.5 2 3 4 6 -0 -0.5 -1 -1.5 -2 -3 -4 -6
}

// A machine that flushes subnormals has no numbers between 0 and 2⁻¹⁴.
func ExampleSubnormals() {
	flushing := tcore.Binary16
	flushing.Subnormals = tcore.Flushed
	for _, f := range []tcore.Format{tcore.Binary16, flushing} {
		fmt.Println(f.Round(5e-5, tcore.ToNearestEven), f.MinSubnormal())
	}
	// Output:
	// 5.0008296966552734e-05 5.960464477539063e-08
	// 0 6.103515625e-05
}

// The scales of block formats are positive; a negative one is a mistake that
// stays visible.
func ExampleSign() {
	for _, f := range []tcore.Format{tcore.E8M0, tcore.UE4M3} {
		fmt.Println(f.Name, f.Round(0.3, tcore.ToNearestEven), f.Round(0, tcore.ToNearestEven), f.Round(-1, tcore.ToNearestEven))
	}
	// Output:
	// e8m0 0.25 5.877471754111438e-39 NaN
	// ue4m3 0.3125 0 NaN
}

// A sum of many small numbers stagnates when rounded to nearest, but not when
// rounded stochastically.
func ExampleStochastic() {
	sr := tcore.Stochastic{Seed: 1, Bits: 32}
	nearest, stochastic := 0.0, 0.0
	for k := range uint64(100_000) {
		nearest = tcore.BFloat16.Round(nearest+0.01, tcore.ToNearestEven)
		stochastic = sr.Round(tcore.BFloat16, stochastic+0.01, k)
	}
	fmt.Println("exact 1000, to nearest", nearest, "and stochastically", stochastic)
	// Output: exact 1000, to nearest 4 and stochastically 992
}

// A quarter of the way from 2 to 3 is rounded up one time in four. A rounding
// depends on its seed and index alone.
func ExampleStochastic_Round() {
	sr := tcore.Stochastic{Seed: 7, Bits: 8}
	for index := range uint64(16) {
		fmt.Print(sr.Round(tcore.E2M1, 2.25, index), " ")
	}
	fmt.Println()
	// Output: 3 2 2 2 3 3 2 2 2 2 3 2 2 3 3 2
}

func ExampleStochastic_FMA() {
	sr := tcore.Stochastic{Seed: 7, Bits: 32}
	fmt.Println(sr.FMA(tcore.E4M3, 1, 1, 0.03125, 0), sr.FMA(tcore.E4M3, 1, 1, 0.03125, 1), sr.FMA(tcore.E4M3, 1, 1, 0.03125, 2))
	// Output:
	// 1.125 1 1
}

func ExampleStochastic_RoundSlice() {
	sr := tcore.Stochastic{Seed: 7, Bits: 8}
	x := []float64{2.25, 2.25, 2.25, 2.25, 2.25, 2.25}
	sr.RoundSlice(tcore.E2M1, x[:2], x[:2], 0)
	sr.RoundSlice(tcore.E2M1, x[2:], x[2:], 2) // continues where the first call ended
	fmt.Println(x)
	// Output: [3 2 2 2 3 3]
}

func ExampleStochastic_EncodeSlice() {
	sr := tcore.Stochastic{Seed: 7, Bits: 8}
	codes := make([]byte, 3)
	sr.EncodeSlice(tcore.E2M1, codes, []float64{2.25, 2.25, 2.25, 2.25, 2.25, 2.25}, 0)
	fmt.Printf("%#x\n", codes)
	// Output: 0x454455
}

// Two numbers of four bits share a byte, the first in its low half.
func ExampleFormat_EncodeSlice() {
	codes := make([]byte, tcore.E2M1.PackedLen(4))
	tcore.E2M1.EncodeSlice(codes, []float64{0.5, 1, 1.5, -6}, tcore.ToNearestEven)
	fmt.Printf("%#x\n", codes)
	// Output: 0x21f3
}

func ExampleFormat_DecodeSlice() {
	x := make([]float64, 4)
	tcore.E2M1.DecodeSlice(x, []byte{0x21, 0xf3})
	fmt.Println(x)
	// Output: [0.5 1 1.5 -6]
}

func ExampleFormat_PackedLen() {
	fmt.Println(tcore.E2M1.PackedLen(32), tcore.E3M2.PackedLen(32), tcore.E4M3.PackedLen(32))
	// Output: 16 24 32
}
