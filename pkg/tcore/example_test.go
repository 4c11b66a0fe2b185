package tcore_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// A floating-point system is given by its precision and its exponent range.
func ExampleFormat() {
	formats := []tcore.Format{
		tcore.Binary64, tcore.Binary32, tcore.TF32, tcore.BFloat16, tcore.Binary16,
		tcore.E5M2, tcore.E4M3, tcore.E5M2FNUZ, tcore.E4M3FNUZ,
		tcore.E3M2, tcore.E2M3, tcore.E2M1, tcore.E8M0, tcore.UE4M3,
	}
	fmt.Println("name      bits   p   emin  emax         u        max  min normal  min subnormal")
	for _, f := range formats {
		fmt.Printf("%-8s  %4d  %2d  %5d  %4d  %8.3g  %9.5g  %10.3g  %13.3g\n", f.Name, f.Bits(), f.Precision,
			f.Emin, f.Emax, f.UnitRoundoff(), f.Max(), f.MinNormal(), f.MinSubnormal())
	}
	// Output:
	// name      bits   p   emin  emax         u        max  min normal  min subnormal
	// binary64    64  53  -1022  1023  1.11e-16  1.7977e+308   2.23e-308      4.94e-324
	// binary32    32  24   -126   127  5.96e-08  3.4028e+38    1.18e-38        1.4e-45
	// tf32        19  11   -126   127  0.000488  3.4012e+38    1.18e-38       1.15e-41
	// bfloat16    16   8   -126   127   0.00391  3.3895e+38    1.18e-38       9.18e-41
	// binary16    16  11    -14    15  0.000488      65504     6.1e-05       5.96e-08
	// e5m2         8   3    -14    15     0.125      57344     6.1e-05       1.53e-05
	// e4m3         8   4     -6     8    0.0625        448      0.0156        0.00195
	// e5m2fnuz     8   3    -15    15     0.125      57344    3.05e-05       7.63e-06
	// e4m3fnuz     8   4     -7     7    0.0625        240     0.00781       0.000977
	// e3m2         6   3     -2     4     0.125         28        0.25         0.0625
	// e2m3         6   4      0     2    0.0625        7.5           1          0.125
	// e2m1         4   2      0     2      0.25          6           1            0.5
	// e8m0         8   1   -127   127       0.5  1.7014e+38    5.88e-39       5.88e-39
	// ue4m3        8   4     -6     8    0.0625        448      0.0156        0.00195
}

// A new format is one literal.
func ExampleFormat_literal() {
	dlfloat := tcore.Format{Name: "DLFloat", Precision: 10, Emin: -30, Emax: 31, Subnormals: tcore.Flushed}
	fmt.Println(dlfloat.Bits(), "bits, u =", dlfloat.UnitRoundoff(), "max", dlfloat.Max())
	fmt.Println(dlfloat.Round(math.Pi, tcore.ToNearestEven))
	// Output:
	// 16 bits, u = 0.0009765625 max 4.290772992e+09
	// 3.140625
}

// The unit roundoff is u = ½β^(1-p).
func ExampleFormat_UnitRoundoff() {
	fmt.Println(tcore.Binary16.UnitRoundoff() == math.Ldexp(1, -11))
	// Output: true
}

func ExampleFormat_Max() {
	fmt.Println(tcore.Binary16.Max(), tcore.E5M2.Max(), tcore.E4M3.Max())
	// Output: 65504 57344 448
}

func ExampleFormat_MinNormal() {
	fmt.Println(tcore.Binary16.MinNormal() == math.Ldexp(1, -14))
	// Output: true
}

func ExampleFormat_MinSubnormal() {
	fmt.Println(tcore.Binary16.MinSubnormal() == math.Ldexp(1, -24))
	// Output: true
}

func ExampleFormat_Bits() {
	fmt.Println(tcore.TF32.Bits())
	// Output: 19
}

