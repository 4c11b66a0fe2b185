package sweep

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/trial"
)

// A product is one of the products of a plan, with its errors.
type product struct {
	bound.Problem
	*draw
	errors []float64 // D̂ - D, row by row; NaN where an output is not judged
	sizes  []float64 // |A||B|

	kernel            *quant.Kernel // of recipes, nil without
	lost, accumulated []float64     // ÂB̂ - AB and D̂ - ÂB̂, with recipes
}

// measure returns the rows of one product, the row of errors first.
func (p Plan) measure(u unit, d *draw) ([]Row, error) {
	k := p.problem(u, d.data, d.a.Cols)
	z := product{Problem: k, draw: d, kernel: u.kernel}
	row := Row{Machine: u.Name, Recipe: u.recipe, Data: d.data.Name, M: k.M, N: k.N, K: k.K, Represented: k.Represented, Seeds: []uint64{d.seed}}
	e := row
	e.Bound, e.Deterministic, e.Verdict, e.Predicted = ErrorRow, true, Holds, none
	e.Told = p.tellings()[0].Told // the first of the plan, so that Join keeps apart plans that differ in it
	e.Moments, e.Why = z.run()
	if z.errors == nil {
		e.Skipped = k.M * k.N
		return []Row{e}, nil
	}
	t := tally{}
	for i, x := range z.errors {
		if math.IsNaN(x) {
			e.Skipped++
			continue
		}
		t.add(x, z.sizes[i], bound.Interval{Radius: z.sizes[i]})
	}
	if t.outputs == 0 {
		return []Row{e}, nil
	}
	e.Summary = t.summary()
	e.Quantised, e.Accumulated = z.components()
	rows := []Row{e}

	asked, err := z.ask(p)
	if err != nil {
		return nil, err
	}
	for _, q := range z.tallies(asked) {
		if q.outputs > 0 {
			r := row
			r.Confidence, r.PerOutput, r.Told, r.Ranges = q.confidence, p.PerOutput, q.telling.Told, q.ranges
			r.Bound, r.Deterministic, r.Verdict, r.Summary = q.Name, q.Result.Confidence == roundoff.Never, q.says, q.summary()
			if u.recipe != "" {
				r.Conversion = q.Parts.Conversion
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// run computes the product on the machine and exactly, and sets errors and
// sizes. It returns the reason if some outputs are not judged. If there is no
// product to judge, errors remains nil.
func (z *product) run() (m Moments, why string) {
	var values []float64
	wide := z.Device.C.Precision > tcore.Binary32.Precision
	switch {
	case z.data.scaled() && z.Recipes != nil:
		return m, "numbers with scales are not quantised here"
	case z.data.scaled() && z.Device.ScaleBlock == 0:
		return m, "the machine takes no scales"
	case z.data.scaled() && (z.SplitK > 1 || z.Problem.Represented):
		return m, "numbers with scales are neither split nor rounded here"
	case wide && (z.SplitK > 1 || z.Output != (tcore.Format{})):
		return m, "what is done to sums in binary32 spoils those in " + z.Device.C.Name
	case z.data.scaled():
		m, values = z.runScaled()
	case z.Recipes != nil:
		if values, why = z.runQuantised(); why != "" {
			return m, why
		}
	default:
		exact := z.exactly(z.Device, z.Problem.Represented)
		if exact.err != nil || z.Problem.Represented && z.saturates() {
			return m, fmt.Sprintf("an element of A or B is beyond %s", z.Device.A.Name)
		}
		var t *trial.Trial
		if order, ok := z.Plan(); ok {
			t = exact.RunPlan(order)
		} else {
			t = exact.Run(z.Machine)
		}
		m.Product, m.Exact = t.Took.Seconds(), exact.Took.Seconds()
		values, z.sizes, z.errors = exact.Values, exact.Sizes(), t.Errors
	}
	for i, e := range z.errors {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			z.errors[i] = math.NaN()
			why = "D is beyond " + z.result().Name
			continue
		}
		m = m.Merge(momentsOf(e, values[i], z.sizes[i]))
	}
	return m, why
}

// saturates reports whether an element of A or B exceeds the greatest number of
// the format of its factor.
func (z *product) saturates() bool {
	r := z.ranges()
	return r.x.Max > z.Device.A.Max() || r.y.Max > z.Device.B.Max()
}

// result returns the format of D.
func (z *product) result() tcore.Format {
	if z.Output != (tcore.Format{}) {
		return z.Output
	}
	return z.Device.C
}

// first returns a run with only one output, the first judged output with a
// nonzero product. It lets the bounds see that there is a run.
func (z *product) first(run iter.Seq[bound.Entry]) iter.Seq[bound.Entry] {
	return func(yield func(bound.Entry) bool) {
		i := 0
		for o := range run {
			if o.Abs > 0 && !math.IsNaN(z.errors[i]) {
				z.whole(&o)
				yield(o)
				return
			}
			i++
		}
	}
}

// whole replaces the losses of an output by those of the whole matrices: an
// emulated run may cover only some rows of A.
func (z *product) whole(o *bound.Entry) {
	if o.Losses != nil {
		o.Losses = z.lossesOf(z.Device, o.Losses)
	}
}

// emulate returns the outputs of the rows from lo to hi-1. An error says why
// the product cannot be emulated sum by sum.
func (z *product) emulate(lo, hi int) (iter.Seq[bound.Entry], error) {
	k := z.Problem
	k.M = hi - lo
	switch {
	case z.data.scaled():
		return nil, fmt.Errorf("sweep: %s takes scales", k.Device.Name)
	case k.Output != (tcore.Format{}) && k.Output != k.Device.C:
		return nil, fmt.Errorf("sweep: %s is rounded to %s after the last sum", k.Device.Name, k.Output.Name)
	case k.Represented:
		return nil, fmt.Errorf("sweep: what rounding A and B does is in no sum")
	}
	return bound.Emulate(k, matrix.Rows(z.a, lo, hi), z.b)
}

// bands is the number of bands of rows that the cores process in parallel, at
// most. The result does not depend on it.
const bands = 16

// tallies adds the outcome of every output to the questions, and returns them.
func (z *product) tallies(asked []question) []question {
	parts := make([][]question, min(bands, z.M))
	parallel.Each(len(parts), func(i int) {
		lo, hi := i*z.M/len(parts), (i+1)*z.M/len(parts)
		parts[i] = slices.Clone(asked)
		z.count(parts[i], lo, hi)
	})
	for _, part := range parts {
		for i := range asked {
			asked[i].merge(part[i].tally)
		}
	}
	return asked
}

// count adds the outcomes of the rows from lo to hi-1 to the questions.
func (z *product) count(asked []question, lo, hi int) {
	for i := lo * z.N; i < hi*z.N; i++ {
		if math.IsNaN(z.errors[i]) {
			continue
		}
		for j := range asked {
			if q := &asked[j]; q.Interval == nil {
				e := z.errors[i]
				if q.Name == QuantisationRow {
					e = z.lost[i]
				}
				q.add(e, z.sizes[i], bound.Interval{Radius: q.Limit(z.sizes[i])})
			}
		}
	}
	if !slices.ContainsFunc(asked, func(q question) bool { return q.Interval != nil }) {
		return
	}
	run, err := z.emulate(lo, hi)
	if err != nil {
		return // bounds that read sums do not apply
	}
	i := lo*z.N - 1
	for o := range run {
		if i++; math.IsNaN(z.errors[i]) {
			continue
		}
		z.whole(&o)
		for j := range asked {
			if q := &asked[j]; q.Interval != nil {
				q.add(z.errors[i], z.sizes[i], q.Interval(q.kernel, o, q.failure))
			}
		}
	}
}
