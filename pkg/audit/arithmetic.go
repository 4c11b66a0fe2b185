package audit

import (
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/quant"
	"gonum.org/v1/gonum/blas/blas32"
)

// An Arithmetic is how the products of a network are computed: activations are
// quantised by one recipe, weights by another, and a kernel multiplies what
// they have become.
type Arithmetic struct {
	OnA, OnB quant.Recipe
	Kernel   *quant.Kernel // nil: sums in binary64, rounded once to binary32
}

// Multiply returns D̂, the product of a and b. It is a [network.Multiply]. The
// error is that of a recipe or of the kernel.
func (x Arithmetic) Multiply(node string, a, b blas32.General) (blas32.General, error) {
	left, err := x.OnA.Quantise(a, quant.Left)
	if err != nil {
		return blas32.General{}, err
	}
	right, err := x.OnB.Quantise(b, quant.Right)
	if err != nil {
		return blas32.General{}, err
	}
	if x.Kernel != nil {
		return x.Kernel.Multiply(left, right)
	}
	return network.Exactly(node, left.Dequantise(), right.Dequantise())
}