// Rounding is modelled as fl(z) = z(1 + δ), |δ| <= u.
func ExampleFormat_Round() {
	z := math.Pi
	for _, f := range []tcore.Format{tcore.E4M3, tcore.BFloat16, tcore.Binary16, tcore.Binary32} {
		fl := f.Round(z, tcore.ToNearestEven)
		fmt.Printf("%-8s  fl(π) = %-19.17g  |δ| = %.2f u\n", f.Name, fl, math.Abs(fl-z)/z/f.UnitRoundoff())
	}
	// Output:
	// e4m3      fl(π) = 3.25                 |δ| = 0.55 u
	// bfloat16  fl(π) = 3.140625             |δ| = 0.08 u
	// binary16  fl(π) = 3.140625             |δ| = 0.63 u
	// binary32  fl(π) = 3.1415927410125732   |δ| = 0.47 u
}

// 1 + 2⁻¹¹ lies midway between two numbers of binary16.
func ExampleRoundingMode() {
	z := 1 + math.Ldexp(1, -11)
	for mode := tcore.ToNearestEven; mode <= tcore.ToOdd; mode++ {
		fmt.Printf("%-13v  %-12v  %v\n", mode, tcore.Binary16.Round(z, mode), tcore.Binary16.Round(-z, mode))
	}
	// Output:
	// ToNearestEven  1             -1
	// ToNearestAway  1.0009765625  -1.0009765625
	// ToZero         1             -1
	// ToPositive     1.0009765625  -1
	// ToNegative     1             -1.0009765625
	// ToOdd          1.0009765625  -1.0009765625
}

func ExampleRoundingMode_String() {
	fmt.Println(tcore.ToOdd.String())
	// Output: ToOdd
}

// 500 is beyond the greatest number of e4m3. A variant is a copy with one
// field changed.
func ExampleOverflow() {
	saturating := tcore.E4M3
	saturating.Overflow = tcore.Saturate
	fmt.Println(tcore.E4M3.Round(500, tcore.ToNearestEven), saturating.Round(500, tcore.ToNearestEven))
	// Output: NaN 448
}

// IEEE formats reserve a whole exponent for infinities and NaN, and e4m3 one
// code.
func ExampleSpecials() {
	ieee := tcore.Format{Name: "IEEE-like e4m3", Precision: 4, Emin: -6, Emax: 7}
	for _, f := range []tcore.Format{ieee, tcore.E4M3} {
		fmt.Printf("%-15s max %v, codes 0x78 to 0x7f:", f.Name, f.Max())
		for code := range uint64(8) {
			fmt.Print(" ", f.Decode(0x78+code))
		}
		fmt.Println()
	}
	// Output:
	// IEEE-like e4m3  max 240, codes 0x78 to 0x7f: +Inf NaN NaN NaN NaN NaN NaN NaN
	// e4m3            max 448, codes 0x78 to 0x7f: 256 288 320 352 384 416 448 NaN
}

func ExampleFormat_RoundSlice() {
	x := []float64{0.1, 0.2, 0.3}
	tcore.BFloat16.RoundSlice(x, x, tcore.ToZero)
	fmt.Println(x)
	// Output: [0.099609375 0.19921875 0.298828125]
}

// Line 1 of Algorithm 1: Ã ← fl_low(A).
func ExampleFormat_RoundSlice32() {
	a := []float32{0.1, 0.2, 0.3}
	tcore.Binary16.RoundSlice32(a, a)
	fmt.Println(a)
	// Output: [0.099975586 0.19995117 0.30004883]
}

func ExampleFormat_Encode() {
	fmt.Printf("%#04x\n", tcore.Binary16.Encode(1.0/3, tcore.ToNearestEven))
	// Output: 0x3555
}

func ExampleFormat_Decode() {
	fmt.Println(tcore.Binary16.Decode(0x3555))
	// Output: 0.333251953125
}

// In binary16, 2048 + 1 is a tie.
func ExampleFormat_Add() {
	fmt.Println(tcore.Binary16.Add(2048, 1, tcore.ToNearestEven), tcore.Binary16.Add(2048, 1, tcore.ToPositive))
	// Output: 2048 2050
}

// 0.1 × 0.1 in binary32.
func ExampleFormat_Mul() {
	x := tcore.Binary32.Round(0.1, tcore.ToNearestEven)
	fmt.Println(float32(tcore.Binary32.Mul(x, x, tcore.ToNearestEven)))
	// Output: 0.010000001
}

