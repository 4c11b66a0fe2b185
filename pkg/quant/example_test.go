package quant_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

func row(x ...float32) blas32.General {
	return blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x}
}

func quantise(r quant.Recipe, x blas32.General) *quant.Quantised {
	q, err := r.Quantise(x, quant.Left)
	if err != nil {
		panic(err)
	}
	return q
}

// OCP's floor scale clips the greatest number of a block; the round-up scale
// of NVIDIA's instruction does not, and has half of the resolution.
func Example() {
	x := row(1.9, 0.3, 0.05)
	for _, s := range []quant.MXScale{quant.FloorScale, quant.RoundUpScale} {
		q := quantise(quant.MX(tcore.E2M1, s), x)
		fmt.Println(q.Recipe.Name, q.Scale(0, 0), q.Dequantise().Data)
	}
	// Output:
	// mxe2m1-floor 0.25 [1.5 0.25 0]
	// mxe2m1-rceil 0.5 [2 0.25 0]
}

// DeepSeek divides by the scale, DeepGEMM multiplies by its inverse.
func ExampleRecipe() {
	for _, r := range []quant.Recipe{quant.DeepSeek(false), quant.DeepGEMM(quant.Vector128, false)} {
		fmt.Println(r.Name, r.Block, r.Scale.Quotient == quant.AmaxOverMax, r.Scale.Apply == quant.TimesInverse)
	}
	// Output:
	// deepseek-1x128 1×128 true false
	// deepgemm-1x128 1×128 true true
}

func ExampleRecipe_Quantise() {
	q, err := quant.Integers(quant.PerVector).Quantise(row(1, -0.5, 0.25), quant.Left)
	fmt.Println(q.Scales, int8(q.Codes[0]), int8(q.Codes[1]), int8(q.Codes[2]), err)
	_, err = quant.Integers(quant.PerVector).Quantise(blas32.General{}, quant.Right)
	fmt.Println(err)
	// Output:
	// [0.007874016] 127 -64 32 <nil>
	// quant: Quantise: x is 0 × 0 with stride 0 and 0 elements, want at least 1 × 1 and all elements
}

func ExampleQuantised_Number() {
	q := quantise(quant.Torchao(tcore.E4M3, quant.PerTensor, false), row(1, 0.1))
	fmt.Println(q.Number(0, 0), q.Number(0, 1))
	// Output: 448 44
}

func ExampleQuantised_Scale() {
	q := quantise(quant.DeepGEMM(quant.Vector128, true), row(100, 3))
	fmt.Println(q.Scale(0, 0))
	// Output: 0.25
}

func ExampleQuantised_TensorScale() {
	q := quantise(quant.TorchaoNVFP4(true), row(2688, 1))
	fmt.Println(q.TensorScale(), q.Scale(0, 0), q.Number(0, 0))
	// Output: 1 448 6
}

// 0.1 of 1 becomes 44.8 of 448, and then the nearest number of e4m3.
func ExampleQuantised_Divided() {
	x := row(1, 0.1)
	q := quantise(quant.Torchao(tcore.E4M3, quant.PerTensor, false), x)
	fmt.Println(q.Divided(x).Data, q.Number(0, 1))
	// Output: [448 44.8] 44
}

func ExampleQuantised_Dequantise() {
	fmt.Println(quantise(quant.NVFP4(quant.Vector16), row(2688, 448, 100)).Dequantise().Data)
	// Output: [2688 448 0]
}

// The codes and scales of MXFP4 are the operands of a tensor core that takes
// scales.
func ExampleQuantised_TensorCodes() {
	x := blas32.General{Rows: 1, Cols: 32, Stride: 32, Data: make([]float32, 32)}
	x.Data[0] = 12
	q := quantise(quant.MX(tcore.E2M1, quant.FloorScale), x)
	for _, d := range []tcore.Device{devices.BlackwellMXE2M1(), devices.BlackwellNVF4(), devices.HopperF16()} {
		codes, err := q.TensorCodes(d)
		fmt.Println(codes.Scales, err)
	}
	// Output:
	// [128] <nil>
	// [] quant: recipe "mxe2m1-floor" has e2m1 with a scale in e8m0 for 1×32, device "blackwell-tcgen05-f4ue4m3x16-binary32" takes e2m1 with ue4m3 for 1×16
	// [] quant: device "hopper-wgmma-binary16-binary32" takes no scales
}

func ExampleQuantised_Blocks() {
	fmt.Println(quantise(quant.DeepGEMM(quant.Vector128, false), blas32.General{Rows: 3, Cols: 300, Stride: 300, Data: make([]float32, 900)}).Blocks())
	// Output: 3 3
}

