package bound

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Result is what one bound says of a problem: every output satisfies both
//
//	|D̂ - D| <= Constant |A||B| + Underflow  and  |D̂ - D| <= Absolute + Underflow.
//
// A bound that is not valid may have a Constant as well.
type Result struct {
	Bound      string
	Constant   float64          // backward constant β; NaN if unknown, +Inf if it sets no limit
	Parts      Parts            // of Constant
	Absolute   float64          // +Inf except for bounds from the distribution of the data
	Underflow  float64          // η, to be added for underflow; 0 if there can be none
	Lambda     float64          // λ; NaN if the bound has none
	Confidence roundoff.Failure // of all outputs together
	Holds      bool             // whether the bound is valid on this machine, for these data
	Why        string           // why the bound is valid, or is not
	Source     string
}

// Evaluate returns the result of every bound of the catalogue for the problem,
// with confidence 1 - e^f. On a device of integers no bound on rounding errors
// means anything, and the only result is whether sums are exact; see
// [LongestIntegerSum]. The returned error says that no data have the
// described distribution, or that the weights are not K × N or stand beside
// recipes. Evaluate panics if the sizes or the machine of the
// problem are invalid, or unless -Inf < f < 0.
func Evaluate(k Problem, f roundoff.Failure) ([]Result, error) {
	k.check()
	if !(roundoff.Never < f && f < 0) {
		panic(fmt.Sprintf("bound: failure = %v, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is", float64(f)))
	}
	if w := k.Weights; w != nil {
		if w.B.Rows != k.K || w.B.Cols != k.N {
			return nil, fmt.Errorf("bound: Weights of %d × %d, want K × N, %d × %d", w.B.Rows, w.B.Cols, k.K, k.N)
		}
		if k.Recipes != nil {
			return nil, fmt.Errorf("bound: Weights with recipe %v, want nil: no bound uses both; give A, too, as Given, or its density alone", k.Recipes)
		}
	}
	if k.knows(Moments) {
		for _, d := range []Distribution{k.X, k.Y} {
			if err := d.Check(); err != nil {
				return nil, err
			}
		}
	}
	return k.results(Catalogue(), f, false), nil
}

// results evaluates the given bounds for the problem, where average is that of
// [Bound.result].
func (k Problem) results(bounds []Bound, f roundoff.Failure, average bool) []Result {
	if k.sumsIntegers() {
		return []Result{k.integers()}
	}
	if k.Recipes != nil && k.planned == nil {
		return k.quantisedResults(bounds, f)
	}
	values := fromRun(bounds, k, f)
	results := make([]Result, len(bounds))
	for i, b := range bounds {
		results[i] = b.result(k, f, values[i], average)
	}
	return results
}

// Limit returns an upper bound of the error of an output with |A||B| = size:
// the smaller of Constant × size and Absolute, plus Underflow. If Constant is
// +Inf, it is Absolute + Underflow, even for size = 0.
func (r Result) Limit(size float64) float64 {
	if math.IsInf(r.Constant, 1) {
		return r.Absolute + r.Underflow
	}
	return min(r.Constant*size, r.Absolute) + r.Underflow
}

// Tightest returns the valid result with the smallest constant, and false if
// none is valid.
func Tightest(results []Result) (Result, bool) {
	best := Result{Constant: math.Inf(1)}
	for _, r := range results {
		if r.Holds && r.Constant < best.Constant {
			best = r
		}
	}
	return best, best.Holds
}

// fromRun returns, for every bound that reads the outputs of a run, the largest
// backward constant over all outputs.
func fromRun(bounds []Bound, k Problem, f roundoff.Failure) []float64 {
	largest := make([]float64, len(bounds))
	if k.Run == nil {
		return largest
	}
	const some = 2 // for each core
	outputs, n := make([]Entry, some*runtime.GOMAXPROCS(0)), 0
	constants := make([][]float64, len(outputs))
	read := func() {
		parallel.Each(n, func(i int) {
			constants[i] = constants[i][:0]
			for _, b := range bounds {
				constant := 0.0
				if b.Interval != nil {
					constant = outputs[i].relative(b.Interval(k, outputs[i], f).Bound())
				}
				constants[i] = append(constants[i], constant)
			}
		})
		for _, c := range constants[:n] {
			for i := range largest {
				largest[i] = max(largest[i], c[i])
			}
		}
		n = 0
	}
	for o := range k.Run {
		outputs[n].copyFrom(o)
		if n++; n == len(outputs) {
			read()
		}
	}
	read()
	return largest
}

