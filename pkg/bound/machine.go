package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// rounds is a product of n factors 1+δ, |δ| <= u.
type rounds struct {
	n int
	u float64
}

// Width returns the products of a step of the machine. It panics if it has no
// core.
func (k Problem) Width() int { return k.Device.BlockTerms() }

// roundings returns the factors that one product meets on its way through a
// chain, at most, one rounds for every format. A machine that truncates is
// taken as one that rounds every sum, as the published bounds take it.
func (k Problem) roundings() []rounds {
	sums := k.Length()
	if k.Order == tcore.InPairs {
		sums = roundoff.PairwiseHeight(k.Length()) + 1
	}
	if k.exactProducts() {
		sums-- // 0 + xy is exact
	}
	q := k.Blocks()
	switch c := k.Device.Core.(type) {
	case tcore.TensorCore:
		return k.tensorCore(c, sums, q)
	case tcore.ExactSum:
		sums = q
	case tcore.Pairwise:
		sums = roundoff.PairwiseHeight(c.Terms) + q
		if k.exactProducts() {
			sums--
		}
	}
	return []rounds{{sums, k.unit(k.Device.C)}}
}

// tensorCore returns the roundings of the paper's Algorithm 1.
func (k Problem) tensorCore(c tcore.TensorCore, sums, q int) []rounds {
	r := []rounds{{sums, k.unit(c.Accumulate)}}
	if c.Output.Precision < c.Accumulate.Precision {
		r = append(r, rounds{q, k.unit(c.Output)})
	}
	if c.High.Precision < c.Output.Precision {
		r = append(r, rounds{q, k.unit(c.High)})
	}
	if c.Product.Precision < 2*c.Low.Precision {
		r = append(r, rounds{1, k.unit(c.Product)})
	}
	return r
}

// exactProducts reports whether the product of two factors is a number of the
// format in which they are added.
func (k Problem) exactProducts() bool {
	sum := k.Device.C
	if c, ok := k.Device.Core.(tcore.TensorCore); ok {
		sum = c.Accumulate
	}
	return k.Device.A.Precision+k.Device.B.Precision <= sum.Precision
}

// unit returns the largest relative error of rounding to f: u, or 2u if it is
// stochastic.
func (k Problem) unit(f tcore.Format) float64 {
	if k.stochastic() {
		return 2 * f.UnitRoundoff()
	}
	return f.UnitRoundoff()
}

// coarsest returns the largest unit roundoff of the chain.
func (k Problem) coarsest() float64 {
	u := 0.0
	for _, r := range k.roundings() {
		u = max(u, r.u)
	}
	return u
}

// events returns how many different products of roundings there are in all
// chains. In a chain of n sums every product meets the last 1, 2, ... or n
// roundings; in a tree every leaf has a path of its own.
func (k Problem) events() float64 {
	if k.isTree() {
		return float64(k.Length()) * k.Chains()
	}
	n := 0
	for _, r := range k.roundings() {
		n += r.n
	}
	return max(1, float64(n)) * k.Chains()
}

// sequences returns how many sequences of roundings there are in all chains, of
// which the roundings that a product meets are the end.
func (k Problem) sequences() float64 {
	if k.isTree() {
		return k.events()
	}
	return float64(len(k.roundings())) * k.Chains()
}

// isTree reports whether products are added in pairs.
func (k Problem) isTree() bool {
	_, pairs := k.Device.Core.(tcore.Pairwise)
	return pairs || k.Order == tcore.InPairs
}

// each returns the failure of one chain, and eachOutput that of one output,
// when all together fail with e^f.
func (k Problem) each(f roundoff.Failure) roundoff.Failure {
	return f.Split(k.Chains())
}

func (k Problem) eachOutput(f roundoff.Failure) roundoff.Failure {
	return f.Split(k.Outputs())
}

// theta returns the constant of a chain, given the one of n factors 1+δ, |δ| <=
// u.
func (k Problem) theta(of func(n int, u float64) float64) float64 {
	z := 0.0
	for _, r := range k.roundings() {
		if r.n > 0 {
			z = roundoff.Compose(z, of(r.n, r.u))
		}
	}
	return z
}

// truncation returns the record of a machine that truncates.
func (k Problem) truncation(c tcore.Fused) truncation.Accumulator {
	t := truncation.Accumulator{
		Terms:        c.Terms,
		FractionBits: c.FractionBits,
		Unit:         c.Result.UnitRoundoff(),
		Least:        c.Result.MinSubnormal(),
		Nearest:      c.Rounding == tcore.ToNearestEven,
	}
	if c.Group > 0 {
		t.Terms /= c.Group
	}
	return t
}

// subnormalBits returns by how many of its bits a product that is not 0 may be
// less than the power of two that it is aligned by, its factors or their scales
// being subnormal, as far as that is in the constant and not in
// [Result.Underflow]: where subnormal factors are common, or so large, scaled,
// that nothing else says how large.
func (k Problem) subnormalBits() int {
	bits := 0
	if k.Device.A.Bits() <= 6 || k.Device.ScaleBlock > 0 && !(k.RangeX.known() && k.RangeY.known()) {
		bits = k.Device.A.Precision + k.Device.B.Precision - 2
	}
	if k.Device.ScaleBlock > 0 && k.Device.Scale.Subnormals == tcore.Kept {
		for _, r := range []Range{k.RangeX, k.RangeY} {
			if !(r.LeastScale >= k.Device.Scale.MinNormal()) {
				bits += k.Device.Scale.Precision - 1
			}
		}
	}
	return bits
}
