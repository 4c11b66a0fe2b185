package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Hardware is the experiment of Section 4.2 on tensor cores as they are: the
// same matrices multiplied by emulated devices, and the paper's bounds held
// against the errors.
//
// differs: the paper assumes IEEE rounding to nearest, which none of these
// devices does; their bounds are shown as not holding where they do not.
type Hardware struct {
	GEMM     // the sizes, distribution and seed; Core gives the bounds
	Machines []Machine
}

// Machine is a device with the way a library would use it, under a short name.
type Machine struct {
	Name   string
	Kernel tcore.Kernel
	Series viz.Series
}

// The machines of notebook 8, the paper's model first.
var machines = []Machine{
	{"paper's model", tcore.Kernel{Device: tcore.PaperCoreF32}, viz.Series{Label: "paper's model", Color: viz.Observed}},
	{"Volta", tcore.Kernel{Device: tcore.VoltaF16}, viz.Series{Label: "Volta", Color: viz.Deterministic}},
	{"Ampere", tcore.Kernel{Device: tcore.AmpereF16}, viz.Series{Label: "Ampere", Color: viz.VarianceInformed}},
	{"Hopper", tcore.Kernel{Device: tcore.HopperF16}, viz.Series{Label: "Hopper", Color: viz.Probabilistic}},
	{"Hopper, K in 16 parts", tcore.Kernel{Device: tcore.HopperF16, SplitK: 16}, viz.Series{Label: "Hopper, K in 16 parts", Color: viz.Second}},
}

// DefaultHardware is the paper's experiment on five machines.
var DefaultHardware = Hardware{GEMM: DefaultGEMM, Machines: machines}

// MachineRow is what one machine did with the matrices, which are in the low
// format: no conversion errs here.
type MachineRow struct {
	Machine
	Errors []float64 // |D^-D|/|D|
	Mean   float64   // of the signed relative error
	Above  []int     // outputs above each bound of Constants
}

// HardwareResult is what was measured.
type HardwareResult struct {
	Hardware
	Bounds []Constant
	Rows   []MachineRow
}

