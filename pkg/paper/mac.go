package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// MAC is the experiment of Section 4.1: the multiply-accumulate d = ab + c of
// binary32 numbers drawn from one distribution, computed in three ways.
type MAC struct {
	Samples      int
	Distribution Distribution
	Confidence   float64 // confidence that a probabilistic bound holds, for each sample separately
	Seed         uint64
}

// DefaultMAC is the paper's experiment. The paper states neither the number of
// samples nor the confidence.
var DefaultMAC = MAC{Samples: 400_000, Distribution: UniformOneTwo, Confidence: Confidence, Seed: Seed}

// MACVariant is one way to compute the multiply-accumulate. It contains the
// relative forward error |d^-d|/|d| of each sample and the two bounds on it.
type MACVariant struct {
	Name                string
	Errors, DBEA, VIBEA []float64
}

// MACResult is the result of the experiment.
type MACResult struct {
	MAC
	Plain, FMA, Mixed MACVariant // without FMA, with FMA, with MPFMA
}

// Run draws the samples and computes errors and bounds. The MPFMA first
// converts a and b to binary16, so its bounds include their representation
// error; c is binary32 already, so the bounds include no representation error
// of c. It panics if Samples < 1, Confidence is outside (0, 1), or the interval
// of the distribution is empty.
func (m MAC) Run() *MACResult {
	if m.Samples < 1 {
		panic(fmt.Sprintf("paper: Samples = %d, want Samples >= 1", m.Samples))
	}
	f, mixed := tcore.Binary32, tcore.PaperF32.MPFMA
	u, r := f.UnitRoundoff(), mixed.Roundoffs()
	vibea := func(u float64) roundoff.Analysis {
		return roundoff.VIBEA{Lambda: roundoff.Lambda(roundoff.FailureOf(m.Confidence), u, 2)}
	}
	plain := func(a, b, c float64) float64 { return f.MAC(a, b, c, tcore.ToNearestEven) }
	fused := func(a, b, c float64) float64 { return f.FMA(a, b, c, tcore.ToNearestEven) }

	x := m.sample()
	task := progress.Start(3)
	defer task.End()
	return &MACResult{
		MAC:   m,
		Plain: x.kernel(task, "without FMA", plain, roundoff.MAC(u, roundoff.DBEA), roundoff.MAC(u, vibea(u))),
		FMA:   x.kernel(task, "with FMA", fused, roundoff.FMA(u), roundoff.FMA(u)),
		Mixed: x.kernel(task, "with MPFMA", mixed.FMA,
			roundoff.MPFMARepresentedInputs(r, roundoff.DBEA),
			roundoff.MPFMARepresentedInputs(r, vibea(r.Low))),
	}
}

// triples contains the operands a, b, c of each multiply-accumulate.
type triples [][3]float64

func (m MAC) sample() triples {
	x := m.Distribution.Matrix(m.Samples, 3, m.Seed, 0).Data
	t := make(triples, m.Samples)
	for i := range t {
		t[i] = [3]float64{float64(x[3*i]), float64(x[3*i+1]), float64(x[3*i+2])}
	}
	return t
}

// kernel computes ab + c in one way for all triples, with the errors and the
// bounds.
func (t triples) kernel(task *progress.Task, name string, compute func(a, b, c float64) float64, dbea, vibea roundoff.MACBound) MACVariant {
	k := MACVariant{name, make([]float64, len(t)), make([]float64, len(t)), make([]float64, len(t))}
	parallel.Each(len(t), func(i int) {
		a, b, c := t[i][0], t[i][1], t[i][2]
		k.Errors[i] = macError(compute(a, b, c), a, b, c)
		k.DBEA[i] = dbea.Relative(a, b, c)
		k.VIBEA[i] = vibea.Relative(a, b, c)
	})
	task.Step(1)
	return k
}

// claimedMPFMA is what the paper says of the largest error of MPFMA, in units
// of that of FMA.
const claimedMPFMA = 1e4

// Figure returns Figure 5: the empirical distribution of the relative forward
// error of each variant and of its deterministic and probabilistic bounds, nine
// curves, with lines at the unit roundoffs and at what the paper says of the
// largest error with MPFMA.
func (r *MACResult) Figure() *viz.Chart {
	smaller, below := 0, "never below"
	for _, k := range r.variants() {
		smaller += violations(k.DBEA, k.VIBEA)
	}
	if smaller > 0 {
		below = fmt.Sprintf("in %d of %d cases below", smaller, 3*r.Samples)
	}
	c := viz.NewChart("fig5-mac-edf",
		fmt.Sprintf("The probabilistic bound is %s the deterministic one; MPFMA's largest error is %s times that of FMA (the paper: 10⁴).",
			below, short(r.Mixed.Largest()/r.FMA.Largest())),
		fmt.Sprintf("Figure 5 of the paper. Largest error: %.2f u without FMA, %.2f u with it. MPFMA rounds a and b to binary16. %d samples, binary32, a, b, c ~ %s, seed %d, %s for each.",
			r.Plain.Largest()/u32, r.FMA.Largest()/u32, r.Samples, r.Distribution.Name, r.Seed, percent(r.Confidence)))
	for i, k := range r.variants() {
		p := c.Panel(k.Name, viz.Axis{Label: relativeError.Label, Log: true, Min: 1e-11, Max: 1e-2},
			viz.Axis{Label: "Fraction of samples", Min: 0, Max: 1})
		p.Vertical(viz.Series{Label: "*u*", Color: viz.Grey, Style: viz.Dotted}, u32)
		if i == 2 {
			p.Vertical(viz.Series{Label: "paper: 10⁴ × FMA's largest", Color: Observed.Color, Style: viz.Dotted}, claimedMPFMA*r.FMA.Largest())
		}
		p.EDF(Observed, k.Errors)
		p.EDF(viz.Series{Label: "DBEA", Color: DBEA.Color, Style: viz.Dashed}, k.DBEA)
		p.EDF(viz.Series{Label: "VIBEA " + percent(r.Confidence), Color: VIBEA.Color, Style: viz.Dotted}, k.VIBEA)
	}
	return c
}

