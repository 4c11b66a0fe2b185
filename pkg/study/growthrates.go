package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// GrowthRates is an experiment on the growth of the error of sums with K. The
// error is predicted from the errors of single steps of a machine, and measured
// on products that are small enough to be computed quickly.
type GrowthRates struct {
	Data      []paper.Distribution
	Machines  []Machine
	Predicted []int // values of K
	Measured  []int // values of K of the products that are computed, 64 × K × 64
	Seed      uint64
}

// DefaultGrowthRates is the experiment with entries ~ U(0,1) and U(-1,1), of
// mean one half and of mean zero, on the first four machines of notebook 8.
var DefaultGrowthRates = GrowthRates{
	Data:      []paper.Distribution{paper.UniformUnit, paper.UniformSymmetric},
	Machines:  machines[:4],
	Predicted: []int{1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16},
	Measured:  []int{1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14},
	Seed:      paper.DefaultGEMM.Seed,
}

// GrowthCurve contains the root mean square of the backward error e/(K E|p|) of
// one machine and distribution, for each predicted and each measured K.
type GrowthCurve struct {
	Machine
	Data                paper.Distribution
	Predicted, Measured []float64
	Slope               float64 // slope of the regression of the errors on the exact values, at the greatest measured K
}

// problem returns the product of matrices that the curve is about, with K = 1.
func (g GrowthCurve) problem() bound.Problem {
	x := bound.Uniform(float64(g.Data.Low), float64(g.Data.High))
	return bound.Problem{M: 64, N: 64, K: 1, Machine: g.Machine.Machine, X: x, Y: x}
}

// Order returns the power of K with which the predicted error grows between the
// last two of lengths, the values of K that were predicted. It panics if there
// are fewer than two.
func (g GrowthCurve) Order(lengths []int) float64 {
	n := len(lengths) - 1
	return math.Log(g.Predicted[n]/g.Predicted[n-1]) / math.Log(float64(lengths[n])/float64(lengths[n-1]))
}

// Run returns the curves, one for each distribution and machine. The error is
// that of [bound.PredictLengths] or [trial.Run].
func (g GrowthRates) Run() ([]GrowthCurve, error) {
	var curves []GrowthCurve
	task := progress.Start(len(g.Data) * len(g.Machines) * (1 + len(g.Measured)))
	defer task.End()
	for _, d := range g.Data {
		for _, m := range g.Machines {
			c := GrowthCurve{Machine: m, Data: d}
			p := c.problem()
			products := p.ProductMoments()
			predictions, err := bound.PredictLengths(p, g.Predicted)
			if err != nil {
				return nil, err
			}
			for _, p := range predictions {
				c.Predicted = append(c.Predicted, math.Hypot(p.Backward, p.BackwardDeviation))
			}
			task.Step(1)
			for _, p.K = range g.Measured {
				t, err := trial.Run(p, d, g.Seed)
				if err != nil {
					return nil, err
				}
				task.Step(1)
				_, c.Slope = stat.LinearRegression(t.Values, t.Errors, nil, false)
				c.Measured = append(c.Measured, sample.RMS(t.Errors)/(float64(p.K)*products.Abs))
			}
			curves = append(curves, c)
		}
	}
	return curves, nil
}

