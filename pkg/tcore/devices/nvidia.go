package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// The catalogue of NVIDIA tensor cores, with one record for every instruction.
// A name consists of the architecture, the format of the factors, and a further
// F16 if c and d are binary16 instead of binary32. The numbers of terms, the
// fraction bits and the output rounding come from probing of the hardware (Fasi
// et al. 2021; Khattak & Mikaitis 2025; Xie et al. 2025). They agree with the
// outputs of real V100, A2, A100, RTX 1000 Ada, L40S, H100, H200 and B200.
//
// What an H100 answered to this module's own questions decides where published
// models differ: a negative sum that is rounded to zero gives +0, and if c is
// binary16 the exponent of a zero is 4 - F, with the F of binary16 factors. In
// binary64 NaN keep their payloads. The other architectures have the same rules
// here, which nobody has seen there. If c is binary32, the exponent of a zero
// is that of the newer release of MMA-Sim, and no result depends on it.
//
// An instruction with two different 8-bit formats is a copy of a record with
// another B.

// VoltaF16 returns mma.m8n8k4 of Volta: factors in binary16, sums in binary32.
func VoltaF16() tcore.Device {
	return nvidia("Volta", "mma.m8n8k4", tcore.Binary16, tcore.Binary32, 4, 23, -131)
}

// VoltaF16F16 returns mma.m8n8k4 of Volta: factors in binary16, sums in
// binary16.
func VoltaF16F16() tcore.Device {
	return nvidia("Volta", "mma.m8n8k4", tcore.Binary16, tcore.Binary16, 4, 23, -19)
}

// TuringF16 returns mma.m16n8k8 of Turing: factors in binary16, sums in
// binary32.
func TuringF16() tcore.Device {
	return nvidia("Turing", "mma.m16n8k8", tcore.Binary16, tcore.Binary32, 8, 24, -132)
}

// TuringF16F16 returns mma.m16n8k8 of Turing: factors in binary16, sums in
// binary16.
func TuringF16F16() tcore.Device {
	return nvidia("Turing", "mma.m16n8k8", tcore.Binary16, tcore.Binary16, 8, 24, -20)
}

// AmpereF16 returns mma.m16n8k16 of Ampere: factors in binary16, sums in
// binary32.
func AmpereF16() tcore.Device {
	return nvidia("Ampere", "mma.m16n8k16", tcore.Binary16, tcore.Binary32, 8, 24, -132)
}

// AmpereF16F16 returns mma.m16n8k16 of Ampere: factors in binary16, sums in
// binary16.
func AmpereF16F16() tcore.Device {
	return nvidia("Ampere", "mma.m16n8k16", tcore.Binary16, tcore.Binary16, 8, 24, -20)
}

// AmpereBF16 returns mma.m16n8k16 of Ampere: factors in bfloat16, sums in
// binary32.
func AmpereBF16() tcore.Device {
	return nvidia("Ampere", "mma.m16n8k16", tcore.BFloat16, tcore.Binary32, 8, 24, -132)
}

// AmpereTF32 returns mma.m16n8k8 of Ampere: factors in tf32, sums in binary32.
func AmpereTF32() tcore.Device {
	return nvidia("Ampere", "mma.m16n8k8", tcore.TF32, tcore.Binary32, 4, 24, -132)
}

// AmpereF64 returns mma.m8n8k4 of Ampere: factors in binary64, sums in
// binary64.
func AmpereF64() tcore.Device { return dmma("Ampere", "mma.m8n8k4") }

// AdaF16 returns mma.m16n8k16 of Ada: factors in binary16, sums in binary32.
func AdaF16() tcore.Device {
	return nvidia("Ada", "mma.m16n8k16", tcore.Binary16, tcore.Binary32, 8, 24, -132)
}

// AdaF16F16 returns mma.m16n8k16 of Ada: factors in binary16, sums in binary16.
func AdaF16F16() tcore.Device {
	return nvidia("Ada", "mma.m16n8k16", tcore.Binary16, tcore.Binary16, 8, 24, -20)
}

