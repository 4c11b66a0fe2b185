package study

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// precisionErrors are the errors of products of low precision for lengths K of
// the sums: root mean squares of error/|A||B| over all outputs.
type precisionErrors struct {
	data                        string
	e4m3, fp4                   []float64 // of rounding the factors to e4m3 and to NVFP4
	hopper, promoted, blackwell []float64 // of accumulating the products of numbers in e4m3
}

// precisionLengths are the K of PrecisionFigure.
var precisionLengths = []int{128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}

const (
	precisionSize    = 16 // M and N
	precisionPromote = 128
)

// PrecisionFigure returns the chart of the two errors of a product in 8 bits,
// that of rounding the factors and that of accumulating the products, against
// K, for data with and without a mean. It returns an error if a number that is
// multiplied is not finite.
func PrecisionFigure() (*viz.Chart, error) {
	var all []precisionErrors
	for _, g := range []sweep.Generator{sweep.Positive, sweep.Normal} {
		e, err := precisionOf(g, precisionSize, precisionLengths, 1)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return precisionFigure(all, precisionLengths), nil
}

// precisionOf returns the errors of products of size n × n.
func precisionOf(g sweep.Generator, n int, lengths []int, seed uint64) (precisionErrors, error) {
	task := progress.Start(len(lengths))
	defer task.End()
	z := precisionErrors{data: g.Name}
	for _, k := range lengths {
		a, b := g.Draw(n, n, k, seed)
		exactly, err := trial.Of(a, b)
		if err != nil {
			return z, err
		}
		rounded, err := trial.On(devices.HopperE4M3(), a, b)
		if err != nil {
			return z, err
		}
		x, y, err := quant.NVFP4(quant.Vector16).Factors(a, b)
		if err != nil {
			return z, err
		}
		fp4, err := trial.Of(x, y)
		if err != nil {
			return z, err
		}
		sizes := exactly.Sizes()
		over := func(computed, from []float64) float64 {
			errors := make([]float64, len(sizes))
			for i, s := range sizes {
				errors[i] = (computed[i] - from[i]) / s
			}
			return sample.RMS(errors)
		}
		accumulated := func(m tcore.Machine) float64 { return over(rounded.Run(m).D.Data, rounded.Values) }
		z.e4m3 = append(z.e4m3, over(rounded.Values, exactly.Values))
		z.fp4 = append(z.fp4, over(fp4.Values, exactly.Values))
		z.hopper = append(z.hopper, accumulated(tcore.Machine{Device: devices.HopperE4M3()}))
		z.promoted = append(z.promoted, accumulated(tcore.Machine{Device: devices.HopperE4M3(), Promote: precisionPromote}))
		z.blackwell = append(z.blackwell, accumulated(tcore.Machine{Device: devices.BlackwellE4M3()}))
		task.Step(1)
	}
	return z, nil
}

// precisionFigure draws the errors, with a panel for each kind of data.
func precisionFigure(all []precisionErrors, lengths []int) *viz.Chart {
	var from []string
	for _, e := range all {
		from = append(from, e.prevails(lengths)+" for "+typeset.Minus(e.data))
	}
	c := viz.NewChart("precision",
		"The longer the sum, the less rounding to e4m3 matters and the more accumulation on Hopper: it is the larger error "+typeset.List(from)+".",
		fmt.Sprintf("Root mean square of error/|A||B|, of rounding factors and of adding products of rounded ones. %d × K × %[1]d, seed 1; promoted every %[2]d products.", precisionSize, precisionPromote))
	x := viz.Axis{Label: "Terms K of each sum", Log: true, Min: float64(lengths[0]), Max: float64(lengths[len(lengths)-1])}
	hopper, grey := viz.Generations[2], viz.Grey
	for _, e := range all {
		p := c.Panel("Entries ~ "+e.data, x, viz.Axis{Label: "Error / |A||B|, rms", Log: true, Min: 1e-10, Max: 1})
		for _, line := range []struct {
			series viz.Series
			errors []float64
		}{
			{viz.Series{Label: "rounding to NVFP4", Color: viz.Black, Style: viz.Dashed}, e.fp4},
			{viz.Series{Label: "rounding to e4m3", Color: viz.Black}, e.e4m3},
			{viz.Series{Label: "Hopper", Color: hopper}, e.hopper},
			{viz.Series{Label: "Hopper, promoted", Color: hopper, Style: viz.Dashed}, e.promoted},
			{viz.Series{Label: "Blackwell", Color: grey, Style: viz.Dotted}, e.blackwell},
		} {
			var x, y []float64
			for i, e := range line.errors {
				if e > 0 { // short sums are exact on Blackwell
					x, y = append(x, float64(lengths[i])), append(y, e)
				}
			}
			p.Line(line.series, x, y)
		}
	}
	return c
}

// prevails says from which length on accumulation on Hopper is the larger
// error.
func (e precisionErrors) prevails(lengths []int) string {
	last := len(lengths)
	for last > 0 && e.hopper[last-1] > e.e4m3[last-1] {
		last--
	}
	if last == len(lengths) {
		return fmt.Sprintf("at no K up to %d", lengths[last-1])
	}
	return fmt.Sprintf("from K = %d on", lengths[last])
}

// ScaleTable returns the table of what recipes with scales of blocks make of
// numbers of one sign and of both: by how much a product of the former drifts,
// and the relative error of the latter. It returns an error if a recipe is
// none.
func ScaleTable() (*viz.Table, error) {
	recipes := []quant.Recipe{}
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1} {
		for _, s := range []quant.MXScale{quant.FloorScale, quant.CeilScale, quant.EvenScale, quant.RoundUpScale} {
			recipes = append(recipes, quant.MX(f, s))
		}
	}
	recipes = append(recipes, quant.NVFP4(quant.Vector16))
	positive, _ := sweep.Positive.Draw(64, 1, 4096, 1)
	normal, _ := sweep.Normal.Draw(64, 1, 4096, 1)
	var rows [][]string
	clipping, drifting := 0, 0
	for _, r := range recipes {
		p, err := r.Quantise(positive, quant.Left)
		if err != nil {
			return nil, err
		}
		n, err := r.Quantise(normal, quant.Left)
		if err != nil {
			return nil, err
		}
		of, both := p.Loss(positive), n.Loss(normal)
		product := (1+of.Drift)*(1+of.Drift) - 1 // both factors drift alike
		if of.Clipped > 0 {
			clipping++
		}
		if product < -1e-3 {
			drifting++
		}
		percent := func(x float64) string { return typeset.Number(100*x, 2) + " %" }
		rows = append(rows, []string{r.Name, fmt.Sprint(of.Clipped), percent(product), percent(both.RMS), fmt.Sprint(both.Flushed)})
	}
	t := viz.NewTable("scales",
		fmt.Sprintf("Of %d recipes %d clip numbers, and %d make products of positive numbers smaller by more than 0.1 %%.", len(recipes), clipping, drifting),
		"U(0,1): how many are clipped, and (1 + δ)² − 1 for a product, where their sum changes by δ; below 0.1 % it may be chance. N(0,1): relative error, rms, and how many become 0. 64 × 4096, seed 1.",
		[]string{"Recipe", "clipped, U(0,1)", "drift of the product", "relative error, N(0,1)", "become 0"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t, nil
}