// Figure returns the chart of the curves, with a panel for each distribution.
func (g GrowthRates) Figure(curves []GrowthCurve) *viz.Chart {
	worst := 0.0
	powers := map[string][]string{}
	for _, c := range curves {
		for i, K := range g.Measured {
			for j, at := range g.Predicted {
				if at == K {
					worst = max(worst, math.Abs(c.Predicted[j]/c.Measured[i]-1))
				}
			}
		}
		powers[c.Name] = append(powers[c.Name], fmt.Sprintf("%.2f", c.Order(g.Predicted)))
	}
	var data, orders []string
	for _, d := range g.Data {
		data = append(data, d.Name)
	}
	for _, m := range g.Machines {
		orders = append(orders, m.Name+" "+strings.Join(powers[m.Name], ", "))
	}
	chart := viz.NewChart("growth-rates",
		fmt.Sprintf("The statistics of single steps predict the error of long sums to %.0f %%.", math.Ceil(100*worst)),
		fmt.Sprintf("Root mean square of (ŝ − s)/(K E|xy|), binary16 factors; 64 × K × 64, seed %d. Powers of K with which it grows, for %s: %s.",
			g.Seed, strings.Join(data, ", "), strings.Join(orders, "; ")))
	lo, hi := math.Inf(1), 0.0
	for _, c := range curves {
		all := slices.Concat(c.Predicted, c.Measured)
		lo, hi = min(lo, slices.Min(all)), max(hi, slices.Max(all))
	}
	lo, hi = decades(lo, hi)
	x := viz.Axis{Label: "Inner dimension K", Log: true, Min: float64(slices.Min(g.Predicted)), Max: float64(slices.Max(g.Predicted))}
	for _, d := range g.Data {
		p := chart.Panel("Entries ~ "+d.Name+": lines predicted, dots computed", x, viz.Axis{Label: "Backward error, rms", Log: true, Min: lo, Max: hi})
		for _, c := range curves {
			if c.Data == d {
				p.Line(c.Series, floats(g.Predicted), c.Predicted)
				p.Points(c.Series, floats(g.Measured), c.Measured)
			}
		}
	}
	return chart
}

// ClosedForms returns the table of what the closed forms of package truncation
// say about the machines that align products, beside the errors that were
// computed with the greatest measured K. It has a row for each of these
// machines and each distribution.
func (g GrowthRates) ClosedForms(curves []GrowthCurve) *viz.Table {
	n := len(g.Measured) - 1
	K := g.Measured[n]
	worst, rows := 0.0, [][]string{}
	for _, c := range curves {
		problem := c.problem()
		t, ok := problem.Accumulator()
		if !ok || c.SplitK > 1 {
			continue
		}
		p := problem.ProductMoments()
		kind, backward, slope, computed, from := truncation.OfMeanZero, t.ErrorDeviation(p, K)/(float64(K)*p.Abs), "–", "–", t.DriftLength()
		if p.Mean != 0 {
			kind, backward = truncation.OfMean, math.Abs(t.MeanError(p, K)*p.Mean)/p.Abs
			λ := roundoff.Lambda(roundoff.FailureOf(paper.Confidence), t.Unit, K)
			from = t.BreakdownLength(λ, truncation.BinadeTheta(float64(K)*math.Abs(p.Mean)))
		} else {
			slope, computed = typeset.Number(t.ErrorSlope(p, K), 3), typeset.Number(c.Slope, 3)
		}
		worst = max(worst, math.Abs(backward/c.Measured[n]-1))
		rows = append(rows, []string{c.Name, typeset.Minus(c.Data.Name), growth(kind, t.Kind()),
			typeset.Number(backward, 3), typeset.Number(c.Measured[n], 3), slope, computed, length(from)})
	}
	table := viz.NewTable("growth-closed-forms",
		fmt.Sprintf("Closed forms give the root mean square error of sums of %d products to %.0f %%.", K, math.Ceil(100*worst)),
		fmt.Sprintf("Error: (ŝ − s)/(K E|xy|), its slope over s. Last column: the K from which on the mean error exceeds λ√K u, where λ is that of one output at %s (products of one sign), or drift exceeds noise (mean zero).",
			typeset.Percent(paper.Confidence)),
		[]string{"Machine", "Entries", "error grows like", "error, closed form", "error, computed", "slope, closed form", "slope, computed", "drift prevails from *K*"})
	for _, row := range rows {
		table.Row(row...)
	}
	return table
}

// growth returns the power of K in the backward error, in words.
func growth(products truncation.ProductKind, sums truncation.SumKind) string {
	for _, r := range truncation.GrowthRates() {
		if r.Products == products && r.Sums == sums {
			return map[float64]string{0: "1", 0.5: "√*K*", 1: "*K*"}[r.Backward]
		}
	}
	return "–"
}

// length returns a number of products, or "–" if it is infinite.
func length(K float64) string {
	if math.IsInf(K, 1) {
		return "–"
	}
	return fmt.Sprintf("%.0f", K)
}

func floats(n []int) []float64 {
	x := make([]float64, len(n))
	for i, v := range n {
		x[i] = float64(v)
	}
	return x
}
