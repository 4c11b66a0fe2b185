package tcore

import (
	"strconv"
	"strings"
)

// The catalogue of NVIDIA tensor cores, one record per instruction, named by
// architecture, format of the factors, and F16 again where c and d are binary16
// and not binary32. Terms, fraction bits and output rounding as found by probing
// (Fasi et al. 2021; Khattak & Mikaitis 2025; Xie et al. 2025), which agree with
// the outputs of real V100, A2, A100, RTX 1000 Ada, L40S, H100, H200 and B200.
// The exponent of a zero is that of the newer release of MMA-Sim; it is
// contested by 1 where c is binary16.
//
// An instruction that mixes 8-bit factors is a copy with another B.
var (
	VoltaF16    = nvidia("Volta", "mma.m8n8k4", Binary16, Binary32, 4, 23, -131)
	VoltaF16F16 = nvidia("Volta", "mma.m8n8k4", Binary16, Binary16, 4, 23, -20)

	TuringF16    = nvidia("Turing", "mma.m16n8k8", Binary16, Binary32, 8, 24, -132)
	TuringF16F16 = nvidia("Turing", "mma.m16n8k8", Binary16, Binary16, 8, 24, -21)

	AmpereF16    = nvidia("Ampere", "mma.m16n8k16", Binary16, Binary32, 8, 24, -132)
	AmpereF16F16 = nvidia("Ampere", "mma.m16n8k16", Binary16, Binary16, 8, 24, -21)
	AmpereBF16   = nvidia("Ampere", "mma.m16n8k16", BFloat16, Binary32, 8, 24, -132)
	AmpereTF32   = nvidia("Ampere", "mma.m16n8k8", TF32, Binary32, 4, 24, -132)
	AmpereF64    = chain("Ampere", "mma.m8n8k4", Binary64)

	AdaF16     = nvidia("Ada", "mma.m16n8k16", Binary16, Binary32, 8, 24, -132)
	AdaF16F16  = nvidia("Ada", "mma.m16n8k16", Binary16, Binary16, 8, 24, -21)
	AdaBF16    = nvidia("Ada", "mma.m16n8k16", BFloat16, Binary32, 8, 24, -132)
	AdaTF32    = nvidia("Ada", "mma.m16n8k8", TF32, Binary32, 4, 24, -132)
	AdaE4M3    = nvidia("Ada", "mma.m16n8k32", E4M3, Binary32, 16, 13, -132)
	AdaE4M3F16 = nvidia("Ada", "mma.m16n8k32", E4M3, Binary16, 16, 13, -21)
	AdaE5M2    = nvidia("Ada", "mma.m16n8k32", E5M2, Binary32, 16, 13, -132)
	AdaE5M2F16 = nvidia("Ada", "mma.m16n8k32", E5M2, Binary16, 16, 13, -21)
	AdaF64     = chain("Ada", "mma.m8n8k4", Binary64)
)

// Hopper has two families of instructions: wgmma, which libraries use and the
// plain names stand for, and mma. There is no 8-bit mma; compilers emulate it
// ([Split]).
var (
	HopperF16     = nvidia("Hopper", "wgmma.m64nNk16", Binary16, Binary32, 16, 25, -133)
	HopperF16F16  = nvidia("Hopper", "wgmma.m64nNk16", Binary16, Binary16, 16, 25, -133)
	HopperBF16    = nvidia("Hopper", "wgmma.m64nNk16", BFloat16, Binary32, 16, 25, -133)
	HopperTF32    = nvidia("Hopper", "wgmma.m64nNk8", TF32, Binary32, 8, 25, -133)
	HopperE4M3    = nvidia("Hopper", "wgmma.m64nNk32", E4M3, Binary32, 32, 13, -133)
	HopperE4M3F16 = nvidia("Hopper", "wgmma.m64nNk32", E4M3, Binary16, 32, 13, -133)
	HopperE5M2    = nvidia("Hopper", "wgmma.m64nNk32", E5M2, Binary32, 32, 13, -133)
	HopperE5M2F16 = nvidia("Hopper", "wgmma.m64nNk32", E5M2, Binary16, 32, 13, -133)

	HopperMMAF16     = nvidia("Hopper", "mma.m16n8k16", Binary16, Binary32, 16, 25, -133)
	HopperMMAF16F16  = nvidia("Hopper", "mma.m16n8k16", Binary16, Binary16, 16, 25, -22)
	HopperMMABF16    = nvidia("Hopper", "mma.m16n8k16", BFloat16, Binary32, 16, 25, -133)
	HopperMMATF32    = nvidia("Hopper", "mma.m16n8k8", TF32, Binary32, 8, 25, -133)
	HopperMMAE4M3    = split(HopperMMAF16, E4M3)
	HopperMMAE4M3F16 = split(HopperMMAF16F16, E4M3)
	HopperMMAE5M2    = split(HopperMMAF16, E5M2)
	HopperMMAE5M2F16 = split(HopperMMAF16F16, E5M2)
	HopperF64        = chain("Hopper", "mma.m16n8k16", Binary64)
)

