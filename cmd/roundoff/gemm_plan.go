package main

import (
	"flag"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An adder is what computes a product: a machine or a plan.
type adder struct {
	tcore.GEMMer
	name   string
	device tcore.Device
}

// checkPlan reports flags that a product by a plan does not take, and returns
// errUsage then.
func (p *product) checkPlan(flags *flag.FlagSet) error {
	switch {
	case !given(flags, planFlagNames...):
		return nil
	case given(flags, "device", "in", "out", "split-k", "promote"):
		return misuse(flags, "-plan goes without -device, -in, -out, -split-k and -promote: it has its own")
	case given(flags, "recipe"):
		return misuse(flags, "-plan goes without -recipe")
	}
	p.planned = true
	return nil
}

// adder returns what the flags name. Devices that are compared with a plan have
// its formats.
func (p *product) adder() (adder, error) {
	if !p.planned {
		m, err := p.machine(p.device)
		return adder{m, m.Name, m.Device}, err
	}
	z, err := p.plan.plan()
	if err != nil {
		return adder{}, err
	}
	d := z.Device()
	p.in, p.out, p.accumulator = d.A.Name, d.C.Name, d.C.Name
	if d.B != d.A {
		p.in += "," + d.B.Name
	}
	if z.Output != (tcore.Format{}) {
		p.out = z.Output.Name
	}
	return adder{z, z.Name, d}, nil
}

// affordable returns an error unless the operands can be multiplied by a plan.
func (p *product) affordable(k adder) error {
	z, ok := k.GEMMer.(plan.Plan)
	if !ok {
		return nil
	}
	m, length := shape(p.operandA, p.transposeA)
	_, n := shape(p.operandB, p.transposeB)
	return checkPlan(z, length, min(m, bandOf(m))*n, mostSteps)
}
