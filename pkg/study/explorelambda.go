package study

import (
	"fmt"
	"math"
	"strconv"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// ExploreLambda returns the interactive figure of Lemma 2 against λ: the bound
// γ̃ₙ(λ) beside γₙ, and the upper bound 1 - P_B(λ, u, n) on the probability
// that |θₙ| exceeds it. Its controls are the format, n and λ.
func ExploreLambda() viz.Explorer {
	λs := viz.Control{Label: "λ", Start: 11}
	for i := 1; i <= 48; i++ {
		λs.Values = append(λs.Values, strconv.FormatFloat(float64(i)/4, 'g', -1, 64))
		if i%4 == 0 && (i <= 16 || i%16 == 0) {
			λs.Kept = append(λs.Kept, i-1)
		}
	}
	return viz.Explorer{
		Title:    "What does λ buy?",
		Controls: []viz.Control{formatControl(tcore.Binary16), lengthControl(), λs},
		Draw: func(at []int) *viz.Chart {
			return lambdaFigure(exploredFormats[at[0]], quarterOctave(at[1]), float64(at[2]+1)/4)
		},
	}
}

// lambdaFigure returns the chart of one setting of ExploreLambda.
func lambdaFigure(f tcore.Format, n int, λ float64) *viz.Chart {
	u := f.UnitRoundoff()
	γ, tilde, failure := roundoff.Gamma(n, u), roundoff.GammaTilde(n, u, λ), roundoff.VIBEAFailure(λ, u, n)
	against := fmt.Sprintf("%s times γₙ", typeset.Number(tilde/γ, 2))
	if math.IsInf(γ, 0) {
		against = "where there is no γₙ"
	}
	promise := "holds with a probability of " + confidenceText(failure)
	if failure.Vacuous() {
		promise = "is not promised at all"
	}
	c := viz.NewChart("explore-lambda",
		fmt.Sprintf("At λ = %v the bound is γ̃ₙ = %s, %s, and it %s.", λ, typeset.Number(tilde, 3), against, promise),
		fmt.Sprintf("Lemma 2 for n = %d roundings in %s. Below: an upper bound on the probability that |θₙ| exceeds γ̃ₙ(λ).", n, f.Name))
	x := viz.Axis{Label: "λ", Min: 0, Max: 12}
	marked := viz.Series{Label: fmt.Sprintf("λ = %v", λ), Color: viz.Grey, Style: viz.Dotted}

	var λs, bounds, failing, failures []float64
	for i := 1; i <= 12*lambdaSteps; i++ {
		λ := float64(i) / lambdaSteps
		λs, bounds = append(λs, λ), append(bounds, roundoff.GammaTilde(n, u, λ))
		if f := roundoff.VIBEAFailure(λ, u, n); !f.Vacuous() {
			failing, failures = append(failing, λ), append(failures, math.Exp(float64(f)))
		}
	}
	top := viz.Axis{Label: "Bound on |θₙ|", Log: true}
	top.Min, top.Max = decades(bounds[0], bounds[len(bounds)-1])
	if !math.IsInf(γ, 0) {
		top.Min, top.Max = decades(min(γ, bounds[0]), max(γ, bounds[len(bounds)-1]))
	}
	p := c.Panel("The bound", x, top)
	p.Line(viz.Series{Label: "γ̃ₙ(λ)", Color: paper.VIBEA.Color, Style: viz.Dashed}, λs, bounds)
	if !math.IsInf(γ, 0) {
		p.Horizontal(viz.Series{Label: "γₙ", Color: paper.DBEA.Color, Style: viz.Dashed}, γ)
	}
	p.Vertical(marked, λ)
	p = c.Panel("Failure", x, viz.Axis{Label: "Failure probability, at most", Log: true, Min: 1e-30, Max: 1})
	p.Line(viz.Series{Label: "by Lemma 2", Color: paper.VIBEA.Color, Style: viz.Solid}, failing, failures)
	p.Vertical(marked, λ)
	return c
}

// lambdaSteps are the points of the curves for each unit of λ.
const lambdaSteps = 8
