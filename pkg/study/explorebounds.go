package study

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// ExploreBounds returns the interactive figure of bounds on a dot product
// against its number of terms n. Its controls are the format, the confidence,
// and the n at which the caption states the bounds.
func ExploreBounds() viz.Explorer {
	return viz.Explorer{
		Title:    "Bounds of a dot product",
		Controls: []viz.Control{formatControl(tcore.Binary16), confidenceControl(0, 1, 2, 3, 5, 8), lengthControl()},
		Draw: func(at []int) *viz.Chart {
			return boundsFigure(exploredFormats[at[0]], confidenceOf(exploredConfidences[at[1]]), quarterOctave(at[2]))
		},
	}
}

// dotBounds returns bounds on a dot product of n terms by FMAs in one format:
// γₙ, γ̃ₙ(λ) with the exact mean of log(1+δ) and the λ at which Lemma 2 holds
// for all terms together, and Higham and Mary's.
func dotBounds(format tcore.Format, n int, f roundoff.Failure) (γ float64, tilde bound.Value, hm float64) {
	fma := tcore.Device{Name: "FMAs in " + format.Name, A: format, B: format, C: format, Core: tcore.Chain{}}
	k := bound.Problem{M: 1, N: 1, K: n, Machine: tcore.Machine{Device: fma}}
	return bound.Gamma.Constant(k, f).Constant, bound.VIBEAMoment.Constant(k, f), bound.HighamMary.Constant(k, f).Constant
}

// boundsFigure returns the chart of one setting of ExploreBounds.
func boundsFigure(format tcore.Format, f roundoff.Failure, n int) *viz.Chart {
	γ, tilde, hm := dotBounds(format, n, f)
	always := fmt.Sprintf("errs by no more than γₙ = %s times |x|ᵀ|y|, and", typeset.Number(γ, 3))
	if math.IsInf(γ, 0) {
		always = "has no γₙ, and its error relative to |x|ᵀ|y| is"
	}
	c := viz.NewChart("explore-bounds",
		fmt.Sprintf("A dot product of n = %d terms in %s %s at %s no more than γ̃ₙ = %s.", n, format.Name, always, confidenceText(f), typeset.Number(tilde.Constant, 3)),
		fmt.Sprintf("FMAs from left to right. Lemma 2 holds for all terms together at λ = %s. The bound of Higham & Mary 2019, which does not assume uniform errors, is %s.",
			typeset.Number(tilde.Lambda, 3), typeset.Number(hm, 3)))
	p := c.Panel("", viz.Axis{Label: "Number of terms n", Log: true, Min: 1, Max: 1 << 20}, viz.Axis{Label: "Bound on |ŝ − s| / |x|ᵀ|y|", Log: true, Min: math.Pow(10, math.Floor(math.Log10(format.UnitRoundoff()))), Max: 1e2})
	series := []viz.Series{paper.DBEA, paper.VIBEA, paper.HighamMary}
	series[0].Label, series[1].Label = "γₙ", "γ̃ₙ" // as the caption calls them
	x, y := make([][]float64, len(series)), make([][]float64, len(series))
	for i := 0; i <= 20*4; i += 2 {
		n := quarterOctave(i)
		γ, tilde, hm := dotBounds(format, n, f)
		for j, v := range []float64{γ, tilde.Constant, hm} {
			if ended := len(y[j]) > 0 && math.IsInf(y[j][len(y[j])-1], 0); !ended && (v <= 1e2 || math.IsInf(v, 0)) {
				x[j], y[j] = append(x[j], float64(n)), append(y[j], v)
			}
		}
	}
	for j, s := range series {
		p.Line(s, x[j], y[j])
	}
	p.Horizontal(viz.Series{Label: "no digits left", Color: viz.Grey, Style: viz.Solid}, 1)
	p.Vertical(viz.Series{Label: fmt.Sprintf("n = %d", n), Color: viz.Grey, Style: viz.Dotted}, float64(n))
	return c
}
