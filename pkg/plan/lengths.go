package plan

// Lengths returns the numbers of products of the parts of n, 0 for those that
// are empty. They add up to n unless [Cut.Floor] loses some. It panics if the
// cut is none that [Plan.Check] allows.
func (c Cut) Lengths(n int) []int {
	if err := c.check("Cut"); err != nil {
		panic("plan: " + err.Error())
	}
	var lengths []int
	for _, part := range c.sizes(n) {
		for range part.Count {
			lengths = append(lengths, part.Products)
		}
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
