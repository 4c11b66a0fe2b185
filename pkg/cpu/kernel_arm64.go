package cpu

import (
	"unsafe"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// A feature is what a processor may have, as Linux tells by bits of AT_HWCAP2
// and, since emulators leave out that of FEAT_EBF16, a register.
type feature struct {
	name     string
	bits     uint64
	extended bool // FEAT_EBF16 as well
}

var (
	bf16     = feature{"FEAT_BF16", 1 << 14, false}
	ebf16    = feature{"FEAT_EBF16", 1 << 14, true}
	smeF16   = feature{"FEAT_SME", 1<<23 | 1<<27, false}
	smeBF16  = feature{"FEAT_SME", 1<<23 | 1<<28, false}
	smeEBF16 = feature{"FEAT_SME with FEAT_EBF16", 1<<23 | 1<<28, true}
)

// extended is FPCR.EBF, which selects the extended bfloat16 behaviour.
const extended = 1 << 13

// routine continues 16 × 16 sums as kernel.run does, with further bits of FPCR
// set.
type routine func(c *float32, ldc int, a, b *uint16, pairs int, control uint64)

// kernels are those of arm64.
var kernels = []kernel{
	arm(devices.ArmBF16(), 1, bf16, bfdot, 0),
	arm(devices.ArmMMLABF16(), 2, bf16, bfmmla, 0),
	arm(devices.ArmMOPABF16(), 1, smeBF16, outer(bfmopa), 0),
	arm(devices.ArmEBF16(), 1, ebf16, bfdot, extended),
	arm(devices.ArmMMLAEBF16(), 2, ebf16, bfmmla, extended),
	arm(devices.ArmMOPAEBF16(), 1, smeEBF16, outer(bfmopa), extended),
	arm(devices.ArmMOPAF16(), 1, smeF16, outer(fmopa), 0),
}

// arm returns the kernel of an instruction.
func arm(d tcore.Device, pairs int, needs feature, run routine, control uint64) kernel {
	return kernel{device: d, pairs: pairs, missing: needs.missing, run: func(c *float32, ldc int, a, b *uint16, pairs int) {
		run(c, ldc, a, b, pairs, control)
	}}
}

// outer returns the routine for sums of outer products, step, which adds at
// most 16 pairs of products. Their factors a are columns of 16 pairs.
func outer(step func(c *float32, ldc int, a *uint32, b *uint16, pairs int, control uint64)) routine {
	return func(c *float32, ldc int, a, b *uint16, pairs int, control uint64) {
		var columns [side * tilePairs]uint32
		for first := 0; first < pairs; first += tilePairs {
			at, n := first/tilePairs*tileSize, min(tilePairs, pairs-first)
			for i, x := range unsafe.Slice((*uint32)(unsafe.Pointer(a)), (at+tileSize)/2)[at/2:] {
				columns[i%tilePairs*side+i/tilePairs] = x
			}
			step(c, ldc, &columns[0], &unsafe.Slice(b, at+tileSize)[at], n, control)
		}
	}
}

// bfloat16Level returns field BF16 of ID_AA64ISAR1_EL1: 2 with FEAT_EBF16. The
// system must let it be read, which HWCAP_CPUID says.
func bfloat16Level() uint64

// bfdot continues sums by one BFDOT for every pair and four sums.
//
//go:noescape
func bfdot(c *float32, ldc int, a, b *uint16, pairs int, control uint64)

// bfmmla continues sums by one BFMMLA for every two pairs and four sums. The
// number of pairs is even.
//
//go:noescape
func bfmmla(c *float32, ldc int, a, b *uint16, pairs int, control uint64)

// bfmopa continues sums by one BFMOPA for every pair and tile of SME.
//
//go:noescape
func bfmopa(c *float32, ldc int, a *uint32, b *uint16, pairs int, control uint64)

// fmopa continues sums by one widening FMOPA for every pair and tile of SME.
//
//go:noescape
func fmopa(c *float32, ldc int, a *uint32, b *uint16, pairs int, control uint64)