// Blackwell is the B200, whose plain names stand for tcgen05, and RTXBlackwell
// the GeForce generation, which has mma alone. 8-bit mma of the B200 is
// emulated.
var (
	BlackwellF16     = nvidia("Blackwell", "tcgen05.f16.k16", Binary16, Binary32, 16, 25, -133)
	BlackwellF16F16  = nvidia("Blackwell", "tcgen05.f16.k16", Binary16, Binary16, 16, 25, -133)
	BlackwellBF16    = nvidia("Blackwell", "tcgen05.f16.k16", BFloat16, Binary32, 16, 25, -133)
	BlackwellTF32    = nvidia("Blackwell", "tcgen05.tf32.k8", TF32, Binary32, 8, 25, -133)
	BlackwellE4M3    = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E4M3, Binary32, 32, 25, -133)
	BlackwellE4M3F16 = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E4M3, Binary16, 32, 25, -133)
	BlackwellE5M2    = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E5M2, Binary32, 32, 25, -133)
	BlackwellE5M2F16 = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E5M2, Binary16, 32, 25, -133)
	BlackwellE3M2    = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E3M2, Binary32, 32, 25, -133)
	BlackwellE2M3    = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E2M3, Binary32, 32, 25, -133)
	BlackwellE2M1    = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E2M1, Binary32, 32, 25, -133)
	BlackwellE2M1F16 = nvidia("Blackwell", "tcgen05.f8f6f4.k32", E2M1, Binary16, 32, 25, -133)

	BlackwellMMAF16     = nvidia("Blackwell", "mma.m16n8k16", Binary16, Binary32, 16, 25, -133)
	BlackwellMMAF16F16  = nvidia("Blackwell", "mma.m16n8k16", Binary16, Binary16, 16, 25, -22)
	BlackwellMMABF16    = nvidia("Blackwell", "mma.m16n8k16", BFloat16, Binary32, 16, 25, -133)
	BlackwellMMATF32    = nvidia("Blackwell", "mma.m16n8k8", TF32, Binary32, 8, 25, -133)
	BlackwellMMAE4M3    = split(BlackwellMMAF16, E4M3)
	BlackwellMMAE4M3F16 = split(BlackwellMMAF16F16, E4M3)
	BlackwellMMAE5M2    = split(BlackwellMMAF16, E5M2)
	BlackwellMMAE5M2F16 = split(BlackwellMMAF16F16, E5M2)
	BlackwellF64        = chain("Blackwell", "mma.m8n8k4", Binary64)

	RTXBlackwellF16     = nvidia("RTX Blackwell", "mma.m16n8k16", Binary16, Binary32, 16, 25, -133)
	RTXBlackwellF16F16  = nvidia("RTX Blackwell", "mma.m16n8k16", Binary16, Binary16, 16, 25, -22)
	RTXBlackwellBF16    = nvidia("RTX Blackwell", "mma.m16n8k16", BFloat16, Binary32, 16, 25, -133)
	RTXBlackwellTF32    = nvidia("RTX Blackwell", "mma.m16n8k8", TF32, Binary32, 8, 25, -133)
	RTXBlackwellE4M3    = nvidia("RTX Blackwell", "mma.m16n8k32", E4M3, Binary32, 32, 25, -133)
	RTXBlackwellE4M3F16 = nvidia("RTX Blackwell", "mma.m16n8k32", E4M3, Binary16, 32, 25, -22)
	RTXBlackwellE5M2    = nvidia("RTX Blackwell", "mma.m16n8k32", E5M2, Binary32, 32, 25, -133)
	RTXBlackwellE5M2F16 = nvidia("RTX Blackwell", "mma.m16n8k32", E5M2, Binary16, 32, 25, -22)
	RTXBlackwellE3M2    = nvidia("RTX Blackwell", "mma.m16n8k32", E3M2, Binary32, 32, 25, -133)
	RTXBlackwellE2M3    = nvidia("RTX Blackwell", "mma.m16n8k32", E2M3, Binary32, 32, 25, -133)
	RTXBlackwellE2M1    = nvidia("RTX Blackwell", "mma.m16n8k32", E2M1, Binary32, 32, 25, -133)
	RTXBlackwellE2M1F16 = nvidia("RTX Blackwell", "mma.m16n8k32", E2M1, Binary16, 32, 25, -22)
	RTXBlackwellF64     = chain("RTX Blackwell", "mma.m8n8k4", Binary64)
)

