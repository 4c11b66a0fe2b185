package plan_test

import "github.com/roundofflab/roundoff/pkg/plan"

// An interpreter computes the sum of an order in exact arithmetic, from what
// the fields of the grammar are said to mean.
type interpreter struct {
	unit    unit
	formats map[string]numbers

	scaleX, scaleY []float64 // of parts
}

func (in interpreter) sum(o plan.Order, x, y []float64) float64 {
	switch o := o.(type) {
	case plan.Run:
		group, tile := o.Group, o.Tile
		if group == 0 {
			group = in.unit.terms
		}
		if tile == 0 { // no residue
			return in.unit.consecutive(x, y, group)
		}
		return in.unit.grouped(x, y, group, tile)
	case plan.Parts:
		parts := make([]float64, count(o.Cut, len(x)))
		partX, partY := make([][]float64, len(parts)), make([][]float64, len(parts))
		for i := range x {
			if p := owner(o.Cut, len(x), i); p >= 0 && p < len(parts) {
				partX[p], partY[p] = append(partX[p], x[i]), append(partY[p], y[i])
			}
		}
		for p := range parts {
			parts[p] = in.sum(o.Each, partX[p], partY[p])
		}
		if o.Merge.Scale != plan.Unscaled {
			return in.scaled(o.Merge.Scale, parts)
		}
		return in.merged(o.Merge, parts)
	}
	panic("no order")
}

// owner returns the part of product i of n, or one that does not exist.
func owner(c plan.Cut, n, i int) int {
	switch {
	case c.Length > 0:
		return i / c.Length
	case c.Count > 0:
		length := n / c.Count
		if !c.Floor && n%c.Count > 0 {
			length++
		}
		for length%max(c.Grain, 1) != 0 {
			length++
		}
		if length == 0 {
			return -1
		}
		return i / length
	case c.Lanes > 0:
		v := c.Vector
		if v <= 0 {
			if c.Nominal > 0 {
				n = c.Nominal
			}
			for v = 1; v*c.Lanes < n && (c.Vector == 0 || v < -c.Vector); v++ {
			}
		}
		return i / v % c.Lanes
	}
	part := 0
	for _, start := range c.At {
		if i >= start {
			part++
		}
	}
	return part
}

// count returns the number of parts of n products.
func count(c plan.Cut, n int) int {
	switch {
	case c.Length > 0 && n == 0:
		return 1
	case c.Length > 0:
		return owner(c, n, n-1) + 1
	}
	return max(c.Count, c.Lanes, len(c.At)+1)
}

func (in interpreter) merged(m plan.Merge, parts []float64) float64 {
	partial, running := in.formats[m.Partial.Name], in.formats[m.Running.Name]
	rounded := func(f numbers, x float64) float64 {
		if f == (numbers{}) {
			return x
		}
		return f.to(x)
	}
	for i, p := range parts {
		parts[i] = rounded(partial, p)
	}
	folds := m.Folds
	if len(folds) == 0 {
		folds = []int{1}
	}
	for _, n := range folds {
		for len(parts) == 0 || len(parts)%n != 0 {
			parts = append(parts, 0)
		}
		sums := make([]float64, n)
		for t := range sums {
			sums[t] = parts[t]
			if m.Zero {
				sums[t] = add(0, parts[t])
			}
			sums[t] = rounded(running, sums[t])
			for i := t + n; i < len(parts); i += n {
				sums[t] = rounded(running, add(sums[t], parts[i]))
			}
		}
		parts = sums
	}
	return parts[0]
}

// scaled adds parts times their scales.
func (in interpreter) scaled(s plan.Scale, parts []float64) float64 {
	sum := 0.0
	for i, p := range parts {
		switch s {
		case plan.Fused:
			sum = fma(p, mul(in.scaleX[i], in.scaleY[i]), sum)
		case plan.FusedSecond:
			sum = fma(mul(p, in.scaleX[i]), in.scaleY[i], sum)
		}
	}
	return sum
}
