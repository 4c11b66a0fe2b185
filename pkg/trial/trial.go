package trial

import (
	"time"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Trial is the result of one machine for a product, with its errors.
type Trial struct {
	*Product
	Machine tcore.Machine // the zero value if D was computed elsewhere, or by a plan
	Plan    plan.Plan     // the zero value if D was not computed by a plan
	D       blas64.General
	Errors  []float64     // D̂ - D, row by row; not finite where D̂ is not
	Took    time.Duration // the time to multiply; 0 if D was computed elsewhere
}

// Backward returns |D̂ - D| / (|A||B|), row by row. It is NaN where all
// products of an output are zero.
func (t *Trial) Backward() []float64 { return quotients(t.Errors, t.Sizes()) }

// Relative returns |D̂ - D| / |D|, row by row. Where D is zero it is +Inf, or
// NaN if the error is zero as well.
func (t *Trial) Relative() []float64 { return quotients(t.Errors, t.Values) }

// Data generates the matrices of a product.
type Data interface {
	// Matrices returns A of size m by k and B of size k by n. The same seed gives
	// the same matrices.
	Matrices(m, n, k int, seed uint64) (a, b blas32.General)
}

// Run generates the matrices of a problem and multiplies them on its machine,
// or by its plan if it has one ([bound.Problem.Planned]). The errors are taken
// against the exact product of the numbers that the device multiplies or, if
// the problem is Represented, of the matrices before they are rounded to its
// formats. The error names an element that is not finite. Run panics if a size
// is below 1, if [tcore.Machine.Check] returns an error, or if parts of the
// plan have scales.
func Run(p bound.Problem, data Data, seed uint64) (*Trial, error) {
	a, b := data.Matrices(p.M, p.N, p.K, seed)
	exactly := p.Device.ExactGEMMs
	if p.Represented {
		exactly = exact.GEMMs
	}
	product, err := newProduct(a, b, exactly)
	if err != nil {
		return nil, err
	}
	if order, ok := p.Plan(); ok {
		return product.RunPlan(order), nil
	}
	return product.Run(p.Machine), nil
}

// Matrices are two given matrices as [Data].
type Matrices struct{ A, B blas32.General }

// Matrices returns A and B, whatever the sizes and the seed.
func (d Matrices) Matrices(_, _, _ int, _ uint64) (a, b blas32.General) { return d.A, d.B }
