package quant

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// fmaBig is fl(x·y + z) in binary32, of finite numbers, by one rounding of the
// exact sum.
func fmaBig(x, y, z float32) float32 {
	number := func(v float32) *big.Float { return new(big.Float).SetPrec(700).SetFloat64(float64(v)) }
	p := number(x)
	p.Mul(p, number(y))
	s, _ := p.Add(p, number(z)).Float32()
	return s
}

// products spells out what libraries compute, for names of kernels: an element
// of D from the sums of the device and the scales of A and B at every 128
// products, or at all of them.
var products = map[string]func(sums, s, t []float32) float32{
	"deepgemm": func(sums, s, t []float32) float32 {
		d := float32(0)
		for i, c := range sums {
			scale := s[i] * t[i]
			d = fmaBig(scale, c, d)
		}
		return d
	},
	"deepseek": func(sums, s, t []float32) float32 {
		d := float32(0)
		for i, c := range sums {
			scaled := c * s[i]
			scaled *= t[i]
			d += scaled
		}
		return d
	},
	"epilogue": func(sums, s, t []float32) float32 {
		scaled := sums[0] * s[0]
		return scaled * t[0]
	},
	"alpha": func(sums, s, t []float32) float32 {
		alpha := s[0] * t[0]
		return alpha * sums[0]
	},
}

// spelled returns D as products has it: device sums of single dot products, of
// vectors that are padded with zeros, and scales read from the blocks.
func spelled(k Kernel, a, b *Quantised) blas32.General {
	every := k.Every
	if every == 0 {
		every = a.Cols
	}
	z := matrix.New(a.Rows, b.Cols)
	for i := range a.Rows {
		for j := range b.Cols {
			var sums, s, t []float32
			for l := 0; l < a.Cols; l += every {
				x, y := make([]float64, every), make([]float64, every)
				for h := l; h < min(l+every, a.Cols); h++ {
					x[h-l], y[h-l] = float64(a.Number(i, h)), float64(b.Number(h, j))
				}
				m := k.Machine
				m.Output = tcore.Format{}
				sums = append(sums, float32(m.Dot(x, y, 0)))
				s, t = append(s, a.Scale(i, l)), append(t, b.Scale(l, j))
			}
			d := products[k.Name](sums, s, t)
			if k.Machine.Output != (tcore.Format{}) {
				d = float32(k.Machine.Output.Round(float64(d), tcore.ToNearestEven))
			}
			z.Data[i*z.Cols+j] = d
		}
	}
	return z
}

func quantisedBoth(t *testing.T, ra, rb Recipe, x, y blas32.General) (a, b *Quantised) {
	t.Helper()
	a, errA := ra.Quantise(x, Left)
	b, errB := rb.Quantise(y, Right)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	return a, b
}

