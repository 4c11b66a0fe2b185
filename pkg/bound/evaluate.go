package bound

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Result is what one bound says of a problem: every output obeys both
//
//	|D̂ - D| <= Constant |A||B| + Underflow  and  |D̂ - D| <= Absolute + Underflow.
//
// A bound that does not hold has its Constant all the same, if there is one.
type Result struct {
	Bound      string
	Constant   float64          // backward constant β; NaN if it cannot be told, +Inf if it has no limit
	Absolute   float64          // +Inf but for bounds from the distribution of the data
	Underflow  float64          // η, what numbers that become subnormal can do on top; 0 if none can
	Lambda     float64          // λ; NaN if there is none
	Confidence roundoff.Failure // of all outputs together
	Holds      bool             // on this machine, for these data
	Why        string           // it holds, or does not
	Source     string
}

// Evaluate returns what every bound of the catalogue says of the problem, at a
// confidence of 1 - e^f. An error says that there can be no data as described.
// It panics if there is no such product, or unless -Inf < f < 0.
func Evaluate(k Problem, f roundoff.Failure) ([]Result, error) {
	k.check()
	if !(roundoff.Never < f && f < 0) {
		panic(fmt.Sprintf("bound: failure = %v, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is", float64(f)))
	}
	if k.knows(Moments) {
		for _, d := range []Distribution{k.X, k.Y} {
			if err := d.Check(); err != nil {
				return nil, err
			}
		}
	}
	return k.results(Catalogue(), f), nil
}

// results puts bounds to the problem.
func (k Problem) results(bounds []Bound, f roundoff.Failure) []Result {
	values := fromRun(bounds, k, f)
	results := make([]Result, len(bounds))
	for i, b := range bounds {
		results[i] = b.result(k, f, values[i])
	}
	return results
}

// Limit returns what the error of an output does not exceed of which |A||B| is
// size: the lesser of Constant × size and Absolute, and Underflow. A Constant
// without limit says nothing, also of a product of zeros.
func (r Result) Limit(size float64) float64 {
	if math.IsInf(r.Constant, 1) {
		return r.Absolute + r.Underflow
	}
	return min(r.Constant*size, r.Absolute) + r.Underflow
}

// Tightest returns the result with the smallest constant among those that hold,
// and false if none does.
func Tightest(results []Result) (Result, bool) {
	best := Result{Constant: math.Inf(1)}
	for _, r := range results {
		if r.Holds && r.Constant < best.Constant {
			best = r
		}
	}
	return best, best.Holds
}

// fromRun returns the largest backward constant of every bound that reads the
// outputs of a run.
func fromRun(bounds []Bound, k Problem, f roundoff.Failure) []float64 {
	largest := make([]float64, len(bounds))
	if k.Run == nil {
		return largest
	}
	for o := range k.Run {
		for i, b := range bounds {
			if b.Interval != nil {
				largest[i] = max(largest[i], o.relative(b.Interval(k, o, f).Bound()))
			}
		}
	}
	return largest
}

// result puts one bound to the problem. fromRun is what it made of the outputs
// of a run.
func (b Bound) result(k Problem, f roundoff.Failure, fromRun float64) Result {
	r := Result{Bound: b.Name, Constant: nan, Absolute: math.Inf(1), Lambda: nan, Confidence: roundoff.Never, Source: b.Source}
	if b.Model.Random {
		r.Confidence = f
	}
	if !k.knows(b.Needs) {
		r.Why = fmt.Sprintf("needs %v", b.Needs)
		return r
	}
	v, biased := plain(fromRun), ""
	if b.Constant != nil {
		v = b.Constant(k, f)
		if b.Model.Zero {
			v, biased = k.biased(v, b.Spread)
		}
	}
	r.Constant, r.Absolute, r.Lambda = k.whole(v.Constant), k.wholeAbsolute(v), v.Lambda
	if b.Constant != nil {
		r.Underflow = k.underflow(r.Constant)
	}
	r.Why = b.fails(k)
	switch {
	case r.Why != "":
	case biased != "":
		r.Why = biased
	case math.IsNaN(r.Constant):
		r.Why = fmt.Sprintf("the run does not tell %v", b.Needs)
	case math.IsInf(r.Constant, 1) && math.IsInf(r.Absolute, 1):
		r.Why = "there is no finite bound for so long a sum"
	default:
		r.Holds, r.Why = true, k.Data.passed(b, k, b.assumptions(k))
	}
	return r
}

// fails returns why the bound does not hold, or "".
func (b Bound) fails(k Problem) string {
	if why := b.Model.Fails(k); why != "" {
		return why
	}
	if k.Represented {
		if why := k.overflows(); why != "" {
			return why
		}
	}
	if b.Fails != nil {
		if why := b.Fails(k); why != "" {
			return why
		}
	}
	return k.Data.refuses(b, k)
}

// assumptions returns on what condition the bound holds.
func (b Bound) assumptions(k Problem) string {
	note := b.Model.Note
	if k.stochastic() && b.Model.Name == MeanIndependent.Name {
		note = "as errors of stochastic rounding are of mean zero"
	}
	if b.Model.Zero && k.stepDistribution() != nil {
		note += ", but for the mean that products of this distribution leave"
	}
	words := slices.DeleteFunc([]string{note, b.Assumes, k.within()}, func(s string) bool { return s == "" })
	if len(words) == 0 {
		return "always"
	}
	return strings.Join(words, "; ")
}
