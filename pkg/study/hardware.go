package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Hardware is the experiment of Section 4.2 on emulations of tensor cores that
// exist: the devices multiply the same matrices, and their errors are compared
// with the paper's bounds.
//
// differs: the paper assumes IEEE rounding to nearest, which no tensor core
// performs. The results show where the paper's bounds are exceeded.
type Hardware struct {
	paper.GEMM // the sizes, distribution and seed; Core determines the bounds
	Machines   []Machine
}

// Machine is a machine with the series that represents it in figures.
type Machine struct {
	tcore.Machine
	Series viz.Series
}

// The machines of notebook 8, the paper's model first.
var machines = []Machine{
	named(tcore.Machine{Name: "paper's model", Device: devices.PaperCoreF32()}, viz.Series{Color: viz.Black}),
	named(tcore.Machine{Name: "Volta", Device: devices.VoltaF16()}, viz.Series{Color: viz.Generations[0]}),
	named(tcore.Machine{Name: "Ampere", Device: devices.AmpereF16()}, viz.Series{Color: viz.Generations[1]}),
	named(tcore.Machine{Name: "Hopper", Device: devices.HopperF16()}, viz.Series{Color: viz.Generations[2]}),
	named(tcore.Machine{Name: "Hopper, K in 16 parts", Device: devices.HopperF16(), SplitK: 16}, viz.Series{Color: viz.Generations[2], Style: viz.Dotted}),
}

// named returns the machine m, with the series s under the name of m.
func named(m tcore.Machine, s viz.Series) Machine {
	s.Label = m.Name
	return Machine{m, s}
}

// DefaultHardware is the paper's experiment on five machines.
var DefaultHardware = Hardware{GEMM: paper.DefaultGEMM, Machines: machines}

// MachineRow contains the errors of one machine. The matrices are already in
// the low format, so that no conversion error occurs.
type MachineRow struct {
	Machine
	Errors        []float64 // |D̂-D|/|D|, of each output
	Mean          float64   // mean of the signed relative error
	StandardError float64   // of the mean, as if outputs were independent
	Above         []int     // numbers of outputs whose error exceeds each of HardwareResult.Bounds
}

// HardwareResult contains the measured errors and the paper's bounds.
type HardwareResult struct {
	Hardware
	Bounds []paper.Constant
	Rows   []MachineRow
}

// Run multiplies the matrices on every machine. It panics as [paper.GEMM.Run]
// does, and returns an error if the exact product cannot be computed.
func (h Hardware) Run() (*HardwareResult, error) {
	task := progress.Start(len(h.Machines) + 2)
	defer task.End()
	a, b := h.Distribution.Matrices(h.M, h.N, h.K, h.Seed)
	product, err := trial.On(h.Core.Device(h.Core.Name), a, b)
	if err != nil {
		return nil, err
	}
	task.Step(2)
	r := &HardwareResult{Hardware: h, Bounds: h.Constants()}
	for _, m := range h.Machines {
		t := product.Run(m.Machine)
		e := paper.ErrorsOf(t)
		row := MachineRow{Machine: m, Errors: e.Errors}
		relative := make([]float64, len(t.Errors))
		for i, d := range t.Errors {
			relative[i] = d / t.Values[i]
		}
		mean, deviation := stat.MeanStdDev(relative, nil)
		row.Mean, row.StandardError = mean, deviation/math.Sqrt(float64(len(relative)))
		for _, c := range r.Bounds {
			row.Above = append(row.Above, e.Violations(c.Zeta))
		}
		r.Rows = append(r.Rows, row)
		task.Step(1)
	}
	return r, nil
}

// Table returns the table of the errors of every machine, with the number of
// outputs that exceed each bound of the paper.
func (r *HardwareResult) Table() *viz.Table {
	header := []string{"Machine", "median error", "largest", "mean, signed", "its standard error"}
	for _, c := range r.Bounds {
		if c.Name != paper.PrintedBound {
			header = append(header, "above "+c.Name)
		}
	}
	var above []string
	for _, row := range r.Rows {
		if n := row.Above[len(row.Above)-1]; n > 0 {
			above = append(above, fmt.Sprintf("%s on %d", row.Name, n))
		}
	}
	finding := "No machine exceeds the bound of Higham and Mary."
	if above != nil {
		finding = fmt.Sprintf("The bound of Higham and Mary is exceeded by %s of %d outputs.", strings.Join(above, ", "), r.M*r.N)
	}
	t := viz.NewTable("machines-"+r.Slug(),
		finding,
		fmt.Sprintf("Relative forward error on emulated tensor cores, %d × %d × %d, binary16 entries ~ %s, seed %d; probabilistic bounds, which assume errors of mean zero, at %s over all outputs. Drawn by study.HardwareResult.Table.",
			r.M, r.K, r.N, r.Distribution.Name, r.Seed, typeset.Percent(r.Confidence)), header)
	for _, row := range r.Rows {
		cells := []string{row.Name, typeset.Number(sample.Median(row.Errors), 4), typeset.Number(slices.Max(row.Errors), 4), typeset.Number(row.Mean, 3), typeset.Number(row.StandardError, 2)}
		for i, c := range r.Bounds {
			if c.Name != paper.PrintedBound {
				cells = append(cells, fmt.Sprint(row.Above[i]))
			}
		}
		t.Row(cells...)
	}
	return t
}

