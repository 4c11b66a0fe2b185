package plan

import "fmt"

// A Cut divides a sum of n products into parts. Exactly one of Length, Count,
// Lanes, At, Halves and Head is set.
type Cut struct {
	Length int // parts of so many products, the last of the rest

	// Count parts of ⌈n/Count⌉ products, rounded up to a multiple of Grain (0 means
	// 1). The last is of the rest, and those that none is left for are empty: +0.
	Count int
	Grain int
	// Floor starts from ⌊n/Count⌋ instead, and what lies beyond the last part is
	// lost.
	Floor bool

	// Lanes takes turns: part l has Vector products from l × Vector on, then again
	// every Lanes × Vector. A Vector of 0 is ⌈n/Lanes⌉: one slice in a row for
	// each. One of -v is that too, but at most v.
	Lanes  int
	Vector int
	// Nominal, if not 0, is the n from which a Vector of 0 or less is computed, as
	// where slices of K have the Vector of the longest.
	Nominal int
	// Whole, if not 0, gives the first lane what is left when Whole divides n.
	Whole int

	At []int // where the second part and those after it begin, in ascending order

	// Halves cuts a sum of more than Most products in two, the first part of
	// ⌊n/2⌋, rounded down to a multiple of Halves, and both again by the same rule.
	// Sums of at most Most are not cut: the next order is that of each of them.
	Halves int
	Most   int

	// Head makes one part of as many products as it divides, and one of each that
	// is left.
	Head int
}

func (c Cut) check(at string) error {
	set := 0
	for _, is := range []bool{c.Length != 0, c.Count != 0, c.Lanes != 0, len(c.At) > 0, c.Halves != 0, c.Head != 0} {
		if is {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("%s has %d of Length, Count, Lanes, At, Halves and Head, want one", at, set)
	}
	for _, f := range []struct {
		name    string
		value   int
		allowed bool
	}{
		{"Length", c.Length, c.Length >= 0},
		{"Count", c.Count, c.Count >= 0},
		{"Grain", c.Grain, c.Grain >= 0 && (c.Grain == 0 || c.Count > 0)},
		{"Lanes", c.Lanes, c.Lanes >= 0},
		{"Vector", c.Vector, c.Vector == 0 || c.Lanes > 0},
		{"Whole", c.Whole, c.Whole >= 0 && (c.Whole == 0 || c.Lanes > 0)},
		{"Halves", c.Halves, c.Halves >= 0},
		{"Most", c.Most, c.Halves == 0 && c.Most == 0 || c.Halves > 0 && c.Most/2 >= c.Halves},
		{"Head", c.Head, c.Head >= 0},
		{"Nominal", c.Nominal, c.Nominal >= 0 && (c.Nominal == 0 || c.Lanes > 0 && c.Vector <= 0)},
	} {
		if !f.allowed {
			return fmt.Errorf("%s.%s = %d, which does not fit the other fields", at, f.name, f.value)
		}
	}
	if c.Floor && c.Count == 0 {
		return fmt.Errorf("%s.Floor is for a Count of parts", at)
	}
	for i, start := range c.At {
		if start < 1 || i > 0 && start <= c.At[i-1] {
			return fmt.Errorf("%s.At[%d] = %d, want ascending numbers from 1 on", at, i, start)
		}
	}
	return nil
}

// of returns the parts of k. Those that are empty have no elements.
func (c Cut) of(k []int) [][]int {
	switch {
	case c.Length > 0:
		return inRow(k, c.Length, max(1, ceil(len(k), c.Length)))
	case c.Count > 0 && c.Floor:
		grain := max(c.Grain, 1)
		return inRow(k, ceil(len(k)/c.Count, grain)*grain, c.Count)
	case c.Count > 0:
		grain := max(c.Grain, 1)
		return inRow(k, ceil(ceil(len(k), c.Count), grain)*grain, c.Count)
	case c.Lanes > 0:
		return c.lanes(k)
	case c.Halves > 0:
		if !c.again(len(k)) {
			return [][]int{k}
		}
		half := len(k) / 2 / c.Halves * c.Halves
		return [][]int{k[:half], k[half:]}
	case c.Head > 0:
		head := len(k) / c.Head * c.Head
		return append([][]int{k[:head]}, inRow(k[head:], 1, len(k)-head)...)
	}
	parts := make([][]int, 0, len(c.At)+1)
	start := 0
	for _, end := range c.At {
		end = min(end, len(k))
		parts = append(parts, k[start:end])
		start = end
	}
	return append(parts, k[start:])
}

// again reports whether a part of n products is cut by the same rule as the
// whole.
func (c Cut) again(n int) bool { return c.Halves > 0 && n > c.Most }

// rest returns how many of n products lanes do not share, which the first has.
func (c Cut) rest(n int) int {
	if c.Whole == 0 {
		return 0
	}
	return n % c.Whole
}

// inRow returns count parts of length products in a row.
func inRow(k []int, length, count int) [][]int {
	parts := make([][]int, count)
	for i := range parts {
		parts[i] = k[min(i*length, len(k)):min((i+1)*length, len(k))]
	}
	return parts
}

// vector returns how many products a lane takes in a row, of n.
func (c Cut) vector(n int) int {
	if c.Vector > 0 {
		return c.Vector
	}
	if c.Nominal > 0 {
		n = c.Nominal
	}
	v := max(1, ceil(n, c.Lanes))
	if c.Vector < 0 {
		v = min(v, -c.Vector)
	}
	return v
}

func (c Cut) lanes(k []int) [][]int {
	v := c.vector(len(k))
	parts := make([][]int, c.Lanes)
	k, rest := k[:len(k)-c.rest(len(k))], k[len(k)-c.rest(len(k)):]
	for start := 0; start < len(k); start += v {
		l := start / v % c.Lanes
		parts[l] = append(parts[l], k[start:min(start+v, len(k))]...)
	}
	parts[0] = append(parts[0], rest...)
	return parts
}

// ceil returns ⌈n/d⌉.
func ceil(n, d int) int { return (n + d - 1) / d }
