package bound

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Bound is one error bound with its assumptions. It has a Constant if it can
// be computed before the product, or an Interval if it reads the sums of a run.
type Bound struct {
	Name    string
	Source  string    // author, year, result; the full references are in REFERENCES.md
	Formula string    // what Constant or Interval computes, as TeX; notebook 11 explains the letters
	Needs   Knowledge // what must be known of the data
	Model   Model     // what it assumes about how the machine rounds
	Assumes string    // further assumptions, in words
	Trusts  bool      // whether it takes X and Y as they are told although it reads a run; with Moments a bound always does
	Spread  float64   // the largest variance of errors that it allows, over that of uniform errors; 0: any

	// Fails returns why the bound is not valid for a problem that satisfies Model,
	// or "" if it is. It may be nil.
	Fails func(Problem) string

	// Constant returns a bound on the error of every chain of the problem. The
	// probability that any of the chains violates it is at most e^f. It neglects
	// underflow.
	Constant func(k Problem, f roundoff.Failure) Value

	// Interval returns an interval that contains the error of one output. The
	// probability that any of the outputs lies outside its interval is at most e^f.
	// It is NaN if a run of this machine does not contain what the bound reads.
	Interval func(k Problem, o Entry, f roundoff.Failure) Interval
}

// A Value says that |error| <= Constant Σ|xy| and |error| <= Absolute for every
// output. Constant is NaN if the bound has none. Constant or Absolute is +Inf
// if it sets no limit.
type Value struct {
	Constant float64 // β
	Absolute float64
	Lambda   float64 // the λ in the formula; NaN if it has none
	Drift    float64 // the part of Constant that bounds the mean of the error; 0 if it is not told apart
}

// plain returns the Value of a bound without λ, relative to Σ|xy| alone.
func plain(constant float64) Value {
	return Value{Constant: constant, Absolute: math.Inf(1), Lambda: math.NaN()}
}

// drifting returns v with the part of it that bounds the mean of the error,
// given the absolute bound on that mean.
func (v Value) drifting(absolute float64) Value {
	if v.Absolute > 0 && !math.IsInf(v.Absolute, 1) {
		v.Drift = v.Constant * (absolute / v.Absolute)
	}
	return v
}

// An Interval contains an error: |error - Centre| <= Radius.
type Interval struct{ Centre, Radius float64 }

// Bound returns the largest |error| in the interval, |Centre| + Radius.
func (i Interval) Bound() float64 { return math.Abs(i.Centre) + i.Radius }

// Knowledge says what is known of the data. Each level includes those before
// it.
type Knowledge int

const (
	Nothing Knowledge = iota // the formats only
	Moments                  // the distributions of the elements of A and B
	Sums                     // the computed sums of every output, as an emulator returns them
	Trace                    // what every step kept, and the factors, as an emulator returns them
)

// String returns the level of knowledge in words.
func (n Knowledge) String() string {
	switch n {
	case Nothing:
		return "nothing of the data"
	case Moments:
		return "the distribution of the data"
	case Sums:
		return "the sums of a run"
	case Trace:
		return "the trace of a run"
	}
	return fmt.Sprintf("Knowledge(%d)", int(n))
}

var catalogue []Bound

// register adds a bound to the catalogue. It panics if the bound is incomplete
// or its name is already used.
func register(b Bound) Bound {
	if b.Name == "" || b.Source == "" || b.Formula == "" || b.Model.Name == "" || (b.Constant == nil) == (b.Interval == nil) {
		panic(fmt.Sprintf("bound: %q, want a name, a source, a formula, a model, and either Constant or Interval", b.Name))
	}
	if slices.ContainsFunc(catalogue, func(c Bound) bool { return c.Name == b.Name }) {
		panic(fmt.Sprintf("bound: %q, there is one of that name", b.Name))
	}
	catalogue = append(catalogue, b)
	return b
}

// Catalogue returns all bounds. Those that need less knowledge come first.
// Among these, the bounds that always hold precede those that hold with a
// probability.
func Catalogue() []Bound {
	bounds := slices.Clone(catalogue)
	rank := func(b Bound) int {
		r := 2 * int(b.Needs)
		if b.Model.Random {
			r++
		}
		return r
	}
	slices.SortStableFunc(bounds, func(a, b Bound) int { return rank(a) - rank(b) })
	return bounds
}

// Find returns the bound of the given name, and false if there is none.
func Find(name string) (Bound, bool) {
	i := slices.IndexFunc(catalogue, func(b Bound) bool { return b.Name == name })
	if i < 0 {
		return Bound{}, false
	}
	return catalogue[i], true
}
