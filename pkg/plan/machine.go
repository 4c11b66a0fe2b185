package plan

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Of returns the plan of a machine: split K and promotion are parts of a
// length, which for split K depends on the number k of products. It panics if k
// < 1 or [tcore.Machine.Check] returns an error. The error says that the
// machine adds within a part in an order that is none of this package, or
// rounds stochastically.
func Of(m tcore.Machine, k int) (Plan, error) {
	pkg.Count("k", k)
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("plan: %v", err))
	}
	switch {
	case m.Stochastic.Bits > 0:
		return Plan{}, fmt.Errorf("plan: machine %q rounds stochastically, want one that rounds to nearest or truncates", m.Name)
	case m.Order != tcore.InSequence:
		return Plan{}, fmt.Errorf("plan: machine %q adds in the order %v, want in sequence", m.Name, m.Order)
	}
	p := Plan{Name: m.Name, Order: Run{Device: m.Device}, Output: m.Output}
	if err := p.Check(); err != nil {
		return Plan{}, err
	}
	switch {
	case m.Promote > 0:
		p.Order = Parts{Cut: Cut{Length: m.Promote}, Each: p.Order}
	case m.SplitK > 1:
		width := m.Device.BlockTerms() // no Count, which would add the +0 of parts that are empty
		p.Order = Parts{Cut: Cut{Length: ceil(ceil(k, width), m.SplitK) * width}, Each: p.Order}
	}
	return p, p.Check()
}
