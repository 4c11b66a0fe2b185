package tcore_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// The same dot product on every device: 2²³ - 2²³ - ½ - ¼ - ⅛, which is -0.875.
// The result shows how many bits a device keeps below the greatest exponent,
// and how many terms it adds at once.
func ExampleDevices() {
	x := []float64{-4096, -0.5, -0.25, -0.125}
	y := []float64{2048, 1, 1, 1}
	c := 0x1p23
	for _, d := range devices.All() {
		if d.A.Round(x[0], tcore.ToZero) != x[0] || d.C.Round(c, tcore.ToZero) != c || d.ScaleBlock > 0 {
			continue // a number too large for the format
		}
		fmt.Printf("%-42s %v\n", d.Name, d.Dot(x, y, c))
	}
	// Output:
	// volta-mma-binary16-binary32                0
	// turing-mma-binary16-binary32               -0.5
	// ampere-mma-binary16-binary32               -0.5
	// ampere-mma-bfloat16-binary32               -0.5
	// ampere-mma-tf32-binary32                   -0.5
	// ampere-mma-binary64-binary64               -0.875
	// ada-mma-binary16-binary32                  -0.5
	// ada-mma-bfloat16-binary32                  -0.5
	// ada-mma-tf32-binary32                      -0.5
	// ada-mma-e5m2-binary32                      0
	// ada-mma-binary64-binary64                  -0.875
	// hopper-wgmma-binary16-binary32             -0.75
	// hopper-wgmma-bfloat16-binary32             -0.75
	// hopper-wgmma-tf32-binary32                 -0.75
	// hopper-wgmma-e5m2-binary32                 0
	// hopper-mma-binary16-binary32               -0.75
	// hopper-mma-bfloat16-binary32               -0.75
	// hopper-mma-tf32-binary32                   -0.75
	// hopper-mma-e5m2-binary32                   0
	// hopper-mma-binary64-binary64               -0.875
	// blackwell-tcgen05-binary16-binary32        -0.75
	// blackwell-tcgen05-bfloat16-binary32        -0.75
	// blackwell-tcgen05-tf32-binary32            -0.75
	// blackwell-tcgen05-e5m2-binary32            -0.75
	// blackwell-mma-binary16-binary32            -0.75
	// blackwell-mma-bfloat16-binary32            -0.75
	// blackwell-mma-tf32-binary32                -0.75
	// blackwell-mma-e5m2-binary32                0
	// blackwell-mma-binary64-binary64            -0.875
	// rtxblackwell-mma-binary16-binary32         -0.75
	// rtxblackwell-mma-bfloat16-binary32         -0.75
	// rtxblackwell-mma-tf32-binary32             -0.75
	// rtxblackwell-mma-e5m2-binary32             -0.75
	// rtxblackwell-mma-binary64-binary64         -0.875
	// cdna1-mfma-binary16-binary32               -0.875
	// cdna1-mfma-bfloat16-binary32               -0.875
	// cdna1-mfma-binary32-binary32               -0.875
	// cdna2-mfma-binary16-binary32               0
	// cdna2-mfma_1k-bfloat16-binary32            0
	// cdna2-mfma-bfloat16-binary32               -0.375
	// cdna2-mfma-binary32-binary32               -0.875
	// cdna2-mfma-binary64-binary64               -0.875
	// cdna3-mfma-binary16-binary32               -0.5
	// cdna3-mfma-bfloat16-binary32               -0.5
	// cdna3-mfma-tf32-binary32                   -0.5
	// cdna3-mfma-e5m2fnuz-binary32               -1
	// cdna3-mfma-binary32-binary32               -0.875
	// cdna3-mfma-binary64-binary64               -0.875
	// sapphirerapids-tdpbf16ps-bfloat16-binary32 -1
	// sapphirerapids-vdpbf16ps-bfloat16-binary32 -0.875
	// graniterapids-tdpfp16ps-binary16-binary32  -1
	// arm-bfdot-bfloat16-binary32                -1.375
	// arm-bfmmla-bfloat16-binary32               -1.375
	// arm-bfmopa-bfloat16-binary32               -1.375
	// arm-bfdot-ebf-bfloat16-binary32            -0.375
	// arm-bfmmla-ebf-bfloat16-binary32           -0.375
	// arm-bfmopa-ebf-bfloat16-binary32           -0.375
	// arm-fmopa-binary16-binary32                -0.375
	// arm-fmopa-binary32-binary32                -0.875
	// arm-fdot-e5m2-binary32                     -0.875
	// arm-fmmla-e5m2-binary32                    -0.875
	// paper-f32                                  -0.875
	// ieee-fma-binary16-binary32                 -0.875
	// ieee-fma-binary32-binary32                 -0.875
	// ieee-fma-binary64-binary64                 -0.875
}

