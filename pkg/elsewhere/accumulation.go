package elsewhere

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
)

const accumulationFile = "pkg/elsewhere/accumulation.go"

// seeds are those of the products whose largest error is told as a range.
var seeds = []uint64{1, 2, 3, 4, 5}

// nearlyTwoPercent is the claim that 4096 products lose nearly 2 %.
func nearlyTwoPercent(e Emulation) (Claim, error) {
	c := Claim{
		ID: "two-percent", File: accumulationFile,
		Says:   "In a product of two random matrices with K = 4096, limited accumulation on H800 leads to a largest relative error of nearly 2 %",
		Source: "DeepSeek-AI 2024, DeepSeek-V3 technical report, Section 3.3.2",
		Data:   "256 × 4096 × 256 in e4m3, scaled per tensor to 448, seeds 1 to 5, Hopper wgmma: largest |error| over mean |D|, least and greatest of the seeds",
	}
	var over, each [3]span
	for i, g := range []sweep.Generator{sweep.Normal, sweep.Symmetric, sweep.Positive} {
		for _, seed := range seeds {
			data := perTensor(g, 256, 4096, seed)
			p, err := trial.On(e.Hopper, data.A, data.B)
			if err != nil {
				return Claim{}, err
			}
			a := accumulationOf(p.Run(e.hopper(false)))
			over[i].add(a.overMean)
			each[i].add(a.pointwise)
		}
		c.Numbers = append(c.Numbers, percent(g.Name+", least", over[i].least), percent("greatest", over[i].greatest))
	}
	c.Numbers = append(c.Numbers, percent("N(0,1), largest |error|/|D|, least", each[0].least), percent("greatest", each[0].greatest))
	normal, positive := over[0], over[2]
	return c.judged(0.015 < normal.least && normal.greatest < 0.025 && positive.least > 2*normal.greatest && each[0].least > 1,
		Conditionally, "for data of mean zero, relative to the mean size of results. Relative to each result there is no such limit, since some are near 0; data of one sign lose several times as much")
}

// promotion is the claim that promotion every 128 products repairs that.
func promotion(e Emulation) (Claim, error) {
	c := Claim{
		ID: "promotion", File: accumulationFile,
		Says:   "Adding the sums of every 128 products in binary32 outside of the tensor core repairs it",
		Source: "DeepSeek-AI 2024, Section 3.3.2 and Figure 7(b)",
		Data: fmt.Sprintf("256 × 4096 × 256 in e4m3, scaled per tensor, seeds 1 to 5, Hopper wgmma, promoted every %d products: largest |error| over mean |D|, greatest of the seeds, and by what factor it is larger without promotion",
			e.Promote),
	}
	holds := true
	for _, g := range []sweep.Generator{sweep.Normal, sweep.Positive} {
		var errors [2]span // without and with promotion
		for _, seed := range seeds {
			data := perTensor(g, 256, 4096, seed)
			p, err := trial.On(e.Hopper, data.A, data.B)
			if err != nil {
				return Claim{}, err
			}
			for i, promoted := range []bool{false, true} {
				errors[i].add(accumulationOf(p.Run(e.hopper(promoted))).overMean)
			}
		}
		with, factor := errors[1].greatest, errors[0].greatest/errors[1].greatest
		c.Numbers = append(c.Numbers, percent(g.Name, with), Number{"factor", factor, ""})
		holds = holds && with < 1e-3 && factor > 10
	}
	return c.judged(holds, Holds, "less than 0.1 % is left")
}

// fastAccumulation is the claim that sums without promotion are less accurate.
func fastAccumulation(e Emulation) (Claim, error) {
	c := Claim{
		ID: "fast-accumulation", File: accumulationFile,
		Says:   "With the flag FAST_ACCUM, FP8 products of cuBLAS may be faster and are less accurate, since intermediate results are not promoted",
		Source: "NVIDIA, cuBLAS documentation, CUBLASLT_MATMUL_DESC_FAST_ACCUM",
		Data:   fmt.Sprintf("64 × 16384 × 64 in e4m3, scaled per tensor, seed 1, Hopper wgmma: rms(error)/rms(D), without promotion and every %d products, and that of rounding the factors to e4m3", e.Promote),
	}
	holds := true
	for i, g := range []sweep.Generator{sweep.Normal, sweep.Positive} {
		data := perTensor(g, 64, 16384, 1)
		p, err := trial.On(e.Hopper, data.A, data.B)
		if err != nil {
			return Claim{}, err
		}
		fast, promoted := accumulationOf(p.Run(e.hopper(false))).rms, accumulationOf(p.Run(e.hopper(true))).rms
		rounded, err := rounding(data, p)
		if err != nil {
			return Claim{}, err
		}
		c.Numbers = append(c.Numbers, percent(g.Name+", fast", fast), percent("promoted", promoted), percent("rounding of factors", rounded))
		holds = holds && fast > 10*promoted && (fast > rounded) == (i == 1)
	}
	return c.judged(holds, Holds, "the interval of the library is not documented; 128 is that of DeepSeek-V3. For U(0,1) fast accumulation costs far more than rounding the factors, for N(0,1) less")
}