// variants returns the three ways, in the order of the paper.
func (r *MACResult) variants() []MACVariant { return []MACVariant{r.Plain, r.FMA, r.Mixed} }

// Table returns the largest error and the largest bounds of each variant.
func (r *MACResult) Table() *viz.Table {
	bad, least, most := 0, math.Inf(1), 0.0
	for _, k := range r.variants() {
		bad += violations(k.Errors, k.DBEA) + violations(k.Errors, k.VIBEA)
		least, most = min(least, slices.Max(k.DBEA)/k.Largest()), max(most, slices.Max(k.DBEA)/k.Largest())
	}
	t := viz.NewTable("mac-largest",
		fmt.Sprintf("%s, and the largest deterministic bound is %.2f to %.2f times the largest error.", hold("The bounds", bad, 2*3*r.Samples), least, most),
		fmt.Sprintf("Relative forward errors of ab + c, u of binary32, %d samples for each row, VIBEA at %s, seed %d.", r.Samples, percent(r.Confidence), r.Seed),
		[]string{"Algorithm", "Largest error", "in u", "DBEA", "VIBEA", "DBEA / error", "Violations"})
	for _, k := range r.variants() {
		t.Row(k.Name, short(k.Largest()), short(k.Largest()/u32), short(slices.Max(k.DBEA)), short(slices.Max(k.VIBEA)),
			fmt.Sprintf("%.2f", slices.Max(k.DBEA)/k.Largest()), fmt.Sprint(violations(k.Errors, k.DBEA)+violations(k.Errors, k.VIBEA)))
	}
	return t
}

// Largest returns the largest relative forward error.
func (k MACVariant) Largest() float64 { return slices.Max(k.Errors) }

// Claims returns the paper's claims about this experiment.
func (r *MACResult) Claims() []Claim {
	c := claims{source: "Section 4.1, Figure 5", notebook: "05-multiply-accumulate", file: "mac.go"}
	plain, fma, mixed := r.Plain.Largest(), r.FMA.Largest(), r.Mixed.Largest()
	c.holds("mac-fma-smaller", "FMA gives a smaller largest forward error than MAC without FMA (ratio below 1)",
		fma/plain, "", fma < plain,
		fmt.Sprintf("largest errors %.2f u with FMA and %.2f u without: one rounding against two", fma/u32, plain/u32))
	c.holds("mac-mpfma-larger", "Mixed precision introduces a larger error, from converting a and b to binary16 (ratio above 1)",
		mixed/fma, "", mixed > fma,
		fmt.Sprintf("largest error %s against %s", digits(mixed, 3), digits(fma, 3)))
	c.holds("mac-dbea-tighter-plain", "Without FMA the deterministic bound is tighter than the probabilistic one (VIBEA/DBEA above 1)",
		slices.Max(r.Plain.VIBEA)/slices.Max(r.Plain.DBEA), "", slices.Max(r.Plain.VIBEA) > slices.Max(r.Plain.DBEA),
		fmt.Sprintf("DBEA %s, VIBEA %s at %s", short(slices.Max(r.Plain.DBEA)), digits(slices.Max(r.Plain.VIBEA), 3), percent(r.Confidence)))
	c.holds("mac-dbea-tighter-mpfma", "With MPFMA the deterministic bound is tighter than the probabilistic one (VIBEA/DBEA above 1)",
		slices.Max(r.Mixed.VIBEA)/slices.Max(r.Mixed.DBEA), "", slices.Max(r.Mixed.VIBEA) > slices.Max(r.Mixed.DBEA),
		fmt.Sprintf("DBEA %s, VIBEA %s at %s; with two factors the probabilistic constant cannot win", digits(slices.Max(r.Mixed.DBEA), 3), digits(slices.Max(r.Mixed.VIBEA), 3), percent(r.Confidence)))
	c.holds("mac-fma-same-bound", "With FMA both analyses give the same bound (VIBEA/DBEA is 1)",
		slices.Max(r.FMA.VIBEA)/slices.Max(r.FMA.DBEA), "", slices.Max(r.FMA.VIBEA) == slices.Max(r.FMA.DBEA),
		"a single rounding leaves nothing to average")
	c.holds("mac-fma-tight", "With FMA the bound estimates the largest error tightly (bound/error near 1)",
		slices.Max(r.FMA.DBEA)/fma, "", slices.Max(r.FMA.DBEA)/fma < 1.05,
		fmt.Sprintf("largest error %s, bound u = %s", short(fma), short(slices.Max(r.FMA.DBEA))))
	bad := 0
	for _, k := range r.variants() {
		bad += violations(k.Errors, k.DBEA) + violations(k.Errors, k.VIBEA)
	}
	c.holds("mac-no-violation", "The bounds hold: no sample exceeds one (0 violations)",
		float64(bad), "samples", bad == 0, fmt.Sprintf("%d samples, three kernels, two bounds each", r.Samples))
	c.source = "Conclusions"
	c.order("mac-mpfma-over-fma", "MPFMA gives a nearly O(10⁴) times larger error than FMA", claimedMPFMA, mixed/fma, "",
		"close to u₁₆/u₃₂ = 8192: the error is that of converting the inputs; without conversion both round once")
	return c.list
}