// A new device is one literal.
func ExampleDevice() {
	d := tcore.Device{
		Name: "mine",
		A:    tcore.E4M3,
		B:    tcore.E4M3,
		C:    tcore.Binary32,
		Core: tcore.Fused{Terms: 8, FractionBits: 20, Result: tcore.Binary32, Rounding: tcore.ToZero, ZeroExponent: -128},
	}
	fmt.Println(d.Dot([]float64{1, 1, 1}, []float64{1, 0x1p-9, 0x1p-9}, 0x1p20))
	fmt.Println(d.Dot([]float64{1, 1, 1}, []float64{1, 0x1p-9, 0x1p-9}, 0x1p10))
	// Output:
	// 1.048577e+06
	// 1025.00390625
}

// A variant is a copy with one field changed: Hopper multiplies e4m3 by e5m2.
func ExampleDevice_Dot() {
	d := devices.HopperE4M3()
	d.B = tcore.E5M2
	fmt.Println(d.Dot([]float64{1, 2, 3}, []float64{4, 5, 6}, 0.5))
	// Output: 32.5
}

// Instructions accept factors of two different 8-bit formats, but not of two
// different wider ones.
func ExampleDevice_Takes() {
	fmt.Println(devices.HopperE4M3().Takes(tcore.E5M2), devices.HopperF16().Takes(tcore.BFloat16))
	// Output: true false
}

// The arguments and the result are bit patterns. NaN is 0x7fffffff on NVIDIA.
func ExampleDevice_DotCodes() {
	one, inf := tcore.Binary16.Encode(1, tcore.ToNearestEven), uint64(0x7c00)
	fmt.Printf("%#x\n", devices.HopperF16().DotCodes([]uint64{one, one}, []uint64{one, one}, 0))
	fmt.Printf("%#x\n", devices.HopperF16().DotCodes([]uint64{inf, inf}, []uint64{one, one | 0x8000}, 0))
	// Output:
	// 0x40000000
	// 0x7fffffff
}

// NVFP4: 16 factors of e2m1 share a scale of e4m3.
func ExampleDevice_DotScaled() {
	d := devices.BlackwellNVF4()
	six := make([]uint64, 16)
	for i := range six {
		six[i] = d.A.Encode(6, tcore.ToNearestEven)
	}
	half := []uint64{d.Scale.Encode(0.5, tcore.ToNearestEven)}
	z := d.DotScaled(six, six, half, half, 0)
	fmt.Println(d.C.Decode(z))
	// Output: 144
}

// Volta keeps 23 bits below the greatest exponent, here that of the second
// product. It truncates the first product at 2⁻¹², which discards 2⁻²⁰.
func ExampleDevice_Trace() {
	x := []float64{1 + 0x1p-10, 2048, -2048}
	y := []float64{1 + 0x1p-10, 1, 1}
	fmt.Print(devices.VoltaF16().Trace(x, y, 0.1))
	// Output:
	// volta-mma-binary16-binary32
	// term       value        exponent  kept          lost
	// x0 y0      1.00195408   0         1.00195312    9.53674316e-07
	// x1 y1      2048         11        2048          0
	// x2 y2      -2048        11        -2048         0
	// c          0.100000001  -4        0.0998535156  0.000146485865
	// = block 0  1.10180664   11        1.10180664
	// result 1.10180664, exact 1.10195408, error -0.000147
}

// The products of sixteen factors are one term, here 2 × 6 × 6 with a scale of
// 0.5 on either side. Beside 2⁴⁰ it is cut off, as all bits below 2⁵ are.
func ExampleDevice_TraceScaled() {
	d := devices.BlackwellNVF4()
	six, half := d.A.Encode(6, tcore.ToNearestEven), d.Scale.Encode(0.5, tcore.ToNearestEven)
	t := d.TraceScaled([]uint64{six, six}, []uint64{six, six}, []uint64{half}, []uint64{half}, d.C.Encode(0x1p40, tcore.ToNearestEven))
	for _, term := range t.Blocks[0].Terms {
		if term.Value != 0 {
			fmt.Println(term.Value, "keeps", term.Kept)
		}
	}
	// Output:
	// 18 keeps 0
	// 1.099511627776e+12 keeps 1.099511627776e+12
}