// longSums is our own statement on sums of 32768 products.
func longSums(e Emulation) (Claim, error) {
	data := drawn(sweep.Positive, 64, 32768, 1)
	p, err := trial.On(e.Hopper, data.A, data.B)
	if err != nil {
		return Claim{}, err
	}
	without, promoted := accumulationOf(p.Run(e.hopper(false))).pointwise, accumulationOf(p.Run(e.hopper(true))).pointwise
	return Claim{
		ID: "long-sums", File: accumulationFile,
		Says:    "Sums of 32768 products of U(0,1) in e4m3 lose 41 % on Hopper, 0.05 % with promotion",
		Source:  "Roundoff, CHANGELOG, on tcore.Machine.Promote",
		Data:    fmt.Sprintf("64 × 32768 × 64, U(0,1) in e4m3 without scales, seed 1, Hopper wgmma: largest |error|/|D|, without promotion and every %d products", e.Promote),
		Numbers: []Number{percent("without", without), percent("promoted", promoted)},
	}.judged(math.Abs(without-0.41) < 0.01 && math.Abs(promoted-5e-4) < 1e-4, Holds, "to the digits given")
}

// A span is the range of some numbers, none of which is negative.
type span struct{ least, greatest float64 }

func (s *span) add(x float64) {
	if s.greatest == 0 || x < s.least {
		s.least = x
	}
	s.greatest = max(s.greatest, x)
}

// drawn returns A, n × k, and B, k × n, of numbers of a generator.
func drawn(g sweep.Generator, n, k int, seed uint64) trial.Matrices {
	a, b := g.Draw(n, n, k, seed)
	return trial.Matrices{A: a, B: b}
}

// perTensor returns the matrices of drawn, each scaled so that its greatest
// magnitude is that of e4m3.
func perTensor(g sweep.Generator, n, k int, seed uint64) trial.Matrices {
	d := drawn(g, n, k, seed)
	return trial.Matrices{A: toGreatest(d.A), B: toGreatest(d.B)}
}

func toGreatest(m blas32.General) blas32.General {
	amax := float32(0)
	for _, v := range m.Data {
		amax = max(amax, v, -v)
	}
	scale := float32(tcore.E4M3.Max()) / amax
	return matrix.Map(m, func(v float32) float32 { return v * scale })
}

// An accumulation says how far the results of a machine are from the exact
// product of the rounded factors.
type accumulation struct {
	overMean  float64 // max |D̂ - D| / mean |D|
	pointwise float64 // max |D̂ - D| / |D|
	rms       float64 // rms(D̂ - D) / rms(D)
}

// accumulationOf returns the errors of a trial.
func accumulationOf(t *trial.Trial) accumulation {
	largest, mean := 0.0, 0.0
	for i, e := range t.Errors {
		largest = max(largest, math.Abs(e))
		mean += math.Abs(t.Values[i]) / float64(len(t.Values))
	}
	return accumulation{largest / mean, slices.Max(t.Relative()), sample.RMS(t.Errors) / sample.RMS(t.Values)}
}

// rounding returns rms(ÂB̂ - AB) / rms(AB) for the product ÂB̂ of the matrices
// as a device rounds them.
func rounding(d trial.Matrices, rounded *trial.Product) (float64, error) {
	p, err := trial.Of(d.A, d.B)
	if err != nil {
		return 0, err
	}
	difference := make([]float64, len(p.Values))
	for i, v := range p.Values {
		difference[i] = rounded.Values[i] - v
	}
	return sample.RMS(difference) / sample.RMS(p.Values), nil
}
