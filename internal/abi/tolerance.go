package abi

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// Tolerance answers how far outputs of a product may be from the exact ones,
// and if got is not nil which of them are further, and why: the JSON of
// roundoff tolerance. With want, the outputs of another implementation, they
// are compared with these. Of a device with scales a and b are the elements if
// scales are given. limits, which may be nil, is filled with the tolerances.
func Tolerance(text string, a, b, scaleA, scaleB, got, want, limits *Matrix) (string, error) {
	q := question.NewTolerance()
	err := read(text, &q)
	if err == nil {
		q.Operands, err = operands(a, b)
	}
	if err != nil {
		return "", err
	}
	if q.Operands == nil {
		return "", fmt.Errorf("a and b are NULL, want matrices")
	}
	if limits != nil {
		if err := limits.checkOutput("limits", a, b, scaleA, scaleB, got, want); err != nil {
			return "", err
		}
		if err := shaped("limits", limits, a.Rows, b.Columns); err != nil {
			return "", err
		}
		if limits.Format != tcore.Binary64.Name {
			return "", fmt.Errorf("limits is of %s, want binary64", limits.Format)
		}
	}
	var outputs, reference *blas64.General
	for _, given := range []struct {
		name string
		*Matrix
		to **blas64.General
	}{{"scale_a", scaleA, &q.ScaleA}, {"scale_b", scaleB, &q.ScaleB}, {"got", got, &outputs}, {"want", want, &reference}} {
		if given.Matrix == nil {
			continue
		}
		if err := given.check(given.name); err != nil {
			return "", err
		}
		z, err := given.numbers(given.name)
		if err != nil {
			return "", err
		}
		*given.to = &z
	}
	z, err := q.Results(outputs, reference)
	if err != nil {
		return "", err
	}
	if limits != nil {
		limits.store64(0, z.Limits)
	}
	return write(z)
}
