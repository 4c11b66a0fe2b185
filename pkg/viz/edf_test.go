package viz

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowF returns the fraction of samples that are at most t, by its definition.
func slowF(samples []float64, t float64) float64 {
	n := 0
	for _, x := range samples {
		if x <= t {
			n++
		}
	}
	return float64(n) / float64(len(samples))
}

// manySamples returns samples of several distributions: smooth, with ties, with
// atoms, with infinities.
func manySamples() map[string][]float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	m := map[string][]float64{"one": {2}, "equal": {1, 1, 1}, "few": {3, 1, 2, 3}}
	var ties, atoms, infinite []float64
	for range 20000 {
		ties = append(ties, math.Round(40*rng.NormFloat64()))
		atoms = append(atoms, math.Max(0, rng.NormFloat64()))
		infinite = append(infinite, 1/math.Max(0, rng.NormFloat64()))
	}
	m["ties"], m["atoms"], m["infinite"] = ties, atoms, infinite
	m["smooth"] = logNormal(100000, -6, 1)
	return m
}

func TestDistribution(t *testing.T) {
	for name, samples := range manySamples() {
		t.Run(name+"/is_its_definition", func(t *testing.T) {
			d := distribution("s", samples)
			for k := range 200 {
				x := d.x[k*(len(d.x)-1)/199]
				for _, x := range []float64{x, math.Nextafter(x, math.Inf(-1)), math.Nextafter(x, math.Inf(1))} {
					if got, want := d.at(x, 0), slowF(samples, x); got != want {
						t.Fatalf("F(%v) = %v, want %v", x, got, want)
					}
				}
			}
		})
	}
}

func TestThin(t *testing.T) {
	for name, samples := range manySamples() {
		full := distribution("s", samples)
		thin, tail := full.thin(edfApart), full.thin(tailApart)
		t.Run(name+"/is_within_a_thousandth_everywhere", func(t *testing.T) {
			for i, x := range full.x {
				if d := math.Abs(full.f[i] - thin.at(x, 0)); d > 1./1000 {
					t.Fatalf("F(%v) is off by %v", x, d)
				}
			}
		})
		t.Run(name+"/keeps_the_tail_within_two_hundredths_of_itself", func(t *testing.T) {
			for i, x := range full.x[:len(full.x)-1] {
				if r := (1 - tail.at(x, 0)) / (1 - full.f[i]); r < 1 || r > 1.02 {
					t.Fatalf("1 - F(%v) is off by the factor %v", x, r)
				}
			}
		})
		t.Run(name+"/is_exact_at_its_ends", func(t *testing.T) {
			for _, s := range []steps{thin, tail} {
				n, m := min(exactEnds, len(full.x)), len(s.x)
				if !slices.Equal(s.x[:n], full.x[:n]) || !slices.Equal(s.x[m-n:], full.x[len(full.x)-n:]) ||
					!slices.Equal(s.f[m-n:], full.f[len(full.x)-n:]) {
					t.Error("ends differ")
				}
			}
		})
		t.Run(name+"/has_few_steps", func(t *testing.T) {
			if len(thin.x) > 1500 || len(tail.x) > 1500 {
				t.Errorf("%d and %d steps", len(thin.x), len(tail.x))
			}
		})
	}
	if testing.Short() {
		return
	}
	t.Run("a_million/has_few_steps", func(t *testing.T) {
		full := distribution("s", logNormal(1e6, -6, 1))
		if n, m := len(full.thin(edfApart).x), len(full.thin(tailApart).x); n > 1500 || m > 1500 {
			t.Errorf("%d and %d steps", n, m)
		}
	})
}

func TestLostSamples(t *testing.T) {
	samples := []float64{0, 0, 1, 10, math.Inf(1)}
	for _, c := range []struct {
		name   string
		log    bool
		before float64
		x, f   []float64
		lost   int
	}{
		{"log_axis_starts_at_the_share_of_zeros", true, 0.4, []float64{1, 10}, []float64{0.6, 0.8}, 2},
		{"linear_axis_shows_zeros", false, 0, []float64{0, 1, 10}, []float64{0.4, 0.6, 0.8}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewChart("c", "C.", "").Panel("", Axis{Label: "x", Log: c.log}, Axis{Label: "F"})
			p.EDF(observed, samples)
			tr := p.traces[0]
			if tr.before != c.before || !slices.Equal(tr.x, c.x) || !slices.Equal(tr.y, c.f) || len(tr.lost) != c.lost {
				t.Errorf("got %v %v %v %v", tr.before, tr.x, tr.y, tr.lost)
			}
		})
	}
	t.Run("all_zero_is_a_line_at_one", func(t *testing.T) {
		c := NewChart("c", "C.", "")
		p := c.Panel("P", Axis{Label: "x", Log: true}, Axis{Label: "F"})
		p.EDF(observed, []float64{0, 0})
		p.Vertical(dbea, 1e-3)
		v := c.views()[0]
		v.frame = Box{0, 0, 100, 100}
		v.lay()
		if got := v.pieces[0]; len(got) != 1 || got[0][0] != (Point{0, 0}) || got[0][1] != (Point{100, 0}) {
			t.Errorf("drawn %v", got)
		}
		if want := "C. Not on the axis: P, observed: 2 of 2 are exactly zero."; Caption(c) != want {
			t.Errorf("caption %q", Caption(c))
		}
	})
}

func BenchmarkEDF(b *testing.B) {
	samples := logNormal(1e6, -6, 1)
	for b.Loop() {
		NewChart("c", "C.", "").Panel("", relativeError, distributionF).EDF(observed, samples)
	}
}
