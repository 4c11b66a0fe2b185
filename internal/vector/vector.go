// Package vector has the vector routines of matrix products and reports which
// vector instructions the processor has. The routines know no formats and no
// devices: what they compute, and why it is exact, is told by their generators
// in internal/asm.
package vector

import (
	"os"
	"strings"
)

// Features are the vector instructions that routines may use.
type Features struct {
	// On amd64:
	Bits int  // width of a register: 512 (AVX-512 F, BW, DQ, VL), 256 (AVX2, FMA, F16C), or 0 for none
	VNNI bool // sums of products of integers, of 512 bits (AVX512-VNNI)
	FP16 bool // arithmetic in binary16, of 512 bits (AVX512-FP16)

	// On arm64:
	ASIMD bool // Advanced SIMD, of 128 bits, also called NEON
}

// String returns the features as a list of names, or "none".
func (f Features) String() string {
	var names []string
	for _, n := range []struct {
		has  bool
		name string
	}{{f.Bits == 512, "AVX-512"}, {f.Bits == 256, "AVX2"}, {f.VNNI, "VNNI"}, {f.FP16, "FP16"}, {f.ASIMD, "ASIMD"}} {
		if n.has {
			names = append(names, n.name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, " ")
}

// Levels returns f and the lesser features of processors that such a processor
// stands in for, down to none: the same results are due with each of them.
func (f Features) Levels() []Features {
	levels := []Features{{}}
	if f.ASIMD {
		levels = append(levels, Features{ASIMD: true})
	}
	for _, l := range []Features{{Bits: 256}, {Bits: 512}, {Bits: 512, VNNI: true}, {Bits: 512, FP16: true}, {Bits: 512, VNNI: true, FP16: true}} {
		if l.Bits <= f.Bits && (f.VNNI || !l.VNNI) && (f.FP16 || !l.FP16) {
			levels = append(levels, l)
		}
	}
	return levels
}

// Bits returns the width of the vector instructions of the processor, those of
// amd64.
func Bits() int { return Detect().Bits }

// off reports whether the environment turns a feature off, as in
// GODEBUG=cpu.avx512f=off.
func off(feature string) bool {
	for setting := range strings.SplitSeq(os.Getenv("GODEBUG"), ",") {
		if setting == "cpu."+feature+"=off" {
			return true
		}
	}
	return false
}
