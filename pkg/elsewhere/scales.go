package elsewhere

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
)

const scalesFile = "pkg/elsewhere/scales.go"

// floorScales is the claim that scales rounded down harm training.
func floorScales(e Emulation) (Claim, error) {
	c := Claim{
		ID: "floor-scales", File: scalesFile,
		Says:   "Training with MX formats can diverge with the scales of OCP, rounded down; scales rounded up repair it",
		Source: "Mishra et al. 2025, Recipes for pre-training LLMs with MXFP8, abstract",
		Data:   "64 × 4096 × 64, U(0,1): drift Σ(ÂB̂ − AB)/ΣAB; 128 × 4096 × 128, N(0,1): slope of the error on the result, Σ(ÂB̂ − AB)AB/Σ(AB)²; seed 1",
	}
	var drifts, slopes []float64
	for _, r := range []struct {
		name   string
		recipe quant.Recipe
	}{{"MXFP8, OCP", e.MXFP8}, {"rounded up", e.MXFP8Up}, {"MXFP4, OCP", e.MXFP4}, {"rounded up", e.MXFP4Up}} {
		d, err := drift(r.recipe, drawn(sweep.Positive, 64, 4096, 1))
		if err != nil {
			return Claim{}, err
		}
		s, err := slope(r.recipe, drawn(sweep.Normal, 128, 4096, 1))
		if err != nil {
			return Claim{}, err
		}
		drifts, slopes = append(drifts, d), append(slopes, s)
		c.Numbers = append(c.Numbers, percent(r.name+", drift", d), percent("slope", s))
	}
	repaired := math.Abs(drifts[1]) < 1e-3 && math.Abs(drifts[3]) < 1e-3
	return c.judged(drifts[0] < -0.025 && drifts[2] < -0.1 && repaired && slopes[0] < slopes[1] && slopes[2] < slopes[3],
		Partly, "rounding down clips the greatest numbers of a block, which does not average out, and rounding up does not. That training diverges is not tried here")
}

// twoRecipes is what two sources say of MXFP4, each its own.
func twoRecipes(e Emulation) (Claim, error) {
	normal, positive := drawn(sweep.Normal, 64, 4096, 1), drawn(sweep.Positive, 64, 4096, 1)
	other, err := otherScales(e.MXFP4, e.MXFP4Up, normal.A)
	if err != nil {
		return Claim{}, err
	}
	down, err := drift(e.MXFP4, positive)
	if err != nil {
		return Claim{}, err
	}
	up, err := drift(e.MXFP4Up, positive)
	if err != nil {
		return Claim{}, err
	}
	return Claim{
		ID: "two-recipes", File: scalesFile,
		Says:   "MXFP4 rounds its scales down; the MXFP4 with which the paper on NVFP4 compares rounds them up",
		Source: "OCP MX 2023, Section 6.3; NVIDIA 2025, Pretraining large language models with NVFP4, Appendix B",
		Data:   "64 × 4096, N(0,1): the share of blocks with another scale; 64 × 4096 × 64, U(0,1): drift of the product; seed 1",
		Numbers: []Number{
			percent("blocks with another scale", other), percent("drift, OCP", down), percent("drift, NVIDIA's paper", up),
		},
	}.judged(other > 0.1 && math.Abs(down) > 100*math.Abs(up), Holds, "two recipes have one name, and what one loses says nothing of the other")
}

// drift returns Σ(ÂB̂ - AB) / ΣAB, the sums over all elements, where a recipe
// makes Â of A and B̂ of B.
func drift(r quant.Recipe, d trial.Matrices) (float64, error) {
	a, b, err := r.Factors(d.A, d.B)
	if err != nil {
		return 0, err
	}
	return total(a, b)/total(d.A, d.B) - 1, nil
}

// total returns the sum of all elements of AB.
func total(a, b blas32.General) float64 {
	columns := make([]float64, a.Cols)
	for i, v := range a.Data {
		columns[i%a.Cols] += float64(v)
	}
	sum := 0.0
	for i, v := range b.Data {
		sum += columns[i/b.Cols] * float64(v)
	}
	return sum
}

// slope returns Σ(ÂB̂ - AB)AB / Σ(AB)², the sums over all elements.
func slope(r quant.Recipe, d trial.Matrices) (float64, error) {
	a, b, err := r.Factors(d.A, d.B)
	if err != nil {
		return 0, err
	}
	exactly, err := trial.Of(d.A, d.B)
	if err != nil {
		return 0, err
	}
	rounded, err := trial.Of(a, b)
	if err != nil {
		return 0, err
	}
	along, square := 0.0, 0.0
	for i, v := range exactly.Values {
		along += float64((rounded.Values[i] - v) * v)
		square += float64(v * v)
	}
	return along / square, nil
}

// otherScales returns the share of blocks of A to which two recipes give
// different scales.
func otherScales(r, s quant.Recipe, a blas32.General) (float64, error) {
	x, err := r.Quantise(a, quant.Left)
	if err != nil {
		return 0, err
	}
	y, err := s.Quantise(a, quant.Left)
	if err != nil {
		return 0, err
	}
	other := 0
	for i, v := range x.Scales {
		if v != y.Scales[i] {
			other++
		}
	}
	return float64(other) / float64(len(x.Scales)), nil
}