// The FMA operation is the correctly rounded exact result fl(a × b + c).
// Rounding the FMA of float64 to binary32 is a second rounding, which can be
// wrong: here the sum is just above a midpoint of binary32, and exactly on it
// after the first rounding.
func ExampleFormat_FMA() {
	a, c := 1+math.Ldexp(1, -12), math.Ldexp(1, -60)
	fmt.Printf("binary32 FMA       %x\n", tcore.Binary32.FMA(a, a, c, tcore.ToNearestEven))
	fmt.Printf("float32(math.FMA)  %x\n", float32(math.FMA(a, a, c)))
	// Output:
	// binary32 FMA       0x1.002002p+00
	// float32(math.FMA)  0x1.002p+00
}

// Without FMA, the multiply-accumulate makes two roundings. Here the first
// discards the bits that remain after the subtraction.
func ExampleFormat_MAC() {
	a := 1 + math.Ldexp(1, -12)
	c := -1 - math.Ldexp(1, -11)
	fmt.Println("with FMA   ", tcore.Binary32.FMA(a, a, c, tcore.ToNearestEven))
	fmt.Println("without FMA", tcore.Binary32.MAC(a, a, c, tcore.ToNearestEven))
	// Output:
	// with FMA    5.960464477539063e-08
	// without FMA 0
}

// The typical MPFMA has a and b in a lower precision and c in a higher one; the
// product is exact, the sum is rounded.
func ExampleMPFMA() {
	m := tcore.MPFMA{
		Low:        tcore.Binary16,
		High:       tcore.Binary32,
		Product:    tcore.Binary32,
		Accumulate: tcore.Binary32,
		Output:     tcore.Binary32,
	}
	a, b, c := float64(float32(1.1)), float64(float32(1.2)), float64(float32(1.3))
	fmt.Printf("exact  %.9f\n", math.FMA(a, b, c))
	fmt.Printf("FMA    %.9f\n", tcore.Binary32.FMA(a, b, c, tcore.ToNearestEven))
	fmt.Printf("MPFMA  %.9f\n", m.FMA(a, b, c))
	// Output:
	// exact  2.620000033
	// FMA    2.620000124
	// MPFMA  2.619745970
}

func ExampleMPFMA_FMA() {
	m := tcore.PaperF32.MPFMA
	fmt.Println(m.FMA(3, 5, 0.5), m.FMA(1e9, 1, 0))
	// Output: 15.5 +Inf
}

// The two rows of the paper's Table 2.
func ExampleMPFMA_Roundoffs() {
	for _, core := range []tcore.TensorCore{tcore.PaperF32, tcore.PaperF16} {
		r := core.Roundoffs()
		fmt.Printf("u_low %.3g  u_high %.3g  ũ %.3g  ū %.3g  u_FMA %.3g\n", r.Low, r.High, r.Product, r.Accumulate, r.Output)
	}
	// Output:
	// u_low 0.000488  u_high 5.96e-08  ũ 5.96e-08  ū 5.96e-08  u_FMA 5.96e-08
	// u_low 0.000488  u_high 0.000488  ũ 5.96e-08  ū 0.000488  u_FMA 0.000488
}

// Tensor cores recursively use the kernel z_i = z_(i-1) + Σ x_j y_j over blocks
// of b terms. The block width matters when the output is rounded.
func ExampleTensorCore() {
	core := tcore.TensorCore{Name: "fp16 out", Block: 4, MPFMA: tcore.PaperF32.MPFMA}
	core.Output = tcore.Binary16

	x := []float64{1, 1. / 2048, 1. / 2048, 1. / 2048, 1. / 2048, 1. / 2048, 1. / 2048, 1. / 2048}
	y := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	for _, core.Block = range []int{1, 2, 4, 8} {
		fmt.Printf("b = %d: 1 + 7 × 2⁻¹¹ = 1 + %.0f × 2⁻¹¹\n", core.Block, (core.Device("paper").Dot(x, y, 0)-1)*2048)
	}
	// Output:
	// b = 1: 1 + 7 × 2⁻¹¹ = 1 + 0 × 2⁻¹¹
	// b = 2: 1 + 7 × 2⁻¹¹ = 1 + 6 × 2⁻¹¹
	// b = 4: 1 + 7 × 2⁻¹¹ = 1 + 8 × 2⁻¹¹
	// b = 8: 1 + 7 × 2⁻¹¹ = 1 + 8 × 2⁻¹¹
}

