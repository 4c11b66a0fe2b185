package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// The instructions of Arm processors that compute dot products, by the text of
// the architecture (Arm 2024), with all other bits of FPCR 0: rounding to
// nearest where it has a say, subnormal numbers not flushed where it has one.
// They were compared with an emulator of that architecture, QEMU, except for
// FMOPA in binary32, and none with a processor.
//
// What an instruction of bfloat16 computes depends on FPCR.EBF, a bit of
// processors with FEAT_EBF16. Those whose name has no "ebf" are for EBF = 0 and
// for processors without it.

// ArmBF16 returns BFDOT: factors in bfloat16, sums in binary32.
func ArmBF16() tcore.Device {
	return arm("bfdot", tcore.BFloat16, tcore.OddPairs{Terms: 2})
}

// ArmMMLABF16 returns BFMMLA, which multiplies 2 × 4 by 4 × 2 matrices. Each
// element is two of BFDOT, one after the other.
func ArmMMLABF16() tcore.Device {
	return arm("bfmmla", tcore.BFloat16, tcore.OddPairs{Terms: 4})
}

// ArmMOPABF16 returns BFMOPA, of the matrix unit SME: sums of two outer
// products. Each element is one of BFDOT.
func ArmMOPABF16() tcore.Device {
	return arm("bfmopa", tcore.BFloat16, tcore.OddPairs{Terms: 2})
}

// ArmEBF16 returns BFDOT with FPCR.EBF = 1.
func ArmEBF16() tcore.Device {
	return arm("bfdot-ebf", tcore.BFloat16, tcore.FusedPairs{Terms: 2})
}

// ArmMMLAEBF16 returns BFMMLA with FPCR.EBF = 1.
func ArmMMLAEBF16() tcore.Device {
	return arm("bfmmla-ebf", tcore.BFloat16, tcore.FusedPairs{Terms: 4})
}

// ArmMOPAEBF16 returns BFMOPA with FPCR.EBF = 1.
func ArmMOPAEBF16() tcore.Device {
	return arm("bfmopa-ebf", tcore.BFloat16, tcore.FusedPairs{Terms: 2})
}

// ArmMOPAF16 returns the widening FMOPA, of the matrix unit SME: factors in
// binary16, sums in binary32.
func ArmMOPAF16() tcore.Device {
	return arm("fmopa", tcore.Binary16, tcore.FusedPairs{Terms: 2})
}

// ArmMOPAF32 returns FMOPA: factors and sums in binary32.
func ArmMOPAF32() tcore.Device { return arm("fmopa", tcore.Binary32, tcore.Chain{}) }

// arm returns the record of an instruction with sums in binary32.
func arm(instruction string, factors tcore.Format, core tcore.Core) tcore.Device {
	return tcore.Device{
		Name:         deviceName("Arm", instruction, factors.Name, tcore.Binary32.Name),
		Architecture: "Arm",
		Instruction:  instruction,
		A:            factors, B: factors, C: tcore.Binary32,
		Core: core,
	}
}
