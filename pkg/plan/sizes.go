package plan

import (
	"math"
	"slices"
)

// A Group is Count parts, or instructions, in a row that have as many Products
// each.
type Group struct{ Count, Products int }

// sizes returns the parts of n products, in their order, without listing the
// products: at most three entries, or one for each of At.
func (c Cut) sizes(n int) []Group {
	var list []Group
	add := func(count, products int) {
		if last := len(list) - 1; last >= 0 && list[last].Products == products {
			list[last].Count += count
		} else if count > 0 {
			list = append(list, Group{count, products})
		}
	}
	switch {
	case c.Length > 0:
		add(n/c.Length, c.Length)
		if n%c.Length > 0 || n == 0 {
			add(1, n%c.Length)
		}
	case c.Count > 0:
		l := c.slice(n)
		full := c.Count
		if l > 0 {
			full = min(n/l, c.Count)
		}
		add(full, l)
		if full < c.Count {
			add(1, n-full*l)
			add(c.Count-full-1, 0)
		}
	case c.Lanes > 0 && c.Whole > 0:
		list = Cut{Lanes: c.Lanes, Vector: c.vector(n)}.sizes(n / c.Whole * c.Whole)
		if rest := n % c.Whole; rest > 0 { // of the first lane
			first := Group{1, list[0].Products + rest}
			if list[0].Count--; list[0].Count == 0 {
				list = list[1:]
			}
			list = append([]Group{first}, list...)
		}
	case c.Lanes > 0:
		v := c.vector(n)
		if v >= n { // one lane has all
			add(1, n)
			add(c.Lanes-1, 0)
			break
		}
		turns := n / (c.Lanes * v)
		rest := n - turns*c.Lanes*v
		add(rest/v, (turns+1)*v)
		if rest/v < c.Lanes {
			add(1, turns*v+rest%v)
			add(c.Lanes-rest/v-1, turns*v)
		}
	case c.again(n):
		half := n / 2 / c.Halves * c.Halves
		add(1, half)
		add(1, n-half)
	case c.Halves > 0:
		add(1, n)
	case c.Head > 0:
		add(1, n/c.Head*c.Head)
		add(n%c.Head, 1)
	default:
		start := 0
		for _, end := range c.At {
			end = min(end, n)
			add(1, end-start)
			start = end
		}
		add(1, n-start)
	}
	return list
}

