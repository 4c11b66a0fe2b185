package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// floorCountKernelFor returns the kernel.
func floorCountKernelFor() (k floorCountKernel, ok bool) {
	switch features.Bits {
	case 512:
		return floorCountKernel{4, 64, vector.FloorCount4x64, vector.FloorCountHalf4x64, vector.FloorCountRow, vector.FloorCountColumns64}, true
	case 256:
		return floorCountKernel{2, 32, vector.FloorCount2x32, vector.FloorCountHalf2x32, vector.FloorCountRow, vector.FloorCountColumns32}, true
	}
	return k, false
}
