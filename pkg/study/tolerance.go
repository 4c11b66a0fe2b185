package study

import (
	"fmt"
	"image/color"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// toleranceCurve is the curve of one device in ToleranceFigure.
type toleranceCurve struct {
	label  string
	device tcore.Device
	colour color.Color
	style  viz.Style
}

// ToleranceFigure returns the chart of the smallest tolerance that each device
// guarantees, which is the tightest bound of the catalogue that is valid on it,
// against K. The upper panel is for factors in binary16, by machine. The lower
// panel is for real factors that are first rounded, by format. The bounds
// assume nothing about the data and are for all 1024 × 8 outputs together, at
// [paper.Confidence].
func ToleranceFigure() *viz.Chart {
	machines := []toleranceCurve{
		{"Volta", devices.VoltaF16(), viz.Generations[0], viz.Solid},
		{"Ampere", devices.AmpereF16(), viz.Generations[1], viz.Solid},
		{"Hopper", devices.HopperF16(), viz.Generations[2], viz.Solid},
		{"Hopper, sums in binary16", devices.HopperF16F16(), viz.Generations[2], viz.Dotted},
		{"FMAs in binary32", devices.IEEEF16(), viz.Black, viz.Solid},
	}
	formats := []toleranceCurve{
		{"e4m3, Hopper", devices.HopperE4M3(), viz.Generations[2], viz.Dotted},
		{"e4m3, Blackwell", devices.BlackwellE4M3(), viz.Grey, viz.Dotted},
		{"bfloat16, Hopper", devices.HopperBF16(), viz.Generations[2], viz.Dashed},
		{"binary16, Hopper", devices.HopperF16(), viz.Generations[2], viz.Solid},
		{"binary32, FMAs", devices.IEEEF32(), viz.Black, viz.Solid},
	}
	f := roundoff.FailureOf(paper.Confidence)
	k := bound.Problem{M: 1024, N: 8, K: 32768, Machine: tcore.Machine{Device: devices.HopperF16()}}
	exact := leastTolerance(k, f)
	k.Represented = true
	rounded := leastTolerance(k, f)
	c := viz.NewChart("tolerance",
		fmt.Sprintf("Where machines truncate, the guaranteed error grows like K; of Hopper's %s at K = %d, rounding the factors to binary16 is %s %%.",
			typeset.Number(rounded, 2), k.K, typeset.Number(100*(rounded-exact)/rounded, 2)),
		fmt.Sprintf("The tightest bound that holds on |D̂ − D| / |A||B|, 1024 × K × 8, %s over all outputs, data unknown. Above, factors are numbers of binary16; below, real numbers that are first rounded to the format.",
			typeset.Percent(paper.Confidence)))
	x := viz.Axis{Label: "Terms K of each sum", Log: true, Min: 1, Max: 1 << 20}
	y := viz.Axis{Label: "Guaranteed |d̂ − d| / |A||B|", Log: true, Min: 1e-8, Max: 1e3}
	k.Represented = false
	tolerances(c.Panel("Factors in binary16, by machine", x, y), k, f, machines)
	k.Represented = true
	tolerances(c.Panel("Real factors, by format", x, y), k, f, formats)
	return c
}

// tolerances draws the curves in the panel p, with four points per octave of K.
func tolerances(p *viz.Panel, k bound.Problem, f roundoff.Failure, curves []toleranceCurve) {
	task := progress.Start(len(curves))
	defer task.End()
	for _, c := range curves {
		k.Device = c.device
		var x, y []float64
		for i := range 4*20 + 1 {
			k.K = quarterOctave(i)
			if τ := leastTolerance(k, f); τ > 0 {
				x, y = append(x, float64(k.K)), append(y, τ)
			}
		}
		p.Line(viz.Series{Label: c.label, Color: c.colour, Style: c.style}, x, y)
		task.Step(1)
	}
}

// leastTolerance returns the smallest constant of a valid bound, or +Inf if no
// bound is valid.
func leastTolerance(k bound.Problem, f roundoff.Failure) float64 {
	results, err := bound.Evaluate(k, f)
	if err != nil {
		panic(err) // cannot happen: only a description of data can be invalid, and there is none
	}
	best, _ := bound.Tightest(results)
	return best.Constant
}
