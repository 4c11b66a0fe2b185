package tolerance

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Orders says which orders of additions an implementation may have.
type Orders int

const (
	// UnknownSplit: K is cut into any number of parts up to MostParts, the same for
	// all outputs, of equal numbers of whole blocks but for the last. Each is a
	// chain on the device, and the sums of parts are added in binary32 in any
	// order. Promotion, every so many products, is such a cut too.
	UnknownSplit Orders = iota

	// OneMachine: as the Machine or the Plan says.
	OneMachine

	// AnyOrder: every plan of package plan on the device that loses no products
	// and has no scales, with any cuts, folds and groups: see [bound.AllOrders].
	AnyOrder

	// MixedSplits: as UnknownSplit, but each output may have another number of
	// parts, as where some tiles are split and others are not. It allows more.
	MixedSplits
)

// String returns the name of the orders, as flags have it.
func (o Orders) String() string {
	switch o {
	case UnknownSplit:
		return "split"
	case OneMachine:
		return "machine"
	case AnyOrder:
		return "any"
	case MixedSplits:
		return "mixed"
	}
	return fmt.Sprintf("Orders(%d)", int(o))
}

// MostParts is the largest number of parts of K that UnknownSplit and
// MixedSplits allow, unless an implementation has another.
const MostParts = 32

// An Implementation is what is known of how a product is computed. Its Machine
// has the device and the format of D, the zero value being that of the device,
// and for OneMachine how K is cut.
type Implementation struct {
	Machine   tcore.Machine
	Orders    Orders
	MostParts int        // of UnknownSplit and MixedSplits; 0 means MostParts of this package
	Plan      *plan.Plan // of OneMachine, in place of the machine but for its Output; nil for none
}

// output returns the format of D.
func (by Implementation) output() tcore.Format {
	switch {
	case by.Machine.Output != (tcore.Format{}):
		return by.Machine.Output
	case by.Plan != nil && by.Plan.Output != (tcore.Format{}):
		return by.Plan.Output
	}
	return by.device().C
}

// device returns that of the plan or of the machine.
func (by Implementation) device() tcore.Device {
	if by.Plan != nil {
		return by.Plan.Device()
	}
	return by.Machine.Device
}

// machines returns those that may compute products of k terms: where it is not
// known into how many parts K is cut, one for each length of a part.
func (by Implementation) machines(k int) []tcore.Machine {
	if by.Orders == OneMachine {
		return []tcore.Machine{by.Machine}
	}
	most := by.MostParts
	if most == 0 {
		most = MostParts
	}
	var all []tcore.Machine
	last := 0
	for s := most; s >= 1; s-- {
		m := by.Machine
		m.SplitK = s
		if l := partLength(m, k); l != last {
			all, last = append(all, m), l
		}
	}
	return all
}

// partLength returns the length of the parts into which a machine cuts k terms,
// but for the last.
func partLength(m tcore.Machine, k int) int { return bound.Problem{K: k, Machine: m}.Length() }

// check returns an error about the first field that cannot be meant.
func (by Implementation) check() error {
	d := by.device()
	if d.Core == nil {
		return fmt.Errorf("tolerance: Machine.Device %q has no core, want a device of the catalogue", d.Name)
	}
	if _, integers := d.Core.(tcore.WrappedSum); integers {
		return fmt.Errorf("tolerance: Machine.Device %q rounds nothing: want its sums exactly", d.Name)
	}
	switch {
	case by.Orders < UnknownSplit || by.Orders > MixedSplits:
		return fmt.Errorf("tolerance: Orders = %v, want a constant of the package", by.Orders)
	case by.MostParts < 0:
		return fmt.Errorf("tolerance: MostParts = %d, want 0 or more", by.MostParts)
	case by.Orders != OneMachine && (by.Plan != nil || by.Machine.SplitK > 1 || by.Machine.Promote > 0):
		return fmt.Errorf("tolerance: Orders = %v with SplitK = %d, Promote = %d or a plan, want OneMachine", by.Orders, by.Machine.SplitK, by.Machine.Promote)
	case by.Machine.Stochastic.Bits > 0:
		return fmt.Errorf("tolerance: Stochastic.Bits = %d, want 0", by.Machine.Stochastic.Bits)
	}
	if by.Plan != nil {
		if _, scaled := by.Plan.Scaled(); scaled {
			return fmt.Errorf("tolerance: plan %q has scales, want one without", by.Plan.Name)
		}
		return by.Plan.Check()
	}
	if by.Orders == AnyOrder && d.C.Precision <= tcore.Binary32.Precision {
		if err := (plan.Plan{Order: plan.Run{Device: d}}).Check(); err != nil {
			return fmt.Errorf("tolerance: Orders = %v: %w", by.Orders, err)
		}
	}
	return by.Machine.Check()
}
