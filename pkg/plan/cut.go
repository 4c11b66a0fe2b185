package plan

import "fmt"

// A Cut divides a sum of n products into parts. Exactly one of Length, Count,
// Lanes and At is set.
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

	At []int // where the second part and those after it begin, in ascending order
}

func (c Cut) check(at string) error {
	set := 0
	for _, is := range []bool{c.Length != 0, c.Count != 0, c.Lanes != 0, len(c.At) > 0} {
		if is {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("%s has %d of Length, Count, Lanes and At, want one", at, set)
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
		return slices(k, c.Length, max(1, ceil(len(k), c.Length)))
	case c.Count > 0 && c.Floor:
		grain := max(c.Grain, 1)
		return slices(k, ceil(len(k)/c.Count, grain)*grain, c.Count)
	case c.Count > 0:
		grain := max(c.Grain, 1)
		return slices(k, ceil(ceil(len(k), c.Count), grain)*grain, c.Count)
	case c.Lanes > 0:
		return c.lanes(k)
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

// slices returns count parts of length products in a row.
func slices(k []int, length, count int) [][]int {
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
	for start := 0; start < len(k); start += v {
		l := start / v % c.Lanes
		parts[l] = append(parts[l], k[start:min(start+v, len(k))]...)
	}
	return parts
}

// ceil returns ⌈n/d⌉.
func ceil(n, d int) int { return (n + d - 1) / d }
