package quantisation

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// The bound is the largest of the scores that a new one among n+1 may have
// below it: of all n+1 places of the new score, a share of at most alpha is
// above the bound, and with one rank less more than alpha would be.
func TestConformalRank(t *testing.T) {
	for n := 1; n <= 120; n++ {
		for _, alpha := range []float64{0.5, 0.3, 0.1, 0.02, 0.01} {
			scores := make([]float64, n)
			for i := range scores { // n different numbers, not sorted
				scores[i] = float64((i*7919+3)%(n*n+1)) + float64(i)*1e-6
			}
			bound, err := Conformal(scores, alpha)
			if float64(n) < (1/alpha-1)*(1-1e-12) {
				if err == nil {
					t.Errorf("n = %d, alpha = %v: no error", n, alpha)
				}
				continue
			}
			if err != nil {
				t.Errorf("n = %d, alpha = %v: %v", n, alpha, err)
				continue
			}
			below := 0
			for _, s := range scores {
				if s <= bound {
					below++
				}
			}
			// A new score has n+1 places among the others, n+1-below of them above.
			share := func(below int) float64 { return float64(n+1-below) / float64(n+1) }
			if share(below) > alpha*(1+1e-12) || share(below-1) <= alpha*(1-1e-12) {
				t.Errorf("n = %d, alpha = %v: %d scores up to the bound leave %v above it", n, alpha, below, share(below))
			}
		}
	}
}

// Rows of very different scale, of which each is one number times normal ones,
// times fixed weights: a new row exceeds the bound as often as alpha says. Rows
// that grow are not exchangeable, and the bound fails on them.
func TestConformalCoverage(t *testing.T) {
	const K, N, n, products = 32, 4, 39, 60
	runs := 10
	if !testing.Short() {
		runs = 60
	}
	r := rand.New(rand.NewPCG(14, 0))
	b := filled(K, N, func(int, int) float64 { return r.NormFloat64() })
	maxima := func(rows int, growth float64) []float64 {
		scale := 0.0
		a := filled(rows, K, func(i, k int) float64 {
			if k == 0 {
				scale = math.Exp(2*r.NormFloat64() + growth*float64(i))
			}
			return scale * r.NormFloat64()
		})
		f := tcore.E5M2
		f.Overflow = tcore.Saturate
		return RowMaxima(known(t, f, a, b).Error())
	}
	for _, alpha := range []float64{0.5, 0.1, 0.025} {
		for _, growth := range []float64{0, 0.05} {
			exceeded, tried := 0.0, 0.0
			for range runs * products {
				scores := maxima(n+1, growth)
				bound, err := Conformal(scores[:n], alpha)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				if scores[n] > bound {
					exceeded++
				}
			}
			share, sd := exceeded/tried, math.Sqrt(alpha*(1-alpha)/tried)
			t.Logf("alpha = %v, growth %v: %.3f of %v new rows exceed the bound", alpha, growth, share, tried)
			if growth == 0 && math.Abs(share-alpha) > 4*sd || growth > 0 && share < alpha+4*sd {
				t.Errorf("alpha = %v, growth %v: %v of new rows exceed the bound", alpha, growth, share)
			}
		}
	}
}

func TestConformalRefuses(t *testing.T) {
	_, err := Conformal(make([]float64, 98), 0.01)
	if want := "quantisation: Conformal: n = 98 calibration rows, want n >= 99 for alpha = 0.01"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := Conformal([]float64{1, math.NaN()}, 0.5); err == nil || !strings.Contains(err.Error(), "score 1 is NaN") {
		t.Errorf("error %v, want one that names score 1", err)
	}
	panics.WantPart(t, "alpha = 1, want 0 < alpha < 1", func() { Conformal([]float64{1}, 1) })
	panics.WantPart(t, "E is 0 × 0", func() { RowMaxima(blas64.General{}) })
}
