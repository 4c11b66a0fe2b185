package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
)

// A comparison describes how results for the same rounded operands differ from
// the first result, and their errors against the exact product.
type comparison struct {
	first blas32.General
	exact *trial.Product // nil if alpha is not 1, beta is not 0, or a factor is not finite
	lines []difference
}

type difference struct {
	name          string
	differ, of    int
	greatest      float64 // the largest |z - first|
	relative      float64 // the largest |z - first|/|first|
	mean, maximum float64 // of the relative error against the exact product
}

// comparison returns a comparison whose first result is d, of the machine or
// plan of that name.
func (p *product) comparison(name string, d blas32.General) *comparison {
	c := &comparison{first: d}
	if p.alpha == 1 && p.beta == 0 {
		a, b := p.operandA, p.operandB
		if p.transposeA {
			a = matrix.Transpose(a)
		}
		if p.transposeB {
			b = matrix.Transpose(b)
		}
		if exact, err := trial.Of(a, b); err == nil {
			c.exact = exact
		}
	}
	c.add(name, d)
	return c
}

// add adds a line for the result z.
func (c *comparison) add(name string, z blas32.General) {
	line := difference{name: name, of: len(z.Data), mean: math.NaN(), maximum: math.NaN()}
	for i, x := range z.Data {
		y := c.first.Data[i]
		if x == y || x != x && y != y {
			continue
		}
		line.differ++
		diff := math.Abs(float64(x) - float64(y))
		line.greatest = math.Max(line.greatest, diff)
		line.relative = math.Max(line.relative, diff/math.Abs(float64(y)))
	}
	if c.exact != nil {
		line.mean, line.maximum = relativeErrors(c.exact.Compare(matrix.Float64(z)))
	}
	c.lines = append(c.lines, line)
}

// relativeErrors returns the mean and the maximum of the relative errors of
// the outputs that are not exactly zero.
func relativeErrors(t *trial.Trial) (mean, maximum float64) {
	n := 0
	for i, r := range t.Relative() {
		if t.Values[i] != 0 {
			mean, maximum, n = mean+r, math.Max(maximum, r), n+1
		}
	}
	return mean / float64(n), maximum
}

// write writes the table.
func (c *comparison) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "device\tdiffer\tmax |diff|\tmax relative\tmean error\tmax error")
	for _, l := range c.lines {
		fmt.Fprintf(w, "%s\t%d of %d\t%.3g\t%.3g\t%.3g\t%.3g\n", l.name, l.differ, l.of, l.greatest, l.relative, l.mean, l.maximum)
	}
	return w.Flush()
}
