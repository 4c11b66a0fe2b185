package trial

import (
	"math"
	"time"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Product is AB, with A of size M by K and B of size K by N, and its exact
// result.
type Product struct {
	A, B   blas32.General
	Exact  exact.Matrix
	Values []float64     // AB rounded to binary64, row by row
	Took   time.Duration // the time to compute Exact, Values and Sizes
	sizes  []float64
}

// Of returns the exact product of a and b. The error names an element that is
// not finite. Of panics if the shapes do not match or a matrix is empty.
func Of(a, b blas32.General) (*Product, error) { return newProduct(a, b, exact.GEMMs) }

// On returns the exact product of the numbers that the device multiplies for a
// and b: their elements converted to its formats. The error names an element
// that is not finite after conversion. On panics as [Of] does.
func On(d tcore.Device, a, b blas32.General) (*Product, error) { return newProduct(a, b, d.ExactGEMMs) }

func newProduct(a, b blas32.General, multiply func(a, b blas32.General) (ab, abs exact.Matrix, err error)) (*Product, error) {
	start := time.Now()
	ab, abs, err := multiply(a, b)
	if err != nil {
		return nil, err
	}
	p := &Product{A: a, B: b, Exact: ab, Values: ab.Float64().Data, sizes: abs.Float64().Data}
	p.Took = time.Since(start)
	return p, nil
}

// Sizes returns |A||B| rounded to binary64, row by row.
func (p *Product) Sizes() []float64 { return p.sizes }

// Conditions returns |A||B|/|AB|, row by row: the condition numbers of the
// inner products. Where AB is zero they are +Inf, or NaN if |A||B| is zero as
// well.
func (p *Product) Conditions() []float64 { return quotients(p.Sizes(), p.Values) }

// Run multiplies A and B on a machine. If the results of its device are wider
// than binary32, they are not rounded to binary32, unless K is split or D is
// converted. Run panics if [tcore.Machine.Check] returns an error.
func (p *Product) Run(m tcore.Machine) *Trial {
	start := time.Now()
	var d blas64.General
	if m.Device.C.Precision > tcore.Binary32.Precision {
		d = p.dots(m)
	} else {
		z := matrix.New(p.A.Rows, p.B.Cols)
		m.GEMM(blas.NoTrans, blas.NoTrans, 1, p.A, p.B, 0, blas32.General{}, z)
		d = matrix.Float64(z)
	}
	took := time.Since(start)
	t := p.Compare(d)
	t.Machine, t.Took = m, took
	return t
}

// RunPlan multiplies A and B by a plan, with alpha = 1 and beta = 0. It panics
// as [plan.Plan.GEMM] does.
func (p *Product) RunPlan(by plan.Plan) *Trial {
	start := time.Now()
	z := matrix.New(p.A.Rows, p.B.Cols)
	by.GEMM(blas.NoTrans, blas.NoTrans, 1, p.A, p.B, 0, blas32.General{}, z)
	took := time.Since(start)
	t := p.Compare(matrix.Float64(z))
	t.Plan, t.Took = by, took
	return t
}

// dots returns AB in binary64, computed as dot products.
func (p *Product) dots(m tcore.Machine) blas64.General {
	z := matrix.New64(p.A.Rows, p.B.Cols)
	rows, columns := matrix.Vectors(p.A), matrix.Vectors(matrix.Transpose(p.B))
	parallel.Each(len(z.Data), func(i int) { z.Data[i] = m.Dot(rows[i/z.Cols], columns[i%z.Cols], uint64(i)) })
	return z
}

// Compare returns the trial of a result d that was computed elsewhere. It
// panics if d is not M by N.
func (p *Product) Compare(d blas64.General) *Trial {
	return &Trial{Product: p, D: d, Errors: p.Exact.Error64(d).Data}
}

// quotients returns |x|/|y|, element by element.
func quotients(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range z {
		z[i] = math.Abs(x[i]) / math.Abs(y[i])
	}
	return z
}
