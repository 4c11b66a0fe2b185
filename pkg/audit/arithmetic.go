package audit

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/network"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
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

// KernelOn returns the kernel that multiplies on a device what two recipes
// make, and whether the device takes it. Scales that the device does not take
// are applied to finished sums, which leave the device every promote products
// if promote is not 0, or, where blocks of K have scales, to the sum of each,
// as in DeepGEMM.
func KernelOn(d tcore.Device, onA, onB quant.Recipe, promote int) (k quant.Kernel, takes bool) {
	m := tcore.Machine{Name: d.Name, Device: d}
	short, long := min(onA.Block.Along, onB.Block.Along), max(onA.Block.Along, onB.Block.Along)
	switch {
	case d.ScaleBlock > 0:
		k = quant.AlphaKernel(m)
	case !outside(onA) || !outside(onB):
		return k, false
	case long == 0:
		m.Promote = promote
		k = quant.EpilogueKernel(m)
	default:
		k = quant.DeepGEMMKernel(m)
		if k.Every = short; short == 0 {
			k.Every = long
		}
	}
	n := max(long, 1) * max(d.ScaleBlock, 1) // whole blocks
	_, err := Arithmetic{onA, onB, &k}.Multiply("", matrix.New(1, n), matrix.New(n, 1))
	return k, err == nil
}
