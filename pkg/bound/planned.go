package bound

import (
	"fmt"
	"math"
	"sync"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// planned is the plan of a problem, with what is known of it for each K.
type planned struct {
	plan.Plan
	device tcore.Device // on which a Run is a chain of full blocks

	mu    sync.Mutex
	known map[int]shape
}

// Planned returns the problem with a plan in place of its machine: every bound
// of the catalogue, [Predict] and package trial then take D as the plan
// computes it, with alpha = 1 and beta = 0. If parts have scales, A, B and D
// are those after scaling, and X and Y must not be told.
//
// A bound of the catalogue is one on every [plan.Run] of the plan, the longest
// at worst, and its probability of failure is divided among all Runs of all
// outputs. What happens to their results after that is bounded node by node, up
// the tree. A merge to nearest in binary32 of m parts that are not empty adds
// at most (m-1)u of their sizes ([roundoff.SumOfNearest]); a fold does that for
// the longest of its sums, and starting at +0 or adding a missing part is
// exact. Formats of parts and of sums count one rounding each time. A scale is
// one more rounding of each part, and adding n scaled parts by FMAs is n
// roundings.
//
// No bound is valid where a plan loses products ([plan.Cut.Floor]): the results
// say how many.
//
// The error says that there are no bounds for a plan with these instructions.
// Planned panics if [plan.Plan.Check] returns an error.
func (k Problem) Planned(p plan.Plan) (Problem, error) {
	if err := p.Check(); err != nil {
		panic(fmt.Sprintf("bound: %v", err))
	}
	d, err := shortened(runOf(p.Order))
	if err != nil {
		return k, err
	}
	k.Machine = tcore.Machine{Name: p.Name, Device: d, Output: p.Output}
	if k.sumsIntegers() {
		return k, fmt.Errorf("bound: plan %q on device %q, want one that rounds", p.Name, d.Name)
	}
	k.planned = &planned{Plan: p, device: d, known: map[int]shape{}}
	return k, nil
}

// Plan returns the plan of the problem, and false if it has none.
func (k Problem) Plan() (plan.Plan, bool) {
	if k.planned == nil {
		return plan.Plan{}, false
	}
	return k.planned.Plan, true
}

// runOf returns the leaf of an order.
func runOf(o plan.Order) plan.Run {
	for {
		switch n := o.(type) {
		case plan.Run:
			return n
		case plan.Parts:
			o = n.Each
		}
	}
}

// shortened returns a device whose blocks are the products of one instruction
// of the run: the rest, 0 × 0, changes no sum on it. The error says that this
// is not known of the device.
func shortened(r plan.Run) (tcore.Device, error) {
	d := r.Device
	if r.Group == 0 || r.Group == d.BlockTerms() {
		return d, nil
	}
	switch c := d.Core.(type) {
	case tcore.Fused:
		if c.Group == 0 {
			c.Terms = r.Group
			d.Core = c
			return d, nil
		}
	case tcore.ExactSum:
		c.Terms = r.Group
		d.Core = c
		return d, nil
	}
	return d, fmt.Errorf("bound: Group = %d on device %q, want %d: no bounds are known of its blocks that are not full", r.Group, d.Name, d.BlockTerms())
}

// checkPlan panics if the machine of the problem is not that of its plan.
func (k Problem) checkPlan() {
	if k.planned == nil {
		return
	}
	if k.Machine != (tcore.Machine{Name: k.planned.Name, Device: k.planned.device, Output: k.planned.Output}) {
		panic(fmt.Sprintf("bound: machine %q on device %q, want that of plan %q, as Planned sets it", k.Name, k.Device.Name, k.planned.Name))
	}
}

// failsPlan returns why a bound is not valid for the plan of the problem, or
// "".
func (k Problem) failsPlan(b Bound, random bool) string {
	if k.planned == nil {
		return ""
	}
	s := k.shape()
	_, scaled := k.planned.Scaled()
	switch {
	case s.lost > 0:
		return fmt.Sprintf("the plan loses %d of %d products: D is the sum of the others", s.lost, k.K)
	case scaled && k.knows(Moments):
		return "of scaled factors no distribution is known"
	case s.short && random:
		return "a block that is not full stands before full ones: nothing is known of its random errors"
	case s.short && k.isTree():
		return "a block that is not full stands before full ones: nothing is known of its pairs"
	case k.Recipes != nil:
		return "no bound is known of a recipe with a plan"
	}
	return ""
}

// assumed returns what is assumed of the merges of the plan, in words, or "".
func (k Problem) assumed() string {
	if k.planned == nil {
		return ""
	}
	if z := k.scaleSizes(); math.IsNaN(z) {
		return "if no factor, sum or product with a scale is subnormal or overflows"
	}
	return k.shape().assumes
}

// chainUnderflow returns the effect of underflow on the products of all chains,
// in units of D. Where parts have unknown scales it is 0, which
// [Problem.assumed] says.
func (k Problem) chainUnderflow() float64 {
	if k.planned == nil {
		return float64(k.parts()) * k.underflows()
	}
	unscaled := k
	unscaled.RangeX.Scale, unscaled.RangeY.Scale = 0, 0
	z := k.scaleSizes()
	if math.IsNaN(z) {
		return 0
	}
	return z*float64(k.parts())*unscaled.underflows() + k.shape().underflow
}
