package tcore

// Devices of the catalogue, a package that imports this one: the tests of
// package tcore_test set these variables before any test runs.
var (
	Devices func() []Device

	AdaE5M2, AmpereBF16, AmpereF16, AMXBF16, ArmBF16, ArmE5M2, ArmE5M2F16, ArmEBF16, ArmMMLABF16, ArmMOPAF16, AVX512BF16, AVX512F16, BlackwellE5M2, BlackwellMXE4M3, BlackwellNVF4,
	CDNA1BF16, CDNA1F16, CDNA2BF16, CDNA2BF16Pairs, CDNA2F16, CDNA3BF16,
	CDNA3F16, HopperE4M3, HopperF16, HopperF16F16, HopperMMAE4M3, HopperTF32,
	IEEEF16, IEEEF32, IEEEF64, PaperCoreF32, TuringF16, VoltaF16 Device
)
