package bound_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas64"
)

// What NVFP4 loses of normal numbers on Blackwell: all of it is lost before the
// products are added.
func ExampleProblem_recipes() {
	recipe := quant.TorchaoNVFP4(false)
	k := bound.Problem{M: 1024, N: 8, K: 4096, Machine: tcore.Machine{Device: devices.BlackwellNVF4()},
		X: bound.Normal(0, 1), Y: bound.Normal(0, 1), Represented: true, Recipes: &bound.Recipes{A: recipe, B: recipe}}
	r, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
	fmt.Printf("|D̂ - D| <= %.3f |A||B| by %s, with confidence %v\n", r.Constant, r.Bound, r.Confidence)
	fmt.Printf("%.3f quantised, %.6f summed\n", r.Parts.Conversion, r.Parts.Accumulation)
	// Output:
	// |D̂ - D| <= 0.019 |A||B| by truncation, with confidence 99 %
	// 0.019 quantised, 0.000031 summed
}

// What is lost of positive numbers has a mean: in MXFP4 because floor scales
// clip, and on Hopper because sums are truncated.
func ExamplePredictQuantised() {
	for _, of := range []struct {
		device tcore.Device
		recipe quant.Recipe
	}{{devices.BlackwellMXF4(), quant.MX(tcore.E2M1, quant.FloorScale)}, {devices.HopperE4M3(), quant.Torchao(tcore.E4M3, quant.PerVector, false)}} {
		k := bound.Problem{M: 1024, N: 8, K: 4096, Machine: tcore.Machine{Device: of.device}, X: bound.Uniform(0, 1), Y: bound.Uniform(0, 1),
			Represented: true, Recipes: &bound.Recipes{A: of.recipe, B: of.recipe}}
		e := must(bound.PredictQuantised(k))
		fmt.Printf("%s: %.3f, of which quantised %+.3f, summed %+.3f\n", of.recipe.Name, e.RMS(), e.Quantisation.Drift, e.Accumulation.Drift)
	}
	// Output:
	// mxe2m1-floor: 0.121, of which quantised -0.121, summed +0.000
	// torchao-e4m3-row: 0.075, of which quantised -0.000, summed -0.075
}

// Drifts are added, deviations and what storing adds are squared.
func ExampleTypicalError_RMS() {
	e := bound.TypicalError{Quantisation: bound.ErrorPart{Drift: -0.1, Deviation: 0.03}, Accumulation: bound.ErrorPart{Drift: 0.1, Deviation: 0.04}}
	fmt.Printf("%.2f\n", e.RMS())
	// Output: 0.05
}

// A drift is the same for sums of all lengths, relative to |A||B|.
func ExampleErrorPart() {
	recipe := quant.MX(tcore.E4M3, quant.FloorScale)
	for _, K := range []int{256, 4096} {
		k := bound.Problem{M: 1, N: 1, K: K, Machine: tcore.Machine{Device: devices.BlackwellMXE4M3()}, X: bound.Uniform(0, 1), Y: bound.Uniform(0, 1),
			Represented: true, Recipes: &bound.Recipes{A: recipe, B: recipe}}
		q := must(bound.PredictQuantised(k)).Quantisation
		fmt.Printf("%.3f ± %.4f\n", q.Drift, q.Deviation)
	}
	// Output:
	// -0.031 ± 0.0059
	// -0.031 ± 0.0015
}

// A typical error is relative to the mean of |A||B|.
func ExampleTypicalError() {
	e := bound.TypicalError{Storing: 0x1p-10}
	fmt.Println(e.Storing == e.RMS())
	// Output: true
}

// Of given matrices it is known what a recipe loses, without chance.
func ExampleRecipes() {
	a := blas64.General{Rows: 1, Cols: 4, Stride: 4, Data: []float64{0.3, -1.7, 0.25, 1.1}}
	b := blas64.General{Rows: 4, Cols: 1, Stride: 1, Data: []float64{1, 0.5, 3, 0.7}}
	r := &bound.Recipes{A: quant.MX(tcore.E2M1, quant.FloorScale), B: quant.MX(tcore.E2M1, quant.EvenScale)}
	k := bound.Problem{M: 1, N: 1, K: 4, Machine: tcore.Machine{Device: devices.BlackwellMXF4()}, Represented: true, Recipes: r, Given: &bound.Given{A: a, B: b}}
	best, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
	fmt.Printf("%v: %.3f %s\n", r, best.Constant, best.Why)
	// Output:
	// mxe2m1-floor, mxe2m1-even: 0.011 always
}

// The recipe of a block-scaled device is that of the specification of its
// format.
func ExampleNaturalRecipes() {
	for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellNVF4(), devices.HopperE4M3()} {
		r, ok := bound.NaturalRecipes(d)
		if ok {
			fmt.Println(d.Name, r)
		} else {
			fmt.Println(d.Name, "takes no scales")
		}
	}
	// Output:
	// blackwell-tcgen05-mxe4m3-binary32 mxe4m3-floor
	// blackwell-tcgen05-f4ue4m3x16-binary32 nvfp4-torchao-one-level
	// hopper-wgmma-e4m3-binary32 takes no scales
}

// Names of recipes, of A and of B if they differ.
func ExampleRecipes_String() {
	fmt.Println(&bound.Recipes{A: quant.Torchao(tcore.E4M3, quant.PerVector, false), B: quant.Torchao(tcore.E4M3, quant.PerTensor, false)})
	// Output:
	// torchao-e4m3-row, torchao-e4m3-tensor
}
