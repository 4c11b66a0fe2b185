package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// RoundingFigure returns a chart of the largest relative rounding error in the
// interval between two adjacent binary16 numbers around x, in units of u, for x
// in the two binades from 1 to 4.
func RoundingFigure() *viz.Chart {
	f := tcore.Binary16
	u := f.UnitRoundoff()
	var x, worst []float64
	for i := range 600 {
		at := 1 + 3*float64(i)/600
		// The midpoint of two adjacent numbers has the largest rounding error.
		low := f.Round(at, tcore.ToZero)
		mid := (low + f.Round(low+u, tcore.ToPositive)) / 2
		x = append(x, at)
		worst = append(worst, math.Abs(f.Round(mid, tcore.ToNearestEven)-mid)/mid/u)
	}
	c := viz.NewChart("rounding-envelope",
		fmt.Sprintf("The relative rounding error reaches %.4f u just above a power of two and only half as much just below one.",
			slices.Max(worst)),
		"Largest |δ| = |fl(x) − x|/|x| near x in binary16, rounded to nearest even.")
	p := c.Panel("", viz.Axis{Label: "x", Min: 1, Max: 4}, viz.Axis{Label: "Largest |δ| near x, in units of u", Min: 0, Max: 1.1})
	p.Line(viz.Series{Label: "largest |δ|", Color: viz.Black, Style: viz.Solid}, x, worst)
	p.Horizontal(viz.Series{Label: "u, the bound", Color: DBEA.Color, Style: viz.Dashed}, 1)
	return c
}

// Sum is a sum of three numbers computed in a format, with its errors.
type Sum struct {
	Unit            float64 // unit roundoff of the format
	Computed, Exact float64
	// Relative errors. The backward error is the smallest relative change of the
	// inputs for which Computed is the exact sum.
	Forward, Backward float64
	Condition         float64 // sum |x_i| / |sum x_i|
}

// SumOfThree rounds the three numbers to f and adds them from left to right.
// The rounded numbers are the exact input, so only the additions contribute to
// the error.
func SumOfThree(f tcore.Format, x1, x2, x3 float64) Sum {
	round := func(x float64) float64 { return f.Round(x, tcore.ToNearestEven) }
	x1, x2, x3 = round(x1), round(x2), round(x3)
	s := Sum{Unit: f.UnitRoundoff()}
	s.Computed = f.Add(f.Add(x1, x2, tcore.ToNearestEven), x3, tcore.ToNearestEven)
	s.Exact = x1 + x2 + x3 // exact in binary64 for a precision of at most 24 bits near 1
	absolute := math.Abs(x1) + math.Abs(x2) + math.Abs(x3)
	s.Forward = math.Abs(s.Computed-s.Exact) / math.Abs(s.Exact)
	s.Backward = math.Abs(s.Computed-s.Exact) / absolute
	s.Condition = absolute / math.Abs(s.Exact)
	return s
}
