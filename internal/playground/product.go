package playground

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
)

// MostMultiplied limits the multiplications of a question, and MostOutputs the
// outputs for which a bound holds.
const (
	MostMultiplied = 1 << 24
	MostOutputs    = 1 << 24
)

// A Product asks for the errors of a product of random matrices on a device,
// and for its bounds on all M N outputs. The first rows are the same however
// many are computed.
type Product struct {
	Device       string   `json:"device"`
	M            int      `json:"m"`
	N            int      `json:"n"`
	K            int      `json:"k"`
	Rows         int      `json:"rows"`         // of A that are multiplied; 0 for all
	Distribution string   `json:"distribution"` // such as U(-1,1)
	Seed         uint64   `json:"seed"`
	Confidence   float64  `json:"confidence"`
	Represented  bool     `json:"represented"` // whether the conversion of A and B is part of the error
	Draw         []string `json:"draw"`        // bounds to draw; of none, the tightest valid ones are drawn
}

// A ProductAnswer has the errors of all outputs and the bounds of the catalogue
// that need no run: the valid ones first, and the tightest of them first.
type ProductAnswer struct {
	Largest  string     `json:"largest"` // |error|/(|A||B|)
	Median   string     `json:"median"`
	Relative string     `json:"relative"` // the largest |error|/|D|
	Bounds   []BoundRow `json:"bounds"`
	Curves   []Curve    `json:"curves"`  // the distribution of the relative error and of bounds, as in Figure 6
	Outputs  int        `json:"outputs"` // how many were computed
}

// A Curve is an empirical distribution: value i of n has the share (i+1)/n of
// all values at or below it.
type Curve struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// A BoundRow is one bound.
type BoundRow struct {
	Name     string `json:"name"`
	Constant string `json:"constant"`
	Holds    bool   `json:"holds"`
	Why      string `json:"why"`
}

// Answer returns the answer. An error says which part of the question is wrong.
func (q Product) Answer() (*ProductAnswer, error) {
	p, err := q.problem()
	if err != nil {
		return nil, err
	}
	results, err := bound.Evaluate(p, roundoff.FailureOf(q.Confidence))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(results, better)
	p.M = q.rows()
	t, err := trial.Run(p, independent{p.X}, q.Seed)
	if err != nil {
		return nil, err
	}
	backward, relative := finite(t.Backward()), finite(t.Relative())
	if len(backward) == 0 || len(relative) == 0 {
		return nil, fmt.Errorf("no output is finite: %s ends at %v", p.Device.C.Name, p.Device.C.Max())
	}
	a := &ProductAnswer{Largest: text(slices.Max(backward)), Median: text(sample.Median(backward)), Relative: text(slices.Max(relative)), Outputs: len(t.Values)}
	for _, r := range results {
		if !math.IsNaN(r.Constant) && !math.IsInf(r.Constant, 0) {
			a.Bounds = append(a.Bounds, BoundRow{r.Bound, text(r.Constant), r.Holds, r.Why})
		}
	}
	a.Curves = []Curve{{"observed", quantiles(relative)}}
	for _, r := range q.drawn(results) {
		if values := finite(relativeBound(t, r.Constant)); len(values) > 0 {
			a.Curves = append(a.Curves, Curve{r.Bound, quantiles(values)})
		}
	}
	return a, nil
}

