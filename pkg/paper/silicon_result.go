package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// SiliconGEMM is the experiment of Section 4.2 on a GPU, compared with the
// paper's model and with the emulation.
type SiliconGEMM struct {
	*GEMMResult // result of the paper's model, with the paper's bounds
	Origin
	Products []SiliconProduct
}

// SiliconProduct is one product of the GPU with its errors.
type SiliconProduct struct {
	RecordedProduct
	GEMMErrors // against the exact product of the matrices in the low format
	// Agreement with the closest emulation; zero if the product is itself emulated.
	Agreement
}

// OnGPU returns the same product computed by a GPU. With the environment
// variable ROUNDOFF_DEVICE = gpu it is measured by the command roundoff gpu
// experiment. Otherwise, or if there is no GPU, it is read from the record in
// the repository. If there is no record, the emulation of a Hopper replaces it,
// and captions say so. It returns an error if the measurement fails or the
// record is not one of this experiment. It panics unless the low format is
// binary16 and the output format binary32.
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
			found = NearestOrder(candidates(origin.Architecture), p.SplitK, a, b, d)
		}
		s.Products = append(s.Products, SiliconProduct{p, ErrorsOf(exact.Compare(matrix.Float64(d))), found})
	}
	return s, nil
}

// claimH100 appends the paper's claim about the GPU that computed its product.
// It can be tested if the results of an H100 are at hand.
func (r *GEMMResult) claimH100(c *claims) {
	const id, text = "gemm-h100", "The product was computed by cuBLAS on an NVIDIA H100"
	missing := func(why string) { c.untestable(id, text, nil, "", why+": "+r.Core.Name+" is run instead, on the CPU") }
	if r.Core.Low.Name != tcore.Binary16.Name || r.Core.Output.Name != tcore.Binary32.Name {
		missing("no GPU is asked for these formats")
		return
	}
	s, err := r.OnGPU()
	switch {
	case err != nil:
		missing(err.Error())
	case s.Emulated():
		missing("there is no record of this experiment")
	case !strings.Contains(s.GPU, "H100"):
		missing("the results are those of " + s.GPU)
	default:
		p := s.Products[0]
		above := p.Violations(s.Constant("VIBEA").Zeta)
		c.holds(id, text, float64(p.Equal), "outputs", p.First < 0 && above == 0,
			fmt.Sprintf("%s. %s; its largest error is %s, and %d are above VIBEA, which assumes rounding to nearest", s.finding(), s.Origin, short(slices.Max(p.Errors)), above))
	}
}

// Excess returns the median error of the first product, in units of that of the
// paper's model.
func (s *SiliconGEMM) Excess() float64 {
	return sample.Median(s.Products[0].Errors) / sample.Median(s.Exact.Errors)
}

// finding returns how many outputs agree with the emulation bit for bit. If the
// product is itself emulated, it returns by how much truncation increases the
// error.
func (s *SiliconGEMM) finding() string {
	p := s.Products[0]
	if s.Emulated() {
		return fmt.Sprintf("Truncation costs: the median error of an emulated Hopper is %.1f times that of the paper's model, which rounds to nearest",
			s.Excess())
	}
	if p.First < 0 {
		return fmt.Sprintf("All %d outputs of %s have the bits of the emulation, %s", p.Equal, p.Call, p.EmulationOrder)
	}
	return fmt.Sprintf("Of %d outputs of %s, %d have the bits of the nearest emulation, %s; the first other one is in row %d, column %d",
		len(p.Errors), p.Call, p.Equal, p.EmulationOrder, p.First/s.N, p.First%s.N)
}

// details returns the origin and the parameters of the experiment.
func (s *SiliconGEMM) details() string {
	return fmt.Sprintf("%s. Bounds at %s, if rounded to nearest; %d × %d × %d, entries ~ %s, seed %d.",
		s.Origin, percent(s.Confidence), s.M, s.K, s.N, s.Distribution.Name, s.Seed)
}

// Table returns the products of the GPU and that of the paper's model: time,
// errors, violations of the bounds, and the order of summation whose emulation
// agrees best.
func (s *SiliconGEMM) Table() *viz.Table {
	t := viz.NewTable("gemm-silicon-"+s.Slug(), s.finding()+".", s.details(),
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

// name returns the call with the algorithm and the number of parts of K, if
// known.
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

// Figure returns the empirical distributions of the error of the first product,
// of the error of the paper's model, and of the bounds.
func (s *SiliconGEMM) Figure() *viz.Chart {
	c := viz.NewChart("gemm-silicon-edf-"+s.Slug(), s.finding()+".", s.details())
	p := c.Panel("", viz.Axis{Label: "Relative forward error |d̂ − d| / |d|", Log: true}, viz.Axis{Label: "Fraction of outputs", Min: 0, Max: 1})
	p.EDF(viz.Series{Label: "paper's model", Color: viz.Black}, s.Exact.Errors)
	label := "GPU"
	if s.Emulated() {
		label = "Hopper" // that it is emulated is in the caption
	}
	p.EDF(viz.Series{Label: label, Color: viz.Purple}, s.Products[0].Errors)
	for _, bound := range []viz.Series{{Label: "DBEA", Color: DBEA.Color}, {Label: "VIBEA", Color: VIBEA.Color}} {
		bounds := s.Products[0].Bounds(s.Constant(bound.Label).Zeta)
		bound.Style = viz.Dashed
		p.EDF(bound, bounds)
	}
	return c
}