// OCP's floor scale clips 7 to 6.
func ExampleQuantised_Loss() {
	x := row(7, 0.1)
	l := quantise(quant.MX(tcore.E2M1, quant.FloorScale), x).Loss(x)
	fmt.Printf("%.3f %.3f, clipped %d, flushed %d\n", l.RMS, l.Drift, l.Clipped, l.Flushed)
	// Output: 0.144 -0.155, clipped 1, flushed 1
}

func ExampleLoss() {
	x := row(0, 0)
	fmt.Println(quantise(quant.Integers(quant.PerVector), x).Loss(x))
	// Output: {0 0 0 0 0}
}

func ExampleSide() {
	fmt.Println(quant.Left, quant.Right)
	// Output: A B
}

func ExampleBlock() {
	fmt.Println(quant.PerTensor, quant.PerVector, quant.Tile128)
	// Output: all×all 1×all 128×128
}

// A recipe with another rounding is a copy with one field changed.
func ExampleRounding() {
	r := quant.MX(tcore.E2M1, quant.FloorScale)
	r.Rounding = quant.ToNearestAway
	fmt.Println(quantise(r, row(4, 2.5)).Dequantise().Data, quantise(quant.DeepGEMMFP4(quant.Vector32, true), row(4, 2.5)).Dequantise().Data)
	// Output: [4 3] [4 2]
}

func ExampleScaling() {
	r := quant.NVFP4(quant.Tile16)
	fmt.Println(r.Tensor.Quotient == quant.MaxOverAmax, r.Scale.Quotient == quant.AmaxTimesTensor, r.Scale.Stored.Name)
	// Output: true true ue4m3
}

func ExampleQuotient() {
	fmt.Println(quant.Torchao(tcore.E5M2, quant.PerVector, true).Scale.Quotient == quant.MaxOverAmax)
	// Output: true
}

func ExamplePower() {
	fmt.Println(quant.Microxcaling(tcore.E4M3).Scale.Power == quant.DownByLog)
	// Output: true
}

func ExampleApply() {
	fmt.Println(quant.TransformerEngine(tcore.E4M3, quant.Tile128, true, tcore.BFloat16).Scale.Apply == quant.Times)
	// Output: true
}

// An infinity makes a block of MXFP8 NaN in torchao; in TransformerEngine it
// has the greatest scale.
func ExampleCorner() {
	fmt.Println(quant.MX(tcore.E4M3, quant.RoundUpScale).Scale.Infinite == quant.NaNScale,
		quant.MXTransformerEngine(tcore.E4M3).Scale.Infinite == quant.GreatestScale)
	// Output: true true
}

func ExampleMXScale() {
	fmt.Println(quant.FloorScale, quant.CeilScale, quant.EvenScale, quant.RoundUpScale)
	// Output: floor ceil even rceil
}

func ExampleRecipes() {
	fmt.Println(quant.Recipes()[0].Name, quant.Recipes()[0].Source)
	// Output: deepseek-1x128 DeepSeek-V3 inference code 9b4e978
}

func ExampleNamed() {
	r, err := quant.Named("nvfp4-modelopt")
	fmt.Println(r.Scale.Range[0], err)
	_, err = quant.Named("nvfp5")
	fmt.Println(err)
	// Output:
	// 0.001953125 <nil>
	// quant: no recipe "nvfp5"
}

func ExampleDeepSeek() {
	fmt.Println(quant.DeepSeek(true).Name)
	// Output: deepseek-1x128-ue8m0
}

func ExampleDeepGEMM() {
	fmt.Println(quant.DeepGEMM(quant.Tile128, false).Name)
	// Output: deepgemm-128x128
}

func ExampleDeepGEMMFP4() {
	fmt.Println(quant.DeepGEMMFP4(quant.Vector32, true).Name)
	// Output: deepgemm-fp4-1x32-ue8m0
}

func ExampleTransformerEngine() {
	fmt.Println(quant.TransformerEngine(tcore.E5M2, quant.PerTensor, false, tcore.Binary32).Name)
	// Output: te-e5m2-tensor
}

func ExampleTorchao() {
	fmt.Println(quant.Torchao(tcore.E4M3, quant.PerVector, false).Name)
	// Output: torchao-e4m3-row
}

func ExampleMX() {
	fmt.Println(quant.MX(tcore.E2M3, quant.EvenScale).Name)
	// Output: mxe2m3-even
}

func ExampleMXTransformerEngine() {
	fmt.Println(quant.MXTransformerEngine(tcore.E5M2).Name)
	// Output: te-mxe5m2
}

func ExampleMicroxcaling() {
	fmt.Println(quantise(quant.Microxcaling(tcore.E2M1), row(4, 2.5)).Dequantise().Data)
	// Output: [4 3]
}

