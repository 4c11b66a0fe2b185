package plan

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// normal returns a text of how an order adds n products. Orders with the same
// text give the same bits: fields that do nothing for this n are left out.
func normal(o Order, n int) string {
	if r, ok := o.(Run); ok {
		if n == 0 {
			return "0"
		}
		return fmt.Sprintf("%s%v", arithmeticOf(r.Device), r.groups(n))
	}
	p := o.(Parts)
	list := p.Cut.sizes(n)
	m := p.Merge
	if len(list) == 1 && list[0].Count == 1 && list[0].Products == n && len(m.Folds) < 2 && !m.Zero && m.Scale == Unscaled && m.Partial == m.Running && m.Running == (tcore.Format{}) {
		return normal(p.Part(n), n)
	}
	var s strings.Builder
	s.WriteString("(")
	if v := p.lanesVector(n); v > 0 {
		fmt.Fprintf(&s, "%d by %d of ", p.Cut.Lanes, v)
	}
	if rest := p.Cut.rest(n); rest > 0 {
		fmt.Fprintf(&s, "%d to the first of ", rest)
	}
	for _, g := range list {
		fmt.Fprintf(&s, "%d×%s ", g.Count, normal(p.Part(g.Products), g.Products))
	}
	m.Partial.Name, m.Running.Name = "", ""
	fmt.Fprintf(&s, "%v %v %v %+v %+v", m.folds(), m.Zero && m.Scale == Unscaled, m.Scale, m.Partial, m.Running)
	return s.String() + ")"
}

// lanesVector returns the products that a lane takes in a row if lanes take
// turns with n of them, else 0: then parts stand in a row.
func (p Parts) lanesVector(n int) int {
	if p.Cut.Lanes == 0 {
		return 0
	}
	if v := p.Cut.vector(n); v*p.Cut.Lanes < n {
		return v
	}
	return 0
}

// arithmeticOf returns a text of what a device computes, without its names.
func arithmeticOf(d tcore.Device) string {
	d.Name, d.Architecture, d.Instruction = "", "", ""
	d.A.Name, d.B.Name, d.C.Name = "", "", ""
	return fmt.Sprintf("%T%+v", d.Core, d)
}

// normal returns a text of a plan for k products: that of its order and of what
// becomes of the sum.
func (p Plan) normal(k int) string {
	out := p.output()
	out.Name = ""
	return fmt.Sprintf("%s > %+v %v", normal(p.Order, k), out, p.FusedBeta)
}

// place returns which part of n products has position at, which place it has
// there, and how many the part has. ok is false if no part has it.
func (c Cut) place(n, at int) (part, inPart, products int, ok bool) {
	if c.Lanes > 0 {
		v := c.vector(n)
		if rest := c.rest(n); at >= n-rest {
			products := c.sizes(n)[0].Products
			return 0, products - (n - at), products, true
		}
		turn := at / v
		part, inPart = turn%c.Lanes, turn/c.Lanes*v+at%v
		index := part
		for _, g := range c.sizes(n) {
			if index < g.Count {
				return part, inPart, g.Products, true
			}
			index -= g.Count
		}
	}
	for _, g := range c.sizes(n) {
		if at < g.Count*g.Products {
			return part + at/g.Products, at % g.Products, g.Products, true
		}
		part, at = part+g.Count, at-g.Count*g.Products
	}
	return 0, 0, 0, false
}

// instructionOf returns which instruction of n products has position at.
func (r Run) instructionOf(n, at int) int {
	i := 0
	for _, g := range r.groups(n) {
		if at < g.Count*g.Products {
			return i + at/g.Products
		}
		i, at = i+g.Count, at-g.Count*g.Products
	}
	return i
}

// meet tells in words where the products at i < j of n meet: in which
// instruction or addition.
func meet(o Order, n, i, j int) string {
	if r, ok := o.(Run); ok {
		a, b := r.instructionOf(n, i), r.instructionOf(n, j)
		name := instruction(r.Device, 1)
		if a == b {
			return fmt.Sprintf("in one %s", name)
		}
		return fmt.Sprintf("on one accumulator, in its %ss %d and %d", name, min(a, b), max(a, b))
	}
	p := o.(Parts)
	a, atA, inA, okA := p.Cut.place(n, i)
	b, atB, _, okB := p.Cut.place(n, j)
	switch {
	case !okA || !okB:
		return "nowhere, since one is in no part"
	case a == b:
		return meet(p.Part(inA), inA, min(atA, atB), max(atA, atB))
	}
	for _, f := range p.Merge.folds() {
		if a%f == b%f {
			into := ""
			if len(p.Merge.folds()) > 1 {
				into = fmt.Sprintf(" of a pass to %s", plural(f, "sum", "sums"))
			}
			return fmt.Sprintf("where sums %d and %d%s are added", min(a, b), max(a, b), into)
		}
		a, b = a%f, b%f
	}
	return "in the last sum"
}
