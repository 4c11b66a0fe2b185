package study

import (
	"fmt"
	"math"
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
			x := bound.Uniform(float64(d.Low), float64(d.High))
			p := bound.Problem{M: 64, N: 64, K: 1, Machine: m.Machine, X: x, Y: x}
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
				c.Measured = append(c.Measured, sample.RMS(t.Errors)/(float64(p.K)*x.MeanAbs()*x.MeanAbs()))
			}
			curves = append(curves, c)
		}
	}
	return curves, nil
}

// Figure returns the chart of the curves, with a panel for each distribution.
func (g GrowthRates) Figure(curves []GrowthCurve) *viz.Chart {
	worst := 0.0
	orders := make([]string, len(g.Data))
	for _, c := range curves {
		for i, K := range g.Measured {
			for j, at := range g.Predicted {
				if at == K {
					worst = max(worst, math.Abs(c.Predicted[j]/c.Measured[i]-1))
				}
			}
		}
		for i, d := range g.Data {
			if d == c.Data {
				orders[i] += fmt.Sprintf(", %.2f on %s", c.Order(g.Predicted), c.Name)
			}
		}
	}
	var powers strings.Builder
	for i, d := range g.Data {
		fmt.Fprintf(&powers, "With entries ~ %s the backward error grows with a power of K of %s. ", d.Name, orders[i][2:])
	}
	chart := viz.NewChart("growth-rates",
		"From the statistics of one accumulation step the error of long sums can be predicted.",
		fmt.Sprintf("%sRoot mean square of (ŝ − s)/(K E|xy|), binary16 factors: lines predicted, dots computed by the emulators, 64 × K × 64, seed %d; they differ by %.0f %% at most. Drawn by study.GrowthRates.Figure.",
			powers.String(), g.Seed, math.Ceil(100*worst)))
	for _, d := range g.Data {
		p := chart.Panel("entries ~ "+d.Name, viz.Axis{Label: "Inner dimension K", Log: true, Min: 10, Max: 1e5}, viz.Axis{Label: "Backward error, rms", Log: true})
		var x, y []float64
		for _, c := range curves {
			if c.Data == d {
				p.Line(c.Series, floats(g.Predicted), c.Predicted)
				x, y = append(x, floats(g.Measured)...), append(y, c.Measured...)
			}
		}
		p.Points(viz.Series{Label: "computed", Color: viz.Black}, x, y)
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
		t, ok := bound.Problem{Machine: c.Machine.Machine}.Accumulator()
		if !ok || c.SplitK > 1 {
			continue
		}
		p := productMoments(c.Data)
		kind, error, slope, computed, from := truncation.OfMeanZero, t.ErrorDeviation(p, K)/(float64(K)*p.Abs), "–", "–", t.DriftLength()
		if p.Mean != 0 {
			kind, error = truncation.OfMean, math.Abs(t.MeanError(p, K)*p.Mean)/p.Abs
			λ := roundoff.Lambda(roundoff.FailureOf(paper.Confidence), t.Unit, K)
			from = t.BreakdownLength(λ, truncation.BinadeTheta(float64(K)*math.Abs(p.Mean)))
		} else {
			slope, computed = typeset.Number(t.ErrorSlope(p, K), 3), typeset.Number(c.Slope, 3)
		}
		worst = max(worst, math.Abs(error/c.Measured[n]-1))
		rows = append(rows, []string{c.Name, typeset.Minus(c.Data.Name), growth(kind, t.Kind()),
			typeset.Number(error, 3), typeset.Number(c.Measured[n], 3), slope, computed, length(from)})
	}
	table := viz.NewTable("growth-closed-forms",
		fmt.Sprintf("Closed forms give the errors of sums of %d products to %.0f %%.", K, math.Ceil(100*worst)),
		fmt.Sprintf("Root mean square of (ŝ − s)/(K E|xy|), and slope of the error over s, K = %d. Last column: for products of one sign the K from which on the mean error exceeds λ√K u, "+
			"as no bound on errors of mean zero allows, λ of one output with confidence %s; for products of mean zero the K from which on drift towards zero exceeds noise. Drawn by study.GrowthRates.ClosedForms.", K, typeset.Percent(paper.Confidence)),
		[]string{"Machine", "Data", "grows like", "closed form", "computed", "slope: closed form", "slope: computed", "from *K*"})
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

// productMoments returns the moments of a product of two elements.
func productMoments(d paper.Distribution) truncation.ProductMoments {
	x := bound.Uniform(float64(d.Low), float64(d.High)).Moments()
	mean := x.Mean * x.Mean
	return truncation.ProductMoments{Mean: mean, Variance: x.MeanSquare*x.MeanSquare - mean*mean, Abs: x.MeanAbs * x.MeanAbs}
}

func floats(n []int) []float64 {
	x := make([]float64, len(n))
	for i, v := range n {
		x[i] = float64(v)
	}
	return x
}
