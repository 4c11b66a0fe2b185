package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// The instructions of Arm processors that compute dot products of bfloat16, by
// the text of the architecture (Arm 2024). The record was compared with an
// emulator of that architecture, QEMU, and not with a processor.

// ArmBF16 returns BFDOT, with FPCR.EBF = 0: factors in bfloat16, sums in
// binary32. By the same text, each element of a BFMMLA is two of them, one
// after the other.
func ArmBF16() tcore.Device {
	const architecture, instruction = "Arm", "bfdot"
	return tcore.Device{
		Name:         deviceName(architecture, instruction, tcore.BFloat16.Name, tcore.Binary32.Name),
		Architecture: architecture,
		Instruction:  instruction,
		A:            tcore.BFloat16, B: tcore.BFloat16, C: tcore.Binary32,
		Core: tcore.OddPairs{},
	}
}
