package paper

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// GrowthFigure returns a chart of gamma_n and gamma-tilde_n against n for the
// three formats of Table 1. The curves of gamma_n end where n u reaches 1.
func GrowthFigure() *viz.Chart {
	least, most := smallerFrom()
	c := viz.NewChart("growth-gamma",
		fmt.Sprintf("The deterministic bound γₙ grows like n and ends at n = 1/u; the probabilistic γ̃ₙ grows like √n while it is well below 1, and is smaller from n = %s.",
			phrase(slices.Compact([]string{fmt.Sprint(least), fmt.Sprint(most)}))),
		fmt.Sprintf("γ̃ₙ(λ) holds for one product at %s. A circle is the last n drawn: from there γₙ rises to infinity at n = 1/u.", percent(Confidence)))
	p := c.Panel("", viz.Axis{Label: "Number of rounding errors n", Log: true, Min: 1, Max: 1e9},
		viz.Axis{Label: "Bound on |θₙ|", Log: true, Min: 1e-17, Max: 1e3})
	for _, f := range tableOne {
		u := f.UnitRoundoff()
		curve(p, "γₙ "+f.Name, DBEA.Color, func(n int) float64 { return roundoff.Gamma(n, u) })
		curve(p, "γ̃ₙ "+f.Name, VIBEA.Color, func(n int) float64 { return tilde(n, u) })
	}
	p.Horizontal(viz.Series{Label: "no digits left", Color: viz.Grey, Style: viz.Solid}, 1)
	return c
}

// smallerFrom returns the least n for which gamma-tilde_n is smaller than
// gamma_n, in the format where that n is least and in the one where it is
// largest.
func smallerFrom() (least, most int) {
	least = math.MaxInt
	for _, f := range tableOne {
		u, n := f.UnitRoundoff(), 1
		for tilde(n, u) >= roundoff.Gamma(n, u) {
			n++
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// tilde returns gamma-tilde_n for one product with [Confidence].
func tilde(n int, u float64) float64 {
	return roundoff.GammaTilde(n, u, roundoff.Lambda(roundoff.FailureOf(Confidence), u, n))
}

// curve draws f at eight points per decade from n = 1 to 10^9. It omits finite
// values of 10^3 or more and stops at the first +Inf.
func curve(p *viz.Panel, label string, colour color.Color, f func(n int) float64) {
	var x, y []float64
	for i := 0; i <= 9*8; i++ {
		n := int(math.Round(math.Pow(10, float64(i)/8)))
		if v := f(n); v < 1e3 || math.IsInf(v, 1) {
			x, y = append(x, float64(n)), append(y, v)
		}
		if len(y) > 0 && math.IsInf(y[len(y)-1], 1) {
			break
		}
	}
	p.Line(viz.Series{Label: label, Color: colour, Style: viz.Dashed}, x, y)
}

// VarianceFigure returns a chart of the relative error of Lemma 2's variance
// when the printed formula is evaluated in binary64. The reference is the
// numerically stable evaluation, [roundoff.LogVariance].
func VarianceFigure() *viz.Chart {
	var x, y []float64
	for p := 1; p <= 53; p++ {
		u := roundoff.UnitRoundoff(p)
		x = append(x, float64(p))
		y = append(y, max(math.Abs(roundoff.LogVariancePrinted(u)/roundoff.LogVariance(u)-1), 1e-17))
	}
	c := viz.NewChart("variance-printed",
		fmt.Sprintf("Evaluated as printed, the variance of Lemma 2 is off by %s %% at the precision of binary32, and by a factor of %s at that of binary64, far above this chart.",
			digits(100*y[tcore.Binary32.Precision-1], 2), short(y[tcore.Binary64.Precision-1])),
		"All in binary64, for the u of each precision p. Where the error is 1, the formula returns 0. The series used here is accurate to 10⁻¹⁴.")
	p := c.Panel("", viz.Axis{Label: "Precision p of the format, u = 2⁻ᵖ", Min: 0, Max: 56}, viz.Axis{Label: "Relative error of σ²/n as printed", Log: true, Min: 1e-17, Max: 1e3})
	p.Line(viz.Series{Label: "as printed", Color: DBEA.Color, Style: viz.Solid}, x, y)
	p.Horizontal(viz.Series{Label: "no digit correct", Color: viz.Grey, Style: viz.Dotted}, 1)
	for _, f := range tableOne {
		p.Vertical(viz.Series{Label: f.Name, Color: viz.Grey, Style: viz.Dotted}, float64(f.Precision))
	}
	return c
}
