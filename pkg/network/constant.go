package network

import (
	"errors"
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// errComputed says that a tensor depends on the input of the network.
var errComputed = errors.New("computed by the network: neither factor is stored")

// A constant is what is known of a name: its tensor, or why there is none.
type constant struct {
	tensor
	err error
}

// constant returns the tensor of a name if it is stored, or made of stored ones
// by operators that move or scale numbers. The error is errComputed or says
// what hinders.
func (g *graph) constant(name string) (tensor, error) {
	if v, ok := g.values[name]; ok {
		return tensor{v.Shape, func() ([]float32, error) { return v.Data, nil }}, nil
	}
	t, n, at := g.find(name)
	if t != nil {
		return t.open()
	}
	if n == nil {
		return tensor{}, errComputed
	}
	c, ok := at.known[name]
	if !ok {
		at.known[name] = constant{err: fmt.Errorf("%s %q: its input is its output", n.operator, n.name)}
		c.tensor, c.err = at.output(n)
		at.known[name] = c
	}
	return c.tensor, c.err
}

// output returns the output of a node, as constant does.
func (g *graph) output(n *node) (tensor, error) {
	if n.operator == "Constant" {
		if n.value == nil {
			return tensor{}, fmt.Errorf("constant %q is not stored as a tensor", n.name)
		}
		return n.value.open()
	}
	do := moves[n.operator]
	if do == nil {
		return tensor{}, errComputed
	}
	t, err := g.constant(n.input(0))
	if err != nil {
		return tensor{}, err
	}
	z, err := do(g, n, t)
	if err != nil && err != errComputed {
		err = fmt.Errorf("%s %q: %w", n.operator, n.name, err)
	}
	return z, err
}

// A move makes a tensor of the first input of a node.
type move func(g *graph, n *node, t tensor) (tensor, error)

// moves are the operators that weights are followed through.
var moves map[string]move

func init() {
	moves = map[string]move{
		"Identity": func(_ *graph, _ *node, t tensor) (tensor, error) { return t, nil },
		"Cast":     cast, "Transpose": transpose, "Reshape": reshape, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
		"Slice": slice, "Concat": concat, "DequantizeLinear": dequantise,
	}
}

// list returns the integers of an attribute, or of an input that newer versions
// of an operator have in its place.
func (g *graph) list(n *node, attribute string, input int) ([]int64, error) {
	if v, ok := n.integers[attribute]; ok {
		return v, nil
	}
	if n.input(input) == "" {
		return nil, nil
	}
	if v, ok := g.values[n.input(input)]; ok {
		return v.list()
	}
	s, made, _ := g.find(n.input(input))
	if s == nil && made != nil && made.operator == "Constant" {
		s = made.value
		if v, ok := made.integers["value_ints"]; ok {
			return v, nil
		}
	}
	if s == nil {
		return nil, fmt.Errorf("%s %q is not stored", attribute, n.input(input))
	}
	return s.integers()
}

// axis returns the index of an axis, which may count from the end.
func axis(k int64, of int) (int, error) {
	if k < -int64(of) || k >= int64(of) {
		return 0, fmt.Errorf("axis %d of %d", k, of)
	}
	return int((k + int64(of)) % int64(of)), nil
}

func cast(_ *graph, n *node, t tensor) (tensor, error) {
	switch to := n.integer("to", 0); to {
	case 1, 11: // binary32, binary64
		return t, nil
	case 10, 16:
		f := map[int64]tcore.Format{10: tcore.Binary16, 16: tcore.BFloat16}[to]
		return tensor{t.shape, func() ([]float32, error) {
			data, err := t.read()
			if err != nil {
				return nil, err
			}
			z := make([]float32, len(data))
			f.RoundSlice32(z, data)
			return z, nil
		}}, nil
	default:
		return t, fmt.Errorf("to type %d of ONNX", to)
	}
}

// view returns a tensor of elements of t.
func view(t tensor, shape, steps []int, offset int) tensor {
	return tensor{shape, func() ([]float32, error) {
		data, err := t.read()
		if err != nil {
			return nil, err
		}
		return gather(data, shape, steps, offset), nil
	}}
}

func transpose(_ *graph, n *node, t tensor) (tensor, error) {
	order := n.integers["perm"]
	if order == nil {
		for k := range t.shape {
			order = append(order, int64(len(t.shape)-1-k))
		}
	}
	var shape, steps []int
	seen, all := map[int64]bool{}, strides(t.shape)
	for _, k := range order {
		if k < 0 || k >= int64(len(t.shape)) || seen[k] {
			return t, fmt.Errorf("perm %v of %d axes", order, len(t.shape))
		}
		seen[k] = true
		shape, steps = append(shape, t.shape[k]), append(steps, all[k])
	}
	if len(shape) != len(t.shape) {
		return t, fmt.Errorf("perm %v of %d axes", order, len(t.shape))
	}
	return view(t, shape, steps, 0), nil
}

// reshape knows 0, a size that stays, and -1, the one that follows.
func reshape(g *graph, n *node, t tensor) (tensor, error) {
	to, err := g.list(n, "shape", 1)
	if err != nil {
		return t, err
	}
	to = slices.Clone(to)
	free, known := -1, int64(1)
	for k, s := range to {
		if s == 0 && k < len(t.shape) && n.integer("allowzero", 0) == 0 {
			s = int64(t.shape[k])
			to[k] = s
		}
		switch {
		case s == -1 && free < 0:
			free = k
		case s < 1 || known > 1<<40/s:
			return t, fmt.Errorf("from shape %v to %v", t.shape, to)
		default:
			known *= s
		}
	}
	n0 := int64(count(t.shape))
	if free >= 0 {
		to[free] = n0 / known
		known *= n0 / known
	}
	if known != n0 {
		return t, fmt.Errorf("from shape %v to %v", t.shape, to)
	}
	return tensor{ints(to), t.read}, nil
}

func squeeze(g *graph, n *node, t tensor) (tensor, error) {
	list, err := g.list(n, "axes", 1)
	if err != nil {
		return t, err
	}
	out := map[int]bool{}
	for _, a := range list {
		k, err := axis(a, len(t.shape))
		if err != nil || t.shape[k] != 1 {
			return t, fmt.Errorf("axis %d of shape %v", a, t.shape)
		}
		out[k] = true
	}
	var shape []int
	for k, s := range t.shape {
		if !out[k] && (list != nil || s != 1) {
			shape = append(shape, s)
		}
	}
	return tensor{shape, t.read}, nil
}

func unsqueeze(g *graph, n *node, t tensor) (tensor, error) {
	list, err := g.list(n, "axes", 1)
	if err != nil {
		return t, err
	}
	rank := len(t.shape) + len(list)
	in := map[int]bool{}
	for _, a := range list {
		k, err := axis(a, rank)
		if err != nil || in[k] {
			return t, fmt.Errorf("axes %v of a tensor of %d", list, rank)
		}
		in[k] = true
	}
	var shape []int
	rest := t.shape
	for k := range rank {
		if in[k] {
			shape = append(shape, 1)
		} else {
			shape, rest = append(shape, rest[0]), rest[1:]
		}
	}
	return tensor{shape, t.read}, nil
}

// slice knows positive steps.
func slice(g *graph, n *node, t tensor) (tensor, error) {
	var lists [4][]int64
	for k, name := range []string{"starts", "ends", "axes", "steps"} {
		var err error
		if lists[k], err = g.list(n, name, k+1); err != nil {
			return t, err
		}
	}
	starts, ends, axes, by := lists[0], lists[1], lists[2], lists[3]
	if axes == nil {
		for k := range starts {
			axes = append(axes, int64(k))
		}
	}
	if by == nil {
		for range starts {
			by = append(by, 1)
		}
	}
	if len(starts) == 0 || len(ends) != len(starts) || len(axes) != len(starts) || len(by) != len(starts) {
		return t, fmt.Errorf("starts %v, ends %v, axes %v, steps %v", starts, ends, axes, by)
	}
	shape, steps, offset := slices.Clone(t.shape), strides(t.shape), 0
	for i, a := range axes {
		k, err := axis(a, len(shape))
		if err != nil {
			return t, err
		}
		within := func(x int64) int {
			if x < 0 {
				x += int64(t.shape[k])
			}
			return int(max(0, min(x, int64(t.shape[k]))))
		}
		from, to := within(starts[i]), within(ends[i])
		if by[i] < 1 || by[i] > 1<<31 || slices.Contains(axes[:i], a) {
			return t, fmt.Errorf("axes %v, steps %v", axes, by)
		}
		offset += from * steps[k]
		shape[k] = (max(to-from, 0) + int(by[i]) - 1) / int(by[i])
		steps[k] *= int(by[i])
	}
	return view(t, shape, steps, offset), nil
}

func concat(g *graph, n *node, t tensor) (tensor, error) {
	k, err := axis(n.integer("axis", 0), len(t.shape))
	if err != nil {
		return t, err
	}
	parts, shape := []tensor{t}, slices.Clone(t.shape)
	for _, name := range n.inputs[1:] {
		p, err := g.constant(name)
		if err != nil {
			return t, err
		}
		if len(p.shape) != len(shape) || count(p.shape[:k]) != count(shape[:k]) || count(p.shape[k+1:]) != count(shape[k+1:]) {
			return t, fmt.Errorf("shapes %v and %v along axis %d", t.shape, p.shape, k)
		}
		parts, shape[k] = append(parts, p), shape[k]+p.shape[k]
		if limit := g.limit(); count(p.shape) < 1 || int64(count(shape)) > limit {
			return t, fmt.Errorf("shapes %v and %v, want more than no elements and at most the %d bytes that there are", t.shape, shape, limit)
		}
	}
	return tensor{shape, func() ([]float32, error) {
		var all [][]float32
		for _, p := range parts {
			data, err := p.read()
			if err != nil {
				return nil, err
			}
			all = append(all, data)
		}
		z := make([]float32, 0, count(shape))
		for i := range count(shape[:k]) {
			for j, p := range parts {
				n := count(p.shape[k:])
				z = append(z, all[j][i*n:(i+1)*n]...)
			}
		}
		return z, nil
	}}, nil
}

// bytes returns the size of the model with the data outside of it.
func (r *reader) bytes() int64 {
	n := r.size
	for _, size := range r.outside {
		n += size
	}
	return n
}

// limit returns how many elements a tensor may have: in a run more than there
// are bytes.
func (g *graph) limit() int64 {
	if g.values != nil {
		return int64(g.most)
	}
	return g.reader.bytes()
}

// literal returns the tensor of a name that is stored as it is.
func (g *graph) literal(name string) (tensor, error) {
	t, n, _ := g.find(name)
	if t == nil && n != nil && n.operator == "Constant" {
		t = n.value
	}
	if t == nil {
		return tensor{}, fmt.Errorf("%q is not stored", name)
	}
	return t.open()
}

// dequantise knows one scale of the tensor, or of each index of an axis.
func dequantise(g *graph, n *node, t tensor) (tensor, error) {
	scale, err := g.literal(n.input(1))
	if err != nil {
		return t, err
	}
	zero := tensor{scale.shape, func() ([]float32, error) { return make([]float32, count(scale.shape)), nil }}
	if n.input(2) != "" {
		if zero, err = g.literal(n.input(2)); err != nil {
			return t, err
		}
	}
	along, scales := 1, count(scale.shape)
	if scales > 1 {
		k, err := axis(n.integer("axis", 1), len(t.shape))
		if err != nil {
			return t, err
		}
		if len(scale.shape) != 1 || scales != t.shape[k] {
			return t, fmt.Errorf("scales of shape %v for shape %v along axis %d", scale.shape, t.shape, k)
		}
		along = count(t.shape[k+1:])
	}
	if count(zero.shape) != scales || scales < 1 {
		return t, fmt.Errorf("scales of shape %v and zero points of %v", scale.shape, zero.shape)
	}
	return tensor{t.shape, func() ([]float32, error) {
		x, err := t.read()
		if err != nil {
			return nil, err
		}
		s, err := scale.read()
		if err != nil {
			return nil, err
		}
		zeros, err := zero.read()
		if err != nil {
			return nil, err
		}
		z := make([]float32, len(x))
		for i := range x {
			k := i / along % scales
			z[i] = float32(x[i]-zeros[k]) * s[k]
		}
		return z, nil
	}}, nil
}
