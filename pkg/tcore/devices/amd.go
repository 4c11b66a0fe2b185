package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// The catalogue of AMD matrix cores, from the description of Xie et al. (2025).
// It has not been compared with results of real chips. Names are formed as for
// NVIDIA. TF32 stands for AMD's xf32, FP8 for e4m3fnuz and BF8 for e5m2fnuz.
// CDNA2 has two bfloat16 instructions: BF16 is the newer one, with suffix _1k,
// and BF16Pairs the one that adds two products at once.

// CDNA1F16 returns mfma.f32_f16 of CDNA1: factors in binary16, sums in
// binary32.
func CDNA1F16() tcore.Device {
	return cdna("CDNA1", "mfma.f32_f16", tcore.Binary16, tcore.ExactSum{Terms: 4})
}

// CDNA1BF16 returns mfma.f32_bf16 of CDNA1: factors in bfloat16, sums in
// binary32.
func CDNA1BF16() tcore.Device {
	return cdna("CDNA1", "mfma.f32_bf16", tcore.BFloat16, tcore.ExactSum{Terms: 2})
}

// CDNA1F32 returns mfma.f32_f32 of CDNA1: factors in binary32, sums in
// binary32.
func CDNA1F32() tcore.Device { return chain("CDNA1", "mfma.f32_f32", tcore.Binary32) }

// CDNA2F16 returns mfma.f32_f16 of CDNA2: factors in binary16, sums in
// binary32.
func CDNA2F16() tcore.Device {
	return cdna("CDNA2", "mfma.f32_f16", tcore.Binary16, tcore.Pairwise{Terms: 4})
}

// CDNA2BF16 returns mfma_1k.f32_bf16_1k of CDNA2: factors in bfloat16, sums in
// binary32.
func CDNA2BF16() tcore.Device {
	return cdna("CDNA2", "mfma_1k.f32_bf16_1k", tcore.BFloat16, tcore.Pairwise{Terms: 4})
}

// CDNA2BF16Pairs returns mfma.f32_bf16 of CDNA2: factors in bfloat16, sums in
// binary32.
func CDNA2BF16Pairs() tcore.Device {
	return cdna("CDNA2", "mfma.f32_bf16", tcore.BFloat16, tcore.Pairwise{Terms: 2})
}

// CDNA2F32 returns mfma.f32_f32 of CDNA2: factors in binary32, sums in
// binary32.
func CDNA2F32() tcore.Device { return chain("CDNA2", "mfma.f32_f32", tcore.Binary32) }

// CDNA2F64 returns mfma.f64_f64 of CDNA2: factors in binary64, sums in
// binary64.
func CDNA2F64() tcore.Device { return chain("CDNA2", "mfma.f64_f64", tcore.Binary64) }

// CDNA3F16 returns mfma.f32_f16 of CDNA3: factors in binary16, sums in
// binary32.
func CDNA3F16() tcore.Device {
	return cdna("CDNA3", "mfma.f32_f16", tcore.Binary16, tcore.TwoStage{Terms: 8, Parts: 1})
}

// CDNA3BF16 returns mfma.f32_bf16 of CDNA3: factors in bfloat16, sums in
// binary32.
func CDNA3BF16() tcore.Device {
	return cdna("CDNA3", "mfma.f32_bf16", tcore.BFloat16, tcore.TwoStage{Terms: 8, Parts: 1})
}

// CDNA3TF32 returns mfma.f32_xf32 of CDNA3: factors in tf32, sums in binary32.
func CDNA3TF32() tcore.Device {
	return cdna("CDNA3", "mfma.f32_xf32", tcore.TF32, tcore.TwoStage{Terms: 4, Parts: 1})
}

// CDNA3FP8 returns mfma.f32_fp8_fp8 of CDNA3: factors in e4m3fnuz, sums in
// binary32.
func CDNA3FP8() tcore.Device {
	return cdna("CDNA3", "mfma.f32_fp8_fp8", tcore.E4M3FNUZ, tcore.TwoStage{Terms: 16, Parts: 2})
}

// CDNA3BF8 returns mfma.f32_bf8_bf8 of CDNA3: factors in e5m2fnuz, sums in
// binary32.
func CDNA3BF8() tcore.Device {
	return cdna("CDNA3", "mfma.f32_bf8_bf8", tcore.E5M2FNUZ, tcore.TwoStage{Terms: 16, Parts: 2})
}

// CDNA3F32 returns mfma.f32_f32 of CDNA3: factors in binary32, sums in
// binary32.
func CDNA3F32() tcore.Device { return chain("CDNA3", "mfma.f32_f32", tcore.Binary32) }

// CDNA3F64 returns mfma.f64_f64 of CDNA3: factors in binary64, sums in
// binary64.
func CDNA3F64() tcore.Device { return chain("CDNA3", "mfma.f64_f64", tcore.Binary64) }

// cdna returns the record of an instruction that accumulates in binary32.
func cdna(architecture, instruction string, in tcore.Format, core tcore.Core) tcore.Device {
	return tcore.Device{
		Name:         deviceName(architecture, instruction, in.Name, "binary32"),
		Architecture: architecture,
		Instruction:  instruction,
		A:            in, B: in, C: tcore.Binary32,
		Convert: conversion(in),
		Core:    core,
	}
}
