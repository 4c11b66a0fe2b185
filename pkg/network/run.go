package network

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Tensor is an array of numbers of binary32, or of integers, among them the
// truth values 0 and 1. Integers that are computed are at most 2²⁴ in
// magnitude, which binary32 has all.
type Tensor struct {
	Shape   []int
	Data    []float32 // the last index counts fastest
	Integer bool
}

// An Input is an input of a network. A size that may be any is -1, and the
// shape is nil if the file does not tell it.
type Input struct {
	Name    string
	Shape   []int
	Integer bool
}

// Inputs returns the inputs of the graph, without those that are stored. A
// file without a graph has none.
func (m *Model) Inputs() (list []Input) {
	if m.graph == nil {
		return nil
	}
	for _, i := range m.graph.inputs {
		if m.graph.stored[i.Name] == nil {
			list = append(list, i)
		}
	}
	return list
}

// Outputs returns the names of the outputs of the graph.
func (m *Model) Outputs() []string {
	if m.graph == nil {
		return nil
	}
	return slices.Clone(m.graph.outputs)
}

// A Multiply computes a product ab of a network, of the node of the graph that
// is named. It must not change a and b.
type Multiply func(node string, a, b blas32.General) (blas32.General, error)

// Most elements that a tensor of a run may have.
const mostElements = 1 << 27

// Run computes the outputs of the network, with every product of matrices of
// MatMul, Gemm and Conv computed by multiply, of which the factors are as
// [Product] describes them: activations on the left, weights on the right. All
// else is computed in binary32: sums, differences, products, quotients and
// square roots are rounded to nearest even, sums of many terms and elementary
// functions are computed in binary64 and rounded once.
//
// The error names the file, and the node and its operator if that is none that
// is computed, if shapes do not fit, if a tensor would have more than 2²⁷
// elements, or if multiply fails. So does one about an input that is missing or
// has another shape. What is not finite is passed on.
func (m *Model) Run(inputs map[string]Tensor, multiply Multiply) (map[string]Tensor, error) {
	out, err := m.run(inputs, multiply, mostElements)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	return out, nil
}

// A run is what is known of a graph while it is computed. As a graph within
// that of the model it finds what is stored there.
type run struct {
	*graph
	multiply Multiply
}

func (m *Model) run(inputs map[string]Tensor, multiply Multiply, most int) (map[string]Tensor, error) {
	if m.graph == nil {
		return nil, errors.New("a file without a graph, which says nothing of how to compute")
	}
	r := &run{&graph{values: map[string]Tensor{}, most: most, outer: m.graph, reader: m.graph.reader}, multiply}
	for _, in := range m.Inputs() {
		x, ok := inputs[in.Name]
		if !ok {
			return nil, fmt.Errorf("input %q is missing", in.Name)
		}
		if err := r.takes(in, x); err != nil {
			return nil, err
		}
		r.values[in.Name] = x
	}
	last := m.graph.last()
	for i, n := range m.graph.nodes {
		if err := r.node(n); err != nil {
			return nil, fmt.Errorf("%s %q: %w", n.operator, n.name, err)
		}
		for _, name := range last[i] {
			delete(r.values, name)
		}
	}
	out := map[string]Tensor{}
	for _, name := range m.graph.outputs {
		x, err := r.value(name)
		if err != nil {
			return nil, err
		}
		out[name] = x
	}
	return out, nil
}

// last returns for each node the names that no later one reads, and that are
// no outputs.
func (g *graph) last() [][]string {
	z, seen := make([][]string, len(g.nodes)), map[string]bool{}
	for _, name := range g.outputs {
		seen[name] = true
	}
	for i, n := range slices.Backward(g.nodes) {
		for _, name := range slices.Concat(n.inputs, n.outputs) {
			if !seen[name] {
				seen[name] = true
				z[i] = append(z[i], name)
			}
		}
	}
	return z
}

// takes returns an error unless x is of the kind and the shape of an input.
func (r *run) takes(in Input, x Tensor) error {
	if n, err := r.fits(x.Shape); err != nil || n != len(x.Data) {
		return fmt.Errorf("input %q: %d elements of shape %v, want as many as the shape has, at most %d", in.Name, len(x.Data), x.Shape, r.most)
	}
	fit := in.Shape == nil || len(in.Shape) == len(x.Shape)
	for k := range in.Shape {
		fit = fit && (in.Shape[k] < 0 || in.Shape[k] == x.Shape[k])
	}
	switch {
	case !fit:
		return fmt.Errorf("input %q: shape %v, want %v, -1 for any", in.Name, x.Shape, in.Shape)
	case in.Integer != x.Integer:
		return fmt.Errorf("input %q: integers: %v, want %v", in.Name, x.Integer, in.Integer)
	case x.Integer:
		return whole(x.Data)
	}
	return nil
}

// fits returns the number of elements of a shape. The error says that it is
// more than there may be, also without the sizes that are 0.
func (r *run) fits(shape []int) (int, error) {
	n := 1
	for _, s := range shape {
		if s < 0 || n > r.most/max(s, 1) {
			return 0, fmt.Errorf("a tensor of shape %v, want at most %d elements", shape, r.most)
		}
		n *= max(s, 1)
	}
	return count(shape), nil
}

// whole returns an error unless all of x are integers of at most 2²⁴.
func whole(x []float32) error {
	for i, v := range x {
		if float64(v) != math.Trunc(float64(v)) || v > 1<<24 || v < -1<<24 {
			return fmt.Errorf("element %d is %v, want integers of at most 2^24 in magnitude", i, v)
		}
	}
	return nil
}

// value returns the tensor of a name: an input, computed, or stored.
func (r *run) value(name string) (Tensor, error) {
	if x, ok := r.values[name]; ok {
		return x, nil
	}
	t := r.outer.stored[name]
	if t == nil {
		return Tensor{}, fmt.Errorf("%q is neither stored nor computed before it is read", name)
	}
	return r.load(t)
}

// load reads a stored tensor.
func (r *run) load(t *stored) (Tensor, error) {
	open, err := t.open()
	if err != nil {
		return Tensor{}, err
	}
	if _, err := r.fits(open.shape); err != nil {
		return Tensor{}, err
	}
	data, err := open.read()
	return Tensor{open.shape, data, onnxTypes[t.kind].integer}, err
}

// node computes a node.
func (r *run) node(n *node) error {
	op, ok := operators[n.operator]
	switch {
	case !ok || n.domain != "" && n.domain != "ai.onnx":
		return fmt.Errorf("operator %q of domain %q is not computed", n.operator, n.domain)
	case len(n.inputs) < op.least || len(n.inputs) > op.most:
		return fmt.Errorf("%d inputs, want %d to %d", len(n.inputs), op.least, op.most)
	case len(n.outputs) != 1:
		return fmt.Errorf("%d outputs, want 1", len(n.outputs))
	}
	c := &call{node: n, run: r}
	for i, name := range n.inputs {
		if name == "" && i >= op.least {
			c.x = append(c.x, Tensor{})
			continue
		}
		x, err := r.value(name)
		if err != nil {
			return err
		}
		c.x = append(c.x, x)
	}
	z, err := op.do(c)
	if err != nil {
		return err
	}
	r.values[n.outputs[0]] = z
	return nil
}
