package paper

import (
	"fmt"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// Distribution is a uniform distribution on an interval, sampled in binary32:
// Low + (High-Low) r, where r is a uniformly distributed multiple of 2^-24 in
// [0, 1).
type Distribution struct {
	Name      string
	Low, High float32
}

// The distributions of the paper's experiments. Section 4.2 draws from U(-1,1),
// but the conclusions mention U(0,1); this package runs both.
var (
	UniformOneTwo    = Distribution{Name: "U[1,2]", Low: 1, High: 2}
	UniformSymmetric = Distribution{Name: "U(−1,1)", Low: -1, High: 1}
	UniformUnit      = Distribution{Name: "U(0,1)", Low: 0, High: 1}
)

// draw returns one sample.
func (d Distribution) draw(r *rand.Rand) float32 {
	return d.Low + float32((d.High-d.Low)*r.Float32())
}

// Matrix returns a rows × cols matrix of samples. Each row has its own
// generator, seeded by seed, stream and the row number, so that the matrix does
// not depend on the number of cores. An element can be exactly zero, for
// U(-1,1) and U(0,1) with probability 2^-24. It panics if rows or cols is below
// 1 or the interval is empty.
func (d Distribution) Matrix(rows, cols int, seed, stream uint64) blas32.General {
	if rows < 1 || cols < 1 {
		panic(fmt.Sprintf("paper: matrix of %d rows and %d columns", rows, cols))
	}
	if !(d.Low < d.High) {
		panic(fmt.Sprintf("paper: interval [%v, %v] is empty", d.Low, d.High))
	}
	m := matrix.New(rows, cols)
	parallel.Each(rows, func(i int) {
		r := rand.New(rand.NewPCG(seed, stream<<32|uint64(i)))
		row := m.Data[i*cols : (i+1)*cols]
		for j := range row {
			row[j] = d.draw(r)
		}
	})
	return m
}

// Matrices returns the m × k matrix A, drawn from stream 1 of the seed, and the
// k × n matrix B, drawn from stream 2. It panics as [Distribution.Matrix] does.
func (d Distribution) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	return d.Matrix(m, k, seed, 1), d.Matrix(k, n, seed, 2)
}

// violations returns the number of samples whose error exceeds its bound. A NaN
// in either counts as a violation.
func violations(errors, bounds []float64) int {
	n := 0
	for i, e := range errors {
		if !(e <= bounds[i]) {
			n++
		}
	}
	return n
}
