package audit

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/network"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Run is a network, computed with exact products from inputs. It keeps the
// factors of all products.
type Run struct {
	Outputs map[string]network.Tensor
	model   *network.Model
	inputs  map[string]network.Tensor
	calls   []computed
}

// A computed product of a run.
type computed struct {
	node    string
	a, b, d blas32.General
}

// NewRun computes a network from inputs with [network.Exactly]. The error is
// that of [network.Model.Run], or says that the network has no products.
func NewRun(m *network.Model, inputs map[string]network.Tensor) (*Run, error) {
	r := &Run{model: m, inputs: inputs}
	var err error
	r.Outputs, err = m.Run(inputs, func(node string, a, b blas32.General) (blas32.General, error) {
		d, err := network.Exactly(node, a, b)
		r.calls = append(r.calls, computed{node, a, b, d})
		return d, err
	})
	if err == nil && r.calls == nil {
		err = fmt.Errorf("%s: no product of matrices is computed", m.Path)
	}
	return r, err
}

// An Outcome is what an [Arithmetic] makes of a run.
type Outcome struct {
	Products []Passed // by the nodes of the graph, in the order of computation
	Outputs  map[string]network.Tensor
}

// Passed says where the error of a product D = AB comes from, if Ã and B̃ are
// its factors in a network all of whose products are computed by an
// Arithmetic, and D̂(A, B) is the product as computed by it. All is relative to
// rms(D), over all elements and, of a node with several products, over them.
type Passed struct {
	Node                 string
	K, N                 int
	Activations, Weights float64 // the parts of Predicted, as in [Errors]
	Predicted            float64 // of D̂(A, B), without sums: [Errors.Predicted]
	Alone                float64 // rms(D̂(A, B) - D): with exact factors
	Inherited            float64 // rms(ÃB̃ - D): the error of the factors, passed on
	Both                 float64 // rms(D̂(Ã, B̃) - D)
}

// With computes the network with all products by an arithmetic. The error is
// that of [network.Model.Run], or names a product that is 0 or that is not
// finite.
func (r *Run) With(x Arithmetic) (*Outcome, error) {
	var list []*sums
	of, i := map[string]*sums{}, 0
	out, err := r.model.Run(r.inputs, func(node string, a, b blas32.General) (blas32.General, error) {
		c := r.calls[i]
		i++
		s := of[node]
		if s == nil {
			s = &sums{Passed: Passed{Node: node, K: b.Rows}}
			of[node], list = s, append(list, s)
		}
		s.N += b.Cols
		return s.add(c, x, a, b)
	})
	if err != nil {
		return nil, err
	}
	z := &Outcome{Outputs: out}
	for _, s := range list {
		p, err := s.passed()
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", r.model.Path, s.Node, err)
		}
		z.Products = append(z.Products, p)
	}
	return z, nil
}

// sums are those of the squares of which Passed has the roots.
type sums struct {
	Passed
	squares float64 // of D
}

// add computes a product and adds its errors.
func (s *sums) add(c computed, x Arithmetic, a, b blas32.General) (d blas32.General, err error) {
	if d, err = x.Multiply(c.node, a, b); err != nil {
		return d, err
	}
	alone, inherited := d, c.d
	if !slices.Equal(a.Data, c.a.Data) || !slices.Equal(b.Data, c.b.Data) {
		if alone, err = x.Multiply(c.node, c.a, c.b); err != nil {
			return d, err
		}
		if inherited, err = network.Exactly(c.node, a, b); err != nil {
			return d, err
		}
	}
	size := squares(c.d.Data, nil)
	s.squares += size
	s.Both += squares(d.Data, c.d.Data)
	s.Alone += squares(alone.Data, c.d.Data)
	s.Inherited += squares(inherited.Data, c.d.Data)
	if size == 0 {
		return d, nil // of which nothing is predicted
	}
	l, err := NewLayer(c.a, c.b)
	if err != nil {
		return d, err
	}
	e, err := l.Errors(x.OnA, x.OnB, nil, 0)
	s.Predicted += e.Predicted * e.Predicted * size
	s.Activations += e.Activations * e.Activations * size
	s.Weights += e.Weights * e.Weights * size
	return d, err
}

// passed returns the roots, relative to D.
func (s *sums) passed() (Passed, error) {
	if s.squares == 0 {
		return s.Passed, fmt.Errorf("the product is 0, want one of which errors can be told")
	}
	p := s.Passed
	for _, e := range []*float64{&p.Activations, &p.Weights, &p.Predicted, &p.Alone, &p.Inherited, &p.Both} {
		*e = math.Sqrt(*e / s.squares)
		if math.IsNaN(*e) || math.IsInf(*e, 0) {
			return p, fmt.Errorf("an error of the product is %v, want finite numbers", *e)
		}
	}
	return p, nil
}

// squares returns Σ (x - y)², with y = 0 if it is nil.
func squares(x, y []float32) (s float64) {
	for i, v := range x {
		d := float64(v)
		if y != nil {
			d -= float64(y[i])
		}
		s += d * d
	}
	return s
}

// Decisions returns the index of the greatest number of each row, the first of
// several: the class that a network of classes decides for. A row is along the
// last axis.
func Decisions(x network.Tensor) (list []int) {
	n := 1
	if len(x.Shape) > 0 {
		n = x.Shape[len(x.Shape)-1]
	}
	for at := 0; at < len(x.Data); at += n {
		best := 0
		for j, v := range x.Data[at : at+n] {
			if v > x.Data[at+best] {
				best = j
			}
		}
		list = append(list, best)
	}
	return list
}

// Changed returns how many decisions differ, of outputs of the same shape.
func Changed(x, y network.Tensor) (n int) {
	of := Decisions(y)
	for i, j := range Decisions(x) {
		if of[i] != j {
			n++
		}
	}
	return n
}
