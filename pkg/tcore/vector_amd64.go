package tcore

import "golang.org/x/sys/cpu"

// vectorBits is the width of the vector kernels of the matrix products: 512
// (AVX-512 F, BW, DQ, VL), 256 (AVX2, FMA, F16C), or 0 for pure Go.
var vectorBits = func() int {
	x := cpu.X86
	switch {
	case !hasVector:
		return 0
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return 512
	}
	return 256
}()
