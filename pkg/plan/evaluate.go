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

	unused  [][]float32
	mergers []*merger // that are used no more
}

// A part is an order and the products that it adds, cut as it says. Strips and
// elements share it.
type part struct {
	order Order
	k     []int
	parts []part // of Parts
}

// cut returns the part of the products in k. A part without products is not
// cut.
func cut(o Order, k []int) part {
	p := part{order: o, k: k}
	if o, ok := o.(Parts); ok && len(k) > 0 {
		list := o.Cut.of(k)
		p.parts = make([]part, len(list))
		for i, k := range list {
			p.parts[i] = cut(o.Part(len(k)), k)
		}
	}
	return p
}

// evaluate returns the sums of a part. The vector is the caller's. Without
// products they are +0, also where parts of them are merged.
func (c *computation) evaluate(p part) []float32 {
	if len(p.k) == 0 {
		return c.zeros()
	}
	switch o := p.order.(type) {
	case Run:
		return c.run(o, p.k)
	case Parts:
		m := o.Merge.start(c)
		for _, part := range p.parts {
			m.add(c.evaluate(part))
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