// Block-scaled instructions. OCP MX: 32 factors of any narrow format share a
// scale of e8m0, which adds to the exponents of the products. MXF4 and NVF4 are
// the fourfold fp4 instruction, which adds 16 products exactly before it
// aligns, with scales of e8m0 or, in NVF4, ue4m3. The scale of a whole tensor
// in NVFP4 is software.
var (
	BlackwellMXE4M3 = mx(BlackwellE4M3)
	BlackwellMXE5M2 = mx(BlackwellE5M2)
	BlackwellMXE3M2 = mx(BlackwellE3M2)
	BlackwellMXE2M3 = mx(BlackwellE2M3)
	BlackwellMXE2M1 = mx(BlackwellE2M1)
	BlackwellMXF4   = fp4("Blackwell", "tcgen05.mxf4.k64", E8M0, 32)
	BlackwellMXF4x2 = fp4("Blackwell", "tcgen05.mxf4nvf4.k64", E8M0, 16)
	BlackwellNVF4   = fp4("Blackwell", "tcgen05.mxf4nvf4.k64", UE4M3, 16)

	RTXBlackwellMXE4M3 = mx(RTXBlackwellE4M3)
	RTXBlackwellMXE5M2 = mx(RTXBlackwellE5M2)
	RTXBlackwellMXE3M2 = mx(RTXBlackwellE3M2)
	RTXBlackwellMXE2M3 = mx(RTXBlackwellE2M3)
	RTXBlackwellMXE2M1 = mx(RTXBlackwellE2M1)
	RTXBlackwellMXF4   = fp4("RTX Blackwell", "mma.m16n8k64", E8M0, 32)
	RTXBlackwellMXF4x2 = fp4("RTX Blackwell", "mma.m16n8k64", E8M0, 16)
	RTXBlackwellNVF4   = fp4("RTX Blackwell", "mma.m16n8k64", UE4M3, 16)
)

// Models that are no chip: the paper's two tensor cores, and sequential IEEE
// FMAs in binary32 and in binary64.
var (
	PaperCoreF32 = PaperF32.Device("paper-f32")
	PaperCoreF16 = PaperF16.Device("paper-f16")
	IEEEF16      = Device{Name: "ieee-fma-binary16-binary32", Architecture: "IEEE", Instruction: "fma", A: Binary16, B: Binary16, C: Binary32, Core: Chain{}}
	IEEEF32      = chain("IEEE", "fma", Binary32)
	IEEEF64      = chain("IEEE", "fma", Binary64)
)

// Devices returns the catalogue, oldest architecture first.
func Devices() []Device {
	return []Device{
		VoltaF16, VoltaF16F16,
		TuringF16, TuringF16F16,
		AmpereF16, AmpereF16F16, AmpereBF16, AmpereTF32, AmpereF64,
		AdaF16, AdaF16F16, AdaBF16, AdaTF32, AdaE4M3, AdaE4M3F16, AdaE5M2, AdaE5M2F16, AdaF64,
		HopperF16, HopperF16F16, HopperBF16, HopperTF32,
		HopperE4M3, HopperE4M3F16, HopperE5M2, HopperE5M2F16,
		HopperMMAF16, HopperMMAF16F16, HopperMMABF16, HopperMMATF32,
		HopperMMAE4M3, HopperMMAE4M3F16, HopperMMAE5M2, HopperMMAE5M2F16, HopperF64,
		BlackwellF16, BlackwellF16F16, BlackwellBF16, BlackwellTF32,
		BlackwellE4M3, BlackwellE4M3F16, BlackwellE5M2, BlackwellE5M2F16,
		BlackwellE3M2, BlackwellE2M3, BlackwellE2M1, BlackwellE2M1F16,
		BlackwellMMAF16, BlackwellMMAF16F16, BlackwellMMABF16, BlackwellMMATF32,
		BlackwellMMAE4M3, BlackwellMMAE4M3F16, BlackwellMMAE5M2, BlackwellMMAE5M2F16, BlackwellF64,
		RTXBlackwellF16, RTXBlackwellF16F16, RTXBlackwellBF16, RTXBlackwellTF32,
		RTXBlackwellE4M3, RTXBlackwellE4M3F16, RTXBlackwellE5M2, RTXBlackwellE5M2F16,
		RTXBlackwellE3M2, RTXBlackwellE2M3, RTXBlackwellE2M1, RTXBlackwellE2M1F16, RTXBlackwellF64,
		BlackwellMXE4M3, BlackwellMXE5M2, BlackwellMXE3M2, BlackwellMXE2M3, BlackwellMXE2M1,
		BlackwellMXF4, BlackwellMXF4x2, BlackwellNVF4,
		RTXBlackwellMXE4M3, RTXBlackwellMXE5M2, RTXBlackwellMXE3M2, RTXBlackwellMXE2M3, RTXBlackwellMXE2M1,
		RTXBlackwellMXF4, RTXBlackwellMXF4x2, RTXBlackwellNVF4,
		CDNA1F16, CDNA1BF16, CDNA1F32,
		CDNA2F16, CDNA2BF16, CDNA2BF16Pairs, CDNA2F32, CDNA2F64,
		CDNA3F16, CDNA3BF16, CDNA3TF32, CDNA3FP8, CDNA3BF8, CDNA3F32, CDNA3F64,
		PaperCoreF32, PaperCoreF16, IEEEF16, IEEEF32, IEEEF64,
	}
}

