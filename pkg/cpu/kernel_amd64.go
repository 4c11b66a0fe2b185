package cpu

import (
	"math"

	xcpu "golang.org/x/sys/cpu"

	"github.com/roundofflab/roundoff/internal/vector"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// kernels are those of amd64. While one of them runs, no goroutine takes its
// thread, and the system keeps the thread's tiles.
var kernels = []kernel{
	{device: devices.AMXBF16(), pairs: 16, run: tdpbf16ps, missing: func() string {
		if !xcpu.X86.HasAMXBF16 {
			return "this processor has no AMX-BF16"
		}
		return tilesMissing()
	}, tiles: roundedTiles(32, tdpbf16psBlocks), codes: codeTiles(32, tdpbf16psBlocks)},
	integers(devices.AMXINT8(), tdpbssdBlocks),
	integers(devices.AMXINT8UINT8(), tdpbsudBlocks),
	integers(devices.AMXUINT8INT8(), tdpbusdBlocks),
	integers(devices.AMXUINT8(), tdpbuudBlocks),
	{device: devices.AVX512BF16(), pairs: 1, run: vdpbf16ps, missing: func() string {
		if x := xcpu.X86; !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512BF16 {
			return "this processor has no AVX512-BF16"
		}
		return ""
	}, tiles: roundedTiles(2, vdpbf16psBlocks), codes: codeTiles(2, vdpbf16psBlocks)},
	{device: devices.AVX512F16(), lanes: vfmadd231ph, missing: func() string {
		if !vector.Detect().FP16 {
			return "this processor has no AVX512-FP16"
		}
		return ""
	}},
}

// roundedTiles and codeTiles return the kernels of an instruction that adds
// step products of bfloat16.
func roundedTiles(step int, run blocks) *tileKernel[float32] {
	return &tileKernel[float32]{32, step, run, packLeft32, packRight32, float32(math.Copysign(0, -1))}
}

func codeTiles(step int, run blocks) *tileKernel[uint16] {
	return &tileKernel[uint16]{32, step, run, packLeft16, packRight16, 1 << 15}
}

// integers returns the kernel of an instruction of integers.
func integers(d tcore.Device, run blocks) kernel {
	const pairs = 32
	return kernel{device: d, pairs: pairs, missing: func() string {
		if !xcpu.X86.HasAMXInt8 {
			return "this processor has no AMX-INT8"
		}
		return tilesMissing()
	}, bytes: &tileKernel[uint8]{2 * pairs, 2 * pairs, run, packLeft8, packRight8, 0}}
}

// tilesMissing returns why tiles cannot be used, or "".
func tilesMissing() string {
	if x := xcpu.X86; !x.HasAMXTile || !x.HasAVX512F || !x.HasAVX512BW {
		return "this processor has no AMX, or no AVX-512 beside it"
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

// tdpbf16psBlocks is [tileKernel.blocks] by TDPBF16PS.
//
//go:noescape
func tdpbf16psBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)

// vdpbf16psBlocks is it by VDPBF16PS.
//
//go:noescape
func vdpbf16psBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)

// packLeft32 and packRight32 are those of [tileKernel] for elements that are
// rounded to bfloat16, packLeft16 and packRight16 for codes of bfloat16, and
// packLeft8 and packRight8 for bytes.
//
//go:noescape
func packLeft32(dst *byte, src *float32, tiles int)

//go:noescape
func packRight32(dst *byte, src *float32, ld int, tiles int)

// vfmadd231ph adds n products to 32 sums, one to each in an instruction.
//
//go:noescape
func vfmadd231ph(c, x, y *uint16, n int)

//go:noescape
func packLeft16(dst *byte, src *uint16, tiles int)

//go:noescape
func packRight16(dst *byte, src *uint16, ld int, tiles int)

//go:noescape
func packLeft8(dst, src *byte, tiles int)

//go:noescape
func packRight8(dst, src *byte, ld int, tiles int)

// The same as tdpbf16psBlocks, of integers.
//
//go:noescape
func tdpbssdBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)

//go:noescape
func tdpbsudBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)

//go:noescape
func tdpbusdBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)

//go:noescape
func tdpbuudBlocks(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)
