// Package matrix makes matrices of gonum's BLAS, which are row-major, and
// returns parts of them.
package matrix

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// New returns a matrix of zeros in binary32. It panics if a dimension is
// negative.
func New(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

// New64 returns a matrix of zeros in binary64. It panics if a dimension is
// negative.
func New64(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// Map64 returns the matrix of f(x) for every element x of m.
func Map64(f func(float64) float64, m blas64.General) blas64.General {
	z := New64(m.Rows, m.Cols)
	for i := range m.Rows {
		for j, x := range m.Data[i*m.Stride : i*m.Stride+m.Cols] {
			z.Data[i*z.Stride+j] = f(x)
		}
	}
	return z
}

// Product64 returns ab, in binary64.
func Product64(a, b blas64.General) blas64.General {
	z := New64(a.Rows, b.Cols)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, z)
	return z
}

// Row returns row i of m as a slice of its elements, not a copy.
func Row(m blas32.General, i int) []float32 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// Rows returns the rows lo to hi-1 of m, and Columns its columns lo to hi-1.
// Both share the elements of m.
func Rows(m blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: hi - lo, Cols: m.Cols, Stride: m.Stride, Data: m.Data[lo*m.Stride:]}
}

func Columns(m blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: m.Rows, Cols: hi - lo, Stride: m.Stride, Data: m.Data[lo:]}
}

// Rows64 is Rows of a matrix in binary64.
func Rows64(m blas64.General, lo, hi int) blas64.General {
	return blas64.General{Rows: hi - lo, Cols: m.Cols, Stride: m.Stride, Data: m.Data[lo*m.Stride:]}
}

// Transpose returns the transpose of m.
func Transpose(m blas32.General) blas32.General {
	z := New(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range Row(m, i) {
			z.Data[j*z.Stride+i] = v
		}
	}
	return z
}

// Map returns the matrix of f(x) for every element x of m.
func Map(m blas32.General, f func(float32) float32) blas32.General {
	z := New(m.Rows, m.Cols)
	for i := range m.Rows {
		to := Row(z, i)
		for j, v := range Row(m, i) {
			to[j] = f(v)
		}
	}
	return z
}

// Vectors returns the rows of m in binary64.
func Vectors(m blas32.General) [][]float64 {
	z := make([][]float64, m.Rows)
	for i := range z {
		z[i] = make([]float64, m.Cols)
		for j, v := range Row(m, i) {
			z[i][j] = float64(v)
		}
	}
	return z
}

// Float64 returns m in binary64.
func Float64(m blas32.General) blas64.General {
	z := New64(m.Rows, m.Cols)
	for i := range m.Rows {
		for j, v := range Row(m, i) {
			z.Data[i*z.Stride+j] = float64(v)
		}
	}
	return z
}
