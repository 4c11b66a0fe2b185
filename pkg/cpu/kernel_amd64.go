package cpu

import (
	xcpu "golang.org/x/sys/cpu"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// kernels are those of amd64. While one of them runs, no goroutine takes its
// thread, and the system keeps the thread's tiles.
var kernels = []kernel{
	{devices.AMXBF16(), 16, tdpbf16ps, tilesMissing},
	{devices.AVX512BF16(), 1, vdpbf16ps, func() string {
		if x := xcpu.X86; !x.HasAVX512F || !x.HasAVX512BF16 {
			return "this processor has no AVX512-BF16"
		}
		return ""
	}},
}

// tilesMissing returns why tiles of bfloat16 cannot be used, or "".
func tilesMissing() string {
	if x := xcpu.X86; !x.HasAMXTile || !x.HasAMXBF16 {
		return "this processor has no AMX-BF16"
	}
	return requestTiles()
}

// tdpbf16ps continues sums by one TDPBF16PS for every 16 pairs.
//
//go:noescape
func tdpbf16ps(c *float32, ldc int, a, b *uint16, pairs int)

// vdpbf16ps continues sums by one VDPBF16PS for every pair.
//
//go:noescape
func vdpbf16ps(c *float32, ldc int, a, b *uint16, pairs int)