// ends returns the lengths of what a part of n products ends in, where the cut
// goes on, and n elsewhere.
func (c Cut) ends(n int) []int {
	var list []int
	for lengths := []int{n}; len(lengths) > 0; {
		var halves []int
		for _, n := range lengths {
			if !c.again(n) {
				list = append(list, n)
				continue
			}
			for _, half := range c.sizes(n) {
				halves = append(halves, half.Products)
			}
		}
		slices.Sort(halves)
		lengths = slices.Compact(halves)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// slice returns how many products each of Count parts has, of n.
func (c Cut) slice(n int) int {
	grain := max(c.Grain, 1)
	if c.Floor {
		return ceil(n/c.Count, grain) * grain
	}
	return ceil(ceil(n, c.Count), grain) * grain
}

// lost returns how many of n products lie beyond the last part.
func (c Cut) lost(n int) int {
	if !c.Floor {
		return 0
	}
	return max(0, n-c.Count*c.slice(n))
}

// groups returns the products of each instruction of a run of n, in their
// order.
func (r Run) groups(n int) []Group {
	group, residue := r.group(), 0
	if r.Tile > 0 {
		residue = n % r.Tile
	}
	var list []Group
	for _, part := range []int{residue, n - residue} {
		switch last := len(list) - 1; {
		case part/group == 0:
		case last >= 0 && list[last].Products == group:
			list[last].Count += part / group
		default:
			list = append(list, Group{part / group, group})
		}
		if part%group > 0 {
			list = append(list, Group{1, part % group})
		}
	}
	return list
}

// A Size says how long a sum of k products is in an order, and what a product
// meets on its way. Numbers beyond those of an int are [math.MaxInt].
type Size struct {
	Products int // K
	Lost     int // products that no part has

	Runs         int // accumulators, empty ones too
	Instructions int // of the device
	Additions    int // of parts, in binary32; those to a sum that starts at +0 do not count

	// MostInstructions and MostAdditions are bounds on what any one product meets,
	// exact where the first part of every cut is its longest.
	MostInstructions, MostAdditions int
}

// Size returns the size of a sum of k products. It takes no time and no memory
// that grows with k. It panics if k < 1 or [Plan.Check] returns an error.
func (p Plan) Size(k int) Size {
	pkg.Count("k", k)
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
	s := sizeOf(p.Order, k, nil)
	s.Products = k
	return s
}

// sizeOf returns the size of a sum of n products. known are those of an order
// whose cut goes on.
func sizeOf(o Order, n int, known map[int]Size) Size {
	if r, ok := o.(Run); ok {
		s := Size{Runs: 1}
		for _, g := range r.groups(n) {
			s.Instructions += g.Count
		}
		s.MostInstructions = s.Instructions
		return s
	}
	p := o.(Parts)
	if s, ok := known[n]; ok {
		return s
	}
	s := Size{Lost: p.Cut.lost(n)}
	parts := 0
	if p.Cut.again(n) && known == nil {
		known = map[int]Size{}
	}
	for _, part := range p.Cut.sizes(n) {
		below := known
		if !p.Cut.again(part.Products) {
			below = nil
		}
		each := sizeOf(p.Part(part.Products), part.Products, below)
		parts += part.Count
		s.Lost = plus(s.Lost, times(part.Count, each.Lost))
		s.Runs = plus(s.Runs, times(part.Count, each.Runs))
		s.Instructions = plus(s.Instructions, times(part.Count, each.Instructions))
		s.Additions = plus(s.Additions, times(part.Count, each.Additions))
		s.MostInstructions = max(s.MostInstructions, each.MostInstructions)
		s.MostAdditions = max(s.MostAdditions, each.MostAdditions)
	}
	for _, f := range p.Merge.passes(parts) {
		s.Additions = plus(s.Additions, f.additions)
		s.MostAdditions = plus(s.MostAdditions, f.most)
	}
	if known != nil {
		known[n] = s
	}
	return s
}

// A pass is a fold: how many values it adds to how many sums, by how many
// additions, and how many of these one value meets at most.
type pass struct{ values, sums, additions, most int }

// passes returns the folds of a number of parts.
func (m Merge) passes(values int) []pass {
	var list []pass
	for _, n := range m.folds() {
		f := pass{values: values, sums: n, most: max(0, ceil(values, n)-1)}
		f.additions = f.most * n
		if m.Scale != Unscaled {
			f.most, f.additions = values, values
		}
		list, values = append(list, f), n
	}
	return list
}

func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func times(a, b int) int {
	if a != 0 && b > math.MaxInt/a {
		return math.MaxInt
	}
	return a * b
}

// A Level is a node of an order and what it makes of the products that it has.
type Level struct {
	Order    Order
	Products int
	Groups   []Group // of a Run the instructions, of Parts the parts, in their order
	Vector   int     // of Parts in Lanes, how many products a lane takes in a row; else 0
	Lost     int     // how many products no part has
}

// Levels returns the nodes of the order, for a sum of k products, from the
// outside in: of each node the first part. It panics as [Plan.Size] does.
func (p Plan) Levels(k int) []Level {
	pkg.Count("k", k)
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
	var list []Level
	for o := p.Order; ; {
		node, ok := o.(Parts)
		if !ok {
			r := o.(Run)
			return append(list, Level{Order: r, Products: k, Groups: r.groups(k)})
		}
		l := Level{Order: node, Products: k, Groups: node.Cut.sizes(k), Lost: node.Cut.lost(k)}
		if node.Cut.Lanes > 0 {
			l.Vector = node.Cut.vector(k)
		}
		list = append(list, l)
		o, k = node.Part(l.Groups[0].Products), l.Groups[0].Products
	}
}
