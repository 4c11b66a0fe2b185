package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// The instructions of Intel processors that compute dot products, of the
// architecture on which they were compared with the emulation (Intel 2024).
// Later processors have them too.

// AMXBF16 returns TDPBF16PS, of the matrix unit AMX: factors in bfloat16, sums
// in binary32. A block is one instruction on tiles of full depth, 16 pairs.
func AMXBF16() tcore.Device { return intel("tdpbf16ps", tcore.EvenOdd{Terms: 32}) }

// AVX512BF16 returns VDPBF16PS, a vector instruction: factors in bfloat16, sums
// in binary32.
func AVX512BF16() tcore.Device { return intel("vdpbf16ps", tcore.OddFirst{}) }

// intel returns the record of an instruction with factors in bfloat16.
func intel(instruction string, core tcore.Core) tcore.Device {
	const architecture = "Sapphire Rapids"
	return tcore.Device{
		Name:         deviceName(architecture, instruction, tcore.BFloat16.Name, tcore.Binary32.Name),
		Architecture: architecture,
		Instruction:  instruction,
		A:            tcore.BFloat16, B: tcore.BFloat16, C: tcore.Binary32,
		Core: core,
	}
}