// Kernels compute what their libraries compute, spelled out with loops, bit for
// bit: on devices that keep few bits and on one that keeps many, with scales of
// any binary32 number, rows that are padded, and results in two formats.
func TestKernelsAreThoseOfTheirLibraries(t *testing.T) {
	e5m2 := devices.HopperE4M3()
	for _, test := range []struct {
		d              tcore.Device
		left, right    Recipe
		kernels        string
		promote, every int
	}{
		{devices.HopperE4M3(), DeepGEMM(Vector128, false), DeepGEMM(Tile128, false), "deepgemm deepseek", 0, 128},
		{devices.HopperE4M3(), DeepSeek(false), DeepGEMM(Vector128, false), "deepgemm deepseek", 0, 128},
		{devices.HopperE4M3(), DeepGEMM(Vector128, false), DeepGEMM(Vector32, false), "deepgemm deepseek", 0, 32},
		{devices.AdaE4M3(), TransformerEngine(tcore.E4M3, Vector128, false, tcore.Binary32), TransformerEngine(tcore.E4M3, Tile128, false, tcore.Binary32), "deepgemm deepseek", 0, 128},
		{devices.HopperMMAE4M3(), DeepGEMM(PerVector, false), DeepGEMM(Tile128, false), "deepgemm deepseek", 0, 128},
		{devices.BlackwellE2M1(), DeepGEMMFP4(Vector128, false), DeepGEMMFP4(Tile128, false), "deepgemm deepseek", 0, 128},
		{e5m2, Torchao(tcore.E4M3, PerVector, false), Torchao(tcore.E5M2, PerVector, false), "epilogue alpha", 0, 0},
		{devices.HopperE4M3(), Torchao(tcore.E4M3, PerVector, false), Torchao(tcore.E4M3, PerTensor, false), "epilogue alpha", 128, 0},
		{devices.BlackwellE4M3(), TransformerEngine(tcore.E4M3, PerTensor, false, tcore.Binary32), TransformerEngine(tcore.E4M3, PerTensor, false, tcore.Binary32), "epilogue alpha", 0, 0},
	} {
		for kind, number := range kinds {
			rng := rand.New(rand.NewPCG(6, 15))
			a, b := quantisedBoth(t, test.left, test.right, random(rng, 2, 300, number), random(rng, 300, 131, number))
			for _, out := range []tcore.Format{{}, tcore.Binary32, tcore.BFloat16} {
				for _, k := range Kernels(tcore.Machine{Device: test.d, Promote: test.promote, Output: out}) {
					if !strings.Contains(test.kernels, k.Name) {
						continue
					}
					k.Every = test.every
					z, err := k.Multiply(a, b)
					if err != nil {
						t.Fatal(err)
					}
					k.Machine.Device.B = b.Recipe.Element
					for e, want := range spelled(k, a, b).Data {
						if got := z.Data[e]; math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("%s of %s × %s on %s, %s data, element %d: %x, want %x",
								k.Name, test.left.Name, test.right.Name, test.d.Name, kind, e, got, want)
						}
					}
				}
			}
		}
	}
}

// With scales that are powers of two all ways to apply them agree, since each
// is exact but for one rounding of a sum; with others they differ in many
// elements.
func TestOrdersOfScales(t *testing.T) {
	for _, power := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(7, 15))
		a, b := quantisedBoth(t, DeepGEMM(Vector128, power), DeepGEMM(Tile128, power), random(rng, 16, 1024, kinds["binary32"]), random(rng, 1024, 64, kinds["binary32"]))
		m := tcore.Machine{Device: devices.HopperE4M3()}
		z, errZ := DeepGEMMKernel(m).Multiply(a, b)
		y, errY := DeepSeekKernel(m).Multiply(a, b)
		if errZ != nil || errY != nil {
			t.Fatal(errZ, errY)
		}
		differ := 0
		for i := range z.Data {
			if z.Data[i] != y.Data[i] {
				differ++
			}
		}
		if power && differ > 0 || !power && differ < len(z.Data)/4 {
			t.Errorf("powers of two: %v, %d of %d elements differ", power, differ, len(z.Data))
		}
	}
}

// A block-scaled device takes the scales of blocks, and the product of the
// scales of the tensors multiplies its sums.
func TestKernelOfBlockScaledDevice(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	x, y := random(rng, 6, 160, kinds["binary32"]), random(rng, 160, 9, kinds["binary32"])
	for _, test := range []struct {
		d tcore.Device
		r Recipe
	}{{devices.BlackwellNVF4(), NVFP4(Vector16)}, {devices.BlackwellNVF4(), TorchaoNVFP4(true)}, {devices.BlackwellMXE4M3(), MX(tcore.E4M3, FloorScale)}} {
		a, b := quantisedBoth(t, test.r, test.r, x, y)
		z, err := AlphaKernel(tcore.Machine{Device: test.d, Output: tcore.BFloat16}).Multiply(a, b)
		if err != nil {
			t.Fatal(err)
		}
		codesA, _ := a.TensorCodes(test.d)
		codesB, _ := b.TensorCodes(test.d)
		sums := matrix.New(a.Rows, b.Cols)
		test.d.MultiplyAddCodes(codesA, codesB, blas32.General{}, sums)
		alpha := a.TensorScale() * b.TensorScale()
		for i, c := range sums.Data {
			want := float32(tcore.BFloat16.Round(float64(c*alpha), tcore.ToNearestEven))
			if z.Data[i] != want || want == 0 {
				t.Errorf("%s on %s: element %d is %v, want %v", test.r.Name, test.d.Name, i, z.Data[i], want)
			}
		}
	}
}

