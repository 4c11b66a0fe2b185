package study

import (
	"fmt"
	"math"
	"slices"

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
	named(tcore.Machine{Device: devices.PaperCoreF32()}, viz.Series{Color: viz.Black}),
	named(tcore.Machine{Device: devices.VoltaF16()}, viz.Series{Color: viz.Generations[0]}),
	named(tcore.Machine{Device: devices.AmpereF16()}, viz.Series{Color: viz.Generations[1]}),
	named(tcore.Machine{Device: devices.HopperF16()}, viz.Series{Color: viz.Generations[2]}),
	named(tcore.Machine{Device: devices.HopperF16(), SplitK: 16}, viz.Series{Color: viz.Generations[2], Style: viz.Dotted}),
}

// named returns the machine m with the series s, both under the name of m in
// figures.
func named(m tcore.Machine, s viz.Series) Machine {
	m.Name = machineTitle(m)
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
	header := []string{"Machine", "median error", "largest error", "mean, signed", "standard error of the mean"}
	for _, c := range r.Bounds {
		if c.Name != paper.PrintedBound {
			header = append(header, "above "+c.Name)
		}
	}
	var above []string
	for _, row := range r.Rows {
		if n := row.Above[len(row.Above)-1]; n > 0 {
			above = append(above, fmt.Sprintf("%s (%s)", row.Name, share(n, r.M*r.N)))
		}
	}
	finding := "No output exceeds the bound of Higham and Mary."
	if above != nil {
		finding = fmt.Sprintf("The bound of Higham and Mary is exceeded by outputs of %s.", typeset.List(above))
	}
	t := viz.NewTable("machines-"+r.Slug(),
		finding,
		fmt.Sprintf("Relative forward error of emulated machines, and how many of %d outputs exceed a bound. The probabilistic bounds assume errors of mean zero. %s", r.M*r.N, r.size()), header)
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
	details := "Relative forward error on emulated machines. " + r.size()
	if r.Distribution == paper.UniformUnit {
		details += " VIBEA and DBEA are the paper's bounds for rounding to nearest."
	}
	c := viz.NewChart("machines-edf-"+r.Slug(),
		fmt.Sprintf("Tensor cores that truncate are off by up to %s where the paper's model is off by %s.", typeset.Number(r.largest(), 4), typeset.Number(slices.Max(r.Rows[0].Errors), 4)),
		details)
	x := viz.Axis{Label: "Relative forward error |d̂ − d| / |d|", Log: true}
	x.Min, x.Max = decades(sample.Median(r.Rows[0].Errors)/10, max(r.largest(), r.Constant("DBEA").Zeta))
	p := c.Panel("Entries ~ "+r.Distribution.Name, x, viz.Axis{Label: "Fraction of outputs", Min: 0, Max: 1})
	for _, row := range r.Rows {
		p.EDF(row.Series, row.Errors)
	}
	// With condition number 1 a bound on the forward error is one number for all
	// outputs.
	if r.Distribution == paper.UniformUnit {
		for _, s := range []viz.Series{paper.VIBEA, paper.DBEA} {
			zeta := r.Constant(s.Label).Zeta
			p.Vertical(s, zeta)
		}
	}
	return c
}

// size returns the sizes, the data and the confidence, as text for captions.
func (r *HardwareResult) size() string {
	return fmt.Sprintf("%d × %d × %d, binary16 entries ~ %s, seed %d, %s over all outputs.",
		r.M, r.K, r.N, r.Distribution.Name, r.Seed, typeset.Percent(r.Confidence))
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
// one sign against K, without its sign: it grows like K on a machine that
// truncates, and is far smaller on one that rounds to nearest. Beside the mean
// of the paper's model are its two standard errors. The error is that of
// [Hardware.Run].
func DriftFigure() (*viz.Chart, error) {
	h := DefaultHardware
	h.M, h.Distribution = 128, paper.UniformUnit
	var x, twice []float64
	means := make([][]float64, len(h.Machines))
	task := progress.Start(driftLengths[len(driftLengths)-1] * 2)
	defer task.End()
	for _, h.K = range driftLengths {
		r, err := h.Run()
		if err != nil {
			return nil, err
		}
		task.Step(h.K)
		x, twice = append(x, float64(h.K)), append(twice, 2*r.Rows[0].StandardError)
		for i, row := range r.Rows {
			means[i] = append(means[i], row.Mean)
		}
	}
	order := func(y []float64) float64 {
		last := len(x) - 1
		return math.Log(y[last]/y[0]) / math.Log(x[last]/x[0])
	}
	c := viz.NewChart("drift",
		fmt.Sprintf("Truncation drifts: the mean error grows with the power %.2f of K on Volta and %.2f on Hopper.", order(means[1]), order(means[3])),
		fmt.Sprintf("Mean relative error of %d outputs, binary16 entries ~ %s, seed %d, emulated. %s",
			h.M*h.N, h.Distribution.Name, h.Seed, signs(means, twice)))
	p := c.Panel("", viz.Axis{Label: "Inner dimension K", Log: true, Min: x[0], Max: x[len(x)-1]}, viz.Axis{Label: "|mean signed relative error|", Log: true})
	for i, m := range h.Machines {
		y := make([]float64, len(x))
		for k, mean := range means[i] {
			y[k] = math.Abs(mean)
		}
		p.Line(m.Series, x, y)
	}
	p.Line(viz.Series{Label: "its two standard errors", Color: viz.Grey, Style: viz.Dotted}, x, twice)
	return c, nil
}

// driftLengths are the values of K of DriftFigure, about three in a decade.
var driftLengths = []int{100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}

// signs returns a sentence on the signs of the means of all machines, the first
// of which has the given double standard errors.
func signs(means [][]float64, twice []float64) string {
	within, positive := 0, 0
	for k, mean := range means[0] {
		if math.Abs(mean) < twice[k] {
			within++
		} else if mean > 0 {
			positive++
		}
	}
	others := "all"
	for _, of := range means[1:] {
		if slices.Max(of) >= 0 {
			others = "not all"
		}
	}
	return fmt.Sprintf("Of the %d means of the paper's model %d are within two standard errors of zero, %d below and %d above; of the other machines %s means are negative.",
		len(twice), within, len(twice)-within-positive, positive, others)
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
