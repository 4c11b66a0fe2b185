package plan

// A computation is what an order is evaluated on: vectors of elements of D, a
// single one in a dot product.
type computation struct {
	elements int

	// run stores in sum what the device of a Run makes of +0 and the products
	// at the positions in steps, where [padding] is 0 × 0.
	run func(r Run, steps []int, sum []float32)

	// scale returns the scales of A and of B that belong to an element of a part.
	scale func(element, part int) (a, b float32)
}

// evaluate returns the sums of the products in k.
func (c *computation) evaluate(o Order, k []int) []float32 {
	switch o := o.(type) {
	case Run:
		sum := make([]float32, c.elements)
		if len(k) > 0 {
			c.run(o, o.steps(k), sum)
		}
		return sum
	case Parts:
		m := o.Merge.start(c)
		for _, part := range o.Cut.of(k) {
			m.add(c.evaluate(o.Part(len(part)), part))
		}
		return m.sum()
	}
	panic("plan: an order is a Run or Parts")
}