func ExampleTrace() {
	t := devices.HopperF16().Trace([]float64{0x1p14, 0x1p-10, -0x1p14}, []float64{0x1p14, 0x1p-10, 0x1p14}, 0)
	for _, b := range t.Blocks {
		for _, term := range b.Terms {
			if term.Lost != 0 {
				fmt.Println("lost", term.Lost, "of product", term.Index)
			}
		}
	}
	fmt.Println("error", t.Error)
	// Output:
	// lost 9.5367431640625e-07 of product 1
	// error -9.5367431640625e-07
}

// A block is aligned to E*, the greatest exponent of its terms.
// With promotion every 32 products, a small sum is not added to a large one in
// the tensor core, which would cut it off, but in binary32.
func ExampleMachine_Trace() {
	x := make([]float64, 64)
	x[0], x[32] = 256, 0.5
	for _, promote := range []int{0, 32} {
		t := tcore.Machine{Device: devices.HopperE4M3(), Promote: promote}.Trace(x, x)
		fmt.Println(t.Result, t.Error, len(t.Blocks), t.Parts)
	}
	// Output:
	// 65536 -0.25 2 []
	// 65536.25 0 2 [{0 65536 65536 0} {32 0.25 65536.25 0}]
}

// The third part is lost in rounding.
func ExampleTracePart() {
	x := make([]float64, 96)
	x[0], x[32], x[64] = 256, 0x1p-3, 0x1p-6
	t := tcore.Machine{Device: devices.HopperE4M3(), Promote: 32}.Trace(x, x)
	for _, p := range t.Parts {
		fmt.Printf("%+v\n", p)
	}
	// Output:
	// {Start:0 Sum:65536 Result:65536 Lost:0}
	// {Start:32 Sum:0.015625 Result:65536.015625 Lost:0}
	// {Start:64 Sum:0.000244140625 Result:65536.015625 Lost:0.000244140625}
}

func ExampleTraceBlock() {
	b := devices.AmpereF16().Trace([]float64{3, 1}, []float64{3, 1}, 0.5).Blocks[0]
	fmt.Println("E* =", b.Exponent, "last bit kept", b.Unit == math.Ldexp(1, b.Exponent-24), "result", b.Result)
	// Output: E* = 2 last bit kept true result 10.5
}

// 3 × 3 = 2.25 × 2²: exponents are added, not normalised.
func ExampleTraceTerm() {
	m := devices.AmpereF16().Trace([]float64{3}, []float64{3}, 0).Blocks[0].Terms[0]
	fmt.Println(m.X, "×", m.Y, "=", m.Value, "has exponent", m.Exponent)
	// Output: 3 × 3 = 9 has exponent 2
}

func ExampleTrace_String() {
	fmt.Println(devices.HopperE4M3().Trace([]float64{448, 0.25}, []float64{448, 0.25}, 0).String())
	// Output:
	// hopper-wgmma-e4m3-binary32
	// term       value   exponent  kept    lost
	// x0 y0      200704  16        200704  0
	// x1 y1      0.0625  -4        0       0.0625
	// = block 0  200704  16        200704
	// result 200704, exact 200704.062, error -0.0625
}

// One element of a product, in detail.
func ExampleDevice_TraceGEMM() {
	a := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	t := devices.HopperF16().TraceGEMM(a, a, blas32.General{}, 1, 0)
	fmt.Println(t.Blocks[0].Terms[:2], t.Result)
	// Output: [{0 3 1 3 1 3 0} {1 4 3 12 3 12 0}] 15
}

// The error of GEMM alone, without the error of rounding 0.1 to binary16.
func ExampleDevice_ExactGEMM() {
	a := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.1, 0.1}}
	b := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 100}}
	exact, err := devices.AdaE4M3().ExactGEMM(a, b)
	fmt.Println(exact.At(0, 0), err)
	// Output: 9.8515625 <nil>
}

// What a sum of products cancels to, and what it cancels.
func ExampleDevice_ExactGEMMs() {
	a := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.1, -0.1}}
	b := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{101, 100}}
	ab, abs, err := devices.HopperF16().ExactGEMMs(a, b)
	fmt.Println(ab.At(0, 0), abs.At(0, 0), err)
	// Output: 0.0999755859375 20.0950927734375 <nil>
}

