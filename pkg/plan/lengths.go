package plan

// Lengths returns the numbers of products of the parts of n, 0 for those that
// are empty. They add up to n unless [Cut.Floor] loses some. It panics if the
// cut is none that [Plan.Check] allows.
func (c Cut) Lengths(n int) []int {
	if err := c.check("Cut"); err != nil {
		panic("plan: " + err.Error())
	}
	if c.Lanes > 0 {
		return c.laneLengths(n)
	}
	parts := c.of(make([]int, n))
	lengths := make([]int, len(parts))
	for i, part := range parts {
		lengths[i] = len(part)
	}
	return lengths
}

// laneLengths counts whole turns at once.
func (c Cut) laneLengths(n int) []int {
	v := c.vector(n)
	turn := c.Lanes * v
	lengths := make([]int, c.Lanes)
	for l := range lengths {
		lengths[l] = n/turn*v + min(max(n%turn-l*v, 0), v)
	}
	return lengths
}

// Instructions returns the number of instructions that add n products, and
// whether one of them that is not the last has fewer than the others.
func (r Run) Instructions(n int) (count int, short bool) {
	group, residue := r.group(), 0
	if r.Tile > 0 {
		residue = n % r.Tile
	}
	return ceil(residue, group) + ceil(n-residue, group), residue%group != 0 && residue < n
}
