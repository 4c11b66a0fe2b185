package tcore_test

import (
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

func init() {
	tcore.Devices = devices.All
	tcore.AdaE5M2 = devices.AdaE5M2()
	tcore.AmpereBF16 = devices.AmpereBF16()
	tcore.AmpereF16 = devices.AmpereF16()
	tcore.AMXBF16 = devices.AMXBF16()
	tcore.ArmBF16 = devices.ArmBF16()
	tcore.ArmE5M2 = devices.ArmE5M2()
	tcore.ArmE5M2F16 = devices.ArmE5M2F16()
	tcore.ArmEBF16 = devices.ArmEBF16()
	tcore.ArmMMLABF16 = devices.ArmMMLABF16()
	tcore.ArmMOPAF16 = devices.ArmMOPAF16()
	tcore.AVX512BF16 = devices.AVX512BF16()
	tcore.AVX512F16 = devices.AVX512F16()
	tcore.BlackwellE5M2 = devices.BlackwellE5M2()
	tcore.BlackwellMXE4M3 = devices.BlackwellMXE4M3()
	tcore.BlackwellNVF4 = devices.BlackwellNVF4()
	tcore.CDNA1BF16 = devices.CDNA1BF16()
	tcore.CDNA1F16 = devices.CDNA1F16()
	tcore.CDNA2BF16 = devices.CDNA2BF16()
	tcore.CDNA2BF16Pairs = devices.CDNA2BF16Pairs()
	tcore.CDNA2F16 = devices.CDNA2F16()
	tcore.CDNA3BF16 = devices.CDNA3BF16()
	tcore.CDNA3F16 = devices.CDNA3F16()
	tcore.HopperE4M3 = devices.HopperE4M3()
	tcore.HopperF16 = devices.HopperF16()
	tcore.HopperF16F16 = devices.HopperF16F16()
	tcore.HopperMMAE4M3 = devices.HopperMMAE4M3()
	tcore.HopperTF32 = devices.HopperTF32()
	tcore.IEEEF16 = devices.IEEEF16()
	tcore.IEEEF32 = devices.IEEEF32()
	tcore.IEEEF64 = devices.IEEEF64()
	tcore.PaperCoreF32 = devices.PaperCoreF32()
	tcore.TuringF16 = devices.TuringF16()
	tcore.VoltaF16 = devices.VoltaF16()
}
