package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Processor is the experiment of Section 4.2 on the dot-product instructions of
// the processor itself, whose factors are in bfloat16. Where this processor has
// an instruction, it computes the product; elsewhere its emulation does, which
// has the same bits.
//
// differs: the paper's factors are in binary16, and its processor is a GPU.
type Processor struct {
	paper.GEMM
	Devices []tcore.Device
}

// DefaultProcessor is the paper's experiment on TDPBF16PS and VDPBF16PS.
var DefaultProcessor = func() Processor {
	g := paper.DefaultGEMM
	g.Core.Name, g.Core.Low = "bfloat16 in, binary32 accumulate", tcore.BFloat16
	return Processor{g, []tcore.Device{devices.AMXBF16(), devices.AVX512BF16()}}
}()

// InstructionRow is the product of one instruction.
type InstructionRow struct {
	Device           tcore.Device
	Missing          error         // why this processor did not compute it; nil if it did
	Took             time.Duration // the time of the product on the instruction
	Equal            int           // how many outputs of the instruction have the bits of the emulation
	paper.GEMMErrors               // of the instruction or, without it, of the emulation

	// Always is the least bound that holds for any data, and Probable the least
	// that holds with the confidence of the experiment, if rounding errors are
	// independent.
	Always, Probable bound.Result
}

// ProcessorResult contains the errors of the paper's model and of every
// instruction.
type ProcessorResult struct {
	Processor
	Model paper.GEMMErrors // of the paper's tensor core with the same factors
	Rows  []InstructionRow
}

// Run multiplies the matrices by the paper's model and by every instruction,
// and compares the bits of each instruction with its emulation. The matrices
// are rounded to bfloat16 first, which is no part of the errors. It returns an
// error if the exact product cannot be computed.
func (p Processor) Run() (*ProcessorResult, error) {
	task := progress.Start(2 + 2*len(p.Devices))
	defer task.End()
	a, b := p.Distribution.Matrices(p.M, p.N, p.K, p.Seed)
	model := p.Core.Device(p.Core.Name)
	product, err := trial.On(model, a, b)
	if err != nil {
		return nil, err
	}
	task.Step(1)
	r := &ProcessorResult{Processor: p, Model: paper.ErrorsOf(product.Run(tcore.Machine{Device: model}))}
	task.Step(1)
	for _, d := range p.Devices {
		row := InstructionRow{Device: d}
		if row.Always, row.Probable, err = p.bounds(d); err != nil {
			return nil, err
		}
		emulated := product.Run(tcore.Machine{Device: d})
		task.Step(1)
		if err := row.compute(product, emulated); err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, row)
		task.Step(1)
	}
	return r, nil
}

// compute multiplies the matrices by the instruction of the processor, or takes
// what was emulated if there is none.
func (row *InstructionRow) compute(p *trial.Product, emulated *trial.Trial) error {
	unit, err := cpu.Open(row.Device)
	if errors.Is(err, cpu.ErrNoMatrixUnit) {
		row.Missing, row.GEMMErrors = err, paper.ErrorsOf(emulated)
		return nil
	}
	if err != nil {
		return err
	}
	z, start := matrix.New(p.A.Rows, p.B.Cols), time.Now()
	unit.GEMM(blas.NoTrans, blas.NoTrans, 1, p.A, p.B, 0, blas32.General{}, z)
	row.Took = time.Since(start)
	t := p.Compare(matrix.Float64(z))
	row.GEMMErrors = paper.ErrorsOf(t)
	for i, d := range t.D.Data {
		if math.Float64bits(d) == math.Float64bits(emulated.D.Data[i]) {
			row.Equal++
		}
	}
	return nil
}

// bounds returns the least bound that always holds on the device, and the least
// that holds with the confidence of the experiment.
func (p Processor) bounds(d tcore.Device) (always, probable bound.Result, err error) {
	k := bound.Problem{M: p.M, N: p.N, K: p.K, Machine: tcore.Machine{Device: d}}
	results, err := bound.Evaluate(k, roundoff.FailureOf(p.Confidence))
	if err != nil {
		return always, probable, err
	}
	probable, _ = bound.Tightest(results)
	always, _ = bound.Tightest(slices.DeleteFunc(results, func(r bound.Result) bool { return r.Confidence != roundoff.Never }))
	return always, probable, nil
}

// Live reports whether this processor has one of the instructions.
func (r *ProcessorResult) Live() bool {
	return slices.ContainsFunc(r.Rows, func(row InstructionRow) bool { return row.Missing == nil })
}

// finding returns how many outputs have the bits of the emulation or, without
// the instructions, how their errors compare with the model's.
func (r *ProcessorResult) finding() string {
	equal, of := 0, 0
	for _, row := range r.Rows {
		if row.Missing == nil {
			equal, of = equal+row.Equal, of+len(row.Errors)
		}
	}
	if of > 0 {
		return fmt.Sprintf("Of %d outputs of this processor, %d have the bits of the emulation.", of, equal)
	}
	return fmt.Sprintf("The median error of %s is %s times that of the paper's model.",
		mnemonic(r.Rows[0].Device), typeset.Number(sample.Median(r.Rows[0].Errors)/sample.Median(r.Model.Errors), 2))
}

