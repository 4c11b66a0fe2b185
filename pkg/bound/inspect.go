package bound

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// An Assumption is a set of assumptions that bounds make about the data of a
// product.
type Assumption uint8

const (
	// AnyOrder: the products of an output could equally well have any other order
	// along K. A random permutation of K makes this true, because a sum of numbers
	// drawn without replacement satisfies the inequalities for independent numbers
	// of the same distribution (Hoeffding 1963, Section 6). That distribution is
	// then the one of the products of this output. OneDistribution and Unpaired
	// state that it is the distribution of all pairs.
	AnyOrder Assumption = 1 << iota

	// OneDistribution: all rows of A have the same distribution, and so have all
	// columns of B. No permutation of K makes this true.
	OneDistribution

	// Unpaired: the elements in column k of A carry no information about those in
	// row k of B. No permutation of K makes this true, because it moves both
	// together.
	Unpaired

	// ManyBits: the products of an output have so many different values that
	// rounding them does not repeat one error. The probability that two of them are
	// equal is at most 1/K.
	ManyBits
)

// String returns the assumptions in words.
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

// A Finding is the result of one test of an assumption.
type Finding struct {
	Name  string     // what was tested
	Tests Assumption // the assumptions that fail if Statistic > Limit

	Statistic, Limit float64

	// Level is the probability that Statistic exceeds Limit although the assumption
	// is true; 0 if the test does not depend on chance.
	Level float64
	// Power is the least departure that the test detects with a probability of 99
	// %; NaN if that is unknown.
	Power float64
	// Unit is the unit of Power, in words; "" is that of Statistic.
	Unit string

	Words string // the result, and what was expected
}

// Fails reports whether the test refuses the assumption.
func (f Finding) Fails() bool { return f.Statistic > f.Limit }

// An Inspection contains the results of all tests of the matrices of a product.
// See [Inspect].
type Inspection struct {
	Findings []Finding

	// Level is the probability that any of the tests refuses matrices of
	// independent elements, with one distribution in A and one in B.
	Level float64

	// Permuted says that K was permuted at random before the matrices were
	// inspected. [AnyOrder] is then true, whatever the tests found.
	Permuted bool

	// Least is a lower bound of the nonzero |A||B| of all outputs, with an
	// allowance for rounding errors; 0 if it was not computed.
	Least float64

	k int // the number of terms of a sum
}

const (
	inspectionLevel = 1e-3
	fewestTerms     = 64   // sums of fewer terms are not tested
	leastSeen       = 0.7  // a lag correlation that the tests must detect
	beyond          = 2.33 // a standard normal number exceeds -beyond with a probability of 99 %
)

// Inspect tests whether the matrices A and B satisfy what bounds assume about
// the data of a product.
//
//   - [AnyOrder], for A, for B, and for the products of some outputs: means of
//     blocks along K, and correlations at every lag.
//   - [OneDistribution]: every row of A against all of A, and every column of B
//     against all of B.
//   - [Unpaired]: correlations of A with B along K, for all outputs together
//     and for some separately, and the bits of products against those of
//     products of elements from different positions along K.
//   - [ManyBits]: the probability that two products of an output are equal.
//
// The tests of the first three assumptions, except that of bits, use the ranks
// of the elements and of their sizes, so that heavy tails do not mislead them.
// The expected ranks under an assumption follow from permuting K, or the
// elements of a matrix: no distribution is assumed. The limits are those of the
// inequalities of Bernstein and Azuma. They are theorems for means of blocks
// and of rows, because sampling without replacement concentrates at least as
// well as sampling with replacement (Hoeffding 1963, Section 6), and for
// correlations of A with B, because permuted numbers are negatively associated
// (Joag-Dev & Proschan 1983, Theorem 2.11). For correlations at a lag and for
// bits, the inequality is used with the variance under permutations, which is
// justified by the normal limit of these statistics. The level of an
// inspection, 0.1 %, is divided among all tests, so that it is the level of all
// together.
//
// An assumption that cannot be tested fails. This is so for sums of fewer than
// 64 products, and for so few products in so few rows that a lag correlation of
// 0.7, or the correlation of A with B if they are equal, would not be detected.
// An assumption that passes is not proved: departures smaller than the Power of
// a test may exist.
//
// Large matrices are tested in part. The tests of order and pairing use at most
// 64 rows of A and columns of B, half of them the first ones, the others chosen
// at random. The tests of one distribution use all rows and columns, at
// positions along K chosen at random.
//
// The returned error names an element that is not finite. Inspect panics unless
// a has as many columns as b has rows, and neither is empty.
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

// Fails returns the assumptions that the tests refuse. If Permuted, [AnyOrder]
// is not one of them.
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

// power returns the least correlation of neighbours along K that the tests
// detect in both A and B with a probability of 99 %; NaN if that is unknown.
func (in *Inspection) power() float64 {
	seen := nan
	for _, f := range in.Findings {
		if f.Name == lagsSeen && !(f.Power < seen) {
			seen = f.Power
		}
	}
	return seen
}

// String returns the results for each assumption, one per line.
func (in *Inspection) String() string {
	var text strings.Builder
	for a := AnyOrder; a <= ManyBits; a <<= 1 {
		fmt.Fprintf(&text, "%v: %s\n", a, in.about(a))
	}
	return text.String()
}

// about returns the results for one assumption, in words.
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

// takes returns what the bound assumes about the data of the problem.
//
// Bounds of truncated sums, and all bounds from the distribution of the data,
// assume that the products of an output are independent, with the distribution
// of all pairs. This distribution includes the bits of the products. On
// machines that round to nearest, the rounding errors are a function of the
// data, so that treating them as random is an assumption about the data:
// constant data repeat one error, and with paired bits the errors can be
// anything. Whether these errors have a mean depends on how fast the sums grow,
// which is computed from the distribution of the products, whatever their
// order. Bounds for these machines therefore need all four assumptions.
// Stochastic rounding is random whatever the data are.
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

// refuses returns why the inspected matrices do not satisfy the assumptions of
// the bound, or "".
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

// worst returns the finding that exceeds its limit by the largest factor, among
// those that refuse one of the given assumptions, and the number of such
// findings.
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

// passed returns why a bound is valid, followed by the assumptions that were
// tested.
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

// Offer returns what can be done if bounds are refused, or "". A random
// permutation of K makes [AnyOrder] true. It helps if AnyOrder fails and
// [OneDistribution] and [Unpaired] do not.
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
