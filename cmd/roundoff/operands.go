package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// operands are the matrices of a product as read from two files, or with K
// permuted.
type operands struct {
	fileA, fileB string
	a, b         blas64.General
	permuted     bool
	seed         uint64
}

// readOperands reads two matrices. An error says that a file cannot be read or
// that the sizes do not match.
func readOperands(fileA, fileB string) (*operands, error) {
	o := &operands{fileA: fileA, fileB: fileB}
	var errA, errB error
	o.a, errA = readNumbers(fileA)
	o.b, errB = readNumbers(fileB)
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	return o, fit(fileShape{fileA, o.a.Rows, o.a.Cols}, fileShape{fileB, o.b.Rows, o.b.Cols})
}

// A fileShape is the size of the matrix of a file.
type fileShape struct {
	file       string
	rows, cols int
}

// fit returns an error unless the product of two matrices of files is defined.
func fit(a, b fileShape) error {
	if a.cols != b.rows {
		return fmt.Errorf("%s is %d × %d and %s is %d × %d: they do not fit", a.file, a.rows, a.cols, b.file, b.rows, b.cols)
	}
	return nil
}

// permute applies one random permutation to the columns of A and the rows of B.
func (o *operands) permute(seed uint64) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(o.a.Cols)
	a, b := o.a, o.b
	a.Data, b.Data = make([]float64, len(o.a.Data)), make([]float64, len(o.b.Data))
	for k, from := range order {
		for i := range a.Rows {
			a.Data[i*a.Stride+k] = o.a.Data[i*a.Stride+from]
		}
		copy(b.Data[k*b.Stride:k*b.Stride+b.Cols], o.b.Data[from*b.Stride:])
	}
	o.a, o.b, o.permuted, o.seed = a, b, true, seed
}

// describe fills in what the matrices determine of a problem: sizes, moments,
// ranges, and the results of the tests of independence.
func (o *operands) describe(k *bound.Problem) (err error) {
	k.M, k.K, k.N = o.a.Rows, o.a.Cols, o.b.Cols
	var errA, errB error
	k.X, errA = bound.MomentsOf(o.fileA, o.a)
	k.Y, errB = bound.MomentsOf(o.fileB, o.b)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	k.RangeX, k.RangeY = bound.RangesOf(o.a, o.b)
	k.Given = &bound.Given{A: o.a, B: o.b}
	if k.Data, err = bound.Inspect(o.a, o.b); err != nil {
		return err
	}
	k.Data.Permuted = o.permuted
	return nil
}

// rounded returns the matrices rounded to the formats of a device; exact
// reports that no element changed.
func (o *operands) rounded(d tcore.Device) (a, b blas32.General, exact bool) {
	a, exactA := roundMatrix(o.a, d.A, d.Convert)
	b, exactB := roundMatrix(o.b, d.B, d.Convert)
	return a, b, exactA && exactB
}

func roundMatrix(m blas64.General, f tcore.Format, mode tcore.RoundingMode) (z blas32.General, exact bool) {
	z = blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: make([]float32, len(m.Data))}
	exact = true
	for i, x := range m.Data {
		y := f.Round(x, mode)
		z.Data[i] = float32(y)
		exact = exact && x == y
	}
	return z, exact
}

// write writes the results of the tests on the matrices, and what helps if
// bounds are refused.
func (o *operands) write(w io.Writer, in *bound.Inspection) error {
	var text strings.Builder
	text.WriteString(o.tests(in))
	if in.Fails() != 0 {
		text.WriteString("Bounds that assume what is refused are not used.\n")
	}
	switch offer := in.Offer(); {
	case o.permuted:
		fmt.Fprintf(&text, "K is permuted: all this is of the product in the order of columns %s of A and these rows of B,\n"+
			"Perm(%d) of Go's math/rand/v2 with PCG(%d, 0), counted from 0. It does not hold for the order of the files.\n", o.firstColumns(), o.a.Cols, o.seed)
	case offer != "":
		fmt.Fprintf(&text, "What helps: %s.\n", offer)
		if in.Fails()&(bound.OneDistribution|bound.Unpaired) == 0 {
			text.WriteString("-permute SEED does that here.\n")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// tests returns the results of the tests on the matrices.
func (o *operands) tests(in *bound.Inspection) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\nOf the elements of %s and %s, by tests that refuse %.2g %% of matrices of independent ones:\n", o.fileA, o.fileB, 100*in.Level)
	for line := range strings.Lines(in.String()) {
		text.WriteString("  " + line)
	}
	return text.String()
}

// firstColumns returns the columns of A that come first in the permuted
// product, counted from 0.
func (o *operands) firstColumns() string {
	order := rand.New(rand.NewPCG(o.seed, 0)).Perm(o.a.Cols)
	var words []string
	for _, k := range order[:min(3, len(order))] {
		words = append(words, fmt.Sprint(k))
	}
	if len(words) < len(order) {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}
