package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// halfKernelFor returns the kernel for sums in binary16. It returns false if
// there is none.
func halfKernelFor() (k halfKernel, ok bool) {
	const subnormal = 0x1p-10 // many sums on the way to it are subnormal, which processors are slow at
	scaledRow := func(dst *uint32, src *float32, n int) { vector.HalfScaled8(dst, src, 32, n/8) }
	switch {
	case features.FP16:
		return halfKernel{14, 64, 32, vector.HalfWords, vector.HalfCodes64, vector.HalfFMA14x64, halfFMAPath, 0}, true
	case features.Bits == 512:
		return halfKernel{8, 32, 32, scaledRow, vector.HalfScaled32, vector.HalfSums8x32, halfSumsPath, subnormal}, true
	case features.Bits == 256:
		return halfKernel{6, 8, 8, scaledRow, vector.HalfScaled8, vector.HalfSums6x8, halfSumsPath, subnormal}, true
	}
	return k, false
}
