package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// GrowthLaws is how the error of sums grows with K on the machines of notebook 8: predicted from
// single steps, and measured on products as far as they are computed in a moment.
type GrowthLaws struct {
	Data      []Distribution
	Machines  []Machine
	Predicted []int // values of K
	Measured  []int // those of products that are computed, 64 × K × 64
	Seed      uint64
}

// DefaultGrowthLaws looks at entries of mean one half and of mean zero.
var DefaultGrowthLaws = GrowthLaws{
	Data:      []Distribution{UniformUnit, UniformSymmetric},
	Machines:  machines[:4],
	Predicted: []int{1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16},
	Measured:  []int{1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14},
	Seed:      DefaultGEMM.Seed,
}

// GrowthCurve is the root mean square of the backward error e/(K E|p|) of one machine.
type GrowthCurve struct {
	Machine
	Data                Distribution
	Predicted, Measured []float64
}

// Order returns the power of K with which the predicted error grows over the last two values.
func (g GrowthCurve) Order(lengths []int) float64 {
	n := len(lengths) - 1
	return math.Log(g.Predicted[n]/g.Predicted[n-1]) / math.Log(float64(lengths[n])/float64(lengths[n-1]))
}

// Run predicts and measures. The error is that of [bound.PredictLengths] or [tcore.ExactGEMM].
func (g GrowthLaws) Run() ([]GrowthCurve, error) {
	var curves []GrowthCurve
	task := progress.Start(len(g.Data) * len(g.Machines) * (1 + len(g.Measured)))
	defer task.End()
	for _, d := range g.Data {
		for _, m := range g.Machines {
			c := GrowthCurve{Machine: m, Data: d}
			x := bound.Uniform(float64(d.Low), float64(d.High))
			predictions, err := bound.PredictLengths(bound.Problem{M: 1, N: 1, K: 1, Machine: m.Machine, X: x, Y: x}, g.Predicted)
			if err != nil {
				return nil, err
			}
			for _, p := range predictions {
				c.Predicted = append(c.Predicted, math.Hypot(p.Backward, p.BackwardDeviation))
			}
			task.Step(1)
			for _, K := range g.Measured {
				rms, err := g.measure(m.Machine, d, K)
				if err != nil {
					return nil, err
				}
				task.Step(1)
				c.Measured = append(c.Measured, rms/(float64(K)*x.Abs*x.Abs))
			}
			curves = append(curves, c)
		}
	}
	return curves, nil
}

// measure returns the root mean square of the errors of a product.
func (g GrowthLaws) measure(k tcore.Machine, d Distribution, K int) (float64, error) {
	const n = 64
	a, b := d.Matrix(n, K, g.Seed, 1), d.Matrix(K, n, g.Seed, 2)
	k.Device.A.RoundSlice32(a.Data, a.Data)
	k.Device.B.RoundSlice32(b.Data, b.Data)
	exact, err := tcore.ExactGEMM(a, b)
	if err != nil {
		return 0, err
	}
	z := blas32.General{Rows: n, Cols: n, Stride: n, Data: make([]float32, n*n)}
	k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, z)
	sum := 0.0
	for _, e := range exact.Error(z).Data {
		sum += e * e
	}
	return math.Sqrt(sum / (n * n)), nil
}

// Figure draws the curves, a panel for each kind of data.
func (g GrowthLaws) Figure(curves []GrowthCurve) *viz.Chart {
	worst := 0.0
	orders := make([]string, len(g.Data))
	for _, c := range curves {
		for i, K := range g.Measured {
			for j, at := range g.Predicted {
				if at == K {
					worst = max(worst, abs(c.Predicted[j]/c.Measured[i]-1))
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
	chart := viz.NewChart("growth-laws",
		"Single steps of a machine tell how long sums err.",
		fmt.Sprintf("%sRoot mean square of (ŝ − s)/(K E|xy|), binary16 factors: lines predicted, dots computed by the emulators, 64 × K × 64, seed %d; they differ by %.0f %% at most. Drawn by paper.GrowthLaws.Figure.",
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
		p.Points(viz.Series{Label: "computed", Color: viz.Observed}, x, y)
	}
	return chart
}

func floats(n []int) []float64 {
	x := make([]float64, len(n))
	for i, v := range n {
		x[i] = float64(v)
	}
	return x
}
