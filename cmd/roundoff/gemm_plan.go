package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// An adder is what computes a product: a machine or a plan.
type adder struct {
	tcore.GEMMer
	name   string
	device tcore.Device
	notes  []string // what is to be said of a plan
}

// say writes what is to be said of a plan.
func (k adder) say(stderr io.Writer) {
	for _, note := range k.notes {
		fmt.Fprintf(stderr, "note: %s\n", note)
	}
}

// checkPlan reports flags that a product by a plan does not take, and returns
// errUsage then.
func (p *product) checkPlan(flags *flag.FlagSet) error {
	switch {
	case !given(flags, planFlagNames...):
		return nil
	case p.plan.text != "" && given(flags, "device", "in", "out"), given(flags, "split-k", "promote"):
		return misuse(flags, "-plan goes without -device, -in, -out, -split-k and -promote: it has its own")
	case given(flags, "recipe"):
		return misuse(flags, "-plan goes without -recipe")
	}
	if err := p.plan.check(given(flags, "device")); err != nil {
		return misuse(flags, "%v", err)
	}
	p.planned, p.outGiven = true, given(flags, "out")
	return nil
}

// question returns the product whose plan a library is asked for: the shape of
// the files, and the formats that the flags name.
func (p *product) question() (of question.PlannedProduct, err error) {
	if of.Kind, err = question.FindKind(p.in); err != nil {
		return of, err
	}
	if p.outGiven {
		if of.Output, err = question.FindFormat(p.out); err != nil {
			return of, err
		}
	}
	a, err := readShape(p.a)
	if err != nil {
		return of, err
	}
	b, err := readShape(p.b)
	if err != nil {
		return of, err
	}
	m, k := shape(blas32.General{Rows: a[0], Cols: a[1]}, p.transposeA)
	_, n := shape(blas32.General{Rows: b[0], Cols: b[1]}, p.transposeB)
	of.Shape = library.Shape{M: m, N: n, K: k}
	return of, nil
}

// adder returns what the flags name. Devices that are compared with a plan have
// its formats.
func (p *product) adder() (adder, error) {
	if !p.planned {
		m, err := p.machine(p.device)
		return adder{m, m.Name, m.Device, nil}, err
	}
	of, err := p.question()
	if err != nil {
		return adder{}, err
	}
	z, err := p.plan.plan(p.device, of)
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
	return adder{z.Plan, z.Name, d, z.Notes}, nil
}

// affordable returns an error unless the operands can be multiplied by a plan.
func (p *product) affordable(k adder) error {
	z, ok := k.GEMMer.(plan.Plan)
	if !ok {
		return nil
	}
	m, length := shape(p.operandA, p.transposeA)
	_, n := shape(p.operandB, p.transposeB)
	return question.CheckPlan(z, length, min(m, bandOf(m))*n, question.MostSteps)
}
