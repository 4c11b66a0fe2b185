package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// A Row is the result for one bound on one machine, distribution and K. If
// Bound is [ErrorRow], the row describes the errors themselves, with
// |error|/|A||B| in place of |error|/bound.
type Row struct {
	Machine, Data string
	Recipe        string // by which A and B were quantised, see [FindRecipes]; "" if none did
	M, N, K       int
	Represented   bool    // errors are against the product of A and B before they were rounded
	Confidence    float64 // of the bound; 0 in rows of errors
	PerOutput     bool    // Confidence is for each output, not for all outputs of a product together
	Told          Told    // which description of the data the bound is given
	Ranges        bool    // the bound is also given the sizes of the elements
	Bound         string
	Deterministic bool // the bound is deterministic, whatever Confidence
	Verdict       Verdict
	Seeds         []uint64 // sorted
	Summary
	Moments              // of the errors, in rows of errors
	Predicted Prediction // in rows of errors

	// With a Recipe: in rows of errors what quantisation contributes to them, ÂB̂ -
	// AB, and what sums do, D̂ - ÂB̂; in others which part of Constant bounds the
	// former.
	Quantised, Accumulated Component
	Conversion             float64

	Skipped int    // number of outputs that are not judged, in rows of errors
	Why     string // why they are not judged
}

// ErrorRow is the Bound of rows of errors.
const ErrorRow = "error"

// A Verdict says whether a bound is claimed for a machine and its data, and if
// not, why.
type Verdict string

const (
	Holds      Verdict = "holds"   // the bound is claimed
	NotMachine Verdict = "machine" // an assumption of the bound is false for the machine
	NotData    Verdict = "data"    // an assumption of the bound is false for the data
)

// A Summary counts the outputs and violations of a bound. Summaries of
// different products can be merged.
type Summary struct {
	Runs       int     // products
	Failed     int     // products with an output above its bound
	Outputs    int     // of all products
	Violations int     // outputs above their bound
	Tightness  float64 // τ: the least over products of the largest |error|/bound over the outputs of a product
	Largest    float64 // the largest |error|/bound over all outputs
	Constant   float64 // the largest backward constant: the bound on an output divided by its |A||B|
	Ratios     Sketch  // of |error|/bound
}

// Merge returns the summary of the products of both. The zero value is the
// summary of no products.
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

// Median returns the median of |error|/bound, to within 19 %. It is NaN if
// there are no outputs.
func (s Summary) Median() float64 { return min(s.Ratios.Quantile(0.5), s.Largest) }

// Failures returns how often the bound was violated, and in how many trials. A
// trial is one output if PerOutput, otherwise one product.
func (r Row) Failures() (failed, trials int) {
	if r.PerOutput {
		return r.Violations, r.Outputs
	}
	return r.Failed, r.Runs
}

// NominalRate returns the probability of failure that the bound allows, 1 -
// Confidence, or 0 if it is deterministic.
func (r Row) NominalRate() float64 {
	if r.Deterministic {
		return 0
	}
	return 1 - r.Confidence
}

// A Prediction contains the predicted values of the methods of [Moments] with
// the same names. NaN means that there is no prediction.
type Prediction struct {
	Mean, Slope, Spread float64
}

// Moments are the moments of the errors e of outputs whose exact values are s,
// relative to a = |A||B|.
type Moments struct {
	count        float64
	mean, square float64 // the mean of e/a, and Σ(e/a - mean)²
	e, s         float64 // the means of e and s
	es, ss       float64 // Σ(e - mean e)(s - mean s), Σ(s - mean s)²

	Product, Exact float64 // time for the products and for their exact errors, in seconds
}

// momentsOf returns the moments of one output.
func momentsOf(e, s, a float64) Moments {
	m := Moments{count: 1, e: e, s: s}
	if a > 0 {
		m.mean = e / a
	}
	return m
}

// Merge returns the moments of both (Chan, Golub & LeVeque 1983). No product is
// fused with a sum, so that all processors return the same bits.
func (m Moments) Merge(t Moments) Moments {
	n := m.count + t.count
	if n > 0 {
		both := m.count * t.count / n
		dm, de, ds := t.mean-m.mean, t.e-m.e, t.s-m.s
		m.square += t.square + float64(dm*dm*both)
		m.es += t.es + float64(de*ds*both)
		m.ss += t.ss + float64(ds*ds*both)
		m.mean += dm * t.count / n
		m.e += de * t.count / n
		m.s += ds * t.count / n
	}
	m.count = n
	m.Product += t.Product
	m.Exact += t.Exact
	return m
}

// Mean returns the mean of e/a. This is the mean relative error, up to its
// sign, if all products have one sign.
func (m Moments) Mean() float64 { return m.mean }

// Spread returns the standard deviation of e/a.
func (m Moments) Spread() float64 { return math.Sqrt(m.square / max(1, m.count-1)) }