// problem returns the product whose bounds are asked for. An error says which
// part of the question is wrong.
func (q Product) problem() (p bound.Problem, err error) {
	d, ok := devices.ByName(q.Device)
	switch {
	case !ok:
		return p, fmt.Errorf("device: there is no %q", q.Device)
	case d.ScaleBlock > 0:
		return p, fmt.Errorf("device: %s needs scales", d.Name)
	case !(0 < q.Confidence && q.Confidence < 1):
		return p, fmt.Errorf("confidence: %v, want it between 0 and 1", q.Confidence)
	}
	for _, n := range []struct {
		name string
		is   int
	}{{"m", q.M}, {"n", q.N}, {"k", q.K}} {
		if n.is < 1 {
			return p, fmt.Errorf("%s = %d, want 1 or more", n.name, n.is)
		}
	}
	switch {
	case q.Rows < 0 || q.Rows > q.M:
		return p, fmt.Errorf("rows = %d, want 0 to %d", q.Rows, q.M)
	case float64(q.M)*float64(q.N) > MostOutputs:
		return p, fmt.Errorf("m, n: %d × %d outputs, want at most %d", q.M, q.N, MostOutputs)
	case float64(q.rows())*float64(q.N)*float64(q.K) > MostMultiplied:
		return p, fmt.Errorf("m, n, k: %d × %d × %d multiplications, want at most %d", q.rows(), q.N, q.K, MostMultiplied)
	}
	x, err := bound.ParseDistribution(q.Distribution)
	return bound.Problem{M: q.M, N: q.N, K: q.K, Machine: tcore.Machine{Device: d}, X: x, Y: x, Represented: q.Represented}, err
}

// rows returns how many rows of A are multiplied.
func (q Product) rows() int {
	if q.Rows == 0 {
		return q.M
	}
	return q.Rows
}

// better orders bounds: the valid ones first, and the tightest of them first.
func better(a, b bound.Result) int {
	switch {
	case a.Holds && !b.Holds:
		return -1
	case b.Holds && !a.Holds:
		return 1
	}
	return cmp.Compare(a.Constant, b.Constant)
}

// independent are matrices of independent elements of a distribution.
type independent struct{ bound.Distribution }

// drawing says which matrices were drawn.
type drawing struct {
	distribution string
	m, n, k      int
	seed         uint64
}

// last are the matrices that were drawn last: the page asks for the same ones
// on one machine after the other.
var last struct {
	sync.Mutex
	drawing
	a, b blas32.General
}

// Matrices returns A, from stream 1 of the seed, and B, from stream 2.
func (d independent) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	last.Lock()
	defer last.Unlock()
	if is := (drawing{d.String(), m, n, k, seed}); is != last.drawing {
		last.drawing, last.a, last.b = is, d.draw(m, k, seed, 1), d.draw(k, n, seed, 2)
	}
	return last.a, last.b
}

// draw returns a matrix from a stream of the seed.
func (d independent) draw(rows, cols int, seed, stream uint64) blas32.General {
	z := matrix.New(rows, cols)
	d.Src = rand.New(rand.NewPCG(seed, stream))
	for i := range z.Data {
		z.Data[i] = float32(d.Rand())
	}
	return z
}

// drawn returns the bounds to draw: those asked for or else, of the ordered
// results, the tightest valid ones of those that always hold and of those that
// hold with some probability.
func (q Product) drawn(results []bound.Result) (list []bound.Result) {
	for _, name := range q.Draw {
		if i := slices.IndexFunc(results, func(r bound.Result) bool { return r.Bound == name }); i >= 0 {
			list = append(list, results[i])
		}
	}
	if len(q.Draw) > 0 {
		return list
	}
	for _, random := range []bool{false, true} {
		if i := slices.IndexFunc(results, func(r bound.Result) bool {
			return r.Holds && (r.Confidence != roundoff.Never) == random && r.Constant > 0 && !math.IsInf(r.Constant, 1)
		}); i >= 0 {
			list = append(list, results[i])
		}
	}
	return list
}

// relativeBound returns the bound β |A||B|/|AB| on the relative error of every
// output.
func relativeBound(t *trial.Trial, β float64) []float64 {
	z := t.Conditions()
	for i := range z {
		z[i] *= β
	}
	return z
}

// quantiles returns up to 200 of the values, ascending and evenly spread over
// them, with the first and the last.
func quantiles(values []float64) []float64 {
	values = slices.Sorted(slices.Values(values))
	n := min(len(values), 200)
	if n == len(values) {
		return values
	}
	q := make([]float64, n)
	for i := range q {
		q[i] = values[i*(len(values)-1)/(n-1)]
	}
	return q
}

// finite returns the elements that are finite.
func finite(x []float64) (y []float64) {
	for _, v := range x {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			y = append(y, v)
		}
	}
	return y
}
