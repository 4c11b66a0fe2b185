package bound

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Bound is one formula with its assumptions. It has a Constant, if it can be
// told before the product is computed, or an Output, if it reads what happened.
type Bound struct {
	Name    string
	Source  string    // author, year, result; in full in REFERENCES.md
	Needs   Knowledge // what must be known of the data
	Model   Model     // how it takes the machine to round
	Assumes string    // what else it takes for granted, in words
	Spread  float64   // how many times the variance of uniform errors it allows; 0 is any

	// Fails returns why the bound does not hold for a problem that is as Model
	// says, or "". It may be nil.
	Fails func(Problem) string

	// Constant returns what bounds the error of one chain of the problem, so that
	// all its chains together fail with at most e^f. Underflow is not its business.
	Constant func(k Problem, f roundoff.Failure) Value

	// Interval returns where the error of one output lies, so that all outputs
	// together fail with at most e^f; NaN where the machine of the problem leaves
	// out what the bound reads.
	Interval func(k Problem, o Entry, f roundoff.Failure) Interval
}

// A Value says of every output that |error| <= Constant Σ|xy|, and that |error|
// <= Absolute. A constant is NaN where there is none, and +Inf, as the absolute
// is, where it has no limit.
type Value struct {
	Constant float64 // β
	Absolute float64
	Lambda   float64 // λ that they were made from; NaN if there is none
}

// plain returns the Value of a bound that has no λ, relative to Σ|xy| alone.
func plain(constant float64) Value { return Value{constant, math.Inf(1), math.NaN()} }

// An Interval says where an error lies: no farther than Radius from Centre.
type Interval struct{ Centre, Radius float64 }

// Bound returns the largest size of an error in the interval.
func (i Interval) Bound() float64 { return math.Abs(i.Centre) + i.Radius }

// Knowledge is what is known of the data. Each level includes those before it.
type Knowledge int

const (
	Nothing Knowledge = iota // the formats alone
	Moments                  // the distributions of the elements of A and B
	Sums                     // the computed sums of every output, as an emulator has them
	Trace                    // what every step kept, and the factors, as an emulator has them
)

// String returns what is known, in words.
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

// register adds a bound to the catalogue.
func register(b Bound) Bound {
	if b.Name == "" || b.Source == "" || b.Model.Name == "" || (b.Constant == nil) == (b.Interval == nil) {
		panic(fmt.Sprintf("bound: %q, want a name, a source, a model, and Constant or Output", b.Name))
	}
	if slices.ContainsFunc(catalogue, func(c Bound) bool { return c.Name == b.Name }) {
		panic(fmt.Sprintf("bound: %q, there is one of that name", b.Name))
	}
	catalogue = append(catalogue, b)
	return b
}

// Catalogue returns all bounds: those that need to know less come first, and
// those that hold always before those that hold with a probability.
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

// Find returns the bound of the given name.
func Find(name string) (Bound, bool) {
	i := slices.IndexFunc(catalogue, func(b Bound) bool { return b.Name == name })
	if i < 0 {
		return Bound{}, false
	}
	return catalogue[i], true
}
