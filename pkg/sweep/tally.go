package sweep

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// A tally accumulates the Summary of one product.
type tally struct {
	outputs, violations int
	largest, constant   float64
	ratios              Sketch
}

// slack is the relative tolerance for errors and bounds, which are computed in
// binary64.
const slack = 1e-12

// add counts an output with its error e, its size |A||B|, and the interval i in
// which the error should lie. It does not count an interval that is NaN or
// unbounded.
func (t *tally) add(e, size float64, i bound.Interval) {
	most := i.Bound()
	if math.IsNaN(most) || math.IsInf(most, 0) {
		return
	}
	t.outputs++
	if math.Abs(e-i.Centre) > i.Radius+float64(slack*max(math.Abs(e), i.Radius)) {
		t.violations++
	}
	ratio := 0.0 // also where the bound is 0
	if e != 0 {
		ratio = math.Abs(e) / most
	}
	t.ratios.Add(ratio)
	t.largest = max(t.largest, ratio)
	if most > 0 && size > 0 {
		t.constant = max(t.constant, most/size)
	}
}

// merge adds the counts of o.
func (t *tally) merge(o tally) {
	t.outputs += o.outputs
	t.violations += o.violations
	t.largest = max(t.largest, o.largest)
	t.constant = max(t.constant, o.constant)
	t.ratios.Merge(o.ratios)
}

// summary returns the summary of one product.
func (t *tally) summary() Summary {
	return Summary{
		Runs: 1, Failed: min(1, t.violations), Outputs: t.outputs, Violations: t.violations,
		Tightness: t.largest, Largest: t.largest, Constant: t.constant, Ratios: t.ratios,
	}
}
