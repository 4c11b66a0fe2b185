package elsewhere

import (
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

const accumulatorFile = "pkg/elsewhere/accumulator.go"

// resultBits is the claim that results of FP8 products have about 14 bits.
func resultBits(e Emulation) (Claim, error) {
	hopper, ada, blackwell := significantBits(e.Hopper), significantBits(e.Ada), significantBits(e.Blackwell)
	return Claim{
		ID: "result-bits", File: accumulatorFile,
		Says:   "FP8 products on H800 keep about 14 bits in accumulation, far below binary32",
		Source: "DeepSeek-AI 2024, DeepSeek-V3 technical report, Section 3.3.2",
		Data:   "N(0,1) in e4m3, 32 × 1024 × 32, seed 1: the most significant bits among 1024 results",
		Numbers: []Number{
			count("Hopper wgmma", hopper, "bits"), count("Ada", ada, "bits"), count("Blackwell", blackwell, "bits"),
		},
	}.judged(hopper == 14 && ada == 14 && blackwell > 14, Holds, "13 fraction bits and the leading one; Ada is the same, Blackwell has all of binary32")
}

// alignedBits is the claim that 13 fraction bits are kept of 32 products.
func alignedBits(e Emulation) (Claim, error) {
	hopper, blackwell := align(e.Hopper), align(e.Blackwell)
	return Claim{
		ID: "aligned-bits", File: accumulatorFile,
		Says:   "Hopper aligns 32 products by the largest exponent, keeps 13 fraction bits for the addition and truncates the rest",
		Source: "Zhao et al. 2025, Insights into DeepSeek-V3, Section 3.1.1",
		Data:   "single sums of 64 products: 2¹⁶, −2¹⁶ and a small one, whose size, sign and place are varied",
		Numbers: []Number{
			count("Hopper wgmma, products aligned together", hopper.terms, ""), count("fraction bits kept", hopper.fraction, ""),
			count("in units of the last one kept, 1.75 becomes", int(hopper.positive), ""), count("−1.75 becomes", int(hopper.negative), ""),
			count("Blackwell, fraction bits kept", blackwell.fraction, ""),
		},
	}.judged(hopper == alignment{terms: 32, fraction: 13, positive: 1, negative: -1}, Holds, "it is the record of the device, found from outside")
}

// addendBits is the claim that the accumulator is e8m13, seen from C.
func addendBits(e Emulation) (Claim, error) {
	hopper, ada, mma, blackwell := lostBits(e.Hopper), lostBits(e.Ada), lostBits(e.HopperMMA), lostBits(e.Blackwell)
	return Claim{
		ID: "addend-bits", File: accumulatorFile,
		Says:   "The FP8 instructions of Ada and Hopper accumulate in 1 + 8 + 13 bits: with A = B = 0, C comes back without its 10 low bits",
		Source: "Zhang et al. 2024, SageAttention2, Section 1; DeepGEMM, issue 37",
		Data:   "AB + C with A = B = 0 and C = 0x1.fffffep+1, all bits ones",
		Numbers: []Number{
			count("low bits lost, Hopper wgmma", hopper, "bits"), count("Ada mma", ada, "bits"),
			count("Hopper mma.sync", mma, "bits"), count("Blackwell", blackwell, "bits"),
		},
	}.judged(hopper == 10 && ada == 10 && mma == 0 && blackwell == 0, Conditionally, "for wgmma and Ada, not for mma.sync on Hopper, nor for Blackwell")
}

// addendReader is the claim of a reader who tried that and saw nothing lost.
func addendReader(e Emulation) (Claim, error) {
	const c = 0x1.80602ep+1
	ulps := func(d tcore.Device) int { return int((c - addZero(d, c)) * 0x1p22) }
	mma, wgmma := ulps(e.HopperMMA), ulps(e.Hopper)
	return Claim{
		ID: "addend-reader", File: accumulatorFile,
		Says:   "A reader tried the same with mma m16n8k32 on Hopper, and C came back whole",
		Source: "DeepGEMM, issue 37, comment of June 2025",
		Data:   "AB + C with A = B = 0 and C = 0x1.80602ep+1, the reader's",
		Numbers: []Number{
			count("C − D in ulps of binary32, Hopper mma.sync", mma, ""), count("Hopper wgmma", wgmma, ""),
		},
	}.judged(mma == 0 && wgmma == 0x17, Holds, "and so does what the reader doubted: on Hopper mma in FP8 is two instructions for binary16, which keep 25 fraction bits")
}

// significantBits returns the largest number of significant bits among the
// results of a product.
func significantBits(d tcore.Device) int {
	a, b := sweep.Normal.Draw(32, 32, 1024, 1)
	z := matrix.New(32, 32)
	d.MultiplyAdd(a, b, blas32.General{}, z)
	most := 0
	for _, v := range z.Data {
		significand := math.Float32bits(v)&(1<<23-1) | 1<<23 // of a normal number
		most = max(most, 24-bits.TrailingZeros32(significand))
	}
	return most
}

// addZero returns AB + c with A = B = 0, which is 32 products.
func addZero(d tcore.Device, c float64) float64 {
	zeros := make([]float64, 32)
	return d.Dot(zeros, zeros, c)
}

// lostBits returns how many low bits of an addend in binary32 with all bits set
// become 0.
func lostBits(d tcore.Device) int {
	const c = 0x1.fffffep+1
	return bits.Len32(math.Float32bits(c) ^ math.Float32bits(float32(addZero(d, c))))
}

// An alignment says what a sum keeps of its products when it aligns them.
type alignment struct {
	terms              int     // products aligned together
	fraction           int     // fraction bits kept of the greatest
	positive, negative float64 // what 1.75 and -1.75 become, in units of the last bit kept
}

// align finds the alignment of a device by sums of 64 products. These are 2¹⁶
// and -2¹⁶, which leave what was kept of a small third one.
func align(d tcore.Device) alignment {
	kept := func(factor float64, exponent, place int) float64 {
		x, y := make([]float64, 64), make([]float64, 64)
		x[0], y[0] = 0x1p8, 0x1p8
		x[1], y[1] = -0x1p8, 0x1p8
		x[place], y[place] = math.Ldexp(factor, exponent/2), math.Ldexp(1, exponent-exponent/2)
		return d.Dot(x, y, 0)
	}
	var a alignment
	for a.fraction < 34 && kept(1, 16-(a.fraction+1), 2) != 0 { // 2^-18 is the least product in e4m3
		a.fraction++
	}
	last := 16 - a.fraction
	for a.terms = 2; a.terms < 64 && kept(1, last-1, a.terms) == 0; a.terms++ {
	}
	a.positive, a.negative = math.Ldexp(kept(1.75, last, 2), -last), math.Ldexp(kept(-1.75, last, 2), -last)
	return a
}