// e8m13 is binary32 with 13 stored bits of the significand.
var e8m13 = Format{Name: "e8m13", Precision: 14, Emin: -126, Emax: 127}

// nvidia returns the record of a truncated fused dot-product-add: terms L,
// fraction bits F, exponent of a zero. The sum is rounded to nearest even to
// binary16, and toward zero to binary32 or, with 13 fraction bits, to e8m13.
func nvidia(architecture, instruction string, in, out Format, terms, fractionBits, zeroExponent int) Device {
	core := Fused{Terms: terms, FractionBits: fractionBits, Result: out, Rounding: ToZero, ZeroExponent: zeroExponent}
	switch {
	case out.same(Binary16):
		core.Rounding = ToNearestEven
	case fractionBits == 13:
		core.Result = e8m13
	}
	return Device{
		Name:         deviceName(architecture, instruction, in.Name, out.Name),
		Architecture: architecture,
		Instruction:  instruction,
		A:            in,
		B:            in,
		C:            out,
		Convert:      conversion(in),
		NaN:          allOnes(out),
		Core:         core,
	}
}

// split returns the emulation of an 8-bit instruction by two of by.
func split(by Device, in Format) Device {
	by.Name = deviceName(by.Architecture, by.Instruction, in.Name, by.C.Name)
	by.Instruction = "mma.m16n8k32 (2 × k16)"
	by.A, by.B = in, in
	by.Core = Split{By: by.Core.(Fused)}
	return by
}

// mx returns the block-scaled form of d: a scale of e8m0 on 32 factors.
func mx(d Device) Device {
	d.Name = deviceName(d.Architecture, d.Instruction, "mx"+d.A.Name, d.C.Name)
	d.Instruction += ".block32"
	d.Scale, d.ScaleBlock = E8M0, 32
	return d
}

// fp4 returns a record of the fourfold e2m1 instruction.
func fp4(architecture, instruction string, scale Format, scaleBlock int) Device {
	d := nvidia(architecture, instruction, E2M1, Binary32, 64, 35, -139)
	d.Name = deviceName(architecture, instruction, "f4"+scale.Name+"x"+strconv.Itoa(scaleBlock), "binary32")
	d.Instruction += ".block" + strconv.Itoa(scaleBlock)
	d.Scale, d.ScaleBlock = scale, scaleBlock
	core := d.Core.(Fused)
	core.Group = 16
	d.Core = core
	return d
}

// chain returns the record of a chain of FMAs.
func chain(architecture, instruction string, f Format) Device {
	return Device{
		Name:         deviceName(architecture, instruction, f.Name, f.Name),
		Architecture: architecture,
		Instruction:  instruction,
		A:            f, B: f, C: f,
		Core: Chain{},
	}
}

// deviceName returns a name such as hopper-wgmma-binary16-binary32.
func deviceName(architecture, instruction, in, out string) string {
	family, _, _ := strings.Cut(instruction, ".")
	words := []string{strings.ReplaceAll(architecture, " ", ""), family, in, out}
	return strings.ToLower(strings.Join(words, "-"))
}

// conversion returns how values become factors: tf32 instructions ignore the
// low bits of a binary32 word, for other formats software rounds to nearest.
func conversion(in Format) RoundingMode {
	if in.same(TF32) {
		return ToZero
	}
	return ToNearestEven
}

// allOnes returns the NaN that NVIDIA tensor cores deliver, with every bit but
// the sign set.
func allOnes(f Format) uint64 {
	return 1<<(f.Bits()-1) - 1
}