// AdaBF16 returns mma.m16n8k16 of Ada: factors in bfloat16, sums in binary32.
func AdaBF16() tcore.Device {
	return nvidia("Ada", "mma.m16n8k16", tcore.BFloat16, tcore.Binary32, 8, 24, -132)
}

// AdaTF32 returns mma.m16n8k8 of Ada: factors in tf32, sums in binary32.
func AdaTF32() tcore.Device {
	return nvidia("Ada", "mma.m16n8k8", tcore.TF32, tcore.Binary32, 4, 24, -132)
}

// AdaE4M3 returns mma.m16n8k32 of Ada: factors in e4m3, sums in binary32.
func AdaE4M3() tcore.Device {
	return nvidia("Ada", "mma.m16n8k32", tcore.E4M3, tcore.Binary32, 16, 13, -132)
}

// AdaE4M3F16 returns mma.m16n8k32 of Ada: factors in e4m3, sums in binary16.
func AdaE4M3F16() tcore.Device {
	return nvidia("Ada", "mma.m16n8k32", tcore.E4M3, tcore.Binary16, 16, 13, -20)
}

// AdaE5M2 returns mma.m16n8k32 of Ada: factors in e5m2, sums in binary32.
func AdaE5M2() tcore.Device {
	return nvidia("Ada", "mma.m16n8k32", tcore.E5M2, tcore.Binary32, 16, 13, -132)
}

// AdaE5M2F16 returns mma.m16n8k32 of Ada: factors in e5m2, sums in binary16.
func AdaE5M2F16() tcore.Device {
	return nvidia("Ada", "mma.m16n8k32", tcore.E5M2, tcore.Binary16, 16, 13, -20)
}

// AdaF64 returns mma.m8n8k4 of Ada: factors in binary64, sums in binary64.
func AdaF64() tcore.Device { return dmma("Ada", "mma.m8n8k4") }

// Hopper has two families of instructions: wgmma, which libraries use and to
// which the plain names refer, and mma. There is no 8-bit mma; compilers
// emulate it ([tcore.Split]).

// HopperF16 returns wgmma.m64nNk16 of Hopper: factors in binary16, sums in
// binary32.
func HopperF16() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk16", tcore.Binary16, tcore.Binary32, 16, 25, -133)
}

// HopperF16F16 returns wgmma.m64nNk16 of Hopper: factors in binary16, sums in
// binary16.
func HopperF16F16() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk16", tcore.Binary16, tcore.Binary16, 16, 25, -21)
}

// HopperBF16 returns wgmma.m64nNk16 of Hopper: factors in bfloat16, sums in
// binary32.
func HopperBF16() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk16", tcore.BFloat16, tcore.Binary32, 16, 25, -133)
}

// HopperTF32 returns wgmma.m64nNk8 of Hopper: factors in tf32, sums in
// binary32.
func HopperTF32() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk8", tcore.TF32, tcore.Binary32, 8, 25, -133)
}

// HopperE4M3 returns wgmma.m64nNk32 of Hopper: factors in e4m3, sums in
// binary32.
func HopperE4M3() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk32", tcore.E4M3, tcore.Binary32, 32, 13, -133)
}

// HopperE4M3F16 returns wgmma.m64nNk32 of Hopper: factors in e4m3, sums in
// binary16.
func HopperE4M3F16() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk32", tcore.E4M3, tcore.Binary16, 32, 13, -21)
}

// HopperE5M2 returns wgmma.m64nNk32 of Hopper: factors in e5m2, sums in
// binary32.
func HopperE5M2() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk32", tcore.E5M2, tcore.Binary32, 32, 13, -133)
}

// HopperE5M2F16 returns wgmma.m64nNk32 of Hopper: factors in e5m2, sums in
// binary16.
func HopperE5M2F16() tcore.Device {
	return nvidia("Hopper", "wgmma.m64nNk32", tcore.E5M2, tcore.Binary16, 32, 13, -21)
}

