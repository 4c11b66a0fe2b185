package study

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Lengths is the experiment on how long sums of converted factors may be: real
// matrices are converted to the formats of a device and multiplied there, once
// with sums of all of K, once with sums that are promoted to binary32 every
// Promote products.
type Lengths struct {
	Device       tcore.Device
	Promote      int
	M, N         int
	Ks           []int
	Distribution paper.Distribution
	Seed         uint64
	Tolerance    float64 // on |D̂ - D| / |A||B|, at [paper.Confidence]
}

// DefaultLengths are products of numbers from U(0,1) in e4m3 on a Hopper GPU.
var DefaultLengths = Lengths{
	Device: devices.HopperE4M3(), Promote: 128,
	M: 16, N: 16, Ks: []int{16, 64, 256, 1024, 4096, 16384, 65536, 262144},
	Distribution: paper.UniformUnit, Seed: paper.DefaultGEMM.Seed, Tolerance: 3e-2,
}

// LengthsResult contains the errors and the bounds of both machines, that of
// sums of all of K first.
type LengthsResult struct {
	Lengths
	Machines [2]LengthsMachine
}

// LengthsMachine contains what was found of one machine.
type LengthsMachine struct {
	tcore.Machine
	Errors         []float64 // the largest |D̂ - D| / |A||B|, for each of Ks
	LeastK, MostK  int       // the interval of K in which the tolerance is guaranteed
	K              []int     // of the bounds
	Bounds         []bound.Result
	WorstConverted float64 // the constant of converting the factors if errors did not average out
}

// Run multiplies the matrices and evaluates the bounds. It panics as
// [paper.Distribution.Matrices] does, and returns an error if an exact product
// cannot be computed.
func (l Lengths) Run() (*LengthsResult, error) {
	r := &LengthsResult{Lengths: l}
	r.Machines[0].Machine = tcore.Machine{Device: l.Device}
	r.Machines[1].Machine = tcore.Machine{Device: l.Device, Promote: l.Promote}
	task := progress.Start(len(l.Ks) + 2)
	defer task.End()
	for _, K := range l.Ks {
		a, b := l.Distribution.Matrices(l.M, l.N, K, l.Seed)
		product, err := trial.Of(a, b)
		if err != nil {
			return nil, fmt.Errorf("study: K = %d: %w", K, err)
		}
		for i := range r.Machines {
			m := &r.Machines[i]
			m.Errors = append(m.Errors, slices.Max(product.Run(m.Machine).Backward()))
		}
		task.Step(1)
	}
	for i := range r.Machines {
		if err := r.bounds(&r.Machines[i]); err != nil {
			return nil, err
		}
		task.Step(1)
	}
	return r, nil
}

// bounds evaluates the bounds for one machine, two for each octave of K.
func (l Lengths) bounds(m *LengthsMachine) error {
	f := roundoff.FailureOf(paper.Confidence)
	d := bound.Uniform(float64(l.Distribution.Low), float64(l.Distribution.High))
	k := bound.Problem{M: l.M, N: l.N, K: l.Ks[0], Machine: m.Machine, X: d, Y: d, Represented: true}
	advice, err := bound.Advise(k, l.Tolerance, f, []tcore.Device{l.Device})
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	m.LeastK, m.MostK = advice[0].LeastK, advice[0].LargestK
	worst := k
	worst.X, worst.Y = bound.Distribution{}, bound.Distribution{}
	results, err := bound.Evaluate(worst, f)
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	best, _ := bound.Tightest(results)
	m.WorstConverted = best.Parts.Conversion
	for i := range 2 * bits.Len(uint(l.Ks[len(l.Ks)-1])) {
		k.K = quarterOctave(2 * i)
		if k.K < l.Ks[0] || k.K > l.Ks[len(l.Ks)-1] {
			continue
		}
		results, err := bound.Evaluate(k, f)
		if err != nil {
			return fmt.Errorf("study: K = %d: %w", k.K, err)
		}
		if best, ok := bound.Tightest(results); ok {
			m.K, m.Bounds = append(m.K, k.K), append(m.Bounds, best)
		}
	}
	return nil
}

// Figure returns the chart of the bounds, by their parts, and of the largest
// errors against K, with a panel for each machine.
func (r *LengthsResult) Figure() *viz.Chart {
	plain, promoted := r.Machines[0], r.Machines[1]
	c := viz.NewChart("lengths",
		fmt.Sprintf("%s guarantees an error of %s |A||B| %s; promoted every %d products, %s.",
			machineTitle(tcore.Machine{Device: r.Device}), typeset.Number(r.Tolerance, 2), r.interval(plain), r.Promote, r.interval(promoted)),
		fmt.Sprintf("Product %d × K × %d of real numbers from %s, rounded to %s, seed %d. Bounds at %s over all outputs; dots: the largest measured error. Converting averages out, accumulating adds up.",
			r.M, r.N, r.Distribution.Name, r.Device.A.Name, r.Seed, typeset.Percent(paper.Confidence)))
	x := viz.Axis{Label: "Terms K of each sum", Log: true, Min: 10, Max: 1e6}
	y := viz.Axis{Label: "|d̂ − d| / |A||B|", Log: true, Min: 1e-4, Max: 10}
	for i, title := range []string{"One sum over K", fmt.Sprintf("Promoted to binary32 every %d products", r.Promote)} {
		r.panel(c.Panel(title, x, y), r.Machines[i])
	}
	return c
}

// panel draws the panel of one machine.
func (r *LengthsResult) panel(p *viz.Panel, m LengthsMachine) {
	for _, line := range []struct {
		series viz.Series
		of     func(bound.Result) float64
	}{
		{viz.Series{Label: "converting, at worst", Color: viz.Grey, Style: viz.Dotted}, func(bound.Result) float64 { return m.WorstConverted }},
		{viz.Series{Label: "converting", Color: viz.Generations[0], Style: viz.Dashed}, func(b bound.Result) float64 { return b.Parts.Conversion }},
		{viz.Series{Label: "accumulating", Color: viz.Generations[2], Style: viz.Dashed}, func(b bound.Result) float64 { return b.Parts.Drift + b.Parts.Accumulation + b.Parts.Merging }},
		{viz.Series{Label: "both: the bound", Color: viz.Black}, func(b bound.Result) float64 { return b.Constant }},
	} {
		var x, y []float64
		for i, b := range m.Bounds {
			if v := line.of(b); v > 0 {
				x, y = append(x, float64(m.K[i])), append(y, v)
			}
		}
		p.Line(line.series, x, y)
	}
	ks := make([]float64, len(r.Ks))
	for i, K := range r.Ks {
		ks[i] = float64(K)
	}
	p.Points(viz.Series{Label: "measured", Color: viz.Black}, ks, m.Errors)
	p.Horizontal(viz.Series{Label: "tolerance", Color: viz.Grey}, r.Tolerance)
	for _, K := range []int{m.LeastK, m.MostK} {
		if r.Ks[0] < K && K < r.Ks[len(r.Ks)-1] {
			p.Vertical(viz.Series{Label: fmt.Sprintf("K = %d", K), Color: viz.Grey, Style: viz.Dashed}, float64(K))
		}
	}
}

// interval returns the interval of K of a machine, as text.
func (r *LengthsResult) interval(m LengthsMachine) string {
	switch {
	case m.MostK == 0:
		return "for no K"
	case m.MostK == bound.LongestK:
		return fmt.Sprintf("from K = %d on", m.LeastK)
	}
	return fmt.Sprintf("for K from %d to %d", m.LeastK, m.MostK)
}
