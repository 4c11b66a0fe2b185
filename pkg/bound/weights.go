package bound

import (
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// Weights are a known factor B, K × N, of products whose factor A is known by
// the distribution of its elements alone, as activations are before there are
// any. Its methods may be called at the same time. It must not be copied.
type Weights struct {
	B blas64.General

	mu    sync.Mutex
	known map[weightsKey]float64
}

// A weightsKey contains what the error of converting A and B depends on.
type weightsKey struct {
	law  law
	a, b tcore.Format
	M    int
	f    roundoff.Failure
}

// weighs reports whether the errors of converting A and B are known from the
// density of the elements of A, which are independent, and from B: if the
// device rounds to nearest, each element by itself, and no weight overflows.
func (k Problem) weighs() bool {
	if k.Weights == nil || k.Recipes != nil || k.Weights.B.Rows != k.K || k.Weights.B.Cols != k.N || !k.roundsToNearest() {
		return false
	}
	x := k.X.of().law
	return x != nil && x.wide() && k.Weights.largest(k.Device.B) <= k.Device.B.Max()
}

// largest returns the largest magnitude of the weights, +Inf if one is not
// finite, after they are rounded to f.
func (w *Weights) largest(f tcore.Format) (most float64) {
	for i := range w.B.Rows {
		for _, x := range w.B.Data[i*w.B.Stride : i*w.B.Stride+w.B.Cols] {
			x = math.Abs(f.Round(x, tcore.ToNearestEven))
			if math.IsNaN(x) {
				return math.Inf(1)
			}
			most = max(most, x)
		}
	}
	return most
}

// conversion returns c with |ÂB̂ - AB| <= c |A||B| for all outputs with
// probability at least 1 - e^f, underflow included, where [Problem.weighs] is
// true. It is +Inf if |A||B| may be 0 for an output with an error.
func (w *Weights) conversion(k Problem, f roundoff.Failure) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := weightsKey{*k.X.of().law, k.Device.A, k.Device.B, k.M, f}
	if c, ok := w.known[key]; ok {
		return c
	}
	account := f.Account(weightShares)
	errors := quantisation.Given{
		A: quantisation.Factor{Law: key.law.of(), Format: key.a}, M: key.M, B: w.B,
		BHat: matrix.Map64(func(x float64) float64 { return key.b.Round(x, tcore.ToNearestEven) }, w.B),
	}.Errors(account.Spend("error"))
	each, c := k.eachOutput(account.Spend("sizes")), 0.0
	x := k.X.of()
	for j, e := range errors {
		sum, squares := 0.0, 0.0
		for i := range w.B.Rows {
			b := w.B.Data[i*w.B.Stride+j]
			sum += math.Abs(b)
			squares += float64(b * b)
		}
		if size := e.Size(); size > 0 {
			c = max(c, size/leastWeighted(x.MeanAbs*sum, x.MeanSquare*squares, each))
		}
	}
	if w.known == nil {
		w.known = map[weightsKey]float64{}
	}
	w.known[key] = c
	return c
}

// weightShares are the shares of the probability of failure of
// [Weights.conversion]. That of "error" pays for numbers of A without a largest
// value, too.
var weightShares = map[string]float64{
	"error": 15. / 16,
	"sizes": 1. / 16, // that |A||B| is less than its lower bound
}

// leastWeighted returns a number that a sum of independent x >= 0 falls below
// with probability at most e^f, max(0, mean - √(-2f square)), where mean is
// that of the sum and square is Σ E x²: as e^(-θx) <= 1 - θx + θ²x²/2,
//
//	P(Σ x <= mean - t) <= exp(θ²square/2 - θt) = exp(-t²/(2 square)),  θ = t/square.
func leastWeighted(mean, square float64, f roundoff.Failure) float64 {
	return max(0, mean-math.Sqrt(-2*float64(f)*square))
}