// HopperMMAF16 returns mma.m16n8k16 of Hopper: factors in binary16, sums in
// binary32.
func HopperMMAF16() tcore.Device {
	return nvidia("Hopper", "mma.m16n8k16", tcore.Binary16, tcore.Binary32, 16, 25, -133)
}

// HopperMMAF16F16 returns mma.m16n8k16 of Hopper: factors in binary16, sums in
// binary16.
func HopperMMAF16F16() tcore.Device {
	return nvidia("Hopper", "mma.m16n8k16", tcore.Binary16, tcore.Binary16, 16, 25, -21)
}

// HopperMMABF16 returns mma.m16n8k16 of Hopper: factors in bfloat16, sums in
// binary32.
func HopperMMABF16() tcore.Device {
	return nvidia("Hopper", "mma.m16n8k16", tcore.BFloat16, tcore.Binary32, 16, 25, -133)
}

// HopperMMATF32 returns mma.m16n8k8 of Hopper: factors in tf32, sums in
// binary32.
func HopperMMATF32() tcore.Device {
	return nvidia("Hopper", "mma.m16n8k8", tcore.TF32, tcore.Binary32, 8, 25, -133)
}

// HopperMMAE4M3 returns mma.m16n8k32 of Hopper as compilers emulate it, by two
// of [HopperMMAF16]: factors in e4m3, sums in binary32.
func HopperMMAE4M3() tcore.Device { return split(HopperMMAF16(), tcore.E4M3) }

// HopperMMAE4M3F16 returns mma.m16n8k32 of Hopper as compilers emulate it, by
// two of [HopperMMAF16F16]: factors in e4m3, sums in binary16.
func HopperMMAE4M3F16() tcore.Device { return split(HopperMMAF16F16(), tcore.E4M3) }

// HopperMMAE5M2 returns mma.m16n8k32 of Hopper as compilers emulate it, by two
// of [HopperMMAF16]: factors in e5m2, sums in binary32.
func HopperMMAE5M2() tcore.Device { return split(HopperMMAF16(), tcore.E5M2) }

// HopperMMAE5M2F16 returns mma.m16n8k32 of Hopper as compilers emulate it, by
// two of [HopperMMAF16F16]: factors in e5m2, sums in binary16.
func HopperMMAE5M2F16() tcore.Device { return split(HopperMMAF16F16(), tcore.E5M2) }

// HopperF64 returns mma.m16n8k16 of Hopper: factors in binary64, sums in
// binary64.
func HopperF64() tcore.Device { return dmma("Hopper", "mma.m16n8k16") }

// Blackwell is the B200, where the plain names refer to tcgen05. RTXBlackwell
// is the GeForce generation, which has only mma. 8-bit mma of the B200 is
// emulated.

// BlackwellF16 returns tcgen05.f16.k16 of Blackwell: factors in binary16, sums
// in binary32.
func BlackwellF16() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f16.k16", tcore.Binary16, tcore.Binary32, 16, 25, -133)
}

// BlackwellF16F16 returns tcgen05.f16.k16 of Blackwell: factors in binary16,
// sums in binary16.
func BlackwellF16F16() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f16.k16", tcore.Binary16, tcore.Binary16, 16, 25, -21)
}

// BlackwellBF16 returns tcgen05.f16.k16 of Blackwell: factors in bfloat16, sums
// in binary32.
func BlackwellBF16() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f16.k16", tcore.BFloat16, tcore.Binary32, 16, 25, -133)
}

// BlackwellTF32 returns tcgen05.tf32.k8 of Blackwell: factors in tf32, sums in
// binary32.
func BlackwellTF32() tcore.Device {
	return nvidia("Blackwell", "tcgen05.tf32.k8", tcore.TF32, tcore.Binary32, 8, 25, -133)
}

// BlackwellE4M3 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e4m3, sums
// in binary32.
func BlackwellE4M3() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E4M3, tcore.Binary32, 32, 25, -133)
}

