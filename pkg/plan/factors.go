package plan

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// factors are the matrices A and B of a product.
type factors struct{ a, b blas32.General }

// run stores in sum, row by row, what a device makes of the columns of A and
// the rows of B in k.
func (f *factors) run(r Run, k []int, sum []float32) {
	r = r.narrowed()
	a, b := f.at(r.steps(k))
	r.Device.MultiplyAdd(a, b, blas32.General{}, blas32.General{Rows: a.Rows, Cols: b.Cols, Stride: b.Cols, Data: sum})
}

// narrowed returns a run with the same sums on a device whose block is a group,
// if there is one: every other product, or more, is padding otherwise. Padding
// adds 0 to a fused sum, and its exponent is not above that of the accumulator,
// which is in the sum, too. Vector code wants blocks of fours.
func (r Run) narrowed() Run {
	core, ok := r.Device.Core.(tcore.Fused)
	if ok && core.Group == 0 && core.ZeroExponent <= r.Device.C.Emin && core.Terms%r.group() == 0 && r.group()%4 == 0 {
		core.Terms = r.group()
		r.Device.Core = core
	}
	return r
}

// at returns these columns of A and rows of B, where a negative one is zero:
// copies, unless they stand in a row.
func (f *factors) at(steps []int) (a, b blas32.General) {
	if consecutive(steps) {
		first, end := steps[0], steps[len(steps)-1]+1
		return matrix.Columns(f.a, first, end), matrix.Rows(f.b, first, end)
	}
	a, b = matrix.New(f.a.Rows, len(steps)), matrix.New(len(steps), f.b.Cols)
	for i := range a.Rows {
		from, to := matrix.Row(f.a, i), matrix.Row(a, i)
		for s, k := range steps {
			if k != padding {
				to[s] = from[k]
			}
		}
	}
	for s, k := range steps {
		if k != padding {
			copy(matrix.Row(b, s), matrix.Row(f.b, k))
		}
	}
	return a, b
}

// consecutive reports whether every position is one more than the one before.
// The first is that of a product.
func consecutive(steps []int) bool {
	for i, k := range steps {
		if k != steps[0]+i {
			return false
		}
	}
	return true
}
