package bound

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// An Assumption is a set of what bounds take for granted of the data of a
// product.
type Assumption uint8

const (
	// AnyOrder: the products of an output could as well stand in any other order
	// along K. A random permutation of K makes it true: a sum of numbers drawn
	// without replacement obeys the inequalities for independent ones of the same
	// distribution (Hoeffding 1963, Section 6). That distribution is then of the
	// products that the output has. That it is the one of all pairs is for
	// OneDistribution and Unpaired.
	AnyOrder Assumption = 1 << iota

	// OneDistribution: the rows of A are of one distribution, and so are the
	// columns of B. No permutation of K makes it true.
	OneDistribution

	// Unpaired: what stands in column k of A says nothing of what stands in row k
	// of B. No permutation of K makes it true, since it moves both.
	Unpaired

	// ManyBits: the products of an output take so many values that rounding them is
	// not one error over and over: that two of them are equal is no likelier than
	// 1/K.
	ManyBits
)

// String returns what is assumed, in words.
func (a Assumption) String() string {
	var words []string
	for i, name := range []string{"order", "one distribution", "pairing", "bits"} {
		if a&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	if words == nil {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// A Finding is what one test says of an assumption.
type Finding struct {
	Name  string     // what was tested
	Tests Assumption // what fails where Statistic > Limit

	Statistic, Limit float64

	Level float64 // the probability of a Statistic above the Limit where the assumption is true; 0 if it is no matter of chance
	Power float64 // the least departure that is seen with a probability of 99 %; NaN if that is not known
	Unit  string  // of Power, in words; "" is that of Statistic

	Words string // what was found, and what was to be expected
}

// Fails reports whether the assumption is refused.
func (f Finding) Fails() bool { return f.Statistic > f.Limit }

// An Inspection is what was found of the matrices of a product. See [Inspect].
type Inspection struct {
	Findings []Finding

	// Level is the probability that independent elements, of one distribution in A
	// and one in B, are refused by any of the tests.
	Level float64

	// Permuted says that K was permuted at random before the matrices were
	// inspected: then [AnyOrder] is true, whatever was found.
	Permuted bool

	// Least is the least |A||B| of an output, of those that are not 0, less what
	// rounding may have added; 0 if it was not computed.
	Least float64

	k int // terms of a sum
}

const (
	inspectionLevel = 1e-3
	fewestTerms     = 64   // of which a test sees anything
	leastSeen       = 0.7  // lag correlation that a test must see
	beyond          = 2.33 // standard normal numbers exceed minus that with a probability of 99 %
)

// Inspect tests what bounds assume of the data of a product on its matrices, A
// and B.
//
//   - [AnyOrder], for A, for B, and for the products of some outputs: means of
//     blocks along K, and correlations at every lag.
//   - [OneDistribution]: every row of A and every column of B against all
//     others.
//   - [Unpaired]: correlations along K of A with B, for all outputs together
//     and for some by themselves, and the bits of products against those of
//     elements that stand at different places of K.
//   - [ManyBits]: how likely it is that two products of an output are equal.
//
// The first three are of ranks, of the elements and of their sizes, so that no
// test is misled by data of heavy tails. What is expected of a rank if the
// assumption is true follows from permuting K, or the elements of a matrix:
// nothing is assumed of their distribution. The limits are those of the
// inequalities of Bernstein and Azuma, a theorem for means of blocks and of
// rows, since sampling without replacement is no wilder than with (Hoeffding
// 1963, Section 6), and for correlations of A with B, since permuted numbers
// are negatively associated (Joag-Dev & Proschan 1983, Theorem 2.11). For
// correlations at a lag and for bits it is taken with the variance under
// permutations, where their limit is normal. The level of an inspection, 0.1 %,
// is divided among all tests, so that it is the level of all together.
//
// An assumption that cannot be tested fails: of sums of fewer than 64 products,
// or of so few in so few rows that a lag correlation of 0.7, or that of A with
// B if they are the same, would not be seen. What passes is not proved:
// departures below the Power of a test may be there.
//
// Of large matrices a part is tested, rows and places of K chosen at random: at
// most 64 rows for order and pairing, all rows for one distribution.
//
// An error names an element that is not finite. It panics unless the columns of
// a are as many as the rows of b, and neither is empty.
func Inspect(a, b blas64.General) (*Inspection, error) {
	if a.Rows < 1 || a.Cols < 1 || b.Cols < 1 || a.Cols != b.Rows {
		panic(fmt.Sprintf("bound: a is %d × %d and b is %d × %d, want a product that is not empty", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	if err := checkFinite("a", a.Rows, a.Cols, a.Stride, a.Data); err != nil {
		return nil, err
	}
	if err := checkFinite("b", b.Rows, b.Cols, b.Stride, b.Data); err != nil {
		return nil, err
	}
	x, y := newLines("A", "row", a, false), newLines("B", "column", b, true)
	in := &Inspection{Level: inspectionLevel, Least: leastOf(a, b), k: a.Cols}
	if in.k < fewestTerms {
		in.Findings = []Finding{{
			Name: "length", Tests: AnyOrder | OneDistribution | Unpaired | ManyBits, Statistic: fewestTerms, Limit: float64(in.k), Power: nan,
			Words: fmt.Sprintf("sums of %d products are too short to test them, fewer than %d", in.k, fewestTerms),
		}}
		return in, nil
	}
	shares := roundoff.FailureOf(1 - inspectionLevel).Account(map[string]float64{
		"order of A": 1. / 6, "order of B": 1. / 6, "order of products": 1. / 6,
		"distribution of A": 1. / 8, "distribution of B": 1. / 8, "pairing": 1. / 8, "pairing of bits": 1. / 8,
	})
	some := x.outputs(y)
	in.add(some.a.order("A", true, shares.Spend("order of A"))...)
	in.add(some.b.order("B", true, shares.Spend("order of B"))...)
	in.add(some.products().order("products", false, shares.Spend("order of products"))...)
	in.add(x.oneDistribution(shares.Spend("distribution of A"))...)
	in.add(y.oneDistribution(shares.Spend("distribution of B"))...)
	in.add(some.unpaired(shares.Spend("pairing"))...)
	in.add(some.bitsUnpaired(shares.Spend("pairing of bits")))
	in.add(some.manyBits(x, y))
	return in, nil
}

func (in *Inspection) add(f ...Finding) { in.Findings = append(in.Findings, f...) }

// Fails returns the assumptions that are refused.
func (in *Inspection) Fails() Assumption {
	var all Assumption
	for _, f := range in.Findings {
		if f.Fails() {
			all |= f.Tests
		}
	}
	if in.Permuted {
		all &^= AnyOrder
	}
	return all
}

// power returns the least correlation of neighbours along K that is seen in A
// and in B with a probability of 99 %; NaN if none is.
func (in *Inspection) power() float64 {
	seen := nan
	for _, f := range in.Findings {
		if f.Name == lagsSeen && !(f.Power < seen) {
			seen = f.Power
		}
	}
	return seen
}

// String returns what was found of each assumption, one a line.
func (in *Inspection) String() string {
	var text strings.Builder
	for a := AnyOrder; a <= ManyBits; a <<= 1 {
		fmt.Fprintf(&text, "%v: %s\n", a, in.about(a))
	}
	return text.String()
}

// about returns what was found of one assumption.
func (in *Inspection) about(a Assumption) string {
	worst, refused := in.worst(a)
	seen := map[string]float64{}
	for _, f := range in.Findings {
		if f.Tests&a != 0 && f.Unit != "" {
			seen[f.Unit] = max(seen[f.Unit], f.Power)
		}
	}
	switch {
	case a == AnyOrder && in.Permuted:
		return "random, as K is permuted"
	case refused > 0:
		return "refused: " + worst.Words
	case len(seen) == 0:
		return "nothing against it"
	}
	var words []string
	for _, unit := range slices.Sorted(maps.Keys(seen)) {
		words = append(words, fmt.Sprintf("a %s of %.2g", unit, seen[unit]))
	}
	return "nothing against it, where the tests see " + strings.Join(words, " and ")
}

// takes returns what a bound takes for granted of the data of the problem.
//
// Bounds of truncated sums, and all from the distribution of the data, take the
// products of an output as independent, of the distribution of all pairs; that
// distribution itself tells the bits. Rounding errors on machines that round to
// nearest are a function of the data, so that to take them as random is an
// assumption on these: constant data have one error over and over, and paired
// bits one that someone chose. Whether errors have a mean depends on how fast
// sums grow, which is told from the distribution of the products and for any
// order. So all four. Stochastic rounding is random whatever the data are.
func (b Bound) takes(k Problem) Assumption {
	const dist = AnyOrder | OneDistribution | Unpaired
	switch {
	case !b.Model.Random || k.stochastic() && b.Needs != Moments:
		return 0
	case k.stochastic() || k.truncates():
		return dist
	}
	return dist | ManyBits
}

// refuses returns why the matrices at hand are not as the bound takes them, or
// "".
func (in *Inspection) refuses(b Bound, k Problem) string {
	if in == nil {
		return ""
	}
	refused := b.takes(k) & in.Fails()
	worst, all := in.worst(refused)
	if all == 0 {
		return ""
	}
	why := "refused: " + worst.Words
	if worst.Level > 0 {
		why += fmt.Sprintf(" (found at level %.1g)", worst.Level)
	}
	if all > 1 {
		why += fmt.Sprintf(", and %d more", all-1)
	}
	return why
}

// worst returns the finding that refuses one of the assumptions by most, and
// how many there are.
func (in *Inspection) worst(of Assumption) (worst Finding, all int) {
	for _, f := range in.Findings {
		if !f.Fails() || f.Tests&of == 0 {
			continue
		}
		all++
		if all == 1 || f.Statistic/f.Limit > worst.Statistic/worst.Limit {
			worst = f
		}
	}
	return worst, all
}

// passed returns what was tested of a bound that holds, after why it does.
func (in *Inspection) passed(b Bound, k Problem, why string) string {
	if in == nil || b.takes(k) == 0 {
		return why
	}
	if in.Permuted {
		return fmt.Sprintf("%s; of permuted K, tested on the matrices: %v; level %.2g %%", why, b.takes(k)&^AnyOrder, 100*in.Level)
	}
	return fmt.Sprintf("%s; tested on the matrices: %v; level %.2g %%, sees a lag correlation of %.2g",
		why, b.takes(k), 100*in.Level, in.power())
}

// Offer returns what can be done where bounds are refused, or "": a random
// permutation of K makes [AnyOrder] true, if it is that which fails, and is of
// use if [OneDistribution] and [Unpaired] do not.
func (in *Inspection) Offer() string {
	fails := in.Fails()
	switch {
	case fails&AnyOrder == 0:
		return ""
	case fails&(OneDistribution|Unpaired) != 0:
		return fmt.Sprintf("a permutation of K does not help: %v fails, which stays as it is", fails&(OneDistribution|Unpaired))
	}
	return "permute K: multiply AP and PᵀB with one random permutation P of K, drawn without a look at the data"
}