// result returns the result of one bound for the problem. If the bound reads
// the outputs of a run, fromRun is its largest backward constant. With average,
// the errors of converting A and B average out for each bound for which that
// gives less, otherwise for those alone that know the distributions.
func (b Bound) result(k Problem, f roundoff.Failure, fromRun float64, average bool) Result {
	r := Result{Bound: b.Name, Constant: nan, Absolute: math.Inf(1), Lambda: nan, Confidence: roundoff.Never, Source: b.Source}
	conversion, better := k.better(b, f, average)
	averaged := better && conversion.random
	if b.Model.Random || averaged {
		r.Confidence = f
	}
	if !k.knows(b.Needs) {
		r.Why = fmt.Sprintf("needs %v", b.Needs)
		return r
	}
	v, biased := plain(fromRun), ""
	if b.Constant != nil {
		if averaged {
			f = f.Split(2)
		}
		v = b.Constant(k, f)
		if b.Model.Zero {
			v, biased = k.biased(v, b.Spread)
		}
	}
	if better {
		r.Constant, r.Underflow, r.Parts = k.wholeConverted(v.Constant, conversion)
	} else {
		r.Constant, r.Parts = k.whole(v.Constant)
		r.Underflow = k.underflow(r.Constant)
	}
	r.Parts = r.Parts.drifting(v)
	if b.Constant == nil {
		r.Underflow = 0 // the run has it
	}
	r.Absolute, r.Lambda = k.wholeAbsolute(v), v.Lambda
	random := b.Model.Random || averaged
	r.Why = b.failsFor(k, random)
	switch {
	case r.Why != "":
	case random && f < impossible/2 && k.Represented && k.overflows(false) != "":
		r.Why = fmt.Sprintf("a confidence beyond 1 - e^%v, where %s", float64(impossible/2), k.overflows(false))
	case biased != "":
		r.Why = biased
	case math.IsNaN(r.Constant):
		r.Why = fmt.Sprintf("the run does not tell %v", b.Needs)
	case math.IsInf(r.Constant, 1) && math.IsInf(r.Absolute, 1):
		r.Why = "there is no finite bound for so long a sum"
	default:
		r.Holds, r.Why = true, k.Data.passed(b, k, b.assumptions(k, averaged))
	}
	return r
}

// fails returns why the bound is not valid for the problem, or "".
func (b Bound) fails(k Problem) string { return b.failsFor(k, b.Model.Random) }

// failsFor is fails for a statement that holds with a probability, random, or
// always.
func (b Bound) failsFor(k Problem, random bool) string {
	if why := b.Model.Fails(k); why != "" {
		return why
	}
	if why := k.failsPlan(b, random); why != "" {
		return why
	}
	if k.Represented {
		if why := k.overflows(random); why != "" {
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

// assumptions returns the conditions under which the bound is valid, in words,
// where averaged says whether errors of converted factors average out.
func (b Bound) assumptions(k Problem, averaged bool) string {
	note := b.Model.Note
	if k.stochastic() && b.Model.Name == MeanIndependent.Name {
		note = "as errors of stochastic rounding are of mean zero"
	}
	if b.Model.Zero && k.stepDistribution() != nil {
		note += ", but for the mean that products of this distribution leave"
	}
	independent := ""
	if averaged && b.Needs < Moments {
		independent = "for independent factors of these distributions"
		if k.weighs() {
			independent = "for independent elements of A of this distribution"
		}
	}
	words := slices.DeleteFunc([]string{note, b.Assumes, independent, k.within(), k.assumed()}, func(s string) bool { return s == "" })
	if len(words) == 0 {
		return "always"
	}
	return strings.Join(words, "; ")
}
