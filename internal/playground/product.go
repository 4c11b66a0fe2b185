package playground

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
)

// MostMultiplied limits M N K of a product.
const MostMultiplied = 1 << 24

// A Product asks for the errors of a product of random matrices on a device,
// and for its bounds.
type Product struct {
	Device       string  `json:"device"`
	M            int     `json:"m"`
	N            int     `json:"n"`
	K            int     `json:"k"`
	Distribution string  `json:"distribution"` // such as U(-1,1)
	Seed         uint64  `json:"seed"`
	Confidence   float64 `json:"confidence"`
}

// A ProductAnswer has the errors of all outputs and the bounds of the catalogue
// that need no run: the valid ones first, and the tightest of them first.
type ProductAnswer struct {
	Largest  string     `json:"largest"` // |error|/(|A||B|)
	Median   string     `json:"median"`
	Relative string     `json:"relative"` // the largest |error|/|D|
	Bounds   []BoundRow `json:"bounds"`
	Curves   []Curve    `json:"curves"` // the distribution of the relative error and of two bounds, as in Figure 6
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
	i := slices.IndexFunc(devices.All(), func(d tcore.Device) bool { return d.Name == q.Device })
	if i < 0 {
		return nil, fmt.Errorf("there is no device %q", q.Device)
	}
	d := devices.All()[i]
	if d.ScaleBlock > 0 {
		return nil, fmt.Errorf("%s needs scales", d.Name)
	}
	for name, n := range map[string]int{"m": q.M, "n": q.N, "k": q.K} {
		if n < 1 || n > MostMultiplied {
			return nil, fmt.Errorf("%s = %d, want 1 or more", name, n)
		}
	}
	if float64(q.M)*float64(q.N)*float64(q.K) > MostMultiplied {
		return nil, fmt.Errorf("%d × %d × %d multiplications, want at most %d", q.M, q.N, q.K, MostMultiplied)
	}
	if !(0 < q.Confidence && q.Confidence < 1) {
		return nil, fmt.Errorf("confidence %v, want it between 0 and 1", q.Confidence)
	}
	x, err := bound.ParseDistribution(q.Distribution)
	if err != nil {
		return nil, err
	}
	p := bound.Problem{M: q.M, N: q.N, K: q.K, Machine: tcore.Machine{Device: d}, X: x, Y: x}
	t, err := trial.Run(p, independent{x}, q.Seed)
	if err != nil {
		return nil, err
	}
	results, err := bound.Evaluate(p, roundoff.FailureOf(q.Confidence))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(results, func(a, b bound.Result) int {
		switch {
		case a.Holds && !b.Holds:
			return -1
		case b.Holds && !a.Holds:
			return 1
		}
		return cmp.Compare(a.Constant, b.Constant)
	})
	backward, relative := finite(t.Backward()), finite(t.Relative())
	if len(backward) == 0 || len(relative) == 0 {
		return nil, fmt.Errorf("no output is finite: %s ends at %v", d.C.Name, d.C.Max())
	}
	a := &ProductAnswer{Largest: text(slices.Max(backward)), Relative: text(slices.Max(relative))}
	slices.Sort(backward)
	a.Median = text(backward[len(backward)/2])
	for _, r := range results {
		if !math.IsNaN(r.Constant) && !math.IsInf(r.Constant, 0) {
			a.Bounds = append(a.Bounds, BoundRow{r.Bound, text(r.Constant), r.Holds, r.Why})
		}
	}
	a.Curves = curves(t, relative, results)
	return a, nil
}

// independent are matrices of independent elements of a distribution.
type independent struct{ bound.Distribution }

// Matrices returns A, from stream 1 of the seed, and B, from stream 2.
func (d independent) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	draw := func(rows, cols int, stream uint64) blas32.General {
		z := matrix.New(rows, cols)
		d.Src = rand.New(rand.NewPCG(seed, stream))
		for i := range z.Data {
			z.Data[i] = float32(d.Rand())
		}
		return z
	}
	return draw(m, k, 1), draw(k, n, 2)
}

// curves returns the distributions of the relative error and of the two
// tightest valid bounds, of those that always hold and of those that hold with
// some probability.
func curves(t *trial.Trial, relative []float64, results []bound.Result) []Curve {
	list := []Curve{{"observed", quantiles(relative)}}
	sizes := t.Sizes()
	for _, random := range []bool{false, true} {
		for _, r := range results {
			if !r.Holds || (r.Confidence != roundoff.Never) != random || math.IsInf(r.Constant, 0) {
				continue
			}
			values := make([]float64, len(sizes))
			for i, s := range sizes {
				values[i] = r.Constant * s / math.Abs(t.Values[i])
			}
			if values = finite(values); len(values) > 0 {
				list = append(list, Curve{r.Bound, quantiles(values)})
			}
			break
		}
	}
	return list
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
