package network

import (
	"fmt"
	"math"
	"strings"
)

// A node is an operator of a graph, with the attributes that are read.
type node struct {
	name, operator, domain string
	inputs, outputs        []string
	integers               map[string][]int64
	text                   map[string]string
	reals                  map[string]float32
	value                  *stored // of a Constant
	graphs                 []*graph
}

// A graph is a list of nodes. Names of tensors that are not its own are those
// of the graph around it.
type graph struct {
	nodes  []*node
	stored map[string]*stored
	made   map[string]*node // by the names of outputs
	known  map[string]constant
	outer  *graph
	reader *reader

	inputs  []Input
	outputs []string
	version int64 // of the operators of ONNX

	values map[string]Tensor // of a run, which looks here first
	most   int               // elements that a tensor of a run may have
}

// A reader reads the description of a network.
type reader struct {
	wire
	m         *Model
	functions []string
	outside   map[string]int64 // sizes of files with data
	damage    error            // what is wrong with tensors that were to be read
}

// readONNX reads a ModelProto.
func readONNX(m *Model, size int64) error {
	r := &reader{wire: wire{file: m.file, size: size}, m: m, outside: map[string]int64{}}
	var main *graph
	version := int64(0)
	err := r.each(0, size, func(f field) (err error) {
		switch f.number {
		case 8:
			version, err = r.version(f, version)
		case 7:
			main, err = r.graph(f, nil, 0)
		case 25: // a function
			err = r.message(f, func(f field) error {
				if f.number != 1 {
					return nil
				}
				name, err := r.text(f)
				r.functions = append(r.functions, name)
				return err
			})
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case main == nil:
		return fmt.Errorf("%d bytes without a graph, want an ONNX model", size)
	}
	for _, name := range r.functions {
		m.leave(name, "function", "functions of the model are not looked into")
	}
	main.products(m)
	main.version, m.graph = version, main
	return r.damage
}

// version returns the version of the operators of ONNX, if the
// OperatorSetIdProto is of them, else that known before.
func (r *reader) version(f field, before int64) (int64, error) {
	domain, version := "", int64(0)
	err := r.message(f, func(f field) (err error) {
		switch f.number {
		case 1:
			domain, err = r.text(f)
		case 2:
			version = int64(f.value)
		}
		return err
	})
	if domain != "" && domain != "ai.onnx" {
		version = before
	}
	return version, err
}

// graph reads a GraphProto.
func (r *reader) graph(f field, outer *graph, depth int) (*graph, error) {
	if depth > 32 {
		return nil, fmt.Errorf("byte %d: graphs within graphs, more than 32 deep", f.at)
	}
	g := &graph{stored: map[string]*stored{}, made: map[string]*node{}, known: map[string]constant{}, outer: outer, reader: r}
	err := r.message(f, func(f field) error {
		switch f.number {
		case 1:
			n, err := r.node(f, g, depth)
			if err != nil {
				return err
			}
			g.nodes = append(g.nodes, n)
			for _, o := range n.outputs {
				g.made[o] = n
			}
		case 5:
			t, err := r.tensor(f)
			if err != nil {
				return err
			}
			g.stored[t.name] = t
		case 11:
			in, err := r.input(f)
			if err != nil {
				return err
			}
			g.inputs = append(g.inputs, in)
		case 12:
			out, err := r.input(f)
			if err != nil {
				return err
			}
			g.outputs = append(g.outputs, out.Name)
		}
		return nil
	})
	return g, err
}

// input reads a ValueInfoProto.
func (r *reader) input(f field) (in Input, err error) {
	err = r.message(f, func(f field) error {
		if f.number == 1 {
			in.Name, err = r.text(f)
			return err
		}
		return r.within(f, []int{2, 1}, func(f field) error { // TypeProto, its tensor
			switch f.number {
			case 1:
				in.Integer = onnxTypes[f.value].integer
			case 2:
				in.Shape = []int{}
				return r.message(f, func(f field) error {
					size := -1
					err := r.message(f, func(f field) error {
						if f.number == 1 && f.value <= 1<<31 {
							size = int(f.value)
						}
						return nil
					})
					if in.Shape = append(in.Shape, size); len(in.Shape) > mostIntegers {
						return errTooMany
					}
					return err
				})
			}
			return nil
		})
	})
	return in, err
}

// within calls do for the fields of a message within messages, of which the
// numbers are given.
func (r *reader) within(f field, path []int, do func(f field) error) error {
	switch {
	case len(path) == 0:
		return do(f)
	case f.number != path[0]:
		return nil
	}
	return r.message(f, func(f field) error { return r.within(f, path[1:], do) })
}

// node reads a NodeProto.
func (r *reader) node(f field, g *graph, depth int) (*node, error) {
	n := &node{integers: map[string][]int64{}, text: map[string]string{}, reals: map[string]float32{}}
	err := r.message(f, func(f field) error {
		var to *string
		switch f.number {
		case 1, 2:
			name, err := r.text(f)
			if f.number == 1 {
				n.inputs = append(n.inputs, name)
			} else {
				n.outputs = append(n.outputs, name)
			}
			return err
		case 3:
			to = &n.name
		case 4:
			to = &n.operator
		case 7:
			to = &n.domain
		case 5:
			return r.attribute(f, n, g, depth)
		default:
			return nil
		}
		s, err := r.text(f)
		*to = s
		return err
	})
	if n.name == "" && len(n.outputs) > 0 {
		n.name = n.outputs[0]
	}
	return n, err
}

// attribute reads an AttributeProto into n. Lists of floats and strings, and
// long ones, belong to no operator that is read.
func (r *reader) attribute(f field, n *node, g *graph, depth int) error {
	name := ""
	var integers []int64
	return r.message(f, func(f field) (err error) {
		switch f.number {
		case 1:
			name, err = r.text(f)
		case 3, 8:
			if integers, err = r.integers(integers, f); err == errTooMany {
				err = nil
			}
			n.integers[name] = integers
		case 2:
			n.reals[name] = math.Float32frombits(uint32(f.value))
		case 4:
			if f.end-f.at <= 64 {
				n.text[name], err = r.text(f)
			}
		case 5:
			n.value, err = r.tensor(f)
		case 6, 11:
			var inner *graph
			inner, err = r.graph(f, g, depth+1)
			n.graphs = append(n.graphs, inner)
		}
		return err
	})
}

// find returns the stored tensor or the node of a name, in this graph or the
// ones around it.
func (g *graph) find(name string) (*stored, *node, *graph) {
	for ; g != nil && name != ""; g = g.outer {
		if t := g.stored[name]; t != nil {
			return t, nil, g
		}
		if n := g.made[name]; n != nil {
			return nil, n, g
		}
	}
	return nil, nil, nil
}

// products adds the products of a graph, and of those within it, to m.
func (g *graph) products(m *Model) {
	for _, n := range g.nodes {
		if why := g.product(n, m); why != "" {
			m.leave(n.name, n.operator, why)
		}
		for _, inner := range n.graphs {
			inner.products(m)
		}
	}
}

// product adds the products of a node, or says why not; it returns nothing of
// a node that multiplies no matrices.
func (g *graph) product(n *node, m *Model) (why string) {
	if n.domain != "" && n.domain != "ai.onnx" {
		return fmt.Sprintf("an operator of %.60q", n.domain)
	}
	switch n.operator {
	case "MatMul":
		return g.matmul(n, m)
	case "Gemm":
		return g.gemm(n, m)
	case "Conv":
		return g.conv(n, m)
	case "LSTM", "GRU", "RNN":
		return g.recurrent(n, m)
	case "ConvTranspose":
		return "a transposed convolution, whose sums have several lengths"
	case "Einsum", "Attention":
		return "not read as a product"
	case "QLinearConv", "QLinearMatMul", "MatMulInteger", "ConvInteger":
		return "quantised already, to integers"
	}
	return ""
}

// factor returns the weights that are input i of a node, or why there are
// none.
func (g *graph) factor(n *node, i, least int) (t tensor, why string) {
	t, err := g.constant(n.input(i))
	switch {
	case err != nil:
		return t, err.Error()
	case len(t.shape) < least:
		return t, fmt.Sprintf("weights %q of shape %v, want %d dimensions", n.input(i), t.shape, least)
	}
	return t, ""
}

func (n *node) input(i int) string {
	if i < len(n.inputs) {
		return n.inputs[i]
	}
	return ""
}

func (n *node) integer(name string, otherwise int64) int64 {
	if v := n.integers[name]; len(v) == 1 {
		return v[0]
	}
	return otherwise
}

func (n *node) real(name string, otherwise float32) float32 {
	if v, ok := n.reals[name]; ok {
		return v
	}
	return otherwise
}

// matmul adds AB if one of the factors is a matrix of weights: the product
// with the weights on the left is (BᵀAᵀ)ᵀ.
func (g *graph) matmul(n *node, m *Model) string {
	for _, right := range []bool{true, false} {
		at := map[bool]int{true: 1, false: 0}[right]
		t, why := g.factor(n, at, 2)
		if why != "" {
			if right && strings.HasPrefix(why, "computed") {
				continue
			}
			return why
		}
		if len(t.shape) > 2 {
			return fmt.Sprintf("weights %q of shape %v, a product of several matrices", n.input(at), t.shape)
		}
		p := Product{Name: n.name, Operator: n.operator, Input: n.input(1 - at), Tensor: n.input(at), K: t.shape[0], N: t.shape[1], weights: t}
		if !right {
			p.K, p.N, p.across = p.N, p.K, true
		}
		m.add(p)
		return ""
	}
	return ""
}

func (g *graph) gemm(n *node, m *Model) string {
	t, why := g.factor(n, 1, 2)
	if why != "" {
		return why
	}
	p := Product{Name: n.name, Operator: n.operator, Input: n.input(0), Tensor: n.input(1), K: t.shape[0], N: t.shape[1], weights: t}
	if n.integer("transB", 0) != 0 {
		p.K, p.N, p.across = p.N, p.K, true
	}
	if n.integer("transA", 0) != 0 {
		p.Input = "" // its columns are the rows of A
	}
	m.add(p)
	return ""
}

func (g *graph) conv(n *node, m *Model) string {
	t, why := g.factor(n, 1, 3)
	if why != "" {
		return why
	}
	groups := n.integer("group", 1)
	if groups < 1 || groups > math.MaxInt32 || t.shape[0]%int(groups) != 0 {
		return fmt.Sprintf("%d filters in %d groups", t.shape[0], groups)
	}
	m.add(Product{Name: n.name, Operator: n.operator, Input: n.input(0), Tensor: n.input(1), N: t.shape[0], K: count(t.shape[1:]), across: true,
		Groups: int(groups), weights: t, Window: &Window{Kernel: t.shape[2:], Strides: ints(n.integers["strides"]), Pads: ints(n.integers["pads"]),
			Dilations: ints(n.integers["dilations"]), AutoPad: n.text["auto_pad"]}})
	return ""
}

func ints(x []int64) (z []int) {
	for _, v := range x {
		z = append(z, int(v))
	}
	return z
}

// recurrent adds the two products of every direction of a recurrent layer, of
// the input and of the state, with the weights of all gates side by side.
func (g *graph) recurrent(n *node, m *Model) string {
	for i, what := range []string{"input", "state"} {
		t, why := g.factor(n, i+1, 3)
		if why != "" {
			return why
		}
		if len(t.shape) != 3 {
			return fmt.Sprintf("weights %q of shape %v, want 3 dimensions", n.input(i+1), t.shape)
		}
		for direction := range t.shape[0] {
			p := Product{Name: n.name + " " + what, Operator: n.operator, Tensor: n.input(i + 1), N: t.shape[1], K: t.shape[2], across: true,
				weights: part(t, direction)}
			if t.shape[0] > 1 {
				p.Name = fmt.Sprintf("%s of direction %d", p.Name, direction)
			}
			if what == "input" {
				p.Input = n.input(0)
			}
			m.add(p)
		}
	}
	return ""
}

// part returns the matrix of index i of an array.
func part(t tensor, i int) tensor {
	return tensor{t.shape[1:], func() ([]float32, error) {
		data, err := t.read()
		if err != nil {
			return nil, err
		}
		n := count(t.shape[1:])
		return data[i*n : (i+1)*n], nil
	}}
}
