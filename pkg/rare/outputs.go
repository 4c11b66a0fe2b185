package rare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas32"
)

// slack is the relative tolerance for errors and limits, which are computed in
// binary64.
const slack = 1e-12

// A Finding is what is found of one bound at one stated rate of failures.
type Finding struct {
	Estimate
	Result bound.Result     // what the bound says: its Confidence is the one that is stated
	Stated roundoff.Failure // the rate of failures that the bound states
}

// Ratio returns the estimated rate over the stated one.
func (f Finding) Ratio() float64 {
	if f.Rate == 0 {
		return 0
	}
	return math.Exp(math.Log(f.Rate) - float64(f.Stated))
}

// Broken reports whether the bound is to hold, and yet fails more often than
// stated beyond the error bar.
func (f Finding) Broken() bool {
	return f.Result.Holds && f.Level == 1 && f.Low > 0 && math.Log(f.Low) > float64(f.Stated) && f.Doubt() == ""
}

// Exceeds estimates the probability that the error of an output exceeds a
// limit:
//
//	|D̂ - D| > min(limit.Constant |A||B|, limit.Absolute) + limit.Underflow
//
// for the product of one row of A and one column of B. Their elements are drawn
// from k.X and k.Y, rounded to binary32, and what is random are these. If the
// machine rounds stochastically, A and B are drawn once, by the seed, and what
// is random are the bits of the roundings. An output that is not finite does
// not exceed a limit. The error says why the problem is none that can be
// sampled, or is that of ctx. It panics if the effort is invalid.
func Exceeds(ctx context.Context, k bound.Problem, limit bound.Result, e Effort) (Estimate, error) {
	if err := check(k); err != nil {
		return Estimate{}, err
	}
	if k.Stochastic.Bits > 0 {
		x, y := drawn(k, e.Seed)
		size := 0.0
		for i := range x {
			size += math.Abs(x[i] * y[i])
		}
		return Tilting{k.Machine, x, y}.Exceeds(ctx, limit.Limit(size), e)
	}
	return black(k, func(x, y []float64) float64 { return ratio(k, limit, x, y) }).Exceeds(ctx, 1+slack, e)
}

// Fails estimates how often a bound of the catalogue fails that is to fail at
// most with probability e^f for one output. The data are those of [Exceeds]. A
// bound that reads a run is computed for every output anew. The error is that
// of Exceeds, or says that the bound is none for this problem. Fails panics as
// Exceeds does, or unless -Inf < f < 0.
func Fails(ctx context.Context, k bound.Problem, b bound.Bound, f roundoff.Failure, e Effort) (Finding, error) {
	if err := check(k); err != nil {
		return Finding{}, err
	}
	if k.Stochastic.Bits > 0 && b.Needs >= bound.Moments {
		return Finding{}, fmt.Errorf("rare: %s takes the data as random, where stochastic rounding is sampled for given ones", b.Name)
	}
	if b.Interval != nil {
		var err error
		if k, err = withRun(k, e.Seed); err != nil {
			return Finding{}, err
		}
	}
	results, err := bound.Evaluate(k, f)
	if err != nil {
		return Finding{}, err
	}
	z := Finding{Stated: f}
	for _, r := range results {
		if r.Bound == b.Name {
			z.Result = r
		}
	}
	if !(z.Result.Constant < math.Inf(1) || z.Result.Absolute < math.Inf(1)) { // also where it is NaN
		return z, fmt.Errorf("rare: %s says nothing of this product: %s", b.Name, z.Result.Why)
	}
	k.Run = nil
	if b.Interval == nil {
		z.Estimate, err = Exceeds(ctx, k, z.Result, e)
		return z, err
	}
	z.Estimate, err = black(k, func(x, y []float64) float64 { return intervalRatio(k, b, f, x, y) }).Exceeds(ctx, 1+slack, e)
	return z, err
}

// Claimed returns the bounds of the catalogue that hold for the problem with
// probability 1 - e^f, and that Fails takes. The seed is that of the run that
// bounds which read one are shown. The errors and panics are those of Fails.
func Claimed(k bound.Problem, f roundoff.Failure, seed uint64) (claimed []bound.Bound, err error) {
	if err := check(k); err != nil {
		return nil, err
	}
	if run, err := withRun(k, seed); err == nil {
		k = run
	}
	results, err := bound.Evaluate(k, f)
	if err != nil {
		return nil, err
	}
	for i, b := range bound.Catalogue() {
		if b.Model.Random && results[i].Holds && !(k.Stochastic.Bits > 0 && b.Needs >= bound.Moments) {
			claimed = append(claimed, b)
		}
	}
	return claimed, nil
}

