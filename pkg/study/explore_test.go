package study

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Every setting that a static page contains can be drawn, and so can those at
// the ends of the sliders.
func TestExplore_draws_every_setting(t *testing.T) {
	for _, e := range []viz.Explorer{ExploreLambda(), ExploreBounds(), ExploreDevices(), ExploreAtlas(recordedAtlas(t))} {
		name := e.Figure(e.Start()...).Name()
		t.Run(name, func(t *testing.T) {
			settings := e.Settings()
			lowest, highest := make([]int, len(e.Controls)), e.Start()
			for i, c := range e.Controls {
				highest[i] = len(c.Values) - 1
			}
			settings = append(settings, lowest, highest)
			if testing.Short() {
				settings = settings[len(settings)-2:]
			}
			captions := map[string]bool{}
			for _, at := range settings {
				c := e.Figure(at...)
				drawn.Captions(t, c)
				if c.Name() != name || captions[viz.Caption(c)] && !testing.Short() {
					t.Errorf("setting %v: %s: %s", at, c.Name(), viz.Caption(c))
				}
				if strings.Contains(viz.Caption(c), "NaN") || strings.Contains(viz.Caption(c), "%!") {
					t.Errorf("setting %v: %s", at, viz.Caption(c))
				}
				if _, err := c.ECharts(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The numbers in the captions are those of package roundoff: Lemmas 1 and 2 in
// ExploreLambda, and in ExploreBounds the λ at which the union bound over the n
// terms of a dot product gives the stated confidence.
func TestExplore_tells_what_the_lemmas_say(t *testing.T) {
	const n = 1024
	u := tcore.Binary16.UnitRoundoff() // 2⁻¹¹, so that γₙ = 1 and γ₂ₙ does not exist
	for n, against := range map[float64]string{n: "%s times γₙ", 2 * n: "where there is no γₙ"} {
		tilde := math.Expm1(4*math.Sqrt(n)*u + n*u*u/(1-u))
		want := fmt.Sprintf("At λ = 4 the bound is γ̃ₙ = %s, ", typeset.Number(tilde, 3)) + strings.Replace(against, "%s", typeset.Number(tilde, 2), 1)
		if got := lambdaFigure(tcore.Binary16, int(n), 4).Finding(); !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}

	f := roundoff.FailureOf(0.99)
	γ, tilde, hm := dotBounds(tcore.Binary32, n, f)
	if u := tcore.Binary32.UnitRoundoff(); γ != roundoff.Gamma(n, u) || hm != roundoff.GammaTilde(n, u, roundoff.HighamMaryLambda(f, u, n)) {
		t.Errorf("γ = %v, Higham & Mary %v", γ, hm)
	}
	// At this λ the probabilities of failure of the products of 1, ..., n factors
	// add up to 1 %.
	sum := 0.0
	for i := 1; i <= n; i++ {
		sum += math.Exp(float64(roundoff.VIBEAFailure(tilde.Lambda, tcore.Binary32.UnitRoundoff(), i)))
	}
	if math.Abs(sum-0.01) > 1e-4 {
		t.Errorf("λ = %v: the failures add up to %v, want 0.01", tilde.Lambda, sum)
	}
}

// The measured errors are those of the device, and they exceed no valid bound.
func TestExplore_measures_the_device(t *testing.T) {
	d := bound.Uniform(0, 1)
	k := tcore.Machine{Name: "Volta", Device: devices.VoltaF16()}
	e := explore(Machine{Machine: k}, d)
	for i, K := range exploredLengths {
		unknown, known := e.tightest(K, roundoff.FailureOf(0.99))
		if e.worst[i] > unknown.Constant || e.worst[i] > known.Constant || e.rms[i] > e.worst[i] || !(e.rms[i] > 0) {
			t.Errorf("K = %d: rms %v, largest %v, bounds %v and %v", K, e.rms[i], e.worst[i], unknown.Constant, known.Constant)
		}
	}
	// At the largest length truncation dominates the error, which Predict computes
	// from single steps.
	last := len(exploredLengths) - 1
	p, err := bound.Predict(bound.Problem{M: 1, N: 1, K: exploredLengths[last], Machine: k, X: d, Y: d})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Hypot(p.Backward, p.BackwardDeviation); math.Abs(e.rms[last]/want-1) > 0.1 {
		t.Errorf("root mean square %v, predicted %v", e.rms[last], want)
	}
}

// The numbers in the text of notebook 9 are those of its figures.
func TestExplore_is_what_the_notebook_says(t *testing.T) {
	text, err := os.ReadFile("../../notebooks/09-explore.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	u := tcore.Binary16.UnitRoundoff()
	f := roundoff.FailureOf(0.99)
	_, at99, _ := dotBounds(tcore.Binary16, 1<<16, f)
	_, sure, _ := dotBounds(tcore.Binary16, 256, confidenceOf("1-1e-12"))
	_, usual, _ := dotBounds(tcore.Binary16, 256, f)
	volta, hopper := explore(machines[1], exploredData[1]), explore(machines[3], exploredData[1])
	last := len(exploredLengths) - 1
	unknown, known := hopper.tightest(exploredLengths[last], f)
	for _, want := range []string{
		fmt.Sprintf("holds with probability %.0f %% at $\\\\lambda = 1$, %.0f %% at 2", confidence(1, u)*100, confidence(2, u)*100),
		fmt.Sprintf("%.2f of $\\\\gamma_n$ at 3, %.2f at 8", roundoff.GammaTilde(256, u, 3)/roundoff.Gamma(256, u), roundoff.GammaTilde(256, u, 8)/roundoff.Gamma(256, u)),
		fmt.Sprintf("%.2f at $n = 2^{16}$", at99.Constant),
		fmt.Sprintf("%.1f times the bound at 99 %%", sure.Constant/usual.Constant),
		fmt.Sprintf("%.1f times that of Hopper", volta.worst[last]/hopper.worst[last]),
		fmt.Sprintf("%.1f times too large, from the distribution %.1f times", unknown.Constant/hopper.worst[last], known.Constant/hopper.worst[last]),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the notebook does not say %q", want)
		}
	}
}

// confidence returns the confidence of Lemma 2 for 256 factors.
func confidence(λ, u float64) float64 {
	p, _ := roundoff.VIBEAFailure(λ, u, 256).Confidence()
	return p
}
