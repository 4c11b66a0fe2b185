package audit

import (
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// Normal returns activations where there are none: a matrix of independent
// N(0,1), rounded to binary32, from the seed.
func Normal(rows, cols int, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 0))
	z := matrix.New(rows, cols)
	for i := range z.Data {
		z.Data[i] = float32(rng.NormFloat64())
	}
	return z
}
