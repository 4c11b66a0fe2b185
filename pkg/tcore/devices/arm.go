package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// The instructions of Arm processors that compute dot products, by the text of
// the architecture (Arm 2024), with all other bits of FPCR 0: rounding to
// nearest where it has a say, subnormal numbers not flushed where it has one.
// They were compared with an emulator of that architecture, QEMU, except for
// FMOPA in binary32 and those of 8-bit numbers, and none with a processor.
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

// The dot products of 8-bit numbers add all products of an element and c
// exactly and round once, to nearest, whatever FPCR says. These records are for
// FPMR.LSCALE = 0, which does not scale, and FPMR.OSM = 0, by which overflow is
// infinite. FPMR.F8S1 and F8S2 choose the format of each factor, so that B of a
// record may be changed. FMOPA and FVDOT of 8-bit numbers compute an element as
// FDOT does. No emulator that executes them was at hand.

// ArmE4M3 returns FDOT of four products: factors in e4m3, sums in binary32.
func ArmE4M3() tcore.Device { return arm8("fdot", tcore.E4M3, tcore.Binary32, 4) }

// ArmE5M2 returns FDOT of four products: factors in e5m2, sums in binary32.
func ArmE5M2() tcore.Device { return arm8("fdot", tcore.E5M2, tcore.Binary32, 4) }

// ArmE4M3F16 returns FDOT of two products: factors in e4m3, sums in binary16.
func ArmE4M3F16() tcore.Device { return arm8("fdot", tcore.E4M3, tcore.Binary16, 2) }

// ArmE5M2F16 returns FDOT of two products: factors in e5m2, sums in binary16.
func ArmE5M2F16() tcore.Device { return arm8("fdot", tcore.E5M2, tcore.Binary16, 2) }

// ArmMMLAE4M3 returns FMMLA, which multiplies 2 × 8 by 8 × 2 matrices: factors
// in e4m3, sums in binary32.
func ArmMMLAE4M3() tcore.Device { return arm8("fmmla", tcore.E4M3, tcore.Binary32, 8) }

// ArmMMLAE5M2 returns FMMLA, which multiplies 2 × 8 by 8 × 2 matrices: factors
// in e5m2, sums in binary32.
func ArmMMLAE5M2() tcore.Device { return arm8("fmmla", tcore.E5M2, tcore.Binary32, 8) }

// ArmMMLAE4M3F16 returns FMMLA, which multiplies 2 × 4 by 4 × 2 matrices:
// factors in e4m3, sums in binary16.
func ArmMMLAE4M3F16() tcore.Device { return arm8("fmmla", tcore.E4M3, tcore.Binary16, 4) }

// ArmMMLAE5M2F16 returns FMMLA, which multiplies 2 × 4 by 4 × 2 matrices:
// factors in e5m2, sums in binary16.
func ArmMMLAE5M2F16() tcore.Device { return arm8("fmmla", tcore.E5M2, tcore.Binary16, 4) }

// arm8 returns the record of an instruction with factors of 8 bits.
func arm8(instruction string, factors, sums tcore.Format, terms int) tcore.Device {
	d := arm(instruction, factors, tcore.ExactSum{Terms: terms, SignedZeros: true})
	d.Name, d.C = deviceName("Arm", instruction, factors.Name, sums.Name), sums
	return d
}

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
