package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// groupKernelFor returns the kernel for groups of size terms that have a scale.
func groupKernelFor(size int) (k groupKernel, ok bool) {
	k = groupKernel{columns: features.Bits / 16, scale: vector.GroupScale_512,
		packRows: vector.GroupRows, packColumns: vector.GroupColumns}
	switch {
	case size != 16 && size != 32 || features.Bits == 0:
		return k, false
	case features.Bits == 256:
		k.scale, k.run = vector.GroupScale_256, vector.Groups16_256
		if size == 32 {
			k.run = vector.Groups32_256
		}
	case features.VNNI:
		k.run = vector.Groups16VNNI
		if size == 32 {
			k.run = vector.Groups32VNNI
		}
	default:
		k.run = vector.Groups16_512
		if size == 32 {
			k.run = vector.Groups32_512
		}
	}
	return k, true
}