// Figure returns the empirical distributions of the errors of the paper's model
// and of every instruction, and of the two bounds of the first.
func (r *ProcessorResult) Figure() *viz.Chart {
	c := viz.NewChart("processor-edf-"+r.Slug(), r.finding(), r.size())
	p := c.Panel("", viz.Axis{Label: "Relative forward error |d̂ − d| / |d|", Log: true}, viz.Axis{Label: "Fraction of outputs", Min: 0, Max: 1})
	p.EDF(viz.Series{Label: "paper's model", Color: viz.Black}, r.Model.Errors)
	for i, row := range r.Rows {
		p.EDF(viz.Series{Label: mnemonic(row.Device), Color: viz.Generations[i%len(viz.Generations)]}, row.Errors)
	}
	first := r.Rows[0]
	p.EDF(viz.Series{Label: "bound, " + typeset.Percent(r.Confidence), Color: paper.VIBEA.Color, Style: viz.Dashed}, first.Bounds(first.Probable.Constant))
	p.EDF(viz.Series{Label: "bound, always", Color: paper.DBEA.Color, Style: viz.Dashed}, first.Bounds(first.Always.Constant))
	return c
}

// Table returns the errors of the paper's model and of every instruction, the
// bounds that hold there, and how many outputs exceed them.
func (r *ProcessorResult) Table() *viz.Table {
	t := viz.NewTable("processor-"+r.Slug(), r.finding(), r.size(),
		[]string{"Machine", "computed by", "Gflop/s", "median error", "largest", "least bound, always", "above",
			"least bound, " + typeset.Percent(r.Confidence), "above", fmt.Sprintf("equal bits, of %d", r.M*r.N)})
	number := func(x float64) string { return typeset.Number(x, 3) }
	t.Row("paper's model", "emulation", "–", number(sample.Median(r.Model.Errors)), number(slices.Max(r.Model.Errors)), "–", "–", "–", "–", "–")
	for _, row := range r.Rows {
		by, took, equal := thisProcessor, fmt.Sprintf("%.0f", r.flops()/row.Took.Seconds()/1e9), fmt.Sprint(row.Equal)
		if row.Missing != nil {
			by, took, equal = "emulation", "–", "–"
		}
		bound := func(b bound.Result) (name, above string) {
			return fmt.Sprintf("%s: %s", b.Bound, number(b.Constant)), fmt.Sprint(row.Violations(b.Constant))
		}
		always, aboveAlways := bound(row.Always)
		probable, aboveProbable := bound(row.Probable)
		t.Row(mnemonic(row.Device), by, took, number(sample.Median(row.Errors)), number(slices.Max(row.Errors)),
			always, aboveAlways, probable, aboveProbable, equal)
	}
	return t
}

// flops returns the operations of the product: K products and sums an output.
func (r *ProcessorResult) flops() float64 {
	return 2 * float64(r.M) * float64(r.N) * float64(r.K)
}

// size returns the sizes, the data and what was asked, as text for captions.
func (r *ProcessorResult) size() string {
	by := "Emulated: " + r.missing()
	if r.Live() {
		by = "Computed by this processor"
	}
	return fmt.Sprintf("%s. %d × %d × %d, bfloat16 entries ~ %s, seed %d.",
		by, r.M, r.K, r.N, r.Distribution.Name, r.Seed)
}

// missing says that the processor has no such instruction.
func (p Processor) missing() string {
	var names []string
	for _, d := range p.Devices {
		names = append(names, mnemonic(d))
	}
	return "this processor has no " + typeset.List(names)
}

// mnemonic returns the name of the instruction of a processor.
func mnemonic(d tcore.Device) string { return strings.ToUpper(d.Instruction) }

// macRow is what n multiply-adds of one instruction are like.
type macRow struct {
	device          tcore.Device
	by              string  // who computed them
	largest         float64 // relative error
	fused, emulated int     // how many are those of an FMA, and of the emulation
}

// ProcessorMAC returns the table of n multiply-adds d = ab + c of Section 4.1
// with a, b and c of U[1,2], a and b rounded to bfloat16, on the instructions
// of [DefaultProcessor]: the first product of an instruction is ab, and the
// others are 0. Where this processor has no such instruction, its emulation
// computes them. It returns an error if the instruction fails.
func ProcessorMAC(n int) (*viz.Table, error) {
	rows, err := processorMAC(n)
	if err != nil {
		return nil, err
	}
	by, most, u := "Emulated: "+DefaultProcessor.missing(), 0.0, tcore.Binary32.UnitRoundoff()
	for _, r := range rows {
		most = max(most, r.largest/u)
		if r.by == thisProcessor {
			by = "Computed by this processor"
		}
	}
	t := viz.NewTable("processor-mac",
		fmt.Sprintf("One product and a sum are rounded once: the largest error is %.6f u.", most),
		fmt.Sprintf("%s. d = ab + c, %d samples, U[1,2], a and b in bfloat16, c and d in binary32, seed %d.", by, n, paper.Seed),
		[]string{"Instruction", "computed by", "largest error", "bound", fmt.Sprintf("as an FMA, of %d", n), fmt.Sprintf("as emulated, of %d", n)})
	for _, r := range rows {
		t.Row(mnemonic(r.device), r.by, fmt.Sprintf("%.6f u", r.largest/u), "1 u", fmt.Sprint(r.fused), fmt.Sprint(r.emulated))
	}
	return t, nil
}

