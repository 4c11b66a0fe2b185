package study

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Looseness returns the table of the ratios of bounds to the largest error of
// the paper's experiment: for the paper's bounds and, for each level of
// knowledge about the data, for the smallest constant in the catalogue of
// bounds that are valid on the paper's model. The error is that of
// [paper.GEMM.Run], [bound.Emulate] or [bound.Evaluate].
func Looseness() (*viz.Table, error) {
	g := paper.DefaultGEMM
	task := progress.Start(2)
	defer task.End()
	r, err := g.Run()
	if err != nil {
		return nil, err
	}
	task.Step(1)
	results, err := evaluate(g)
	if err != nil {
		return nil, err
	}
	condition, worst := slices.Max(r.Exact.Conditions), slices.Max(r.Exact.Errors)
	over := func(constant float64) float64 { return constant * condition / worst }

	best := tightestByNeed(results)
	last := best[len(best)-1]
	t := viz.NewTable("looseness",
		fmt.Sprintf("The paper's bounds are %s (deterministic) and %s (probabilistic) times the largest error of its experiment; the tightest that holds now is %s times.",
			typeset.Number(over(g.Constant("DBEA").Zeta), 2), typeset.Number(over(g.Constant(paper.PrintedBound).Zeta), 2), typeset.Number(over(last.Constant), 2)),
		fmt.Sprintf("Last column: the constant times the largest |A||B|/|AB|, over the largest of %d relative forward errors. Paper's model, %d × %d × %d, entries ~ %s, seed %d, %s over all outputs.",
			len(r.Exact.Errors), g.M, g.K, g.N, g.Distribution.Name, g.Seed, typeset.Percent(g.Confidence)),
		[]string{"Published", "Bound", "needs to know", "confidence", "constant", "times the largest error"})
	for _, name := range []string{"DBEA", paper.PrintedBound} {
		c := g.Constant(name)
		t.Row("in the paper", name, bound.Nothing.String(), c.Failure.String(), typeset.Number(c.Zeta, 4), typeset.Number(over(c.Zeta), 2))
	}
	for _, b := range best {
		t.Row("elsewhere or here", boundNamed(b.Bound), b.knows, b.Confidence.String(), typeset.Number(b.Constant, 4), typeset.Number(over(b.Constant), 2))
	}
	return t, nil
}

// evaluate returns the results of all bounds of the catalogue for the
// experiment on the paper's model, given the distribution of the data and the
// trace of the run.
func evaluate(g paper.GEMM) ([]bound.Result, error) {
	d := bound.Uniform(float64(g.Distribution.Low), float64(g.Distribution.High))
	k := bound.Problem{M: g.M, N: g.N, K: g.K, X: d, Y: d}
	k.Device = devices.PaperCoreF32()
	k.Device.Core = g.Core
	var err error
	k.Run, err = bound.Emulate(k, g.Distribution.Matrix(g.M, g.K, g.Seed, 1), g.Distribution.Matrix(g.K, g.N, g.Seed, 2))
	if err != nil {
		return nil, err
	}
	return bound.Evaluate(k, roundoff.FailureOf(g.Confidence))
}

// needed is the result of a bound, with the knowledge about the data that the
// bound needs.
type needed struct {
	bound.Result
	knows string
}

// tightestByNeed returns, for each level of knowledge, from nothing up, the
// tightest valid bound that needs this level: among those that never fail, and
// among all. A bound that was just returned is not repeated.
func tightestByNeed(results []bound.Result) []needed {
	byNeed := map[bound.Knowledge][]bound.Result{}
	var needs []bound.Knowledge
	for i, b := range bound.Catalogue() { // the order of results
		if b.Name == bound.Exact.Name {
			continue // not a bound: it is the error itself
		}
		if byNeed[b.Needs] == nil {
			needs = append(needs, b.Needs)
		}
		byNeed[b.Needs] = append(byNeed[b.Needs], results[i])
	}
	var best []needed
	for _, n := range needs {
		var always []bound.Result
		for _, r := range byNeed[n] {
			if r.Confidence == roundoff.Never {
				always = append(always, r)
			}
		}
		for _, among := range [][]bound.Result{always, byNeed[n]} {
			r, ok := bound.Tightest(among)
			if ok && (len(best) == 0 || r.Bound != best[len(best)-1].Bound) {
				best = append(best, needed{r, n.String()})
			}
		}
	}
	return best
}