// BlackwellE4M3F16 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e4m3,
// sums in binary16.
func BlackwellE4M3F16() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E4M3, tcore.Binary16, 32, 25, -21)
}

// BlackwellE5M2 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e5m2, sums
// in binary32.
func BlackwellE5M2() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E5M2, tcore.Binary32, 32, 25, -133)
}

// BlackwellE5M2F16 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e5m2,
// sums in binary16.
func BlackwellE5M2F16() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E5M2, tcore.Binary16, 32, 25, -21)
}

// BlackwellE3M2 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e3m2, sums
// in binary32.
func BlackwellE3M2() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E3M2, tcore.Binary32, 32, 25, -133)
}

// BlackwellE2M3 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e2m3, sums
// in binary32.
func BlackwellE2M3() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E2M3, tcore.Binary32, 32, 25, -133)
}

// BlackwellE2M1 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e2m1, sums
// in binary32.
func BlackwellE2M1() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E2M1, tcore.Binary32, 32, 25, -133)
}

// BlackwellE2M1F16 returns tcgen05.f8f6f4.k32 of Blackwell: factors in e2m1,
// sums in binary16.
func BlackwellE2M1F16() tcore.Device {
	return nvidia("Blackwell", "tcgen05.f8f6f4.k32", tcore.E2M1, tcore.Binary16, 32, 25, -21)
}

// BlackwellMMAF16 returns mma.m16n8k16 of Blackwell: factors in binary16, sums
// in binary32.
func BlackwellMMAF16() tcore.Device {
	return nvidia("Blackwell", "mma.m16n8k16", tcore.Binary16, tcore.Binary32, 16, 25, -133)
}

// BlackwellMMAF16F16 returns mma.m16n8k16 of Blackwell: factors in binary16,
// sums in binary16.
func BlackwellMMAF16F16() tcore.Device {
	return nvidia("Blackwell", "mma.m16n8k16", tcore.Binary16, tcore.Binary16, 16, 25, -21)
}

// BlackwellMMABF16 returns mma.m16n8k16 of Blackwell: factors in bfloat16, sums
// in binary32.
func BlackwellMMABF16() tcore.Device {
	return nvidia("Blackwell", "mma.m16n8k16", tcore.BFloat16, tcore.Binary32, 16, 25, -133)
}

// BlackwellMMATF32 returns mma.m16n8k8 of Blackwell: factors in tf32, sums in
// binary32.
func BlackwellMMATF32() tcore.Device {
	return nvidia("Blackwell", "mma.m16n8k8", tcore.TF32, tcore.Binary32, 8, 25, -133)
}

// BlackwellMMAE4M3 returns mma.m16n8k32 of Blackwell as compilers emulate it,
// by two of [BlackwellMMAF16]: factors in e4m3, sums in binary32.
func BlackwellMMAE4M3() tcore.Device { return split(BlackwellMMAF16(), tcore.E4M3) }

// BlackwellMMAE4M3F16 returns mma.m16n8k32 of Blackwell as compilers emulate
// it, by two of [BlackwellMMAF16F16]: factors in e4m3, sums in binary16.
func BlackwellMMAE4M3F16() tcore.Device { return split(BlackwellMMAF16F16(), tcore.E4M3) }

// BlackwellMMAE5M2 returns mma.m16n8k32 of Blackwell as compilers emulate it,
// by two of [BlackwellMMAF16]: factors in e5m2, sums in binary32.
func BlackwellMMAE5M2() tcore.Device { return split(BlackwellMMAF16(), tcore.E5M2) }

// BlackwellMMAE5M2F16 returns mma.m16n8k32 of Blackwell as compilers emulate
// it, by two of [BlackwellMMAF16F16]: factors in e5m2, sums in binary16.
func BlackwellMMAE5M2F16() tcore.Device { return split(BlackwellMMAF16F16(), tcore.E5M2) }

// BlackwellF64 returns mma.m8n8k4 of Blackwell: factors in binary64, sums in
// binary64.
func BlackwellF64() tcore.Device { return dmma("Blackwell", "mma.m8n8k4") }

