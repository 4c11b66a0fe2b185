package vector

import "golang.org/x/sys/cpu"

// Bits returns the width in bits of the vector instructions that the assembly
// routines can use: 512 (AVX-512 F, BW, DQ, VL), 256 (AVX2, FMA, F16C), or 0 if
// the processor has neither and the code in Go is used.
func Bits() int {
	x := cpu.X86
	switch {
	case !(x.HasAVX2 && x.HasFMA && x.HasF16C):
		return 0
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return 512
	}
	return 256
}