// Two recipes are called MXFP4.
func ExampleMXFP4Paper() {
	x := row(7, 1)
	fmt.Println(quantise(quant.MXFP4Paper(), x).Dequantise().Data, quantise(quant.MX(tcore.E2M1, quant.FloorScale), x).Dequantise().Data)
	// Output: [8 1] [6 1]
}

func ExampleNVFP4() {
	fmt.Println(quant.NVFP4(quant.Vector16).Name, quant.NVFP4(quant.Tile16).Block)
	// Output: nvfp4-te-1x16 16×16
}

func ExampleTorchaoNVFP4() {
	fmt.Println(quant.TorchaoNVFP4(false).Tensor == nil)
	// Output: true
}

func ExampleModelOptimizerNVFP4() {
	fmt.Println(quant.ModelOptimizerNVFP4().Name)
	// Output: nvfp4-modelopt
}

func ExampleIntegers() {
	fmt.Println(quant.Integers(quant.PerVector).Name)
	// Output: int8-row
}

// With delayed scaling a step that is greater than those before it clips.
func ExampleDelayed() {
	h := quant.History{Length: 1024}
	for _, x := range []blas32.General{row(1, 0.5), row(4, 0.5)} {
		fmt.Println(quantise(quant.Delayed(tcore.E4M3, h.Amax(), 0), x).Dequantise().Data)
		h.Add(x)
	}
	fmt.Println(quantise(quant.Delayed(tcore.E4M3, h.Amax(), 1), row(4, 0.5)).Number(0, 0))
	// Output:
	// [1 0.5]
	// [1 0.5]
	// 224
}

func ExampleHistory() {
	h := quant.History{Length: 2}
	for _, x := range []float32{8, 1, 2} {
		h.Add(row(x))
	}
	fmt.Println(h.Amax())
	// Output: 2
}

// An outlier is spread over 16 elements.
func ExampleHadamard() {
	x := row(16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	z, err := quant.Hadamard{}.Apply(x, quant.Left)
	fmt.Println(z.Data, err)
	z, _ = quant.Hadamard{Signs: 1}.Apply(x, quant.Left) // its first row is negative
	fmt.Println(z.Data)
	_, err = quant.Hadamard{}.Apply(row(1, 2), quant.Left)
	fmt.Println(err)
	// Output:
	// [4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4] <nil>
	// [-4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4]
	// quant: Hadamard: K = 2, want a multiple of 16
}

func ExampleRandomHadamard() {
	fmt.Printf("%016b\n", quant.RandomHadamard(1).Signs)
	// Output: 1010000100101001
}

// DeepGEMM rounds s · t and, in an FMA, the sum; DeepSeek's Triton kernel
// rounds each operation. On Hopper's tensor cores, which keep 13 fraction bits,
// both add the sums of 128 products in binary32.
func ExampleKernel() {
	for _, k := range quant.Kernels(tcore.Machine{Device: devices.HopperE4M3(), Output: tcore.BFloat16}) {
		fmt.Println(k.Name, k.Every, k.Scales == quant.ProductOfScales, k.Fused, k.Machine.Output.Name)
	}
	// Output:
	// deepgemm 128 true true bfloat16
	// deepseek 128 false false bfloat16
	// epilogue 0 false false bfloat16
	// alpha 0 true false bfloat16
}

// Rows of A and tiles of B have scales for every 128 products. The kernel that
// scales finished sums cannot have them.
func ExampleKernel_Multiply() {
	x := blas32.General{Rows: 1, Cols: 256, Stride: 256, Data: make([]float32, 256)}
	y := blas32.General{Rows: 256, Cols: 1, Stride: 1, Data: make([]float32, 256)}
	for l := range 256 {
		x.Data[l], y.Data[l] = float32(l), 0.7
	}
	a := quantise(quant.DeepGEMM(quant.Vector128, false), x)
	b, _ := quant.DeepGEMM(quant.Tile128, false).Quantise(y, quant.Right)
	m := tcore.Machine{Device: devices.HopperE4M3()}
	d, err := quant.DeepGEMMKernel(m).Multiply(a, b)
	fmt.Println(d.Data[0], err)
	_, err = quant.EpilogueKernel(m).Multiply(a, b)
	fmt.Println(err)
	// Output:
	// 22833.38 <nil>
	// quant: kernel "epilogue" scales sums of all products, recipe "deepgemm-1x128" has a scale for every 128 along K = 256
}

// Integers are added exactly, on no device: 127 · 127 + 64 · 127 is 24257.
func ExampleKernel_Multiply_integers() {
	a := quantise(quant.Integers(quant.PerVector), row(127, 64))
	b, _ := quant.Integers(quant.PerVector).Quantise(blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 1}}, quant.Right)
	d, err := quant.EpilogueKernel(tcore.Machine{}).Multiply(a, b)
	fmt.Println(b.Number(0, 0), d.Data[0], err)
	// Output: 127 191 <nil>
}

