// Package devices is the catalogue of matrix units, with one record for every
// instruction. A name consists of the architecture, the format of the factors,
// and a further F16 if sums are in binary16 instead of binary32. A variant is a
// copy with one field changed:
//
//	d := devices.HopperE4M3()
//	d.B = tcore.E5M2
//
// Each call returns its own record, so that changing it does not affect others.
package devices

import (
	"slices"
	"strings"
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// All returns the catalogue, oldest architecture first, without [Integers].
func All() []tcore.Device { return slices.Clone(all()) }

// Integers returns the units of integers. They are not among All: they round
// nothing, so that no bound on rounding errors is about them, and sums beyond
// int32 are wrong by multiples of 2^32, which no bound covers.
func Integers() []tcore.Device {
	return []tcore.Device{AMXINT8(), AMXINT8UINT8(), AMXUINT8INT8(), AMXUINT8()}
}

// ByName returns the device of All of that name; ok is false if there is none.
func ByName(name string) (d tcore.Device, ok bool) {
	i := slices.IndexFunc(all(), func(d tcore.Device) bool { return d.Name == name })
	if i < 0 {
		return d, false
	}
	return all()[i], true
}

var all = sync.OnceValue(func() []tcore.Device {
	return []tcore.Device{
		VoltaF16(), VoltaF16F16(),
		TuringF16(), TuringF16F16(),
		AmpereF16(), AmpereF16F16(), AmpereBF16(), AmpereTF32(), AmpereF64(),
		AdaF16(), AdaF16F16(), AdaBF16(), AdaTF32(), AdaE4M3(), AdaE4M3F16(), AdaE5M2(), AdaE5M2F16(), AdaF64(),
		HopperF16(), HopperF16F16(), HopperBF16(), HopperTF32(),
		HopperE4M3(), HopperE4M3F16(), HopperE5M2(), HopperE5M2F16(),
		HopperMMAF16(), HopperMMAF16F16(), HopperMMABF16(), HopperMMATF32(),
		HopperMMAE4M3(), HopperMMAE4M3F16(), HopperMMAE5M2(), HopperMMAE5M2F16(), HopperF64(),
		BlackwellF16(), BlackwellF16F16(), BlackwellBF16(), BlackwellTF32(),
		BlackwellE4M3(), BlackwellE4M3F16(), BlackwellE5M2(), BlackwellE5M2F16(),
		BlackwellE3M2(), BlackwellE2M3(), BlackwellE2M1(), BlackwellE2M1F16(),
		BlackwellMMAF16(), BlackwellMMAF16F16(), BlackwellMMABF16(), BlackwellMMATF32(),
		BlackwellMMAE4M3(), BlackwellMMAE4M3F16(), BlackwellMMAE5M2(), BlackwellMMAE5M2F16(), BlackwellF64(),
		RTXBlackwellF16(), RTXBlackwellF16F16(), RTXBlackwellBF16(), RTXBlackwellTF32(),
		RTXBlackwellE4M3(), RTXBlackwellE4M3F16(), RTXBlackwellE5M2(), RTXBlackwellE5M2F16(),
		RTXBlackwellE3M2(), RTXBlackwellE2M3(), RTXBlackwellE2M1(), RTXBlackwellE2M1F16(), RTXBlackwellF64(),
		BlackwellMXE4M3(), BlackwellMXE5M2(), BlackwellMXE3M2(), BlackwellMXE2M3(), BlackwellMXE2M1(),
		BlackwellMXF4(), BlackwellMXF4x2(), BlackwellNVF4(),
		RTXBlackwellMXE4M3(), RTXBlackwellMXE5M2(), RTXBlackwellMXE3M2(), RTXBlackwellMXE2M3(), RTXBlackwellMXE2M1(),
		RTXBlackwellMXF4(), RTXBlackwellMXF4x2(), RTXBlackwellNVF4(),
		CDNA1F16(), CDNA1BF16(), CDNA1F32(),
		CDNA2F16(), CDNA2BF16(), CDNA2BF16Pairs(), CDNA2F32(), CDNA2F64(),
		CDNA3F16(), CDNA3BF16(), CDNA3TF32(), CDNA3FP8(), CDNA3BF8(), CDNA3F32(), CDNA3F64(),
		AMXBF16(), AVX512BF16(), AVX512F16(), AMXF16(),
		ArmBF16(), ArmMMLABF16(), ArmMOPABF16(), ArmEBF16(), ArmMMLAEBF16(), ArmMOPAEBF16(), ArmMOPAF16(), ArmMOPAF32(),
		ArmE4M3(), ArmE4M3F16(), ArmE5M2(), ArmE5M2F16(), ArmMMLAE4M3(), ArmMMLAE4M3F16(), ArmMMLAE5M2(), ArmMMLAE5M2F16(),
		PaperCoreF32(), PaperCoreF16(), IEEEF16(), IEEEF32(), IEEEF64(),
	}
})

// chain returns the record of a chain of FMAs.
func chain(architecture, instruction string, f tcore.Format) tcore.Device {
	return tcore.Device{
		Name:         deviceName(architecture, instruction, f.Name, f.Name),
		Architecture: architecture,
		Instruction:  instruction,
		A:            f, B: f, C: f,
		Core: tcore.Chain{},
	}
}

// deviceName returns a name such as hopper-wgmma-binary16-binary32.
func deviceName(architecture, instruction, in, out string) string {
	family, _, _ := strings.Cut(instruction, ".")
	words := []string{strings.ReplaceAll(architecture, " ", ""), family, in, out}
	return strings.ToLower(strings.Join(words, "-"))
}

// conversion returns how values are converted to factors. tf32 instructions
// ignore the low bits of a binary32 word; for other formats software rounds to
// nearest.
func conversion(in tcore.Format) tcore.RoundingMode {
	if in.Equal(tcore.TF32) {
		return tcore.ToZero
	}
	return tcore.ToNearestEven
}

// allOnes returns the NaN that NVIDIA tensor cores return, with all bits set
// except the sign.
func allOnes(f tcore.Format) uint64 {
	return 1<<(f.Bits()-1) - 1
}
