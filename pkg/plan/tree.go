package plan

import "fmt"

// A Node is a term of a sum: a product, or the sum of its parts, which are
// added at once. Two parts are an addition; more are one of several terms, as
// tensor cores have.
type Node struct {
	Leaf  int // of a node without parts: the position of a product
	Parts []*Node
}

// Tree returns the additions by which k products are summed in an order. An
// instruction adds its products, and the sum of those before, at once. What is
// +0 by itself is left out: where accumulators and sums start, empty parts, and
// padding. The tree is nil if the order loses all products (see [Cut.Floor]).
// It panics if k < 1 or the order is one that [Plan.Check] has an error for.
func Tree(o Order, k int) *Node {
	pkg.Count("k", k)
	Plan{Order: o}.mustCheck()
	return tree(o, positions(k))
}

func tree(o Order, k []int) *Node {
	switch o := o.(type) {
	case Run:
		return o.tree(k)
	case Parts:
		return o.tree(k)
	}
	panic(fmt.Sprintf("plan: order %T, want a Run or Parts", o))
}

func (r Run) tree(k []int) *Node {
	var sum *Node
	steps, width := r.steps(k), r.Device.BlockTerms()
	for start := 0; start < len(steps); start += width {
		terms := []*Node{sum}
		for _, position := range steps[start:min(start+width, len(steps))] {
			if position != padding {
				terms = append(terms, &Node{Leaf: position})
			}
		}
		sum = added(terms...)
	}
	return sum
}

func (p Parts) tree(k []int) *Node {
	var terms []*Node
	for _, part := range p.Cut.of(k) {
		terms = append(terms, tree(p.Each, part))
	}
	for _, n := range p.Merge.folds() {
		sums := make([]*Node, n)
		for i, term := range terms {
			sums[i%n] = added(sums[i%n], term)
		}
		terms = sums
	}
	return terms[0]
}

// added returns the node that adds terms at once, of which nil ones are +0.
func added(terms ...*Node) *Node {
	var parts []*Node
	for _, term := range terms {
		if term != nil {
			parts = append(parts, term)
		}
	}
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return &Node{Parts: parts}
}
