package plan

import "github.com/roundofflab/roundoff/internal/parallel"

// A computation is what an order is evaluated on: vectors of elements of D, a
// single one in a dot product.
type computation struct {
	elements int

	// run returns what the device of a Run makes of +0 and the products in k, of
	// which there is at least one. The vector is the caller's.
	run func(r Run, k []int) []float32

	// scale returns the scales of A and of B that belong to an element of a part.
	scale func(element, part int) (a, b float32)

	unused [][]float32
}

// evaluate returns the sums of the products in k. The vector is the caller's.
func (c *computation) evaluate(o Order, k []int) []float32 {
	switch o := o.(type) {
	case Run:
		if len(k) == 0 {
			return c.zeros()
		}
		return c.run(o, k)
	case Parts:
		m := o.Merge.start(c)
		for _, part := range o.Cut.of(k) {
			m.add(c.evaluate(o.Part(len(part)), part))
		}
		return m.sum()
	}
	panic("plan: an order is a Run or Parts")
}

// vector returns a vector of arbitrary values.
func (c *computation) vector() []float32 {
	if last := len(c.unused) - 1; last >= 0 {
		v := c.unused[last]
		c.unused = c.unused[:last]
		return v
	}
	return make([]float32, c.elements)
}

// recycle takes back a vector that nobody uses.
func (c *computation) recycle(v []float32) { c.unused = append(c.unused, v) }

func (c *computation) zeros() []float32 {
	v := c.vector()
	clear(v)
	return v
}

// inBlocks calls work for all of n elements, as many at a time as fit into a
// cache, on all cores if there are many.
func inBlocks(n int, work func(lo, hi int)) {
	const block, many = 1 << 12, 1 << 15
	if n < many {
		for lo := 0; lo < n; lo += block {
			work(lo, min(lo+block, n))
		}
		return
	}
	parallel.Ranges(ceil(n, block), func(first, end int) {
		for b := first; b < end; b++ {
			work(b*block, min((b+1)*block, n))
		}
	})
}