// What promotion of fp8 sums repairs: sums of 4096 products of U(0,1) on Hopper
// lose percents where they stay in the tensor core, and hardly anything where
// every 128 are scaled and added outside.
func TestScalingOutsidePromotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 15))
	uniform := func(rng *rand.Rand) float32 { return rng.Float32() }
	a, b := quantisedBoth(t, DeepGEMM(PerVector, false), DeepGEMM(PerVector, false), random(rng, 8, 4096, uniform), random(rng, 4096, 8, uniform))
	x, y := a.Dequantise(), b.Dequantise()
	loss := func(k Kernel) float64 {
		z, err := k.Multiply(a, b)
		if err != nil {
			t.Fatal(err)
		}
		got, want := 0.0, 0.0
		for i := range a.Rows {
			for j := range b.Cols {
				got += float64(z.Data[i*z.Cols+j])
				for l := range a.Cols {
					want += float64(x.Data[i*x.Cols+l]) * float64(y.Data[l*y.Cols+j])
				}
			}
		}
		return 1 - got/want
	}
	m := tcore.Machine{Device: devices.HopperE4M3()}
	if inside, outside := loss(EpilogueKernel(m)), loss(DeepGEMMKernel(m)); inside < 0.05 || math.Abs(outside) > 1e-3 {
		t.Errorf("sums inside of the tensor core lose %.2g, outside %.2g", inside, outside)
	}
}

// Zeros, infinities and NaN in one row of A or in one block leave other rows as
// they are, and become what the library makes of them.
func TestCornersOfProducts(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	number := kinds["binary32"]
	for _, test := range []struct {
		left, right Recipe
		d           tcore.Device
		kernel      func(tcore.Machine) Kernel
		spoil       float32 // an element of row 1
		want        float32 // all of row 1 of D; 1 for finite numbers other than 0
	}{
		{DeepGEMM(Vector128, false), DeepGEMM(Tile128, false), devices.HopperE4M3(), DeepGEMMKernel, nan, nan},
		{DeepGEMM(Vector128, false), DeepGEMM(Tile128, false), devices.HopperE4M3(), DeepSeekKernel, nan, nan},
		{DeepGEMM(Vector128, false), DeepGEMM(Tile128, false), devices.HopperE4M3(), DeepGEMMKernel, inf, nan}, // inf · fl(1 / inf)
		{TransformerEngine(tcore.E4M3, Vector128, true, tcore.Binary32), DeepGEMM(Tile128, true), devices.HopperE4M3(), DeepGEMMKernel, inf, 1},
		{Integers(PerVector), Integers(PerVector), integerDevice(), EpilogueKernel, 0, 1},
		{MX(tcore.E4M3, RoundUpScale), MX(tcore.E4M3, RoundUpScale), devices.BlackwellMXE4M3(), AlphaKernel, inf, nan},
		{MXTransformerEngine(tcore.E4M3), MX(tcore.E4M3, RoundUpScale), devices.BlackwellMXE4M3(), AlphaKernel, nan, nan},
	} {
		rng := rand.New(rand.NewPCG(10, 15))
		x, y := random(rng, 3, 256, number), random(rng, 256, 5, number)
		before, after := x, matrix.Map(x, func(v float32) float32 { return v })
		after.Data[after.Stride+130] = test.spoil
		clear(matrix.Row(after, 2))
		clear(matrix.Row(before, 2))
		k := test.kernel(tcore.Machine{Device: test.d})
		a, b := quantisedBoth(t, test.left, test.right, before, y)
		c, _ := quantisedBoth(t, test.left, test.right, after, y)
		z, errZ := k.Multiply(a, b)
		w, errW := k.Multiply(c, b)
		if errZ != nil || errW != nil {
			t.Fatal(errZ, errW)
		}
		for j := range 5 {
			row1 := w.Data[5+j]
			finite := row1 != 0 && !math.IsInf(float64(row1), 0) && row1 == row1
			switch {
			case z.Data[j] != w.Data[j]:
				t.Errorf("%s: an element of row 1 changes row 0", test.left.Name)
			case !same(row1, test.want) && !(test.want == 1 && finite):
				t.Errorf("%s with %v by %s: %v, want %v", test.left.Name, test.spoil, k.Name, row1, test.want)
			case w.Data[10+j] != 0:
				t.Errorf("%s: a row of zeros becomes %v", test.left.Name, w.Data[10+j])
			}
		}
	}
}

