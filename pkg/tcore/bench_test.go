package tcore

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// The size of the paper's experiment.
const paperM, paperK, paperN = 1 << 10, 1 << 15, 1 << 3

// uniform returns a matrix of float32 elements of U(-1, 1), multiples of 2^-24.
func uniform(rows, cols int, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := zeros(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(int32(rng.Uint32())>>7) * 0x1p-24
	}
	return m
}

// zeros returns a zero matrix.
func zeros(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

// filled returns a matrix of the given elements.
func filled(rows, cols int, x ...float32) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: x}
}