// Hopper's output for U(0,1) data is too small, since it truncates. The errors
// of IEEE arithmetic have both signs.
func ExampleDevice_MultiplyAdd() {
	const k = 1 << 12
	a := blas32.General{Rows: 1, Cols: k, Stride: k, Data: make([]float32, k)}
	b := blas32.General{Rows: k, Cols: 1, Stride: 1, Data: make([]float32, k)}
	for i := range k {
		a.Data[i], b.Data[i] = float32(i%997)/1024, float32(i%991)/1024
	}
	ab, err := exact.GEMM(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	for _, device := range []tcore.Device{devices.VoltaF16(), devices.HopperF16(), devices.PaperCoreF32()} {
		device.MultiplyAdd(a, b, blas32.General{}, d)
		fmt.Printf("%-28s %v, error %.3g\n", device.Name, d.Data[0], ab.Error(d).Data[0])
	}
	// Output:
	// volta-mma-binary16-binary32  1219.7413, error -0.096
	// hopper-wgmma-binary16-binary32 1219.8129, error -0.0245
	// paper-f32                    1219.8324, error -0.00496
}

// A library splits K, scales in binary32 and converts the result.
func ExampleMachine() {
	a := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{1, 2, 3, 4}}
	c := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{100}}
	k := tcore.Machine{Device: devices.HopperF16(), SplitK: 2, Output: tcore.BFloat16}
	k.GEMM(blas.NoTrans, blas.Trans, 10, a, a, 1, c, c)
	fmt.Println(c.Data[0])
	// Output: 400
}

// A thousand products 0.1 × 1, added in binary32 in each order.
func ExampleMachine_Dot() {
	x, ones := make([]float64, 1000), make([]float64, 1000)
	for i := range x {
		x[i], ones[i] = float64(float32(0.1)), 1
	}
	for o := tcore.InSequence; o <= tcore.Compensated; o++ {
		m := tcore.Machine{Device: devices.IEEEF32(), Order: o}
		fmt.Printf("%-11v  %v\n", o, m.Dot(x, ones, 0))
	}
	// Output:
	// in sequence  99.9990463256836
	// in pairs     100
	// compensated  100
}

func ExampleMachine_Check() {
	fmt.Println(tcore.Machine{Device: devices.HopperF16(), Order: tcore.InPairs}.Check())
	// Output:
	// Order = in pairs on device "hopper-wgmma-binary16-binary32", want another order on FMAs only
}

func ExampleMachine_GEMM() {
	a := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	d := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 4)}
	k := tcore.Machine{Device: devices.AmpereTF32()}
	k.GEMM(blas.Trans, blas.NoTrans, 1, a, a, 0, blas32.General{}, d)
	fmt.Println(d.Data)
	// Output: [10 14 14 20]
}

// The order of the terms within a block does not matter, and all bits below the
// last bit kept are discarded, however large their sum is.
func ExampleFused() {
	core := devices.HopperF16().Core.(tcore.Fused)
	fmt.Printf("%d terms, %d bits, %v\n", core.Terms, core.FractionBits, core.Rounding)
	tiny := []float64{1, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13}
	fmt.Println(devices.HopperF16().Dot(tiny, tiny, 0)-1, "of", 8*0x1p-26)
	// Output:
	// 16 terms, 25 bits, ToZero
	// 0 of 1.1920928955078125e-07
}

// The published models disagree on the sign of a result that underflows. An
// H100 returns +0.
func ExampleContested() {
	later := devices.HopperF16F16()
	core := later.Core.(tcore.Fused)
	core.NegativeTiny = true
	later.Core = core
	for _, d := range []tcore.Device{devices.HopperF16F16(), later} {
		fmt.Println(d.Dot([]float64{0x1p-14}, []float64{-0x1p-14}, 0))
	}
	// Output:
	// 0
	// -0
}

// Each of these devices has another core.
func ExampleCore() {
	for _, d := range []tcore.Device{devices.HopperF16(), devices.CDNA1F16(), devices.CDNA2F16(), devices.CDNA3F16(), devices.AMXBF16(), devices.AVX512BF16(), devices.ArmBF16(), devices.ArmMOPAF16(), devices.HopperF64(), devices.PaperCoreF32()} {
		fmt.Printf("%T\n", d.Core)
	}
	// Output:
	// tcore.Fused
	// tcore.ExactSum
	// tcore.Pairwise
	// tcore.TwoStage
	// tcore.EvenOdd
	// tcore.OddFirst
	// tcore.OddPairs
	// tcore.FusedPairs
	// tcore.Chain
	// tcore.TensorCore
}

