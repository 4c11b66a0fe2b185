package bound

// perExponent stores a value for every exponent from the least to the greatest
// that at was called with.
type perExponent[T any] struct {
	first  int
	values []T
}

// at returns a pointer to the value of exponent e: the zero value if it was
// never set. The pointer is valid until at is called with an exponent outside
// the range.
func (p *perExponent[T]) at(e int) *T {
	switch {
	case len(p.values) == 0:
		p.first, p.values = e, make([]T, 1)
	case e < p.first:
		p.first, p.values = e, append(make([]T, p.first-e), p.values...)
	case e-p.first >= len(p.values):
		p.values = append(p.values, make([]T, e-p.first-len(p.values)+1)...)
	}
	return &p.values[e-p.first]
}
