package sweep

import (
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A question is one bound evaluated for one product, at one confidence and from
// one description of the data, with the count of its violations.
type question struct {
	bound.Bound
	bound.Result
	telling
	says       Verdict
	confidence float64
	kernel     bound.Problem
	failure    roundoff.Failure
	tally
}

// same reports whether two questions about a product have the same answer.
func (q *question) same(r *question) bool {
	equal := func(x, y float64) bool { return x == y || x != x && y != y }
	return q.Name == r.Name && q.confidence == r.confidence && q.says == r.says && equal(q.Result.Constant, r.Result.Constant) &&
		equal(q.Absolute, r.Absolute) && equal(q.Underflow, r.Underflow)
}

// evaluate is [bound.Evaluate]; a test replaces it with one that errs.
var evaluate = bound.Evaluate

// ask returns the questions of a plan about a product, before anything is
// counted. It omits a question if the same bound has the same values from a
// description that says less.
func (z *product) ask(p Plan) ([]question, error) {
	k, bounds := z.Problem, p.bounds()
	if slices.ContainsFunc(bounds, func(b bound.Bound) bool { return b.Interval != nil }) {
		if run, err := z.emulate(0, z.M); err == nil {
			k.Run = z.first(run)
		}
	}
	if p.PerOutput {
		k.M, k.N = 1, 1
	}
	var asked []question
	for _, c := range p.Confidences {
		f := roundoff.FailureOf(c)
		for _, t := range p.tellings() {
			k, err := z.tell(k, t)
			if err != nil {
				return nil, err
			}
			results, err := evaluate(k, f)
			if err != nil {
				return nil, err
			}
			var all []question
			for i, b := range bound.Catalogue() {
				if slices.ContainsFunc(bounds, func(of bound.Bound) bool { return of.Name == b.Name }) {
					all = append(all, question{Bound: b, Result: results[i], telling: t, confidence: c, kernel: k, failure: f})
				}
			}
			if z.kernel != nil {
				all = z.quantisedFirst(all)
			}
			for _, q := range all {
				q.says = q.verdict(z.data)
				if !slices.ContainsFunc(asked, func(r question) bool { return q.same(&r) }) {
					asked = append(asked, q)
				}
			}
		}
	}
	return asked, nil
}

// bounds returns the bounds that the plan tests.
func (p Plan) bounds() []bound.Bound {
	if len(p.Bounds) > 0 {
		return p.Bounds
	}
	return bound.Catalogue()
}

// verdict says whether the bound is claimed for the machine and for data of
// this distribution.
func (q *question) verdict(data Generator) Verdict {
	ofProducts := q.Model.Random && (q.Needs == bound.Moments || q.Needs == bound.Trace || q.Model.Name == bound.TruncatingRandom.Name)
	// A bound that is given a distribution may assume that the elements are
	// independent, to conclude that rounding errors have mean zero.
	ofElements := q.Model.Random && (ofProducts || q.kernel.X.MeanSquare() > 0)
	given := q.Needs == bound.Moments || q.Trusts
	// What quantisation loses is told by the laws of independent elements.
	laws := q.kernel.Recipes != nil && q.kernel.Given == nil
	switch {
	case !q.Holds:
		return NotMachine
	case q.telling.Told == FromFiles: // the bound has read the matrices
		return Holds
	case data.Misled && q.telling.Told == FromDistribution && (given || laws), data.Adverse != "" && (q.Model.Random || laws),
		data.Mixed && (ofProducts || laws), data.Dependent != "" && (ofElements || laws):
		return NotData
	}
	return Holds
}
