package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// PaperCoreF32 returns the paper's tensor core [tcore.PaperF32], which sums in
// binary32.
func PaperCoreF32() tcore.Device { return tcore.PaperF32.Device("paper-f32") }

// PaperCoreF16 returns the paper's tensor core [tcore.PaperF16], which sums in
// binary16.
func PaperCoreF16() tcore.Device { return tcore.PaperF16.Device("paper-f16") }

// IEEEF16 returns a chain of FMAs in binary32 with factors in binary16.
func IEEEF16() tcore.Device {
	return tcore.Device{Name: "ieee-fma-binary16-binary32", Architecture: "IEEE", Instruction: "fma", A: tcore.Binary16, B: tcore.Binary16, C: tcore.Binary32, Core: tcore.Chain{}}
}

// IEEEF32 returns a chain of FMAs in binary32.
func IEEEF32() tcore.Device { return chain("IEEE", "fma", tcore.Binary32) }

// IEEEF64 returns a chain of FMAs in binary64.
func IEEEF64() tcore.Device { return chain("IEEE", "fma", tcore.Binary64) }
