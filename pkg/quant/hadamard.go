package quant

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Hadamard is the orthogonal matrix Q = diag(±1) H / 4 of order 16, where H
// is the Hadamard matrix of Sylvester. It spreads an outlier over 16 elements:
// (AQ)(Qᵀ B) = AB, and AQ and Qᵀ B have smaller blocks' maxima.
type Hadamard struct {
	Signs uint16 // bit k is 1 if row k is negative
}

// hadamardOrder is the number of elements that are mixed.
const hadamardOrder = 16

// RandomHadamard returns the matrix with signs from a seed.
func RandomHadamard(seed uint64) Hadamard {
	return Hadamard{uint16(rand.New(rand.NewPCG(seed, 0)).Uint32())}
}

// at returns 4 Q(k, l), which is 1 or -1.
func (h Hadamard) at(k, l int) float64 {
	return 1 - 2*float64((bits.OnesCount(uint(k&l))+int(h.Signs>>k))&1)
}

// Apply returns xQ for x = A, and Qᵀ x for x = B, where every 16 elements along
// K are mixed. Sums are exact in binary64 or nearly so, and rounded to
// binary32. It returns an error unless K is a multiple of 16.
func (h Hadamard) Apply(x blas32.General, side Side) (blas32.General, error) {
	k := x.Cols
	if side == Right {
		k = x.Rows
	}
	if k%hadamardOrder != 0 || k == 0 {
		return blas32.General{}, fmt.Errorf("quant: Hadamard: K = %d, want a multiple of %d", k, hadamardOrder)
	}
	z := matrix.New(x.Rows, x.Cols)
	for i := range x.Rows {
		for j := range x.Cols {
			l, sum := j, 0.0
			if side == Right {
				l = i
			}
			first := l / hadamardOrder * hadamardOrder
			for m := range hadamardOrder {
				v := 0.0
				if side == Left {
					v = float64(x.Data[i*x.Stride+first+m])
				} else {
					v = float64(x.Data[(first+m)*x.Stride+j])
				}
				sum += v * h.at(m, l-first)
			}
			z.Data[i*z.Stride+j] = float32(sum / 4)
		}
	}
	return z, nil
}
