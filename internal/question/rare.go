package question

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/rare"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Rare asks how often bounds fail for one output, with the words and the
// defaults of the flags of roundoff rare. The product is that of the Bound.
type Rare struct {
	Bound
	Bounds   string `json:"bound"`   // names with commas, AllBounds, or "" for those known before the product
	Failures string `json:"failure"` // probabilities that are stated, with commas
	Limits   string `json:"limit"`   // constants of |A||B| with commas, in place of bounds; "" for none
	Runs     int    `json:"runs"`
	Samples  int    `json:"samples"`
	Moves    int    `json:"moves"`
}

// AllBounds names all bounds that hold with a probability.
const AllBounds = "all"

// NewRare returns the question of roundoff rare without a flag.
func NewRare() Rare {
	q := Rare{Bound: NewBound(), Failures: "1e-3,1e-6,1e-9", Runs: 20, Samples: 250, Moves: 10}
	q.K, q.Dist, q.Seed = 64, "U(-1,1)", 1
	return q
}

// A RareRow is what was found of one bound, or of one limit, at one rate.
type RareRow struct {
	Bound  string   `json:"bound"`            // or the limit
	Holds  bool     `json:"holds"`            // whether the bound is to hold for this product
	Why    string   `json:"why"`              // why it is, or is not; empty of a limit
	Stated *float64 `json:"stated"`           // the rate that the bound states; null of a limit
	Ratio  *float64 `json:"ratio"`            // of the rate found to the one stated
	Broken bool     `json:"broken,omitempty"` // it is to hold, and fails more often than stated
	rare.Estimate
	Doubts string `json:"doubt"` // why the error bar is not to be trusted
}

// Results returns the rows of the bounds, each at all rates, or of the limits.
// The error is that of ctx, or names what cannot be meant.
func (q *Rare) Results(ctx context.Context, progress func(done, total int)) ([]RareRow, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	k := q.problem
	if q.Limits != "" {
		limits, err := Each(q.Limits, parseLimit)
		if err != nil {
			return nil, err
		}
		return q.each(len(limits), progress, func(i int, e rare.Effort) (RareRow, error) {
			found, err := rare.Exceeds(ctx, k, limits[i], e)
			return RareRow{Bound: fmt.Sprintf("%g |A||B|", limits[i].Constant), Estimate: found, Doubts: found.Doubt()}, err
		})
	}
	rates, err := Each(q.Failures, parseRate)
	if err != nil {
		return nil, err
	}
	bounds, err := q.bounds(rates[0])
	if err != nil {
		return nil, err
	}
	return q.each(len(bounds)*len(rates), progress, func(i int, e rare.Effort) (RareRow, error) {
		f := rates[i%len(rates)]
		found, err := rare.Fails(ctx, k, bounds[i/len(rates)], f, e)
		stated, ratio := math.Exp(float64(f)), found.Ratio()
		return RareRow{Bound: bounds[i/len(rates)].Name, Holds: found.Result.Holds, Why: found.Result.Why, Stated: &stated, Ratio: &ratio,
			Broken: found.Broken(), Estimate: found.Estimate, Doubts: found.Doubt()}, err
	})
}

// each returns n rows, of which row i is found with an effort.
func (q *Rare) each(n int, progress func(done, total int), row func(i int, e rare.Effort) (RareRow, error)) (rows []RareRow, err error) {
	for i := range n {
		const part = 1000
		e := rare.Effort{Seed: q.Seed, Runs: q.Runs, Samples: q.Samples, Moves: q.Moves}
		if progress != nil {
			e.Progress = func(done, total int) { progress(part*i+part*done/max(1, total), part*n) }
		}
		r, err := row(i, e)
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// MostRare is the largest number of products that the outputs of a run have
// together, and MostRareOutputs that of outputs that all runs have.
const (
	MostRare        = 1 << 20
	MostRareOutputs = 1 << 24
)

// check describes the problem. The error names the first argument that cannot
// be meant.
func (q *Rare) check() error {
	if err := CheckSizes(MostRare, Size{"k", q.K}, Size{"samples", q.Samples}, Size{"moves", q.Moves}, Size{"runs", q.Runs}); err != nil {
		return err
	}
	switch {
	case q.Runs < 2:
		return fmt.Errorf("-runs %d, want 2 or more: their spread is the error bar", q.Runs)
	case q.Samples > MostRare/q.K:
		return fmt.Errorf("-samples %d of -k %d, want at most %d products at once", q.Samples, q.K, MostRare)
	case q.Runs > 1000 || q.Samples > MostRareOutputs/q.Runs:
		return fmt.Errorf("-runs %d of -samples %d, want at most 1000, and %d outputs", q.Runs, q.Samples, MostRareOutputs)
	case q.Dist == "":
		return errors.New("-dist names nothing, want the distribution of the data")
	case q.Limits != "" && q.Bounds != "":
		return fmt.Errorf("-limit %s and -bound %s, want one of them", q.Limits, q.Bounds)
	}
	q.M, q.N, q.Run = 1, 1, false
	if err := q.Bound.Check(); err != nil {
		return err
	}
	if err := q.describe(); err != nil {
		return err
	}
	if SumsIntegers(q.problem.Device) {
		return errors.New(Exactly(q.problem.Device))
	}
	return nil
}

// bounds returns the bounds that are asked for.
func (q *Rare) bounds(f roundoff.Failure) (found []bound.Bound, err error) {
	if q.Bounds != "" && q.Bounds != AllBounds {
		return Each(q.Bounds, func(name string) (bound.Bound, error) {
			b, ok := bound.Find(name)
			if !ok {
				return b, fmt.Errorf("no bound %q, see roundoff bound", name)
			}
			return b, nil
		})
	}
	results, err := rare.Claimed(q.problem, f, q.Seed)
	if err != nil {
		return nil, err
	}
	for _, b := range results {
		if b.Constant != nil || q.Bounds == AllBounds {
			found = append(found, b)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no bound is known before the product that holds for %s with a probability; want -bound %s, a name of roundoff bound, or -limit", q.problem.Device.Name, AllBounds)
	}
	return found, nil
}

// parseRate returns the Failure of a probability.
func parseRate(word string) (roundoff.Failure, error) {
	f, err := roundoff.ParseConfidence("1-" + word)
	if err != nil || float64(f) < math.Log(math.SmallestNonzeroFloat64) {
		return 0, fmt.Errorf("-failure %s, want probabilities between 1e-320 and 1", word)
	}
	return f, nil
}

// parseLimit returns the limit that allows an error of a constant times |A||B|.
func parseLimit(word string) (bound.Result, error) {
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || !(0 < x && x < math.Inf(1)) {
		return bound.Result{}, fmt.Errorf("-limit %s, want numbers above 0", word)
	}
	return bound.Result{Constant: x, Absolute: math.Inf(1)}, nil
}