// Run multiplies the matrices on every machine. It panics as [GEMM.Run] does
// and returns an error if the exact product cannot be formed.
func (h Hardware) Run() (*HardwareResult, error) {
	a := h.Distribution.Matrix(h.M, h.K, h.Seed, 1)
	b := h.Distribution.Matrix(h.K, h.N, h.Seed, 2)
	h.Core.Low.RoundSlice32(a.Data, a.Data)
	h.Core.Low.RoundSlice32(b.Data, b.Data)
	exact, err := tcore.ExactGEMM(a, b)
	if err != nil {
		return nil, err
	}
	absolute, err := tcore.ExactAbsGEMM(a, b)
	if err != nil {
		return nil, err
	}
	values := exact.Float64()
	conditions := GEMMErrors{Conditions: ratios(absolute.Float64(), values)}

	r := &HardwareResult{Hardware: h, Bounds: h.Constants()}
	d := blas32.General{Rows: h.M, Cols: h.N, Stride: h.N, Data: make([]float32, h.M*h.N)}
	for _, m := range h.Machines {
		m.Kernel.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		diff := exact.Error(d)
		row := MachineRow{Machine: m, Errors: ratios(diff, values)}
		for i, e := range diff.Data {
			row.Mean += e / values.Data[i] / float64(len(diff.Data))
		}
		for _, c := range r.Bounds {
			row.Above = append(row.Above, violations(row.Errors, conditions.Bounds(c.Zeta)))
		}
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}

// Table returns the errors of every machine and how many outputs exceed each
// bound of the paper.
func (r *HardwareResult) Table() *viz.Table {
	header := []string{"Machine", "median error", "largest", "mean, signed"}
	for _, c := range r.Bounds {
		if c.Name != printedBound {
			header = append(header, "above "+c.Name)
		}
	}
	worst, most := "", -1
	for _, row := range r.Rows {
		if n := row.Above[len(row.Above)-1]; n > most {
			worst, most = row.Name, n
		}
	}
	t := viz.NewTable("machines-"+r.slug(), fmt.Sprintf(
		"%s has %d of %d outputs above Higham & Mary's bound; the assumption of every probabilistic bound, errors of mean zero, holds for the paper's model alone. "+
			"Relative forward error on emulated tensor cores, %d × %d × %d, binary16 entries ~ %s, seed %d; bounds at %s over all outputs. Drawn by paper.HardwareResult.Table.",
		worst, most, r.M*r.N, r.M, r.K, r.N, r.Distribution.Name, r.Seed, percent(r.Confidence)), header)
	for _, row := range r.Rows {
		cells := []string{row.Name, short(median(row.Errors)), short(largest(row.Errors)), digits(row.Mean, 3)}
		for i, c := range r.Bounds {
			if c.Name != printedBound {
				cells = append(cells, fmt.Sprint(row.Above[i]))
			}
		}
		t.Row(cells...)
	}
	return t
}

// Figure returns the empirical distribution of every machine's error beside the
// paper's bounds.
func (r *HardwareResult) Figure() *viz.Chart {
	c := viz.NewChart("machines-edf-"+r.slug(), fmt.Sprintf(
		"Tensor cores that truncate are off by up to %s where the paper's model is off by %s. "+
			"Relative forward error of %d × %d × %d on emulated devices, binary16 entries ~ %s, seed %d. Bounds of the paper, which do not hold on machines that truncate: %s over all outputs. Drawn by paper.HardwareResult.Figure.",
		short(r.largest()), short(largest(r.Rows[0].Errors)), r.M, r.K, r.N, r.Distribution.Name, r.Seed, percent(r.Confidence)))
	p := c.Panel("", viz.Axis{Label: "Relative forward error |d̂ − d| / |d|", Log: true}, viz.Axis{Label: "Fraction of outputs", Min: 0, Max: 1})
	for _, row := range r.Rows {
		p.EDF(row.Series, row.Errors)
	}
	if r.Distribution == UniformUnit { // condition 1: a bound is one number
		p.Vertical(viz.Series{Label: "VIBEA", Color: viz.Grey, Style: viz.Dotted}, r.constant("VIBEA").Zeta)
		p.Vertical(viz.Series{Label: "DBEA", Color: viz.Grey, Style: viz.Dashed}, r.constant("DBEA").Zeta)
	}
	return c
}

func (r *HardwareResult) largest() float64 {
	worst := 0.0
	for _, row := range r.Rows {
		worst = max(worst, largest(row.Errors))
	}
	return worst
}

// DriftFigure returns the mean signed error of same-sign data against K: it
// grows like K on a machine that truncates and like nothing much on one that
// rounds to nearest.
func DriftFigure() (*viz.Chart, error) {
	h := DefaultHardware
	h.M, h.Distribution = 128, UniformUnit
	var x []float64
	y := make([][]float64, len(h.Machines))
	for k := 1 << 8; k <= 1<<16; k *= 2 {
		h.K = k
		r, err := h.Run()
		if err != nil {
			return nil, err
		}
		x = append(x, float64(k))
		for i, row := range r.Rows {
			y[i] = append(y[i], abs(row.Mean))
		}
	}
	last := len(x) - 1
	c := viz.NewChart("drift", fmt.Sprintf(
		"Truncation drifts: over K = 2⁸ … 2¹⁶ the mean error grows with the power %.2f of K on Volta and %.2f on Hopper. "+
			"Absolute value of the mean signed relative error over %d outputs, binary16 entries ~ %s, seed %d, emulated. Drawn by paper.DriftFigure.",
		math.Log(y[1][last]/y[1][0])/math.Log(x[last]/x[0]), math.Log(y[3][last]/y[3][0])/math.Log(x[last]/x[0]),
		h.M*h.N, h.Distribution.Name, h.Seed))
	p := c.Panel("", viz.Axis{Label: "Inner dimension K", Log: true}, viz.Axis{Label: "|mean signed relative error|", Log: true})
	for i, m := range h.Machines {
		p.Line(m.Series, x, y[i])
	}
	return c, nil
}

// CancellationTable returns what the devices make of 2²³ − 2²³ − ½ − ¼ − ⅛,
// with the first number in the accumulator: one line that tells machines apart.
func CancellationTable() *viz.Table {
	var results []float64
	names := map[float64][]string{}
	asked := 0
	for _, d := range tcore.Devices() {
		x, y := []float64{-0x1p15, -0.5, -0.25, -0.125}, []float64{0x1p8, 1, 1, 1}
		if d.ScaleBlock > 0 || d.C.Max() < 0x1p23 || d.A.Max() < 0x1p15 {
			continue // these numbers are none of its
		}
		asked++
		z := d.Dot(x, y, 0x1p23)
		if names[z] == nil {
			results = append(results, z)
		}
		names[z] = append(names[z], d.Name)
	}
	t := viz.NewTable("cancellation", fmt.Sprintf(
		"Five numbers, %d devices, %d answers; the exact one is −0.875. "+
			"2²³ in the accumulator, and four products in one instruction. Drawn by paper.CancellationTable.", asked, len(results)),
		[]string{"Result", "Number", "Devices"})
	for _, z := range results {
		t.Row(digits(z, 4), fmt.Sprint(len(names[z])), strings.Join(names[z], ", "))
	}
	return t
}

// SideBySideTable returns one dot product of 256 terms on every device that
// takes binary16 and returns binary32.
func SideBySideTable() *viz.Table {
	const k = 256
	rng := rand.New(rand.NewPCG(Seed, 6))
	x, y := make([]float64, k), make([]float64, k)
	for i := range x {
		x[i] = tcore.Binary16.Round(rng.Float64(), tcore.ToNearestEven)
		y[i] = tcore.Binary16.Round(rng.Float64(), tcore.ToNearestEven)
	}
	t := viz.NewTable("side-by-side", fmt.Sprintf(
		"The same numbers, and a different sum from nearly every generation; truncation always falls short. "+
			"Dot product of %d pairs of binary16 numbers ~ U(0,1), seed %d, accumulated in binary32. Drawn by paper.SideBySideTable.", k, Seed),
		[]string{"Device", "terms at once", "Result", "Code", "Error in u"})
	for _, d := range tcore.Devices() {
		if d.A.Name != tcore.Binary16.Name || d.C.Name != tcore.Binary32.Name {
			continue
		}
		trace := d.Trace(x, y, 0)
		exact, _ := trace.Exact.Float64()
		t.Row(d.Name, fmt.Sprint(k/len(trace.Blocks)), fmt.Sprintf("%.9g", trace.Result),
			fmt.Sprintf("%08x", d.C.Encode(trace.Result, tcore.ToNearestEven)), digits(trace.Error/exact/u32, 3))
	}
	return t
}

// TraceTable returns a dot product as a device computes it, term by term.
func TraceTable(name string, trace tcore.Trace) *viz.Table {
	exact, _ := trace.Exact.Float64()
	t := viz.NewTable(name, fmt.Sprintf(
		"%s computes %s where %s is exact. Each block aligns its terms to the largest exponent E and cuts what lies below the unit. Drawn by paper.TraceTable.",
		trace.Device, digits(trace.Result, 9), digits(exact, 9)),
		[]string{"Block", "Term", "Value", "Exponent", "Kept", "Lost"})
	for _, b := range trace.Blocks {
		for _, m := range b.Terms {
			if m.Value == 0 {
				continue
			}
			term := "c"
			if m.Index >= 0 {
				term = fmt.Sprintf("%s × %s", digits(m.X, 5), digits(m.Y, 5))
			}
			t.Row(fmt.Sprint(b.Start), term, digits(m.Value, 9), fmt.Sprint(m.Exponent), digits(m.Kept, 9), digits(m.Lost, 4))
		}
		t.Row(fmt.Sprint(b.Start), "sum, rounded", digits(b.Sum, 9), fmt.Sprint(b.Exponent), digits(b.Result, 9), digits(b.Sum-b.Result, 4))
	}
	return t
}

// Violated returns the largest share of outputs of a machine that exceed a bound.
func (r *HardwareResult) Violated(machine, bound string) float64 {
	for _, row := range r.Rows {
		for i, c := range r.Bounds {
			if row.Name == machine && c.Name == bound {
				return float64(row.Above[i]) / float64(len(row.Errors))
			}
		}
	}
	panic(fmt.Sprintf("paper: no machine %q with a bound %q", machine, bound))
}
