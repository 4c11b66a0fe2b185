package quantisation

import (
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Bound is one bound on the error E = ÂB̂ - AB of a product, with what must
// be known of the factors and what it assumes. How a machine adds up ÂB̂ is no
// part of E.
type Bound struct {
	Name    string
	Source  string    // author, year, result; the full references are in REFERENCES.md
	Formula string    // what the magnitude of an element of E does not exceed
	Needs   Knowledge // what must be known
	Assumes string    // in words, "always" for nothing
	Random  bool      // whether it holds with a probability, and not always

	// Fails returns why the formula is no bound for a problem, but a model or a
	// prediction; "" if it is a bound. It may be nil.
	Fails func(Problem) string

	// limit returns a number that no |E_ij| exceeds, except with probability
	// e^f. The error says why there is none.
	limit func(k *evaluation, f roundoff.Failure) (float64, error)
}

// catalogue contains all bounds: first those that always hold.
var catalogue = []Bound{
	exactError, elementwiseError, worstCase, worstCaseOfLaws, meanWorstCase,
	ofLaws, ofLawOfA, ofLawOfB, conformal,
	stochasticTilted, stochasticSubGaussian, hoeffding, hoeffdingByNorms, randomSigns,
}

// Catalogue returns all bounds on errors of quantisation. Those that always
// hold come first.
func Catalogue() []Bound { return slices.Clone(catalogue) }

// Find returns the bound of the given name, and false if there is none.
func Find(name string) (Bound, bool) {
	i := slices.IndexFunc(catalogue, func(b Bound) bool { return b.Name == name })
	if i < 0 {
		return Bound{}, false
	}
	return catalogue[i], true
}