// The paper's row 2 rounds the first product, too: adding it to 0 is not exact,
// and γ_(K-1) is no bound. Here K = 2 and the error is 1.997u.
func ExampleTensorCore_Device() {
	core := tcore.PaperF16
	core.Block = 2
	x := []float64{1 + 1./1024, 1 - 1./2048}
	y := []float64{1 - 1./2048, 1. / 2048}
	d := core.Device("two terms a block").Dot(x, y, 0)
	exact := x[0]*y[0] + x[1]*y[1]
	fmt.Printf("%v, relative error %.3fu\n", d, math.Abs(d-exact)/exact/core.Accumulate.UnitRoundoff())
	// Output: 1, relative error 1.997u
}

// Algorithm 1: let D = AB be computed using tensor cores.
func ExampleDevice_MultiplyAdd_algorithm1() {
	a := blas32.General{Rows: 2, Cols: 4, Stride: 4, Data: []float32{.1, .2, .3, .4, .5, .6, .7, .8}}
	b := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 2, 3, 4}}
	d := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float32, 2)}
	for _, device := range []tcore.Device{devices.PaperCoreF32(), devices.PaperCoreF16()} {
		device.MultiplyAdd(a, b, blas32.General{}, d)
		fmt.Printf("%s: %v\n", device.Name, d.Data)
	}
	// Output:
	// paper-f32: [2.9996338 7]
	// paper-f16: [3 7]
}

// For all error evaluations the paper considers float64 the actual result.
func ExampleFloat64GEMM() {
	a := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.1, 0.2}}
	b := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{3, 4}}
	fmt.Printf("%.12f\n", tcore.Float64GEMM(a, b).Data[0])
	// Output: 1.100000016391
}

// The operation of the paper's Table 3, d = a × b + c, without FMA.
func ExampleStreamMAC() {
	a, c := []float32{1 + 1./4096}, []float32{-1}
	d := make([]float32, 1)
	tcore.StreamMAC(d, a, a, c)
	fmt.Println(d[0] == 1./2048)
	// Output: true
}

func ExampleStreamFMA() {
	a, c := []float32{1 + 1./4096}, []float32{-1}
	d := make([]float32, 1)
	tcore.StreamFMA(d, a, a, c)
	fmt.Println(d[0] == 1./2048+1./(1<<24))
	// Output: true
}

// With MPFMA, a and b take half the bytes.
func ExampleStreamMPFMA() {
	a, b := make([]uint16, 2), make([]uint16, 2)
	tcore.EncodeSlice16(a, []float32{0.5, 0.1})
	tcore.EncodeSlice16(b, []float32{3, 10})
	d := make([]float32, 2)
	tcore.StreamMPFMA(d, a, b, []float32{1, 1})
	fmt.Println(d)
	// Output: [2.5 1.9997559]
}

func ExampleEncodeSlice16() {
	codes := make([]uint16, 3)
	tcore.EncodeSlice16(codes, []float32{1, -2, 65504})
	fmt.Printf("%#04x\n", codes)
	// Output: [0x3c00 0xc000 0x7bff]
}

func ExampleDecodeSlice16() {
	x := make([]float32, 3)
	tcore.DecodeSlice16(x, []uint16{0x3c00, 0xc000, 0x7bff})
	fmt.Println(x)
	// Output: [1 -2 65504]
}

// Formats that differ only in their names are equal.
func ExampleFormat_Equal() {
	half := tcore.Binary16
	half.Name = "half"
	fmt.Println(half.Equal(tcore.Binary16), half.Equal(tcore.BFloat16))
	// Output: true false
}
