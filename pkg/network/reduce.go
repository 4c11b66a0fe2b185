package network

import (
	"fmt"
	"math"
	"slices"
)

// A fold makes one number of several, at least one.
type fold func(x []float32) float32

func total(x []float32) (s float64) {
	for _, v := range x {
		s += float64(v)
	}
	return s
}

func sum(x []float32) float32 { return float32(total(x)) }

func mean(x []float32) float32 { return float32(total(x) / float64(len(x))) }

// along returns the elements of x with the axes that are marked last, and how
// many elements each of these rows has.
func along(x Tensor, marked []bool) (data []float32, each int) {
	var shape, steps, inner, innerSteps []int
	for k, s := range strides(x.Shape) {
		if marked[k] {
			inner, innerSteps = append(inner, x.Shape[k]), append(innerSteps, s)
		} else {
			shape, steps = append(shape, x.Shape[k]), append(steps, s)
		}
	}
	if !slices.Contains(marked[:max(0, len(marked)-len(inner))], true) {
		return x.Data, count(inner)
	}
	return gather(x.Data, append(shape, inner...), append(steps, innerSteps...), 0), count(inner)
}

// folded folds along the axes that are marked, which remain with size 1 if they
// are kept.
func folded(x Tensor, marked []bool, keep bool, f fold) (Tensor, error) {
	z := Tensor{Integer: x.Integer}
	for k, s := range x.Shape {
		if !marked[k] {
			z.Shape = append(z.Shape, s)
		} else if keep {
			z.Shape = append(z.Shape, 1)
		}
	}
	data, n := along(x, marked)
	if n < 1 {
		return z, fmt.Errorf("shape %v, want at least one element to reduce", x.Shape)
	}
	for row := range slices.Chunk(data, n) {
		z.Data = append(z.Data, f(row))
	}
	return z, z.checked()
}

// reduce folds along axes, those of the attribute or of the second input; all
// if there are none.
func reduce(f fold) func(c *call) (Tensor, error) {
	return func(c *call) (Tensor, error) {
		x := c.x[0]
		list, err := c.list(c.node, "axes", 1)
		switch {
		case err != nil:
			return x, err
		case len(list) == 0 && c.integer("noop_with_empty_axes", 0) != 0:
			return x, nil
		}
		marked := slices.Repeat([]bool{len(list) == 0}, len(x.Shape))
		for _, a := range list {
			k, err := axis(a, len(x.Shape))
			if err != nil || marked[k] {
				return x, fmt.Errorf("axes %v of shape %v", list, x.Shape)
			}
			marked[k] = true
		}
		return folded(x, marked, c.integer("keepdims", 1) != 0, f)
	}
}

// pool folds along all axes but the first two.
func pool(f fold) func(c *call) (Tensor, error) {
	return func(c *call) (Tensor, error) {
		x := c.x[0]
		if len(x.Shape) < 3 {
			return x, fmt.Errorf("shape %v, want at least 3 dimensions", x.Shape)
		}
		marked := slices.Repeat([]bool{true}, len(x.Shape))
		marked[0], marked[1] = false, false
		return folded(x, marked, true, f)
	}
}

// softmax computes exp(x)/Σ exp(x) in binary64, along one axis; before version
// 13 of ONNX along it and all after it.
func softmax(c *call) (Tensor, error) {
	x := c.x[0]
	old := c.outer.version < 13
	otherwise := int64(-1)
	if old {
		otherwise = 1
	}
	k, err := axis(c.integer("axis", otherwise), len(x.Shape))
	if err != nil || x.Integer {
		return x, fmt.Errorf("axis %d of shape %v, integers: %v", c.integer("axis", otherwise), x.Shape, x.Integer)
	}
	z := Tensor{Shape: x.Shape, Data: make([]float32, len(x.Data))}
	n, step := x.Shape[k], count(x.Shape[k+1:])
	if old {
		n, step = n*step, 1
	}
	for from := range len(x.Data) / max(n, 1) {
		at := from/step*step*n + from%step
		top, s := math.Inf(-1), 0.0
		for i := range n {
			top = max(top, float64(x.Data[at+i*step]))
		}
		for i := range n {
			s += math.Exp(float64(x.Data[at+i*step]) - top)
		}
		for i := range n {
			z.Data[at+i*step] = float32(math.Exp(float64(x.Data[at+i*step])-top) / s)
		}
	}
	return z, nil
}
