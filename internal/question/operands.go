package question

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Operands are the matrices of a product with the names that errors call them
// by, as they were given or with K permuted.
type Operands struct {
	NameA, NameB string
	A, B         blas64.General
	Permuted     bool
	Seed         uint64
}

// Permute applies one random permutation to the columns of A and the rows of B.
func (o *Operands) Permute(seed uint64) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(o.A.Cols)
	a, b := o.A, o.B
	a.Data, b.Data = make([]float64, len(o.A.Data)), make([]float64, len(o.B.Data))
	for k, from := range order {
		for i := range a.Rows {
			a.Data[i*a.Stride+k] = o.A.Data[i*a.Stride+from]
		}
		copy(b.Data[k*b.Stride:k*b.Stride+b.Cols], o.B.Data[from*b.Stride:])
	}
	o.A, o.B, o.Permuted, o.Seed = a, b, true, seed
}

// Describe fills in what the matrices determine of a problem: sizes, moments,
// ranges, and the results of the tests of independence.
func (o *Operands) Describe(k *bound.Problem) (err error) {
	k.M, k.K, k.N = o.A.Rows, o.A.Cols, o.B.Cols
	var errA, errB error
	k.X, errA = bound.MomentsOf(o.NameA, o.A)
	k.Y, errB = bound.MomentsOf(o.NameB, o.B)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	k.RangeX, k.RangeY = bound.RangesOf(o.A, o.B)
	k.Given = &bound.Given{A: o.A, B: o.B}
	if k.Data, err = bound.Inspect(o.A, o.B); err != nil {
		return err
	}
	k.Data.Permuted = o.Permuted
	return nil
}

// Rounded returns the matrices rounded to the formats of a device, as
// [RoundMatrix] does it; exact reports that no element changed.
func (o *Operands) Rounded(d tcore.Device) (a, b blas32.General, exact bool, err error) {
	a, exactA, errA := RoundMatrix(o.NameA, o.A, d.A, d.Convert)
	b, exactB, errB := RoundMatrix(o.NameB, o.B, d.B, d.Convert)
	return a, b, exactA && exactB, cmp.Or(errA, errB)
}

// RoundMatrix returns the matrix of that name rounded to f; exact reports that
// no element changed. The error names an element of which binary32 does not
// hold what f does.
func RoundMatrix(name string, m blas64.General, f tcore.Format, mode tcore.RoundingMode) (z blas32.General, exact bool, err error) {
	z = blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: make([]float32, len(m.Data))}
	exact = true
	for i, x := range m.Data {
		y := f.Round(x, mode)
		z.Data[i] = float32(y)
		exact = exact && x == y
		if err == nil {
			err = Held(name, i/m.Cols, i%m.Cols, y)
		}
	}
	return z, exact, err
}

// Held returns an error unless y, an element of the matrix of that name, is a
// number of binary32, in which products take factors of any format.
func Held(name string, i, j int, y float64) error {
	if float64(float32(y)) == y || math.IsNaN(y) {
		return nil
	}
	return fmt.Errorf("%s[%d, %d] is %v, want a number of binary32, in which products in binary64 take their factors here", name, i, j, y)
}