func ExampleScaleOrder() {
	m := tcore.Machine{Device: devices.HopperE4M3()}
	fmt.Println(quant.DeepSeekKernel(m).Scales == quant.OneByOne)
	// Output: true
}

func ExampleKernels() {
	fmt.Println(quant.Kernels(tcore.Machine{})[1].Source)
	// Output: DeepSeek-V3 inference code 9b4e978
}

// The kernel of another instruction, whose blocks have 32 elements, is a copy.
func ExampleDeepGEMMKernel() {
	k := quant.DeepGEMMKernel(tcore.Machine{Device: devices.AdaE4M3()})
	k.Every = 32
	fmt.Println(k.Name, k.Every, k.Fused)
	// Output: deepgemm 32 true
}

func ExampleDeepSeekKernel() {
	fmt.Println(quant.DeepSeekKernel(tcore.Machine{Device: devices.HopperE4M3()}).Fused)
	// Output: false
}

// Libraries that scale finished sums may still promote them every 128 products.
func ExampleEpilogueKernel() {
	k := quant.EpilogueKernel(tcore.Machine{Device: devices.HopperE4M3(), Promote: 128})
	a := quantise(quant.Torchao(tcore.E4M3, quant.PerVector, false), row(1, 2, 3))
	b, _ := quant.Torchao(tcore.E4M3, quant.PerVector, false).Quantise(blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 1, 1}}, quant.Right)
	d, err := k.Multiply(a, b)
	fmt.Println(d.Data, err)
	// Output: [5.8928576] <nil>
}

// NVFP4 has scales of tensors, which the tensor core leaves to alpha.
func ExampleAlphaKernel() {
	a := quantise(quant.NVFP4(quant.Vector16), row(1, 2, 3))
	b, _ := quant.NVFP4(quant.Vector16).Quantise(blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 1, 1}}, quant.Right)
	d, err := quant.AlphaKernel(tcore.Machine{Device: devices.BlackwellNVF4()}).Multiply(a, b)
	fmt.Println(d.Data, err)
	// Output: [6.0000005] <nil>
}

// The maxima of these blocks become 6 and 4: by the larger scale, 3 / 4 of a
// maximum is a number of e2m1.
func ExampleFourOverSix() {
	x := blas32.General{Rows: 1, Cols: 32, Stride: 32, Data: make([]float32, 32)}
	x.Data[0], x.Data[1], x.Data[2], x.Data[16], x.Data[17] = 1536, 768, 256, 96, 72
	q := quantise(quant.FourOverSix(quant.Squares), x)
	fmt.Println(q.Number(0, 0), q.Scale(0, 0), q.Number(0, 16), q.Scale(0, 16), q.Number(0, 17))
	// Output: 6 256 4 24 3
}

func ExampleComparison() {
	fmt.Println(quant.Absolute, quant.Squares)
	// Output: mae mse
}

// What is rounded to a code, and what its number is multiplied by: here 0.3
// with the scale that takes 1.5 to 448.
func ExampleQuantised_Ratio() {
	q := quantise(quant.DeepSeek(false), row(1.5, 0.3))
	fmt.Printf("%.3f becomes %v, times %.5f\n", q.Ratio(0.3, 0, 1), q.Number(0, 1), q.Unit(0, 1))
	fmt.Printf("%.4f\n", q.Values().Data)
	// Output:
	// 89.600 becomes 88, times 0.00335
	// [1.5000 0.2946]
}

func ExampleQuantised_Unit() {
	q := quantise(quant.NVFP4(quant.Vector16), row(6, 1))
	fmt.Println(float64(q.Scale(0, 1))*float64(q.TensorScale()) == q.Unit(0, 1))
	// Output: true
}

// 127 times the scale fl(1/127) is not 1, but rounds to it.
func ExampleQuantised_Values() {
	q := quantise(quant.Integers(quant.PerVector), row(1, 0.3))
	fmt.Printf("%.9f in binary64, %.9f in binary32\n", q.Values().Data[0], q.Dequantise().Data[0])
	// Output:
	// 0.999999996 in binary64, 1.000000000 in binary32
}

// Scales in e8m0 are not for Hopper, which takes none.
func ExampleKernelOn() {
	recipe := quant.MXTransformerEngine(tcore.E4M3)
	_, hopper := quant.KernelOn(devices.HopperE4M3(), recipe, recipe, 0)
	k, blackwell := quant.KernelOn(devices.BlackwellMXE4M3(), recipe, recipe, 0)
	fmt.Println(hopper, blackwell, k.Name)
	// Output: false true alpha
}
