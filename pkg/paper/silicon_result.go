package paper

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// SiliconGEMM is the experiment of Section 4.2 on a GPU, beside the paper's
// model and the emulation.
type SiliconGEMM struct {
	*GEMMResult // of the paper's model, with the paper's bounds
	Origin
	Products []SiliconProduct
}

// SiliconProduct is one product of the GPU, measured.
type SiliconProduct struct {
	RecordedProduct
	GEMMErrors // against the exact product of the matrices in the low format
	Agreement  // with the emulation in the order that comes nearest; none if it is emulated itself
}

// OnGPU returns the same product as a GPU computes it. With the environment
// variable ROUNDOFF_DEVICE = gpu it is measured now, through the command
// roundoff gpu experiment; else, or if there is no GPU, it is the one recorded
// in the repository. If there is no record either the emulation of a Hopper
// stands in, and captions say so. It returns an error if a GPU fails or a
// record is not one of this experiment, and panics unless binary16 factors are
// summed in binary32.
func (r *GEMMResult) OnGPU() (*SiliconGEMM, error) {
	if r.Core.Low.Name != tcore.Binary16.Name || r.Core.Output.Name != tcore.Binary32.Name {
		panic(fmt.Sprintf("paper: OnGPU of %s to %s, want binary16 to binary32", r.Core.Low.Name, r.Core.Output.Name))
	}
	a, b := r.Operands()
	var record GEMMRecord
	flags := []string{fmt.Sprintf("-m=%d", r.M), fmt.Sprintf("-n=%d", r.N), fmt.Sprintf("-k=%d", r.K), fmt.Sprintf("-seed=%d", r.Seed)}
	origin, err := fromSilicon("gemm-"+r.Slug(), r.NewRecord(Provenance{}).File(), flags, &record)
	if err != nil {
		return nil, err
	}
	if origin.Emulated() {
		record = *r.emulate(a, b)
	}
	if err := record.check(r.GEMM); err != nil {
		return nil, err
	}
	exact, err := trial.Of(a, b)
	if err != nil {
		return nil, err
	}
	s := &SiliconGEMM{GEMMResult: r, Origin: origin}
	for _, p := range record.Products {
		d := p.matrix(r.M, r.N)
		found := Agreement{}
		if !origin.Emulated() {
			found = nearest(candidates(origin.Architecture), p.SplitK, a, b, d)
		}
		s.Products = append(s.Products, SiliconProduct{p, ErrorsOf(exact.Compare(matrix.Float64(d))), found})
	}
	return s, nil
}

// finding says in how many bits the emulation agrees, or how much truncation
// costs where there is nothing to agree with.
func (s *SiliconGEMM) finding() string {
	p := s.Products[0]
	if s.Emulated() {
		return fmt.Sprintf("Truncation costs: the median error is %.1f times that of the paper's model, which rounds to nearest",
			sample.Median(p.Errors)/sample.Median(s.Exact.Errors))
	}
	if p.First < 0 {
		return fmt.Sprintf("All %d outputs of %s have the bits of the emulation, %s", p.Equal, p.Call, p.EmulationOrder)
	}
	return fmt.Sprintf("%d of %d outputs of %s have the bits of the nearest emulation, %s; the first other one is in row %d, column %d",
		p.Equal, len(p.Errors), p.Call, p.EmulationOrder, p.First/s.N, p.First%s.N)
}

// details tells the origin, and what was computed.
func (s *SiliconGEMM) details(drawn string) string {
	return fmt.Sprintf("%s. Relative forward error of %d × %d × %d, binary16 entries ~ %s, seed %d, sums in binary32. "+
		"Bounds of the paper for rounding to nearest, an assumption that tensor cores do not meet, %s over all outputs. Drawn by paper.SiliconGEMM.%s.",
		s.Origin, s.M, s.K, s.N, s.Distribution.Name, s.Seed, percent(s.Confidence), drawn)
}

// Table returns the products of the GPU beside the paper's model: time, errors,
// outputs above the bounds, and the order in which the emulation comes nearest
// to their bits.
func (s *SiliconGEMM) Table() *viz.Table {
	t := viz.NewTable("gemm-silicon-"+s.Slug(), s.finding()+".", s.details("Table"),
		[]string{"Product", "ms", "median error", "largest", "above VIBEA", "above DBEA", "nearest emulation",
			fmt.Sprintf("equal bits, of %d", s.M*s.N)})
	row := func(name, ms string, e GEMMErrors, order, equal string) {
		above := func(bound string) string { return fmt.Sprint(e.Violations(s.Constant(bound).Zeta)) }
		t.Row(name, ms, short(sample.Median(e.Errors)), short(slices.Max(e.Errors)), above("VIBEA"), above("DBEA"), order, equal)
	}
	row("paper's model", "–", s.Exact, "–", "–")
	for _, p := range s.Products {
		if s.Emulated() {
			row(p.Call, "–", p.GEMMErrors, "–", "–")
			continue
		}
		row(p.name(), fmt.Sprintf("%.3f", float64(p.Nanoseconds)/1e6), p.GEMMErrors, p.EmulationOrder.String(), fmt.Sprint(p.Equal))
	}
	return t
}

// name tells the call and what the library tells of it.
func (p SiliconProduct) name() string {
	s := p.Call
	if p.Algorithm != "" {
		s += ", algorithm " + p.Algorithm
	}
	if p.RecordedProduct.SplitK > 0 {
		s += fmt.Sprintf(", K in %d parts", p.RecordedProduct.SplitK)
	}
	return s
}

// Figure returns the distribution of the first product's error beside those of
// the paper's model and of its bounds.
func (s *SiliconGEMM) Figure() *viz.Chart {
	c := viz.NewChart("gemm-silicon-edf-"+s.Slug(), s.finding()+".", s.details("Figure"))
	p := c.Panel("", viz.Axis{Label: "Relative forward error |d̂ − d| / |d|", Log: true}, viz.Axis{Label: "Fraction of outputs", Min: 0, Max: 1})
	p.EDF(viz.Series{Label: "paper's model", Color: viz.Black}, s.Exact.Errors)
	label := "GPU"
	if s.Emulated() {
		label = "emulated"
	}
	p.EDF(viz.Series{Label: label, Color: viz.Purple}, s.Products[0].Errors)
	for _, bound := range []viz.Series{{Label: "DBEA", Color: DBEA.Color}, {Label: "VIBEA", Color: VIBEA.Color}} {
		bounds := s.Products[0].Bounds(s.Constant(bound.Label).Zeta)
		bound.Style = viz.Dashed
		p.EDF(bound, bounds)
	}
	return c
}
