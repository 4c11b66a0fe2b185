package study

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/viz"
)

func lengthsResult(t *testing.T) *LengthsResult {
	t.Helper()
	r, err := DefaultLengths.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLengths(t *testing.T) {
	r := lengthsResult(t)
	plain, promoted := r.Machines[0], r.Machines[1]
	t.Run("no_error_exceeds_the_bound", func(t *testing.T) {
		for _, m := range r.Machines {
			for i, K := range r.Ks {
				found := false
				for j, at := range m.K {
					if at == K {
						found = true
						if b := m.Bounds[j]; !(m.Errors[i] <= b.Constant) || b.Constant > 8*m.Errors[i] {
							t.Errorf("%d products: %v, bound %v", K, m.Errors[i], b.Constant)
						}
					}
				}
				if !found {
					t.Errorf("no bound at K = %d", K)
				}
			}
		}
	})
	t.Run("the_interval_is_where_the_bound_is_below_the_tolerance", func(t *testing.T) {
		for _, m := range r.Machines {
			for i, K := range m.K {
				if inside := m.LeastK <= K && K <= m.MostK; inside != (m.Bounds[i].Constant <= r.Tolerance) {
					t.Errorf("K = %d of %d to %d: %v", K, m.LeastK, m.MostK, m.Bounds[i].Constant)
				}
			}
		}
	})
	t.Run("promotion_ends_the_growth_and_nothing_else", func(t *testing.T) {
		last := len(r.Ks) - 1
		if plain.Errors[last] < 100*promoted.Errors[last] || plain.MostK == bound.LongestK || promoted.MostK < bound.LongestK {
			t.Errorf("%v and %v, up to %d and %d", plain.Errors[last], promoted.Errors[last], plain.MostK, promoted.MostK)
		}
		if math.Abs(float64(plain.LeastK-promoted.LeastK)) > 0.2*float64(plain.LeastK) {
			t.Errorf("from %d and %d on", plain.LeastK, promoted.LeastK)
		}
	})
	t.Run("the_figure_says_it", func(t *testing.T) {
		c := r.Figure()
		want := fmt.Sprintf("for K from %d to %d; promoted every 128 products, from K = %d on", plain.LeastK, plain.MostK, promoted.LeastK)
		if !strings.Contains(viz.Caption(c), want) {
			t.Errorf("%s, want %s", viz.Caption(c), want)
		}
		svg, err := c.SVG()
		for _, label := range []string{"converting, at worst", "accumulating", "measured", fmt.Sprintf("K = %d", plain.MostK)} {
			if err != nil || !strings.Contains(string(svg), label) {
				t.Errorf("no %q, %v", label, err)
			}
		}
		if words := len(strings.Fields(viz.Caption(c))); words > 60 {
			t.Errorf("%d words: %s", words, viz.Caption(c))
		}
	})
	t.Run("an_interval_may_be_empty", func(t *testing.T) {
		if got := r.interval(LengthsMachine{}); got != "for no K" {
			t.Error(got)
		}
	})
}