// Figure returns the chart of the empirical distribution function of every
// machine's errors, beside the paper's bounds.
func (r *HardwareResult) Figure() *viz.Chart {
	bounds := ""
	if r.Distribution == paper.UniformUnit {
		bounds = fmt.Sprintf(" The paper's bounds, at %s over all outputs, do not apply to machines that truncate.", typeset.Percent(r.Confidence))
	}
	c := viz.NewChart("machines-edf-"+r.Slug(),
		fmt.Sprintf("Tensor cores that truncate are off by up to %s where the paper's model is off by %s.", typeset.Number(r.largest(), 4), typeset.Number(slices.Max(r.Rows[0].Errors), 4)),
		fmt.Sprintf("Relative forward error of %d × %d × %d on emulated devices, binary16 entries ~ %s, seed %d.%s Drawn by study.HardwareResult.Figure.",
			r.M, r.K, r.N, r.Distribution.Name, r.Seed, bounds))
	x := viz.Axis{Label: "Relative forward error |d̂ − d| / |d|", Log: true}
	x.Min, x.Max = decades(sample.Median(r.Rows[0].Errors)/100, max(r.largest(), r.Constant("DBEA").Zeta))
	p := c.Panel("", x, viz.Axis{Label: "Fraction of outputs", Min: 0, Max: 1})
	for _, row := range r.Rows {
		p.EDF(row.Series, row.Errors)
	}
	// With condition number 1 a bound on the forward error is one number for all
	// outputs.
	if r.Distribution == paper.UniformUnit {
		for _, s := range []viz.Series{paper.VIBEA, paper.DBEA} {
			zeta := r.Constant(s.Label).Zeta
			s.Label += ", if rounded to nearest"
			p.Vertical(s, zeta)
		}
	}
	return c
}

// decades returns the largest power of ten that is at most lo, and the smallest
// that is at least hi.
func decades(lo, hi float64) (below, above float64) {
	return math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi)))
}

func (r *HardwareResult) largest() float64 {
	worst := 0.0
	for _, row := range r.Rows {
		worst = max(worst, slices.Max(row.Errors))
	}
	return worst
}

// DriftFigure returns the chart of the mean signed relative error for data of
// one sign against K: it grows like K on a machine that truncates, and hardly
// at all on one that rounds to nearest. The error is that of [Hardware.Run].
func DriftFigure() (*viz.Chart, error) {
	h := DefaultHardware
	h.M, h.Distribution = 128, paper.UniformUnit
	var x []float64
	y := make([][]float64, len(h.Machines))
	var model MachineRow // the first machine at the greatest K
	task := progress.Start(1 << 17)
	defer task.End()
	for k := 1 << 8; k <= 1<<16; k *= 2 {
		h.K = k
		r, err := h.Run()
		if err != nil {
			return nil, err
		}
		task.Step(k)
		x = append(x, float64(k))
		for i, row := range r.Rows {
			y[i] = append(y[i], math.Abs(row.Mean))
		}
		model = r.Rows[0]
	}
	last := len(x) - 1
	c := viz.NewChart("drift",
		fmt.Sprintf("Truncation drifts: over K = 2⁸ … 2¹⁶ the mean error grows with the power %.2f of K on Volta and %.2f on Hopper.",
			math.Log(y[1][last]/y[1][0])/math.Log(x[last]/x[0]), math.Log(y[3][last]/y[3][0])/math.Log(x[last]/x[0])),
		fmt.Sprintf("Absolute value of the mean signed relative error over %d outputs, binary16 entries ~ %s, seed %d, emulated. At the greatest K the mean of the %s is %s, with a standard error of %s. Drawn by study.DriftFigure.",
			h.M*h.N, h.Distribution.Name, h.Seed, model.Name, typeset.Number(model.Mean, 2), typeset.Number(model.StandardError, 2)))
	p := c.Panel("", viz.Axis{Label: "Inner dimension K", Log: true, Min: x[0], Max: x[last]}, viz.Axis{Label: "|mean signed relative error|", Log: true})
	for i, m := range h.Machines {
		p.Line(m.Series, x, y[i])
	}
	return c, nil
}

// Violated returns the fraction of the outputs of a machine whose error exceeds
// a bound, both given by name. It panics if there is no such machine or bound.
func (r *HardwareResult) Violated(machine, bound string) float64 {
	for _, row := range r.Rows {
		for i, c := range r.Bounds {
			if row.Name == machine && c.Name == bound {
				return float64(row.Above[i]) / float64(len(row.Errors))
			}
		}
	}
	panic(fmt.Sprintf("study: no machine %q with a bound %q", machine, bound))
}
