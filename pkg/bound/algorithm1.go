package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// gemm returns the chains of the problem as a product by the paper's Algorithm
// 1, with the block size and the unit roundoffs of the device. K is rounded up
// to whole blocks, because the device pads the last block with zeros.
func (k Problem) gemm() roundoff.GEMM {
	low := max(k.Device.A.UnitRoundoff(), k.Device.B.UnitRoundoff())
	u := k.unit(k.Device.C)
	g := roundoff.GEMM{
		M: k.M, N: k.N * k.parts(), K: k.Blocks() * k.Width(), Block: k.Width(),
		Roundoffs: roundoff.Roundoffs{Low: low, High: u, Product: low * low, Accumulate: u, Output: u},
	}
	if c, ok := k.Device.Core.(tcore.TensorCore); ok {
		g.Roundoffs = c.Roundoffs()
	}
	return g
}

// notAlgorithm1 returns why the paper's theorems do not apply to the problem,
// or "" if they do.
func notAlgorithm1(k Problem) string {
	switch c := k.Device.Core.(type) {
	case tcore.Chain:
		if k.Order != tcore.InSequence {
			return "the theorem adds products one after the other, not " + k.Order.String()
		}
	case tcore.TensorCore:
		if c.High.Precision < c.Output.Precision || c.Product.Precision < 2*c.Low.Precision {
			return "the theorem rounds neither products nor the sums that it carries on"
		}
	default:
		return "the theorem is on Algorithm 1, which " + k.Device.Name + " is not"
	}
	return ""
}

// maximal returns the constant of a maximal inequality, which covers all
// products of a sequence of roundings with a single event. The function dist
// returns the error model for unit roundoff u.
func (k Problem) maximal(dist func(u float64) roundoff.ErrorModel, f roundoff.Failure) float64 {
	each := f.Split(k.sequences())
	return k.theta(func(n int, u float64) float64 { return dist(u).Theta(n, each) })
}