// RTXBlackwellF16 returns mma.m16n8k16 of RTX Blackwell: factors in binary16,
// sums in binary32.
func RTXBlackwellF16() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k16", tcore.Binary16, tcore.Binary32, 16, 25, -133)
}

// RTXBlackwellF16F16 returns mma.m16n8k16 of RTX Blackwell: factors in
// binary16, sums in binary16.
func RTXBlackwellF16F16() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k16", tcore.Binary16, tcore.Binary16, 16, 25, -21)
}

// RTXBlackwellBF16 returns mma.m16n8k16 of RTX Blackwell: factors in bfloat16,
// sums in binary32.
func RTXBlackwellBF16() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k16", tcore.BFloat16, tcore.Binary32, 16, 25, -133)
}

// RTXBlackwellTF32 returns mma.m16n8k8 of RTX Blackwell: factors in tf32, sums
// in binary32.
func RTXBlackwellTF32() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k8", tcore.TF32, tcore.Binary32, 8, 25, -133)
}

// RTXBlackwellE4M3 returns mma.m16n8k32 of RTX Blackwell: factors in e4m3, sums
// in binary32.
func RTXBlackwellE4M3() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E4M3, tcore.Binary32, 32, 25, -133)
}

// RTXBlackwellE4M3F16 returns mma.m16n8k32 of RTX Blackwell: factors in e4m3,
// sums in binary16.
func RTXBlackwellE4M3F16() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E4M3, tcore.Binary16, 32, 25, -21)
}

// RTXBlackwellE5M2 returns mma.m16n8k32 of RTX Blackwell: factors in e5m2, sums
// in binary32.
func RTXBlackwellE5M2() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E5M2, tcore.Binary32, 32, 25, -133)
}

// RTXBlackwellE5M2F16 returns mma.m16n8k32 of RTX Blackwell: factors in e5m2,
// sums in binary16.
func RTXBlackwellE5M2F16() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E5M2, tcore.Binary16, 32, 25, -21)
}

// RTXBlackwellE3M2 returns mma.m16n8k32 of RTX Blackwell: factors in e3m2, sums
// in binary32.
func RTXBlackwellE3M2() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E3M2, tcore.Binary32, 32, 25, -133)
}

// RTXBlackwellE2M3 returns mma.m16n8k32 of RTX Blackwell: factors in e2m3, sums
// in binary32.
func RTXBlackwellE2M3() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E2M3, tcore.Binary32, 32, 25, -133)
}

// RTXBlackwellE2M1 returns mma.m16n8k32 of RTX Blackwell: factors in e2m1, sums
// in binary32.
func RTXBlackwellE2M1() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E2M1, tcore.Binary32, 32, 25, -133)
}

// RTXBlackwellE2M1F16 returns mma.m16n8k32 of RTX Blackwell: factors in e2m1,
// sums in binary16.
func RTXBlackwellE2M1F16() tcore.Device {
	return nvidia("RTX Blackwell", "mma.m16n8k32", tcore.E2M1, tcore.Binary16, 32, 25, -21)
}

// RTXBlackwellF64 returns mma.m8n8k4 of RTX Blackwell: factors in binary64,
// sums in binary64.
func RTXBlackwellF64() tcore.Device { return dmma("RTX Blackwell", "mma.m8n8k4") }

// Block-scaled instructions. In OCP MX, 32 factors of any narrow format share a
// scale in e8m0, whose exponent is added to those of the products. MXF4 and
// NVF4 are the fp4 instruction of fourfold speed. It adds groups of 16 products
// exactly before it aligns them. Its scales are in e8m0 or, for NVF4, in ue4m3.
// The scale of a whole tensor in NVFP4 is applied by software.

// BlackwellMXE4M3 returns [BlackwellE4M3] with a scale of e8m0 on 32 factors.
func BlackwellMXE4M3() tcore.Device { return mx(BlackwellE4M3()) }

