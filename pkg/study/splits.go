package study

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Splits is an experiment on what it costs to cut K: products on a device whose
// sums are cut into more and more parts.
type Splits struct {
	Device tcore.Device
	Data   []sweep.Generator
	Size   int // M and N
	K      int
	Parts  []int
	Seed   uint64
}

// DefaultSplits is that of [Splits.Figure] in the notebook.
var DefaultSplits = Splits{
	Device: devices.HopperF16(),
	Data:   []sweep.Generator{sweep.Positive, sweep.Normal},
	Size:   16,
	K:      16384,
	Parts:  []int{1, 2, 4, 8, 16, 32, 64, 128, 256},
	Seed:   1,
}

// splitMerges are the ways to merge parts, as cuBLASLt's reduction schemes have
// them, in its output format.
var splitMerges = []struct {
	name  string
	merge plan.Merge
	style viz.Style
}{
	{"all in binary32", plan.Merge{}, viz.Solid},
	{"parts in binary16", plan.Merge{Partial: tcore.Binary16}, viz.Dashed},
	{"sums in binary16", plan.Merge{Running: tcore.Binary16}, viz.Dotted},
}

// splitErrors are the errors of one kind of data: for each merge and each
// number of parts the root mean square of error/|A||B|.
type splitErrors struct {
	data   string
	errors [][]float64
}

// Run measures the errors. It returns an error if an element of the matrices is
// not finite.
func (s Splits) Run() ([]splitErrors, error) {
	task := progress.Start(len(s.Data) * len(splitMerges) * len(s.Parts))
	defer task.End()
	var all []splitErrors
	for _, g := range s.Data {
		a, b := g.Draw(s.Size, s.Size, s.K, s.Seed)
		p, err := trial.On(s.Device, a, b)
		if err != nil {
			return nil, err
		}
		z := splitErrors{data: g.Name}
		for _, m := range splitMerges {
			var errors []float64
			for _, n := range s.Parts {
				o := plan.Parts{Cut: plan.Cut{Count: n, Grain: s.Device.BlockTerms()}, Each: plan.Run{Device: s.Device}, Merge: m.merge}
				d := matrix.New(s.Size, s.Size)
				plan.Plan{Order: o, Output: tcore.Binary32}.GEMM(blas.NoTrans, blas.NoTrans, 1, p.A, p.B, 0, blas32.General{}, d)
				errors = append(errors, sample.RMS(p.Compare(matrix.Float64(d)).Backward()))
				task.Step(1)
			}
			z.errors = append(z.errors, errors)
		}
		all = append(all, z)
	}
	return all, nil
}

// Figure draws the errors, with a panel for each kind of data.
func (s Splits) Figure(all []splitErrors) *viz.Chart {
	var gains []string
	for _, e := range all {
		exact := e.errors[0]
		best := 0
		for i := range exact {
			if exact[i] < exact[best] {
				best = i
			}
		}
		gains = append(gains, fmt.Sprintf("%.0f times with %d parts for %s", exact[0]/exact[best], s.Parts[best], typeset.Minus(e.data)))
	}
	c := viz.NewChart("splits",
		"Cutting K makes the error of an H100's sums smaller, "+typeset.List(gains)+", if parts are added in binary32.",
		fmt.Sprintf("Root mean square of error/|A||B| before D is rounded, products %d × %d × %d of binary16 numbers, seed %d.", s.Size, s.K, s.Size, s.Seed))
	x := viz.Axis{Label: "Parts of K", Log: true, Min: float64(s.Parts[0]), Max: float64(s.Parts[len(s.Parts)-1])}
	parts := make([]float64, len(s.Parts))
	for i, n := range s.Parts {
		parts[i] = float64(n)
	}
	for _, e := range all {
		p := c.Panel("Entries ~ "+e.data, x, viz.Axis{Label: "Error / |A||B|, rms", Log: true})
		for i, m := range splitMerges {
			p.Line(viz.Series{Label: m.name, Color: viz.Generations[2], Style: m.style}, parts, e.errors[i])
		}
	}
	return c
}
