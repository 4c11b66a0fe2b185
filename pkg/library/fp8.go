package library

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// scaleBlock is the number of products that a scale of DeepSeek's formats
// covers, and that four wgmma of e4m3 add.
const scaleBlock = 128

// hopperFP8 returns the order of a promotion every length products on Hopper.
func hopperFP8(length int, m plan.Merge, output tcore.Format) func(Shape, Kind) (plan.Plan, error) {
	return func(_ Shape, k Kind) (plan.Plan, error) {
		chain := plan.Run{Device: devices.HopperE4M3()}
		return plan.Plan{Order: plan.Parts{Cut: plan.Cut{Length: length}, Each: chain, Merge: m}, Output: output}, only(FP8, k)
	}
}

// fast returns one chain of Hopper's e4m3.
func fast(_ Shape, k Kind) (plan.Plan, error) {
	return plan.Plan{Order: plan.Run{Device: devices.HopperE4M3()}, Output: tcore.Binary32}, only(FP8, k)
}

var (
	deepGEMM1D2D = Entry{
		"deepgemm-sm90-1d2d",
		"DeepGEMM on Hopper, scales of 1 × 128 of A and 128 × 128 of B: every 128 products are added by one FMA times fl(scale of A × scale of B); D in bfloat16",
		"DeepGEMM 2025", hopperFP8(scaleBlock, plan.Merge{Scale: plan.Fused}, tcore.BFloat16),
	}
	deepGEMM1D1D = Entry{
		"deepgemm-sm90-1d1d",
		"DeepGEMM on Hopper, scales of 1 × 128 of both: as 1d2d, with D in binary32, which may be added to C",
		"DeepGEMM 2025", hopperFP8(scaleBlock, plan.Merge{Scale: plan.Fused}, tcore.Binary32),
	}
	deepSeekV3 = Entry{
		"deepseek-v3",
		"DeepSeek-V3's own Triton kernel on Hopper: every 128 products, times the scale of A, are added by one FMA times that of B, as compilers contract it; D in bfloat16",
		"DeepSeek-AI 2024b", hopperFP8(scaleBlock, plan.Merge{Scale: plan.FusedSecond}, tcore.BFloat16),
	}
	cutlassFast = Entry{
		"cutlass-fp8-fast", "CUTLASS, fp8 on Hopper with fast accumulation: one chain; D in binary32", "NVIDIA, CUTLASS", fast,
	}
	cutlassScaled = Entry{
		"cutlass-fp8-blockwise",
		"CUTLASS, fp8 on Hopper with scales of blocks of 128, one of both constant in a tile: an FMA times fl(scale of A × scale of B); D in binary32",
		"NVIDIA, CUTLASS", hopperFP8(scaleBlock, plan.Merge{Scale: plan.Fused}, tcore.Binary32),
	}
	cutlassScaledTwice = Entry{
		"cutlass-fp8-blockwise-both",
		"CUTLASS, fp8 on Hopper with scales of blocks of 128, both varying in a tile: fl(part × scale of A), then an FMA times that of B; D in binary32",
		"NVIDIA, CUTLASS", hopperFP8(scaleBlock, plan.Merge{Scale: plan.FusedSecond}, tcore.Binary32),
	}
	transformerEngineSplit = Entry{
		"transformer-engine-split",
		"TransformerEngine with use_split_accumulator, fp8 on Hopper: cuBLASLt with fast accumulation off, as for the gradients with delayed and current scaling; " +
			"without split K; D in binary16",
		"TransformerEngine 2026", hopperFP8(scaleBlock, left, tcore.Binary16),
	}
	transformerEngineFast = Entry{
		"transformer-engine-fast",
		"TransformerEngine without use_split_accumulator, fp8 on Hopper: cuBLASLt with fast accumulation, as in the forward pass with delayed and current scaling; " +
			"inferred, not measured: one chain; without split K; D in binary32",
		"TransformerEngine 2026", fast,
	}
)

// promoted returns the order of CUTLASS's promotion every so many instructions.
func promoted(instructions int) Entry {
	name := "cutlass-fp8"
	if instructions != 4 {
		name = fmt.Sprintf("cutlass-fp8-%d", instructions)
	}
	return Entry{
		name,
		fmt.Sprintf("CUTLASS, fp8 on Hopper with fast accumulation off: an addition in binary32 every %d instructions of 32 products, and of the rest; D in binary32", instructions),
		"NVIDIA, CUTLASS", hopperFP8(32*instructions, fromZero, tcore.Binary32),
	}
}

// CUTLASSPromoted returns the order of CUTLASS with mma_promotion_interval =
// instructions (NVIDIA, CUTLASS). The error says that the interval is none that
// CUTLASS takes, which are multiples of the 4 instructions of a tile of 128.
func CUTLASSPromoted(instructions int) (Entry, error) {
	if instructions < 4 || instructions%4 != 0 || instructions > 1<<16 {
		return Entry{}, &Refusal{fmt.Sprintf("library: mma_promotion_interval = %d, want a multiple of 4, the instructions of a tile of K", instructions),
			fmt.Sprint("mma_promotion_interval = ", min(max(4, ceil(instructions, 4)*4), 1<<16))}
	}
	return promoted(instructions), nil
}