// BlackwellMXE5M2 returns [BlackwellE5M2] with a scale of e8m0 on 32 factors.
func BlackwellMXE5M2() tcore.Device { return mx(BlackwellE5M2()) }

// BlackwellMXE3M2 returns [BlackwellE3M2] with a scale of e8m0 on 32 factors.
func BlackwellMXE3M2() tcore.Device { return mx(BlackwellE3M2()) }

// BlackwellMXE2M3 returns [BlackwellE2M3] with a scale of e8m0 on 32 factors.
func BlackwellMXE2M3() tcore.Device { return mx(BlackwellE2M3()) }

// BlackwellMXE2M1 returns [BlackwellE2M1] with a scale of e8m0 on 32 factors.
func BlackwellMXE2M1() tcore.Device { return mx(BlackwellE2M1()) }

// BlackwellMXF4 returns tcgen05.mxf4.k64 of Blackwell: factors in e2m1, a scale
// of e8m0 on 32 of them, sums in binary32.
func BlackwellMXF4() tcore.Device { return fp4("Blackwell", "tcgen05.mxf4.k64", tcore.E8M0, 32) }

// BlackwellMXF4x2 returns tcgen05.mxf4nvf4.k64 of Blackwell: factors in e2m1, a
// scale of e8m0 on 16 of them, sums in binary32.
func BlackwellMXF4x2() tcore.Device { return fp4("Blackwell", "tcgen05.mxf4nvf4.k64", tcore.E8M0, 16) }

// BlackwellNVF4 returns tcgen05.mxf4nvf4.k64 of Blackwell: factors in e2m1, a
// scale of ue4m3 on 16 of them, sums in binary32.
func BlackwellNVF4() tcore.Device { return fp4("Blackwell", "tcgen05.mxf4nvf4.k64", tcore.UE4M3, 16) }

// RTXBlackwellMXE4M3 returns [RTXBlackwellE4M3] with a scale of e8m0 on 32
// factors.
func RTXBlackwellMXE4M3() tcore.Device { return mx(RTXBlackwellE4M3()) }

// RTXBlackwellMXE5M2 returns [RTXBlackwellE5M2] with a scale of e8m0 on 32
// factors.
func RTXBlackwellMXE5M2() tcore.Device { return mx(RTXBlackwellE5M2()) }

// RTXBlackwellMXE3M2 returns [RTXBlackwellE3M2] with a scale of e8m0 on 32
// factors.
func RTXBlackwellMXE3M2() tcore.Device { return mx(RTXBlackwellE3M2()) }

// RTXBlackwellMXE2M3 returns [RTXBlackwellE2M3] with a scale of e8m0 on 32
// factors.
func RTXBlackwellMXE2M3() tcore.Device { return mx(RTXBlackwellE2M3()) }

// RTXBlackwellMXE2M1 returns [RTXBlackwellE2M1] with a scale of e8m0 on 32
// factors.
func RTXBlackwellMXE2M1() tcore.Device { return mx(RTXBlackwellE2M1()) }

// RTXBlackwellMXF4 returns mma.m16n8k64 of RTX Blackwell: factors in e2m1, a
// scale of e8m0 on 32 of them, sums in binary32.
func RTXBlackwellMXF4() tcore.Device { return fp4("RTX Blackwell", "mma.m16n8k64", tcore.E8M0, 32) }

// RTXBlackwellMXF4x2 returns mma.m16n8k64 of RTX Blackwell: factors in e2m1, a
// scale of e8m0 on 16 of them, sums in binary32.
func RTXBlackwellMXF4x2() tcore.Device { return fp4("RTX Blackwell", "mma.m16n8k64", tcore.E8M0, 16) }

// RTXBlackwellNVF4 returns mma.m16n8k64 of RTX Blackwell: factors in e2m1, a
// scale of ue4m3 on 16 of them, sums in binary32.
func RTXBlackwellNVF4() tcore.Device { return fp4("RTX Blackwell", "mma.m16n8k64", tcore.UE4M3, 16) }
