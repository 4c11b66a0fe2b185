package vector

import "golang.org/x/sys/cpu"

// Bits returns the width of the vector instructions that the kernels need: 512
// (AVX-512 F, BW, DQ, VL), 256 (AVX2, FMA, F16C), or 0 where there is only Go.
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