func ExampleExactSum() {
	fmt.Println(devices.CDNA1F16().Dot([]float64{0x1p15, 0x1p-10, -0x1p15}, []float64{0x1p15, 0x1p-10, 0x1p15}, 0) == 0x1p-20)
	// Output: true
}

// The products are added in pairs: 2²⁴ + 1 is rounded to 2²⁴.
func ExamplePairwise() {
	fmt.Println(devices.CDNA2F16().Dot([]float64{4096, 1, -4096, 0}, []float64{4096, 1, 4096, 0}, 0))
	// Output: 0
}

// The products of even index cancel in a chain of their own, and those of odd
// index are small: nothing is lost. One chain would lose the first 1.
func ExampleEvenOdd() {
	x, y := []float64{4096, 1, -4096, 1}, []float64{4096, 1, 4096, 1}
	fmt.Println(devices.AMXBF16().Dot(x, y, 0), devices.IEEEF32().Dot(x, y, 0))
	// Output: 2 1
}

// Of each pair, the product of odd index is added first: 1 + 2²⁴ is rounded to
// 2²⁴. And a sum below 2⁻¹²⁶ is a zero.
func ExampleOddFirst() {
	d := devices.AVX512BF16()
	fmt.Println(d.Dot([]float64{-4096, 4096}, []float64{4096, 4096}, 1))
	fmt.Println(d.Dot([]float64{0x1p-70}, []float64{-0x1p-70}, 0))
	// Output:
	// 0
	// -0
}

// Above 2²⁴ the numbers of binary32 are 2 apart, and those with an odd last bit
// 4. However little is added to 2²⁴, the sum becomes the first of these.
func ExampleOddPairs() {
	d := devices.ArmBF16()
	fmt.Println(d.Dot([]float64{4096, 0.5}, []float64{4096, 0.25}, 0) - 0x1p24)
	fmt.Println(d.Dot([]float64{4096, 3.75}, []float64{4096, 1}, 0) - 0x1p24)
	// Output:
	// 2
	// 2
}

// The products of a pair are added to each other first: 2²⁴ + (1 + 1) is a
// number of binary32, where one 1 after the other is lost. And their sum is
// rounded once: no product of 2⁻¹⁵⁰ is lost on its own.
func ExampleFusedPairs() {
	x, y := []float64{1, 1}, []float64{1, 1}
	fmt.Println(devices.ArmMOPAF16().Dot(x, y, 0x1p24)-0x1p24, devices.IEEEF32().Dot(x, y, 0x1p24)-0x1p24)
	x, y = []float64{0x1p-75, 0x1p-75}, []float64{0x1p-75, 0x1p-75}
	fmt.Println(devices.ArmEBF16().Dot(x, y, 0) == 0x1p-149, devices.ArmBF16().Dot(x, y, 0))
	// Output:
	// 2 0
	// true 0
}

// CDNA3 rounds down when it aligns the sum of the products and c, so a tiny
// negative c has a larger effect than a tiny positive one.
func ExampleTwoStage() {
	for _, c := range []float64{0x1p-30, -0x1p-30} {
		fmt.Println(devices.CDNA3F16().Dot([]float64{1}, []float64{1}, c) - 1)
	}
	// Output:
	// 0
	// -5.960464477539063e-08
}

func ExampleChain() {
	fmt.Println(devices.IEEEF32().Dot([]float64{4096, 1, -4096}, []float64{4096, 1, 4096}, 0))
	// Output: 0
}

// An 8-bit mma.sync on Hopper is two binary16 instructions. Its result differs
// from that of wgmma.
func ExampleSplit() {
	x := []float64{256, 0.5, 0.5, 0.5, -256}
	y := []float64{256, 0.5, 0.5, 0.5, 256}
	fmt.Println(devices.HopperE4M3().Dot(x, y, 0), devices.HopperMMAE4M3().Dot(x, y, 0))
	// Output: 0 0.75
}

func ExampleDevice_BlockTerms() {
	fmt.Println(devices.VoltaF16().BlockTerms(), devices.AmpereF16().BlockTerms(), devices.HopperF16().BlockTerms())
	// Output: 4 8 16
}
