package abi

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Exact stores in d the product AB and in sizes |A||B|, computed without any
// rounding and then rounded once to binary64. sizes may be nil.
func Exact(text string, a, b, d, sizes *Matrix, cancelled func() bool) (string, error) {
	if err := read(text, &struct{}{}); err != nil {
		return "", err
	}
	if err := fit(a, b); err != nil {
		return "", err
	}
	for _, z := range []struct {
		name string
		m    *Matrix
	}{{"d", d}, {"abs", sizes}} {
		if z.m == nil && z.name == "abs" {
			continue
		}
		if err := z.m.checkOutput(z.name, a, b); err != nil {
			return "", err
		}
		if err := shaped(z.name, z.m, a.Rows, b.Columns); err != nil {
			return "", err
		}
		if z.m.Format != tcore.Binary64.Name {
			return "", fmt.Errorf("%s is of %s, want binary64", z.name, z.m.Format)
		}
	}
	x, err := a.exactly("a")
	if err != nil {
		return "", err
	}
	y, err := b.exactly("b")
	if err != nil {
		return "", err
	}
	err = bands(a.Rows, a.Columns*b.Columns, cancelled, func(lo, hi int) error {
		part := matrix.Rows(x, lo, hi)
		if sizes == nil {
			ab, err := exact.GEMM(part, y)
			if err == nil {
				d.store64(lo, ab.Float64())
			}
			return err
		}
		ab, abs, err := exact.GEMMs(part, y)
		if err == nil {
			d.store64(lo, ab.Float64())
			sizes.store64(lo, abs.Float64())
		}
		return err
	})
	return "{}", err
}

// exactly returns the matrix in binary32. The error names an element that is
// not a finite number of it.
func (m *Matrix) exactly(name string) (blas32.General, error) {
	if z, t, ok := m.view(); ok {
		if t == blas.Trans {
			z = matrix.Transpose(z)
		}
		if i, j, found := matrix.NotFinite(z); found {
			return z, fmt.Errorf("%s[%d, %d] is %v, want a finite number", name, i, j, z.Data[i*z.Stride+j])
		}
		return z, nil
	}
	x, err := m.numbers(name)
	z := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float32, len(x.Data))}
	for i, v := range x.Data {
		z.Data[i] = float32(v)
		if float64(z.Data[i]) != v || v-v != 0 {
			return z, fmt.Errorf("%s[%d, %d] is %v, want a finite number of binary32", name, i/x.Cols, i%x.Cols, v)
		}
	}
	return z, err
}

// store64 stores the numbers of z, rows i and after.
func (m *Matrix) store64(i int, z blas64.General) {
	for r := range z.Rows {
		for j, x := range z.Data[r*z.Stride:][:z.Cols] {
			m.put(i+r, j, x)
		}
	}
}
