package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// A Row is what happened to one bound on one machine, distribution and K. Where
// Bound is [ErrorRow] it is the error itself: |error|/|A||B| takes the place of
// |error|/bound.
type Row struct {
	Machine, Data string
	M, N, K       int
	Represented   bool    // errors are from A and B as they were before they were rounded
	Confidence    float64 // asked of the bound; 0 in rows of errors
	PerOutput     bool    // that of each output, not of all of a product together
	Told          Told    // how the bound is told of the data
	Ranges        bool    // and of the sizes of their elements
	Bound         string
	Deterministic bool // the bound is deterministic: its confidence is 1
	Verdict       Verdict
	Seeds         []uint64 // sorted
	Summary
	Moments              // of the errors, in rows of errors
	Predicted Prediction // in rows of errors

	Skipped int    // outputs that are not judged, in rows of errors
	Why     string // they are not
}

// ErrorRow is the Bound of rows of errors.
const ErrorRow = "error"

// A Verdict says whether a bound is to hold.
type Verdict string

const (
	Holds      Verdict = "holds"
	NotMachine Verdict = "machine" // it assumes what is false of the machine
	NotData    Verdict = "data"    // it assumes what is false of the data
)

// A Summary is a count that can be merged.
type Summary struct {
	Runs       int     // products
	Failed     int     // products with an output above its bound
	Outputs    int     // of all products
	Violations int     // outputs above their bound
	Tightness  float64 // τ: the largest |error|/bound over the outputs of a product, the least of all products
	Largest    float64 // |error|/bound, of all outputs
	Constant   float64 // the largest backward constant, of what is allowed to an output over |A||B|
	Ratios     Sketch  // of |error|/bound
}

// Merge returns the summary of the products of both. The zero value is that of
// none.
func (s Summary) Merge(t Summary) Summary {
	switch {
	case s.Runs == 0:
		return t
	case t.Runs == 0:
		return s
	}
	s.Runs += t.Runs
	s.Failed += t.Failed
	s.Outputs += t.Outputs
	s.Violations += t.Violations
	s.Tightness = min(s.Tightness, t.Tightness)
	s.Largest = max(s.Largest, t.Largest)
	s.Constant = max(s.Constant, t.Constant)
	s.Ratios.Merge(t.Ratios)
	return s
}

// Median returns the median of |error|/bound, to within 19 %.
func (s Summary) Median() float64 { return min(s.Ratios.Quantile(0.5), s.Largest) }

// Failures returns how often the statement of the bound was false, of how many
// times it was made: once for each output, or once for each product.
func (r Row) Failures() (failed, trials int) {
	if r.PerOutput {
		return r.Violations, r.Outputs
	}
	return r.Failed, r.Runs
}

// NominalRate returns the failure rate that the bound allows itself, 0 if it is
// deterministic.
func (r Row) NominalRate() float64 {
	if r.Deterministic {
		return 0
	}
	return 1 - r.Confidence
}

// A Prediction is what theory says of the errors before they are made; NaN is
// no prediction.
type Prediction struct {
	Mean, Slope, Spread float64
}

// Moments are those of the errors e of outputs s, of |A||B| = a.
type Moments struct {
	count        float64
	mean, square float64 // of e/a: the mean, and Σ(e/a - mean)²
	e, s         float64 // the means of e and s
	es, ss       float64 // Σ(e - mean e)(s - mean s), Σ(s - mean s)²

	Product, Exact float64 // seconds for the products, and for their exact errors
}

// momentsOf returns the moments of one output.
func momentsOf(e, s, a float64) Moments {
	m := Moments{count: 1, e: e, s: s}
	if a > 0 {
		m.mean = e / a
	}
	return m
}

// Merge returns the moments of both (Chan, Golub & LeVeque 1983).
func (m Moments) Merge(t Moments) Moments {
	n := m.count + t.count
	if n > 0 {
		both := m.count * t.count / n
		dm, de, ds := t.mean-m.mean, t.e-m.e, t.s-m.s
		m.square += t.square + dm*dm*both
		m.es += t.es + de*ds*both
		m.ss += t.ss + ds*ds*both
		m.mean += dm * t.count / n
		m.e += de * t.count / n
		m.s += ds * t.count / n
	}
	m.count = n
	m.Product += t.Product
	m.Exact += t.Exact
	return m
}

