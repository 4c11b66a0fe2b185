package trial

import (
	"time"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Trial is what one machine made of a product.
type Trial struct {
	*Product
	Machine tcore.Machine // the zero value if something else computed D
	D       blas64.General
	Errors  []float64     // D̂ - D, row by row; NaN or infinite where D̂ is
	Took    time.Duration // to multiply
}

// Backward returns |D̂ - D| / (|A||B|), row by row: NaN where all products are
// zero.
func (t *Trial) Backward() []float64 { return quotients(t.Errors, t.Sizes()) }

// Relative returns |D̂ - D| / |D|, row by row.
func (t *Trial) Relative() []float64 { return quotients(t.Errors, t.Values) }

// Data makes the matrices of a product.
type Data interface {
	// Matrices returns A of size m by k and B of size k by n, the same for the same
	// seed.
	Matrices(m, n, k int, seed uint64) (a, b blas32.General)
}

// Run draws the matrices of a problem and multiplies them on its machine.
// Errors are those against the product of what the device multiplies or, if the
// problem is Represented, of the matrices before they are rounded to its
// formats. An error names an element that is not finite. It panics if a size is
// below 1, or where [tcore.Machine.Check] returns an error.
func Run(p bound.Problem, data Data, seed uint64) (*Trial, error) {
	a, b := data.Matrices(p.M, p.N, p.K, seed)
	product, err := On(p.Device, a, b)
	if p.Represented {
		product, err = Of(a, b)
	}
	if err != nil {
		return nil, err
	}
	return product.Run(p.Machine), nil
}

// Matrices are two matrices as [Data].
type Matrices struct{ A, B blas32.General }

// Matrices returns the two, whatever the seed.
func (d Matrices) Matrices(_, _, _ int, _ uint64) (a, b blas32.General) { return d.A, d.B }
