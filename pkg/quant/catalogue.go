package quant

import (
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Versions of the sources of recipes.
const (
	deepSeek       = "DeepSeek-V3 inference code 9b4e978"
	deepGEMM       = "DeepGEMM 54e2261"
	engine         = "TransformerEngine d0067d0"
	fourOverSix    = "TransformerEngine 124d874; Cook et al. 2025, arXiv:2512.02010"
	torchao        = "torchao 36027d8"
	microxcaling   = "microxcaling 7bc4195"
	ocp            = "OCP Microscaling Formats Specification 1.0, 6.3"
	nvfp4Paper     = "NVIDIA 2025, Pretraining Large Language Models with NVFP4, arXiv:2509.25149, appendix B"
	mxfp8Paper     = "Mishra et al. 2025, Recipes for Pre-training LLMs with MXFP8, arXiv:2506.08027"
	modelOptimizer = "NVIDIA Model Optimizer"
)

// DeepSeek returns the recipe of the kernels of DeepSeek-V3 for e4m3: x / s,
// where amax counts as 10^-4 at least. With powerOfTwo, s becomes 2^⌈log2 s⌉ by
// a logarithm in binary32, which is one too small for 2 in 2^23 significands.
func DeepSeek(powerOfTwo bool) Recipe {
	r := Recipe{Name: "deepseek-1x128", Source: deepSeek, Element: tcore.E4M3, Block: Vector128,
		Scale: Scaling{Least: 1e-4, Quotient: AmaxOverMax, Stored: tcore.Binary32, Apply: Divide}}
	if powerOfTwo {
		r.Name, r.Scale.Power = r.Name+"-ue8m0", UpByLog
	}
	return r
}

// DeepGEMM returns the recipe of DeepGEMM for e4m3: x · fl(1 / s), where amax
// counts as 10^-4 at least, in blocks 1×128 (of rows or, as it says, tokens),
// 128×128, 1×32 or of a whole channel.
func DeepGEMM(b Block, powerOfTwo bool) Recipe {
	r := Recipe{Name: "deepgemm-" + blockName(b), Source: deepGEMM, Element: tcore.E4M3, Block: b,
		Scale: Scaling{Least: 1e-4, Quotient: AmaxOverMax, Stored: tcore.Binary32, Apply: TimesInverse}}
	if powerOfTwo {
		r.Name, r.Scale.Power, r.Scale.Range = r.Name+"-ue8m0", Up, [2]float32{0x1p-126, 0x1p127}
	}
	return r
}

// DeepGEMMFP4 returns the recipe of DeepGEMM for e2m1, which rounds ties toward
// zero. differs: the code of -0 is kept, where DeepGEMM has none.
func DeepGEMMFP4(b Block, powerOfTwo bool) Recipe {
	r := DeepGEMM(b, powerOfTwo)
	r.Name, r.Element, r.Rounding = "deepgemm-fp4"+r.Name[len("deepgemm"):], tcore.E2M1, ToNearestZero
	return r
}

// TransformerEngine returns the recipe of TransformerEngine for e4m3 or e5m2,
// per tensor or in blocks: it stores the inverse scale fl(qmax / amax), with
// powerOfTwo (the default for blocks) rounded down to a power of two. The
// inverse scale of zeros, infinities and NaN is 1, and one that overflows the
// greatest number of input, the format of the matrix, or its power of two.
func TransformerEngine(f tcore.Format, b Block, powerOfTwo bool, input tcore.Format) Recipe {
	r := Recipe{Name: "te-" + f.Name + "-" + blockName(b), Source: engine, Element: f, Block: b,
		Scale: Scaling{Quotient: MaxOverAmax, Range: [2]float32{math.SmallestNonzeroFloat32, float32(input.Max())},
			Stored: tcore.Binary32, Apply: Times, Zero: One, Infinite: One, NotANumber: One}}
	if powerOfTwo {
		r.Name, r.Scale.Power, r.Scale.Range[1] = r.Name+"-power", Down, float32(math.Ldexp(1, input.Emax))
	}
	return r
}

// Torchao returns the recipe of torchao for e4m3 or e5m2, per tensor or row:
// amax counts as 10^-12 at least. torchao divides in binary64 and then rounds
// to binary32, which gives the quotient of binary32: 53 >= 2 · 24 + 2 bits make
// the double rounding innocuous (Figueroa 1995).
func Torchao(f tcore.Format, b Block, powerOfTwo bool) Recipe {
	r := Recipe{Name: "torchao-" + f.Name + "-" + blockName(b), Source: torchao, Element: f, Block: b,
		Scale: Scaling{Least: 1e-12, Quotient: MaxOverAmax, Stored: tcore.Binary32, Apply: Times}}
	if powerOfTwo {
		r.Name, r.Scale.Power = r.Name+"-power", Down
	}
	return r
}

// An MXScale says how the scales of MX formats follow from amax.
type MXScale int

// Scales of MX formats.
const (
	FloorScale   MXScale = iota // 2^(⌊log2 amax⌋ - Emax), of OCP; clips
	CeilScale                   // 2^(⌈log2 amax⌉ - Emax)
	EvenScale                   // 2^(⌊log2 amax'⌋ - Emax), amax' rounded to the format of the elements
	RoundUpScale                // the least power of two that is not less than fl(amax · fl(1 / qmax)), RCEIL; clips nothing
)

var mxScaleNames = [...]string{"floor", "ceil", "even", "rceil"}

// String returns floor, ceil, even or rceil.
func (s MXScale) String() string { return mxScaleNames[s] }

// MX returns the recipe of torchao for an MX format: blocks of 32 along K with
// a scale in e8m0, which is NaN for a block with an infinity or a NaN.
func MX(f tcore.Format, s MXScale) Recipe {
	r := Recipe{Name: "mx" + strings.TrimPrefix(f.Name, "mx") + "-" + s.String(), Source: torchao + "; " + ocp, Element: f, Block: Vector32,
		Scale: Scaling{Quotient: AmaxOverPower, Power: [...]Power{Down, Up, DownEven, Up}[s], Range: [2]float32{0x1p-127, 0x1p127},
			Stored: tcore.E8M0, Apply: TimesInverse, Infinite: NaNScale, NotANumber: NaNScale}}
	if s == RoundUpScale {
		r.Scale.Quotient = AmaxTimesInverse
	}
	return r
}

// MXTransformerEngine returns the recipe of TransformerEngine, and of NVIDIA's
// instruction, for MXFP8: round-up scales, of which an infinity has the
// greatest, 2^127.
func MXTransformerEngine(f tcore.Format) Recipe {
	r := MX(f, RoundUpScale)
	r.Name, r.Source, r.Scale.Infinite = "te-mx"+f.Name, engine+"; "+mxfp8Paper, GreatestScale
	return r
}

// Microxcaling returns the recipe of the emulation library microxcaling, as it
// is unless told otherwise: floor scales by a logarithm in binary32, ties away
// from zero.
func Microxcaling(f tcore.Format) Recipe {
	r := MX(f, FloorScale)
	r.Name, r.Source, r.Rounding = "microxcaling-mx"+f.Name, microxcaling, ToNearestAway
	r.Scale.Power = DownByLog
	r.Scale.Apply = Divide
	return r
}

// MXFP4Paper returns what the paper on NVFP4 calls MXFP4: scales
// 2^⌈log2(amax / 6)⌉, which clip nothing.
func MXFP4Paper() Recipe {
	r := MX(tcore.E2M1, RoundUpScale)
	r.Name, r.Source, r.Scale.Quotient = "mxfp4-nvidia", nvfp4Paper, AmaxOverMax
	return r
}

// NVFP4 returns the recipe of TransformerEngine and of the paper on NVFP4: the
// inverse scale fl(2688 / amax) of the tensor, and scales in e4m3 of blocks of
// 16, or 16×16 for weights. A scale may be 0, which makes its block zeros.
// Gradients are rounded stochastically, with 8 random bits:
//
//	r.Stochastic = tcore.Stochastic{Seed: 1, Bits: 8}
func NVFP4(b Block) Recipe {
	return Recipe{Name: "nvfp4-te-" + blockName(b), Source: engine + "; " + nvfp4Paper, Element: tcore.E2M1, Block: b,
		Tensor: &Scaling{Quotient: MaxOverAmax, Range: [2]float32{math.SmallestNonzeroFloat32, math.MaxFloat32},
			Stored: tcore.Binary32, Apply: Times, Zero: One, Infinite: One},
		Scale: Scaling{Quotient: AmaxTimesTensor, Range: [2]float32{0, 448}, Stored: scale4M3, Apply: TimesInverseOfBoth}}
}

// FourOverSix returns the recipe "4 over 6" of TransformerEngine for NVFP4:
// each block of 16 also tries a scale 1.5 times as large, by which its maximum
// becomes 4 and not 6, since the numbers of e2m1 lie closer there, and takes it
// if the error is smaller. The scale of the tensor leaves room, fl(1536 / amax)
// with 1536 = 6 · 256.
func FourOverSix(by Comparison) Recipe {
	r := NVFP4(Vector16)
	r.Name, r.Source, r.Compare = "nvfp4-4over6-"+by.String(), fourOverSix, by
	r.Tensor.Aim = 6 * 256
	r.Scale.Quotient = QuotientTimesTensor
	larger := r.Scale
	larger.Factor = 1.5
	r.Second = &larger
	return r
}

// TorchaoNVFP4 returns the recipe of torchao for NVFP4, with a scale of the
// tensor amax / 2688 or without: scales of blocks are 2^-6 at least. Without a
// scale of the tensor elements are divided, x / s; whether torchao does so is
// not known to us.
func TorchaoNVFP4(tensor bool) Recipe {
	r := Recipe{Name: "nvfp4-torchao", Source: torchao, Element: tcore.E2M1, Block: Vector16,
		Scale:  Scaling{Quotient: AmaxOverTensor, Range: [2]float32{0x1p-6, 448}, Stored: scale4M3, Apply: TimesQuotient},
		Tensor: &Scaling{Quotient: AmaxOverMax, Stored: tcore.Binary32}}
	if !tensor {
		r.Name, r.Tensor, r.Scale.Quotient, r.Scale.Apply = r.Name+"-one-level", nil, AmaxOverMax, Divide
	}
	return r
}

// ModelOptimizerNVFP4 returns the recipe of NVIDIA's Model Optimizer: as that
// of torchao, with scales of blocks of 2^-9 at least. It is known from others'
// texts, not from its code.
func ModelOptimizerNVFP4() Recipe {
	r := TorchaoNVFP4(true)
	r.Name, r.Source, r.Scale.Range[0] = "nvfp4-modelopt", modelOptimizer, 0x1p-9
	return r
}

// scale4M3 is the format of the scales of NVFP4: those are positive.
var scale4M3 = tcore.UE4M3

// Integers returns the usual recipe of int8: x / s with s = fl(amax / 127), per
// tensor, row or block. The scale of zeros is 1.
func Integers(b Block) Recipe {
	return Recipe{Name: "int8-" + blockName(b), Source: "usual", Element: Int8, Block: b,
		Scale: Scaling{Quotient: AmaxOverMax, Stored: tcore.Binary32, Apply: Divide, Zero: One}}
}

// blockName returns the name of a block in the name of a recipe.
func blockName(b Block) string {
	switch b {
	case PerTensor:
		return "tensor"
	case PerVector:
		return "row"
	}
	return fmt.Sprintf("%dx%d", b.Across, b.Along)
}

// Recipes returns the catalogue, sorted by library.
func Recipes() []Recipe {
	list := []Recipe{
		DeepSeek(false), DeepSeek(true),
		DeepGEMM(Vector128, false), DeepGEMM(Vector128, true), DeepGEMM(Vector32, false), DeepGEMM(Vector32, true),
		DeepGEMM(Tile128, false), DeepGEMM(Tile128, true), DeepGEMM(PerVector, false), DeepGEMM(PerVector, true),
		DeepGEMMFP4(Vector128, false), DeepGEMMFP4(Vector32, true),
	}
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E5M2} {
		list = append(list,
			TransformerEngine(f, PerTensor, false, tcore.Binary32), TransformerEngine(f, PerTensor, true, tcore.Binary32),
			TransformerEngine(f, Vector128, false, tcore.Binary32), TransformerEngine(f, Vector128, true, tcore.Binary32),
			TransformerEngine(f, Tile128, false, tcore.Binary32), TransformerEngine(f, Tile128, true, tcore.Binary32),
			Torchao(f, PerTensor, false), Torchao(f, PerTensor, true), Torchao(f, PerVector, false), Torchao(f, PerVector, true),
		)
	}
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E5M2, tcore.E2M3, tcore.E3M2, tcore.E2M1} {
		for s := FloorScale; s <= RoundUpScale; s++ {
			list = append(list, MX(f, s))
		}
		list = append(list, Microxcaling(f))
	}
	return append(list, MX(MXInt8, FloorScale), MXTransformerEngine(tcore.E4M3), MXTransformerEngine(tcore.E5M2), MXFP4Paper(),
		NVFP4(Vector16), NVFP4(Tile16), FourOverSix(Absolute), FourOverSix(Squares), TorchaoNVFP4(true), TorchaoNVFP4(false), ModelOptimizerNVFP4(),
		Integers(PerTensor), Integers(PerVector), Integers(Vector128))
}

// Named returns the recipe of that name in the catalogue.
func Named(name string) (Recipe, error) {
	for _, r := range Recipes() {
		if r.Name == name {
			return r, nil
		}
	}
	return Recipe{}, fmt.Errorf("quant: no recipe %q", name)
}