// Mean returns the mean of e/a, the mean relative error where all products have
// one sign.
func (m Moments) Mean() float64 { return m.mean }

// Spread returns the standard deviation of e/a.
func (m Moments) Spread() float64 { return math.Sqrt(m.square / max(1, m.count-1)) }

// Slope returns the least-squares slope β of e on s, NaN if all s are one
// number.
func (m Moments) Slope() float64 { return m.es / m.ss }

// key is what rows that can be joined have in common.
type key struct {
	machine, data string
	m, n, k       int
	confidence    float64
	alone         bool
	bound         string
	told          Told
	ranges        bool
	represented   bool
}

func (r Row) key() key {
	return key{r.Machine, r.Data, r.M, r.N, r.K, r.Confidence, r.PerOutput, r.Bound, r.Told, r.Ranges, r.Represented}
}

// Join returns the rows of two sweeps, those of the same bound, machine,
// distribution, size and confidence as one. An error says that both have the
// same seed or one has none, or that they differ in a verdict.
func Join(a, b []Row) ([]Row, error) {
	joined := slices.Clone(a)
	at := make(map[key]int, len(a))
	for i, r := range joined {
		at[r.key()] = i
	}
	for _, r := range b {
		i, ok := at[r.key()]
		if !ok {
			at[r.key()] = len(joined)
			joined = append(joined, r)
			continue
		}
		z, err := joined[i].join(r)
		if err != nil {
			return nil, err
		}
		joined[i] = z
	}
	return joined, nil
}

// join returns r and t as one row.
func (r Row) join(t Row) (Row, error) {
	if r.Verdict != t.Verdict || r.Deterministic != t.Deterministic {
		return r, fmt.Errorf("sweep: %s on %s: %s in one and %s in the other, want sweeps of one version", r.Bound, r.Machine, r.Verdict, t.Verdict)
	}
	seeds := append(slices.Clone(r.Seeds), t.Seeds...)
	slices.Sort(seeds)
	if len(r.Seeds) == 0 || len(t.Seeds) == 0 {
		return r, fmt.Errorf("sweep: %s, %s: a row of no seeds, want those it is of", r.Machine, r.Data)
	}
	for i := range seeds[1:] {
		if seeds[i] == seeds[i+1] {
			return r, fmt.Errorf("sweep: seed %d of %s, %s is in both", seeds[i], r.Machine, r.Data)
		}
	}
	r.Seeds = seeds
	r.Summary = r.Summary.Merge(t.Summary)
	r.Moments = r.Moments.Merge(t.Moments)
	r.Skipped += t.Skipped
	r.Why = cmp.Or(r.Why, t.Why)
	return r, nil
}

// Sure is the confidence with which a bound is taken as failing, and not by
// chance.
const Sure = 0.999

// Violated returns the rows of bounds that are to hold and do not: a
// deterministic one with any output above it, or another that fails more often
// than stated, beyond what chance does at the given confidence.
func Violated(rows []Row, confidence float64) []Row {
	var bad []Row
	for _, r := range rows {
		if r.Bound == ErrorRow || r.Verdict != Holds {
			continue
		}
		failed, trials := r.Failures()
		if lo, _ := ClopperPearson(failed, trials, confidence); lo > r.NominalRate() || r.Deterministic && failed > 0 {
			bad = append(bad, r)
		}
	}
	return bad
}

// Tightest returns the row of the bound that is to hold with the largest τ, at
// the first confidence in rows, among those that need to know no more than
// that; and false if there is none. The error itself, [bound.Exact], is not
// one. It is for rows of one machine, distribution and K.
func Tightest(rows []Row, knows bound.Knowledge) (best Row, ok bool) {
	for _, r := range rows {
		b, known := bound.Find(r.Bound)
		if !known || b.Needs > knows || b.Name == bound.Exact.Name || r.Verdict != Holds {
			continue
		}
		if !ok || r.Confidence == best.Confidence && r.Tightness > best.Tightness {
			best, ok = r, true
		}
	}
	return best, ok
}
