package tcore

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// with returns a copy of d with another core.
func (d Device) with(core Core) Device {
	d.Core = core
	return d
}

// Invalid arguments to the methods of devices panic, with the argument and its
// value.
func TestDevicePanics(t *testing.T) {
	none := blas32.General{}
	a, b, z := zeros(2, 8), zeros(8, 3), zeros(2, 3)
	x, y, codes := make([]float64, 4), make([]float64, 3), make([]uint64, 64)
	hopper := HopperF16.Core.(Fused)
	huge, none0, grouped := hopper, hopper, hopper
	huge.FractionBits, none0.FractionBits, grouped.Group = 60, 0, 16
	halves := IEEEF64.with(hopper)
	scaled := CDNA1F16
	scaled.ScaleBlock, scaled.Scale = 2, E8M0
	odd := BlackwellMXE4M3
	odd.ScaleBlock = 20
	kernel := Machine{Device: HopperF16}
	wide := Machine{Device: HopperF16, SplitK: -1}

	for _, tt := range []struct {
		want string
		call func()
	}{
		{"tcore: Dot: x has 4 elements, y has 3", func() { HopperF16.Dot(x, y, 0) }},
		{"tcore: Trace: x has 3 elements, y has 4", func() { HopperF16.Trace(y, x, 0) }},
		{"tcore: DotCodes: blackwell-tcgen05-f4ue4m3x16-binary32 takes scales, want DotScaled", func() { BlackwellNVF4.DotCodes(codes, codes, 0) }},
		{"tcore: DotScaled: scaleX has 3 elements, want 4", func() { BlackwellNVF4.DotScaled(codes, codes, codes[:3], codes[:4], 0) }},
		{"tcore: DotScaled: scaleY has 5 elements, want 4", func() { BlackwellNVF4.DotScaled(codes, codes, codes[:4], codes[:5], 0) }},
		{"tcore: DotScaled: scaleX has 1 elements, want 0", func() { HopperF16.DotScaled(codes, codes, codes[:1], nil, 0) }},
		{"tcore: Decode of binary16: code = 0x10000, want 16 bits", func() { HopperF16.DotCodes([]uint64{1 << 16}, codes[:1], 0) }},
		{`tcore: Dot: device "mine" has no Core`, func() { Device{Name: "mine"}.Dot(x, x, 0) }},
		{`tcore: Dot: device "hopper-wgmma-binary16-binary32" takes 0 terms at once, want at least 1`, func() { HopperF16.with(Fused{}).Dot(x, x, 0) }},
		{`tcore: Dot: device "cdna1-mfma-binary16-binary32" has scales, want a Fused core`, func() { scaled.Dot(x, x, 0) }},
		{`tcore: Dot: device "blackwell-tcgen05-mxe4m3-binary32" has ScaleBlock = 20, want a divisor of 32`, func() { odd.Dot(x, x, 0) }},
		{`tcore: device "hopper-wgmma-binary16-binary32": 16 terms of 22 bits and FractionBits = 60`, func() { HopperF16.with(huge).Dot(x, x, 0) }},
		{`tcore: device "hopper-wgmma-binary16-binary32": 16 terms of 22 bits and FractionBits = 0`, func() { HopperF16.with(none0).Dot(x, x, 0) }},
		{`tcore: device "hopper-wgmma-binary16-binary32": Group = 16, want a divisor`, func() { HopperF16.with(grouped).Dot(x, x, 0) }},
		{`tcore: device "ieee-fma-binary64-binary64": 16 terms of 106 bits`, func() { halves.Dot(x, x, 0) }},
		{`tcore: device "ieee-fma-binary64-binary64": ExactSum of binary64 × binary64`, func() { IEEEF64.with(ExactSum{Terms: 4}).Dot(x, x, 0) }},
		{`tcore: device "cdna2-mfma-binary16-binary32": Pairwise of 3 terms, want a power of two`, func() { CDNA2F16.with(Pairwise{Terms: 3}).Dot(x, x, 0) }},
		{`tcore: device "cdna3-mfma-binary16-binary32": TwoStage of 8 terms in 3 parts, want 1 or 2`, func() { CDNA3F16.with(TwoStage{Terms: 8, Parts: 3}).Dot(x, x, 0) }},
		{`tcore: device "ieee-fma-binary32-binary32": TwoStage of binary32 × binary32 + binary32`, func() { IEEEF32.with(TwoStage{Terms: 8, Parts: 1}).Dot(x, x, 0) }},
		{`tcore: device "ampere-mma-bfloat16-binary32": Split of bfloat16 × bfloat16`, func() { AmpereBF16.with(Split{By: hopper}).Dot(x, x, 0) }},
		{`tcore: device "ampere-mma-bfloat16-binary32": bfloat16 × bfloat16 + binary32 around a TensorCore of binary16`, func() { AmpereBF16.with(PaperF32).Dot(x, x, 0) }},
		{`tcore: MultiplyAdd: device "none" takes 0 terms at once`, func() { TensorCore{}.Device("none").MultiplyAdd(a, b, none, z) }},
		{"tcore: MultiplyAdd: a has 8 columns, b has 2 rows", func() { HopperF16.MultiplyAdd(a, zeros(2, 3), none, z) }},
		{"tcore: MultiplyAdd: z is 3 × 2, want 2 × 3", func() { HopperF16.MultiplyAdd(a, b, none, zeros(3, 2)) }},
		{"tcore: MultiplyAdd: c is 3 × 2, want 2 × 3", func() { HopperF16.MultiplyAdd(a, b, zeros(3, 2), z) }},
		{"tcore: GEMM: a has 2 columns, b has 8 rows", func() { kernel.GEMM(blas.Trans, blas.NoTrans, 1, a, b, 0, none, z) }},
		{"tcore: GEMM: c is 0 × 0, want at least 1 × 1", func() { kernel.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 1, none, z) }},
		{"tcore: GEMM: SplitK = -1, want SplitK >= 0", func() { wide.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, none, z) }},
		{"tcore: GEMM: tA = X, want NoTrans or Trans", func() { kernel.GEMM('X', blas.NoTrans, 1, a, b, 0, none, z) }},
		{"tcore: TraceGEMM: (2, 0), want an element of a 2 × 3 matrix", func() { HopperF16.TraceGEMM(a, b, none, 2, 0) }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, tt.want) {
					t.Errorf("panic %q, want %q", got, tt.want)
				}
			}()
			tt.call()
		})
	}
}
