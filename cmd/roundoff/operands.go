package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/bound"
)

// operands are the matrices of a product as read from two files, or with K
// permuted.
type operands struct{ *question.Operands }

// readOperands reads two matrices. An error says that a file cannot be read or
// that the sizes do not match.
func readOperands(fileA, fileB string) (*operands, error) {
	o := &operands{&question.Operands{NameA: fileA, NameB: fileB}}
	var errA, errB error
	o.A, errA = readNumbers(fileA)
	o.B, errB = readNumbers(fileB)
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	return o, fit(fileShape{fileA, o.A.Rows, o.A.Cols}, fileShape{fileB, o.B.Rows, o.B.Cols})
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

// write writes the results of the tests on the matrices, and what helps if
// bounds are refused.
func (o *operands) write(w io.Writer, in *bound.Inspection) error {
	var text strings.Builder
	text.WriteString(o.tests(in))
	if in.Fails() != 0 {
		text.WriteString("Bounds that assume what is refused are not used.\n")
	}
	switch offer := in.Offer(); {
	case o.Permuted:
		fmt.Fprintf(&text, "K is permuted: all this is of the product in the order of columns %s of A and these rows of B,\n"+
			"Perm(%d) of Go's math/rand/v2 with PCG(%d, 0), counted from 0. It does not hold for the order of the files.\n", o.firstColumns(), o.A.Cols, o.Seed)
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
	fmt.Fprintf(&text, "\nOf the elements of %s and %s, by tests that refuse %.2g %% of matrices of independent ones:\n", o.NameA, o.NameB, 100*in.Level)
	for line := range strings.Lines(in.String()) {
		text.WriteString("  " + line)
	}
	return text.String()
}

// firstColumns returns the columns of A that come first in the permuted
// product, counted from 0.
func (o *operands) firstColumns() string {
	order := rand.New(rand.NewPCG(o.Seed, 0)).Perm(o.A.Cols)
	var words []string
	for _, k := range order[:min(3, len(order))] {
		words = append(words, fmt.Sprint(k))
	}
	if len(words) < len(order) {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}
