package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// groupKernelFor returns the kernel for groups of size terms that have a scale.
func groupKernelFor(size int) (k groupKernel, ok bool) {
	if size != 16 && size != 32 || features.Bits == 0 {
		return k, false
	}
	k = groupKernel{columns: features.Bits / 16, scale: vector.GroupScale_512,
		cut: vector.GroupsCut_512, packRows: vector.GroupRows, packColumns: vector.GroupColumns, encode: vector.EncodePairs}
	if features.Bits == 256 {
		k.cut = vector.GroupsCut_256
	} else if features.VNNI {
		k.cut = vector.GroupsCutVNNI
	}
	switch {
	case features.Bits == 256 && size == 16:
		k.run, k.wide, k.scale = vector.Groups16_256, vector.GroupsWide16_256, vector.GroupScale_256
	case features.Bits == 256:
		k.run, k.wide, k.scale = vector.Groups32_256, vector.GroupsWide32_256, vector.GroupScale_256
	case features.VNNI && size == 16:
		k.run, k.wide = vector.Groups16VNNI, vector.GroupsWide16VNNI
	case features.VNNI:
		k.run, k.wide = vector.Groups32VNNI, vector.GroupsWide32VNNI
	case size == 16:
		k.run, k.wide = vector.Groups16_512, vector.GroupsWide16_512
	default:
		k.run, k.wide = vector.Groups32_512, vector.GroupsWide32_512
	}
	return k, true
}