// Slope returns the least-squares slope β of e on s, NaN if all s are equal.
func (m Moments) Slope() float64 { return m.es / m.ss }

// A Component describes one of two parts of the errors, relative to |A||B|.
type Component struct {
	count, mean, square float64 // as in Moments

	Largest float64 // in size
}

// componentOf returns the component of one output with |A||B| = a.
func componentOf(e, a float64) Component {
	if a > 0 {
		return Component{count: 1, mean: e / a, Largest: math.Abs(e / a)}
	}
	return Component{count: 1}
}

// Merge returns the component of the outputs of both.
func (c Component) Merge(t Component) Component {
	m := Moments{count: c.count, mean: c.mean, square: c.square}.Merge(Moments{count: t.count, mean: t.mean, square: t.square})
	return Component{m.count, m.mean, m.square, max(c.Largest, t.Largest)}
}

// Mean returns the mean of the part over |A||B|.
func (c Component) Mean() float64 { return c.mean }

// Spread returns the standard deviation of the part over |A||B|.
func (c Component) Spread() float64 { return math.Sqrt(c.square / max(1, c.count-1)) }

// key contains the fields that are equal in rows that can be joined.
type key struct {
	machine, data string
	recipe        string
	m, n, k       int
	confidence    float64
	alone         bool
	bound         string
	told          Told
	ranges        bool
	represented   bool
}

func (r Row) key() key {
	return key{r.Machine, r.Data, r.Recipe, r.M, r.N, r.K, r.Confidence, r.PerOutput, r.Bound, r.Told, r.Ranges, r.Represented}
}

// Join returns the rows of two sweeps. Rows with the same bound, machine,
// distribution, sizes, confidence and other settings become one. An error says
// that both rows have the same seed, that one has no seeds, or that they differ
// in their verdict.
func Join(a, b []Row) ([]Row, error) {
	var j joined
	for _, rows := range [][]Row{a, b} {
		if err := j.add(rows); err != nil {
			return nil, err
		}
	}
	return j.rows, nil
}

// joined are rows that are joined with others one after another. Their lists of
// seeds are their own, and grow.
type joined struct {
	rows []Row
	at   map[key]int
}

// add joins rows with those that there are.
func (j *joined) add(rows []Row) error {
	if j.at == nil {
		j.at = map[key]int{}
	}
	for _, r := range rows {
		i, ok := j.at[r.key()]
		if !ok {
			j.at[r.key()] = len(j.rows)
			r.Seeds = slices.Clone(r.Seeds)
			j.rows = append(j.rows, r)
			continue
		}
		z, err := j.rows[i].join(r)
		if err != nil {
			return err
		}
		j.rows[i] = z
	}
	return nil
}

// join returns r and t as one row, which has the seeds of r, and more behind
// them in place.
func (r Row) join(t Row) (Row, error) {
	if r.Verdict != t.Verdict || r.Deterministic != t.Deterministic {
		return r, fmt.Errorf("sweep: %s on %s: %s in one and %s in the other, want sweeps of one version", r.Bound, r.Machine, r.Verdict, t.Verdict)
	}
	if len(r.Seeds) == 0 || len(t.Seeds) == 0 {
		return r, fmt.Errorf("sweep: %s, %s: a row of no seeds, want those it is of", r.Machine, r.Data)
	}
	ordered := r.Seeds[len(r.Seeds)-1] < t.Seeds[0]
	r.Seeds = append(r.Seeds, t.Seeds...)
	if !ordered {
		slices.Sort(r.Seeds)
		for i := range r.Seeds[1:] {
			if r.Seeds[i] == r.Seeds[i+1] {
				return r, fmt.Errorf("sweep: seed %d of %s, %s is in both", r.Seeds[i], r.Machine, r.Data)
			}
		}
	}
	r.Summary = r.Summary.Merge(t.Summary)
	r.Moments = r.Moments.Merge(t.Moments)
	r.Quantised, r.Accumulated = r.Quantised.Merge(t.Quantised), r.Accumulated.Merge(t.Accumulated)
	r.Conversion = max(r.Conversion, t.Conversion)
	r.Skipped += t.Skipped
	r.Why = cmp.Or(r.Why, t.Why)
	return r, nil
}

// Sure is the confidence for [Violated] at which a probabilistic bound counts
// as violated beyond chance.
const Sure = 0.999

// Violated returns the rows of claimed bounds that are violated: deterministic
// ones that any output exceeds, and probabilistic ones that fail more often
// than stated, beyond chance at the given confidence ([ClopperPearson]). It
// panics if the confidence is not in (0, 1) or such a row has no trials.
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

// Tightest returns the row with the largest τ among claimed bounds that need no
// more knowledge of the data than knows, at the first confidence in rows; ok is
// false if there is none. It excludes [bound.Exact], the error itself. The rows
// must be of one machine, distribution and K.
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