// integerDevice multiplies int8 in FMAs of binary32.
func integerDevice() tcore.Device {
	d := devices.IEEEF32()
	d.A, d.B = Int8, Int8
	return d
}

// A zero that a term leaves is +0 where terms are added to 0, as on the
// libraries' registers.
func TestSignOfZero(t *testing.T) {
	for _, k := range Kernels(tcore.Machine{}) {
		if got, want := math.Signbit(float64(k.step(0, float32(math.Copysign(0, -1)), 1, 1))), k.Every == 0; got != want {
			t.Errorf("%s: -0 leaves the sign %v, want %v", k.Name, got, want)
		}
	}
}

// Factors that do not fit each other, the device or the kernel are refused in a
// sentence.
func TestKernelRefuses(t *testing.T) {
	x := random(rand.New(rand.NewPCG(11, 15)), 256, 256, kinds["binary32"])
	for want, spoil := range map[string]func(k *Kernel, a, b *Quantised){
		`the factors are quantised as B and B, want A and B`: func(_ *Kernel, a, _ *Quantised) { a.Side = Right },
		`A is 256 × 256 with 65535 codes, want at least 1 × 1 and as many codes`: func(_ *Kernel, a, _ *Quantised) {
			a.Codes = a.Codes[1:]
		},
		`A has 511 scales, want 256 × 2 for its 256 × 256 elements and 1×128 blocks`: func(_ *Kernel, a, _ *Quantised) { a.Scales = a.Scales[1:] },
		`A is 256 × 256, B is 128 × 512`:                                             func(_ *Kernel, _, b *Quantised) { b.Rows, b.Cols = 128, 512 },
		`code 3 of B is 0xff, want 4 bits`: func(_ *Kernel, _, b *Quantised) {
			b.Recipe.Element = tcore.E2M1
			for i := range b.Codes {
				b.Codes[i] = 7
			}
			b.Codes[3] = 0xff
		},
		`scales sums of 96 products, recipe "deepgemm-1x128" has a scale for every 128 along K = 256`:  func(k *Kernel, _, _ *Quantised) { k.Every = 96 },
		`scales sums of all products, recipe "deepgemm-1x128" has a scale for every 128 along K = 256`: func(k *Kernel, _, _ *Quantised) { k.Every = 0 },
		`Every = -1, want 0 or more`: func(k *Kernel, a, b *Quantised) {
			k.Every, a.Recipe.Block, b.Recipe.Block = -1, PerTensor, PerTensor
			a.Scales, b.Scales = a.Scales[:1], b.Scales[:1]
		},
		`Scales = 2, want one of the constants`: func(k *Kernel, _, _ *Quantised) { k.Scales = 2 },
		`the factors are e4m3 and e4m3, device "hopper-wgmma-e5m2-binary32" takes e5m2 and e5m2`: func(k *Kernel, _, _ *Quantised) {
			k.Machine.Device = devices.HopperE5M2()
		},
		`recipe "deepgemm-1x128" has a scale of the tensor beside those of blocks, which device "hopper-wgmma-e4m3-binary32" does not take`: func(_ *Kernel, a, _ *Quantised) {
			a.Recipe.Tensor = &Scaling{}
		},
		`Every = 128 on device "blackwell-tcgen05-mxe4m3", which takes scales, want 0`: func(k *Kernel, _, _ *Quantised) {
			k.Machine.Device = devices.BlackwellMXE4M3()
			k.Machine.Device.Name = "blackwell-tcgen05-mxe4m3"
		},
		`Promote = 3, want a multiple of 32`: func(k *Kernel, _, _ *Quantised) { k.Machine.Promote = 3 },
		`device "" has no Core`:              func(k *Kernel, _, _ *Quantised) { k.Machine = tcore.Machine{} },
		`Every = 128 and stochastic sums`: func(k *Kernel, _, _ *Quantised) {
			k.Machine = tcore.Machine{Device: integerDevice(), Stochastic: tcore.Stochastic{Bits: 8}}
		},
		`takes e4m3 with e8m0 for 1×32`: func(k *Kernel, _, _ *Quantised) {
			k.Machine.Device, k.Every = devices.BlackwellMXE4M3(), 0
		},
	} {
		k := DeepGEMMKernel(tcore.Machine{Device: devices.HopperE4M3()})
		a, b := quantisedBoth(t, DeepGEMM(Vector128, false), DeepGEMM(Tile128, false), x, x)
		spoil(&k, a, b)
		if _, err := k.Multiply(a, b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Rows so small that a scale of theirs underflows, or its inverse overflows,
// leave numbers: zeros or nearly so in their row of D, and in the others what
// they would be without it.
func TestDeadRows(t *testing.T) {
	x := random(rand.New(rand.NewPCG(16, 15)), 3, 128, kinds["binary32"])
	y := random(rand.New(rand.NewPCG(17, 15)), 128, 3, kinds["binary32"])
	for l := range 128 {
		x.Data[x.Stride+l] *= 1e-40
	}
	for _, r := range Recipes() {
		d := integerDevice()
		d.A, d.B = r.Element, r.Element
		k := EpilogueKernel(tcore.Machine{Device: d})
		k.Every = r.Block.Along
		if r.Tensor != nil || r.Block == Tile16 {
			if r.Block != Vector16 {
				continue // no device takes its scales
			}
			k = AlphaKernel(tcore.Machine{Device: devices.BlackwellNVF4()})
		}
		a, b := quantisedBoth(t, r, r, x, y)
		z, err := k.Multiply(a, b)
		if err != nil {
			t.Fatal(err)
		}
		for e, v := range z.Data {
			if dead := e/3 == 1; v-v != 0 || dead && math.Abs(float64(v)) > 1e-30 || !dead && v == 0 {
				t.Errorf("%s: element %d is %v", r.Name, e, v)
			}
		}
	}
}

// Recipes with scales for the device, for blocks of K and for all of it have
// their kernels, and devices of other formats have none.
func TestKernelOn(t *testing.T) {
	mx, blocks, row, whole := MX(tcore.E4M3, RoundUpScale), DeepGEMM(Vector128, false), Torchao(tcore.E4M3, PerVector, false), Integers(PerVector)
	for _, c := range []struct {
		d     tcore.Device
		a, b  Recipe
		name  string
		every int
	}{
		{devices.HopperE4M3(), row, row, "epilogue", 0}, {devices.HopperE4M3(), blocks, DeepGEMM(Tile128, false), "deepgemm", 128},
		{devices.HopperE4M3(), row, blocks, "deepgemm", 128}, {devices.BlackwellMXE4M3(), mx, mx, "alpha", 0}, {devices.HopperE4M3(), mx, mx, "", 0},
		{devices.BlackwellMXE4M3(), row, row, "", 0}, {devices.HopperE4M3(), whole, whole, "", 0}, {devices.HopperF16(), row, row, "", 0},
	} {
		k, takes := KernelOn(c.d, c.a, c.b, 0)
		if takes != (c.name != "") || takes && (k.Name != c.name || k.Every != c.every) {
			t.Errorf("%s with %s and %s: kernel %q every %d, %v, want %q every %d", c.d.Name, c.a.Name, c.b.Name, k.Name, k.Every, takes, c.name, c.every)
		}
	}
}
