package tcore

// The catalogue of AMD matrix cores (Xie et al. 2025; no outputs of real chips
// were at hand to compare with), named as the NVIDIA ones. TF32 is AMD's xf32,
// FP8 and BF8 are e4m3fnuz and e5m2fnuz. CDNA2 has two bfloat16 instructions:
// BF16 is the newer one, of suffix _1k, and BF16Pairs adds two products at once.
var (
	CDNA1F16  = cdna("CDNA1", "mfma.f32_f16", Binary16, ExactSum{Terms: 4})
	CDNA1BF16 = cdna("CDNA1", "mfma.f32_bf16", BFloat16, ExactSum{Terms: 2})
	CDNA1F32  = chain("CDNA1", "mfma.f32_f32", Binary32)

	CDNA2F16       = cdna("CDNA2", "mfma.f32_f16", Binary16, Pairwise{Terms: 4})
	CDNA2BF16      = cdna("CDNA2", "mfma_1k.f32_bf16_1k", BFloat16, Pairwise{Terms: 4})
	CDNA2BF16Pairs = cdna("CDNA2", "mfma.f32_bf16", BFloat16, Pairwise{Terms: 2})
	CDNA2F32       = chain("CDNA2", "mfma.f32_f32", Binary32)
	CDNA2F64       = chain("CDNA2", "mfma.f64_f64", Binary64)

	CDNA3F16  = cdna("CDNA3", "mfma.f32_f16", Binary16, TwoStage{Terms: 8, Parts: 1})
	CDNA3BF16 = cdna("CDNA3", "mfma.f32_bf16", BFloat16, TwoStage{Terms: 8, Parts: 1})
	CDNA3TF32 = cdna("CDNA3", "mfma.f32_xf32", TF32, TwoStage{Terms: 4, Parts: 1})
	CDNA3FP8  = cdna("CDNA3", "mfma.f32_fp8_fp8", E4M3FNUZ, TwoStage{Terms: 16, Parts: 2})
	CDNA3BF8  = cdna("CDNA3", "mfma.f32_bf8_bf8", E5M2FNUZ, TwoStage{Terms: 16, Parts: 2})
	CDNA3F32  = chain("CDNA3", "mfma.f32_f32", Binary32)
	CDNA3F64  = chain("CDNA3", "mfma.f64_f64", Binary64)
)

// cdna returns the record of an instruction that accumulates in binary32.
func cdna(architecture, instruction string, in Format, core Core) Device {
	return Device{
		Name:         deviceName(architecture, instruction, in.Name, "binary32"),
		Architecture: architecture,
		Instruction:  instruction,
		A:            in, B: in, C: Binary32,
		Convert: conversion(in),
		Core:    core,
	}
}