func processorMAC(n int) ([]macRow, error) {
	rng := rand.New(rand.NewPCG(paper.Seed, 0))
	x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = tcore.BFloat16.Round(1+rng.Float64(), tcore.ToNearestEven)
		y[i] = tcore.BFloat16.Round(1+rng.Float64(), tcore.ToNearestEven)
		z[i] = tcore.Binary32.Round(1+rng.Float64(), tcore.ToNearestEven)
	}
	var rows []macRow
	for _, d := range DefaultProcessor.Devices {
		sums, by, err := multiplyAdds(d, x, y, z)
		if err != nil {
			return nil, err
		}
		r := macRow{device: d, by: by}
		for i, v := range sums {
			exact := float64(x[i]*y[i]) + z[i] // of 16 and 24 bits, so that binary64 has it
			r.largest = max(r.largest, math.Abs(v-exact)/exact)
			if v == tcore.Binary32.FMA(x[i], y[i], z[i], tcore.ToNearestEven) {
				r.fused++
			}
			if v == d.Dot(x[i:i+1], y[i:i+1], z[i]) {
				r.emulated++
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// thisProcessor says in tables who computed.
const thisProcessor = "this processor"

// multiplyAdds returns xy + z by the instruction of d, or by its emulation, and
// who computed them.
func multiplyAdds(d tcore.Device, x, y, z []float64) (sums []float64, by string, err error) {
	sums = make([]float64, len(z))
	unit, err := cpu.Open(d)
	if errors.Is(err, cpu.ErrNoMatrixUnit) {
		for i := range sums {
			sums[i] = d.Dot(x[i:i+1], y[i:i+1], z[i])
		}
		return sums, "emulation", nil
	}
	if err != nil {
		return nil, "", err
	}
	k := unit.K()
	a, b := make([]uint64, len(z)*k), make([]uint64, len(z)*k)
	c, codes := make([]uint64, len(z)), make([]uint64, len(z))
	for i := range z {
		a[i*k], b[i*k] = d.A.Encode(x[i], tcore.ToNearestEven), d.B.Encode(y[i], tcore.ToNearestEven)
		c[i] = d.C.Encode(z[i], tcore.ToNearestEven)
	}
	if err := unit.Dots(context.Background(), a, b, c, codes); err != nil {
		return nil, "", err
	}
	for i, code := range codes {
		sums[i] = d.C.Decode(code)
	}
	return sums, thisProcessor, nil
}

// ProcessorRates returns the table of the rates of this processor in products
// of n × n matrices: by FMAs in binary32, as package tcore computes them, and
// by each of its dot-product instructions, whose factors are in bfloat16. They
// are the rates of the whole product, with conversion, on all cores; the
// shortest of five counts.
func ProcessorRates(n int) *viz.Table {
	rng := rand.New(rand.NewPCG(paper.Seed, 0))
	random := func() blas32.General {
		m := matrix.New(n, n)
		for i := range m.Data {
			m.Data[i] = rng.Float32()
		}
		return m
	}
	a, b, d := random(), random(), matrix.New(n, n)
	rate := func(g tcore.GEMMer) float64 {
		best := math.Inf(1)
		for range 5 {
			start := time.Now()
			g.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
			best = min(best, time.Since(start).Seconds())
		}
		return 2 * math.Pow(float64(n), 3) / best
	}
	fma := rate(tcore.Machine{Device: devices.IEEEF32()})
	rows, finding := [][]string{{"FMA", "binary32", fmt.Sprintf("%.1f", fma/1e9), "1"}}, ""
	for _, device := range DefaultProcessor.Devices {
		unit, err := cpu.Open(device)
		if err != nil {
			continue
		}
		r := rate(unit)
		rows = append(rows, []string{mnemonic(device), device.A.Name, fmt.Sprintf("%.1f", r/1e9), typeset.Number(r/fma, 2)})
		if finding == "" {
			finding = fmt.Sprintf("With factors in bfloat16 this processor multiplies %s times as fast as with binary32.", typeset.Number(r/fma, 2))
		}
	}
	if finding == "" {
		finding = "T" + DefaultProcessor.missing()[1:] + "."
	}
	t := viz.NewTable("processor-rates", finding,
		fmt.Sprintf("Products of %d × %d matrices on %d cores, conversion included, the shortest of five; the results of FMAs are those of binary32.", n, n, runtime.GOMAXPROCS(0)),
		[]string{"Instruction", "factors", "Gflop/s", "times the Gflop/s of FMA"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}
