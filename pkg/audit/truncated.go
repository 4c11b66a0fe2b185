package audit

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// truncated returns for each output an upper bound of Σ S |σ̂ - σ| over its
// parts of K, with S the product of their scales, from the sums as the device
// computes them. It returns false for a device that takes scales, or that does
// not align all products of a step.
//
// Each step loses at most what [truncation.Accumulator.Error] says of the
// exponent E to which the terms are aligned. That is known from the running sum
// before the step and the greatest exponents of the factors of the step, and
// the sums of these are no less than those of products.
func (l *Layer) truncated(a, b *quant.Quantised, cols []int, d tcore.Device, every int) (z blas64.General, ok bool) {
	core, ok := d.Core.(tcore.Fused)
	if !ok || core.Group > 0 || d.ScaleBlock > 0 {
		return z, false
	}
	t, _ := bound.Problem{Machine: tcore.Machine{Device: d}}.Accumulator()
	if every == 0 {
		every = l.a.Cols
	}
	z = matrix.New64(len(l.rows), len(cols))
	x, y := l.codes(a, b, cols)
	before, after := matrix.New(z.Rows, z.Cols), matrix.New(z.Rows, z.Cols)
	for start := 0; start < l.a.Cols; start += every {
		clear(before.Data)
		end := min(start+every, l.a.Cols)
		s, r := make([]float64, z.Rows), make([]float64, z.Cols)
		for i := range s {
			s[i] = float64(a.Scale(l.rows[i], start))
		}
		for j := range r {
			r[j] = float64(b.Scale(start, cols[j]))
		}
		for k := start; k < end; k += core.Terms {
			p, q := matrix.Columns(x, k, min(k+core.Terms, end)), matrix.Rows(y, k, min(k+core.Terms, end))
			d.MultiplyAdd(p, q, before, after)
			addSteps(z, aligned{core, t, d.C}, topExponents(p, d.A), topExponents(matrix.Transpose(q), d.B), before, after, s, r)
			before, after = after, before
		}
	}
	return z, true
}

// aligned is a device that aligns all products of a step to its running sum.
type aligned struct {
	core tcore.Fused
	of   truncation.Accumulator
	sums tcore.Format
}

// addSteps adds to z what a step loses at most, times the scales of the row and
// of the column, given the running sums before and after it and the greatest
// exponents of factors in the rows of A and the columns of B.
func addSteps(z blas64.General, d aligned, x, y []int, before, after blas32.General, s, r []float64) {
	parallel.Ranges(z.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, c := range matrix.Row(before, i) {
				E := max(d.core.ZeroExponent, x[i]+y[j])
				if c != 0 {
					E = max(E, d.sums.Emin, math.Ilogb(float64(c)))
				}
				z.Data[i*z.Stride+j] += s[i] * r[j] * d.of.Error(E, float64(after.Data[i*after.Stride+j]))
			}
		}
	})
}

// topExponents returns the greatest exponent of each row of numbers of f, that
// of a subnormal number being Emin. That of zeros is far below all others.
func topExponents(m blas32.General, f tcore.Format) []int {
	const none = -1 << 20
	z := make([]int, m.Rows)
	for i := range z {
		z[i] = none
		for _, v := range matrix.Row(m, i) {
			if v != 0 {
				z[i] = max(z[i], f.Emin, math.Ilogb(float64(v)))
			}
		}
	}
	return z
}