// withRun returns the problem with the run of one output.
func withRun(k bound.Problem, seed uint64) (bound.Problem, error) {
	x, y := drawn(k, seed)
	run, err := bound.Emulate(k, rowOf(x), columnOf(y))
	k.Run = run
	return k, err
}

// check returns why outputs of the problem cannot be sampled, or nil.
func check(k bound.Problem) error {
	_, planned := k.Plan()
	switch {
	case k.M != 1 || k.N != 1 || k.K < 1:
		return fmt.Errorf("rare: M, N, K = %d, %d, %d, want one output, 1, 1 and 1 or more", k.M, k.N, k.K)
	case planned:
		return errors.New("rare: the product of a plan, want that of a machine")
	case k.Recipes != nil || k.Given != nil || k.Weights != nil:
		return errors.New("rare: factors that are quantised or given, want them drawn from X and Y")
	case !k.X.CanDraw() || !k.Y.CanDraw():
		return errors.New("rare: it is unknown how to draw X and Y")
	case k.Device.ScaleBlock > 0:
		return fmt.Errorf("rare: %s takes scales, want a device without", k.Device.Name)
	case k.Device.A.Precision+k.Device.B.Precision > 53:
		return fmt.Errorf("rare: products of %s are not exact in binary64", k.Device.A.Name)
	case k.Stochastic.Bits > 0 && k.Represented:
		return errors.New("rare: stochastic sums of numbers that are rounded first, want numbers of the device")
	}
	if err := k.Machine.Check(); err != nil {
		return fmt.Errorf("rare: %w", err)
	}
	return nil
}

// A pair is one element of the row of A with one of the column of B.
type pair struct{ x, y float64 }

// black returns the black box of the problem with a score of factors.
func black(k bound.Problem, score func(x, y []float64) float64) Splitting[pair] {
	return Splitting[pair]{K: k.K, Draw: func(r *rand.Rand) pair { return drawPair(k, r) }, Score: func(parts []pair) float64 {
		x, y := make([]float64, k.K), make([]float64, k.K)
		for i, p := range parts {
			x[i], y[i] = p.x, p.y
		}
		if z := score(x, y); !math.IsNaN(z) {
			return z
		}
		return 0
	}}
}

// drawPair draws a pair, as the device multiplies it unless what conversion
// loses counts as an error.
func drawPair(k bound.Problem, r *rand.Rand) pair {
	k.X.Src, k.Y.Src = r, r
	x, y := float64(float32(k.X.Rand())), float64(float32(k.Y.Rand()))
	if k.Represented {
		return pair{x, y}
	}
	return pair{k.Device.A.Round(x, k.Device.Convert), k.Device.B.Round(y, k.Device.Convert)}
}

// drawn returns factors of the problem, by the seed.
func drawn(k bound.Problem, seed uint64) (x, y []float64) {
	r := stream(seed, math.MaxUint64, 0, 0)
	x, y = make([]float64, k.K), make([]float64, k.K)
	for i := range x {
		p := drawPair(k, r)
		x[i], y[i] = p.x, p.y
	}
	return x, y
}

// ratio returns |D̂ - D| over its limit.
func ratio(k bound.Problem, limit bound.Result, x, y []float64) float64 {
	size := 0.0
	for i := range x {
		size += math.Abs(x[i] * y[i])
	}
	return quotient(errorOf(k.Machine.Dot(x, y, 0), x, y), limit.Limit(size))
}

// errorOf returns d - Σab, computed in binary64 as by twice its precision.
func errorOf(d float64, a, b []float64) float64 {
	return bound.Exact.Interval(bound.Problem{}, bound.Entry{Sums: []float64{d}, X: a, Y: b}, 0).Centre
}

// intervalRatio returns by how many radii the error lies off the centre of the
// interval that a bound reads from the run.
func intervalRatio(k bound.Problem, b bound.Bound, f roundoff.Failure, x, y []float64) float64 {
	run, err := bound.Emulate(k, rowOf(x), columnOf(y))
	if err != nil {
		return math.NaN()
	}
	for o := range run {
		i := b.Interval(k, o, f)
		return quotient(errorOf(o.Sums[len(o.Sums)-1], o.X, o.Y)-i.Centre, i.Radius)
	}
	return math.NaN()
}

// quotient returns |e|/limit, 0 if e is 0, and NaN if e is not finite.
func quotient(e, limit float64) float64 {
	switch {
	case e == 0:
		return 0
	case math.IsInf(e, 0):
		return math.NaN()
	}
	return math.Abs(e) / limit
}

func rowOf(x []float64) blas32.General {
	m := matrix.New(1, len(x))
	for i, v := range x {
		m.Data[i] = float32(v)
	}
	return m
}

func columnOf(y []float64) blas32.General { return matrix.Transpose(rowOf(y)) }
