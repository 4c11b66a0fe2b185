package vector

import "golang.org/x/sys/cpu"

// Detect returns the features of the processor, less those that GODEBUG turns
// off: cpu.avx2=off, cpu.avx512f=off, cpu.avx512vnni=off, cpu.avx512fp16=off.
func Detect() Features {
	x := cpu.X86
	switch {
	case !(x.HasAVX2 && x.HasFMA && x.HasF16C):
		return Features{}
	case !(x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL):
		return Features{Bits: 256}
	}
	return Features{Bits: 512, VNNI: x.HasAVX512VNNI, FP16: hasFP16()}
}

// hasFP16 reports whether the processor has AVX512-FP16, bit 23 of edx in leaf
// 7 of CPUID (Intel 2024).
func hasFP16() bool {
	_, _, _, edx := cpuid(7, 0)
	return edx>>23&1 == 1 && !off("avx512fp16")
}
