package main

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// mostDiffering returns the constants β and η of two plans, of the bounds that
// hold whatever the k factors are: results that do not overflow differ by at
// most β Σ|xy| + η. why says why there is no such bound, or what it assumes; it
// is "" if there is nothing to say.
func mostDiffering(p, q plan.Plan, k int) (constant, underflow float64, why string) {
	if d, e := p.Device(), q.Device(); !d.A.Equal(e.A) || !d.B.Equal(e.B) {
		return math.NaN(), math.NaN(), fmt.Sprintf("factors of %s and %s and of %s and %s may be other numbers", d.A.Name, d.B.Name, e.A.Name, e.B.Name)
	}
	for _, z := range []plan.Plan{p, q} {
		if _, scaled := z.Scaled(); scaled {
			return math.NaN(), math.NaN(), "its parts have scales"
		}
		if lost := z.Size(k).Lost; lost > 0 {
			return math.NaN(), math.NaN(), fmt.Sprintf("%v loses %d of %d products", z, lost, k)
		}
		problem, err := bound.Problem{M: 1, N: 1, K: k}.Planned(z)
		if err != nil {
			return math.NaN(), math.NaN(), err.Error()
		}
		results, err := bound.Evaluate(problem, roundoff.FailureOf(0.99))
		if err != nil {
			return math.NaN(), math.NaN(), err.Error()
		}
		r, ok := alwaysTightest(results)
		if !ok {
			return math.NaN(), math.NaN(), "no bound holds always for " + z.String()
		}
		constant, underflow = constant+r.Constant, underflow+r.Underflow
		if r.Why != "always" {
			why = r.Why
		}
	}
	return constant, underflow, why
}

// alwaysTightest returns the tightest of the bounds that never fail.
func alwaysTightest(results []bound.Result) (bound.Result, bool) {
	var always []bound.Result
	for _, r := range results {
		if math.IsInf(float64(r.Confidence), -1) {
			always = append(always, r)
		}
	}
	return bound.Tightest(always)
}

// mostWords says what mostDiffering found.
func mostWords(constant, underflow float64, why string) string {
	switch {
	case math.IsNaN(constant):
		return fmt.Sprintf("How large the difference can be is not bounded: %s.\n", why)
	case why != "":
		why = " (" + why + ")"
	}
	return fmt.Sprintf("While neither overflows, they differ by at most %.2e Σ|xy| + %.1e, the sum of both bounds%s.\n", constant, underflow, why)
}
