package paper

import (
	"fmt"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// Distribution is a uniform distribution on an interval, sampled as binary32
// numbers: Low + (High-Low) r with r a multiple of 2^-24 in [0, 1).
type Distribution struct {
	Name      string
	Low, High float32
}

// The distributions of the paper's experiments. Section 4.2 draws from U(-1,1);
// the conclusions speak of U(0,1), so both are run.
var (
	UniformOneTwo    = Distribution{Name: "U[1,2]", Low: 1, High: 2}
	UniformSymmetric = Distribution{Name: "U(−1,1)", Low: -1, High: 1}
	UniformUnit      = Distribution{Name: "U(0,1)", Low: 0, High: 1}
)

// draw returns one sample.
func (d Distribution) draw(r *rand.Rand) float32 {
	return d.Low + float32((d.High-d.Low)*r.Float32())
}

// Matrix returns a rows-by-cols matrix of samples. Row i is drawn from its own
// generator, so that the matrix does not depend on the number of cores. Exact
// zeros, which have probability 2^-24 each, are kept.
// It panics if rows or cols is below 1 or the interval is empty.
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

// Matrices returns A, of the first stream of a seed, and B, of the second.
func (d Distribution) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	return d.Matrix(m, k, seed, 1), d.Matrix(k, n, seed, 2)
}

// violations counts the samples whose error exceeds its bound.
func violations(errors, bounds []float64) int {
	n := 0
	for i, e := range errors {
		if !(e <= bounds[i]) {
			n++
		}
	}
	return n
}
