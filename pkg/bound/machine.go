package bound

import (
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// rounds is a product of n factors 1+δ with |δ| <= u.
type rounds struct {
	n int
	u float64
}

// Width returns the number of products that the machine adds in one step. It
// panics if the device has no core.
func (k Problem) Width() int { return k.Device.BlockTerms() }

// roundings returns the rounding factors that a product meets at most on its
// way through a chain, one rounds for each format. A machine that truncates is
// treated as one that rounds every sum, as the published bounds treat it.
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
	case tcore.EvenOdd:
		sums = (min(k.Length(), c.Terms)+1)/2 + q
		if k.exactProducts() {
			sums--
		}
	case tcore.OddPairs, tcore.FusedPairs: // of exact products; the first pair is added to 0
		sums = (k.Length() + 1) / 2
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

// exactProducts reports whether every product of two factors is representable
// in the format in which the products are added.
func (k Problem) exactProducts() bool {
	sum := k.Device.C
	if c, ok := k.Device.Core.(tcore.TensorCore); ok {
		sum = c.Accumulate
	}
	return k.Device.A.Precision+k.Device.B.Precision <= sum.Precision
}

// unit returns the largest relative error of a rounding to f: u to nearest, 2u
// if rounding is stochastic or to odd.
func (k Problem) unit(f tcore.Format) float64 {
	if k.stochastic() || k.roundsToOdd() {
		return 2 * f.UnitRoundoff()
	}
	return f.UnitRoundoff()
}

// coarsest returns the largest unit roundoff among the roundings of a chain.
func (k Problem) coarsest() float64 {
	u := 0.0
	for _, r := range k.roundings() {
		u = max(u, r.u)
	}
	return u
}

// events returns the number of different products of rounding factors in all
// chains. In a recursive sum with n roundings, every product meets the last 1,
// 2, ... or n of them. In a tree, every leaf has a path of its own.
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

// sequences returns the number of sequences of roundings in all chains. The
// roundings that a product meets are the end of one such sequence.
func (k Problem) sequences() float64 {
	if k.isTree() {
		return k.events()
	}
	return float64(len(k.roundings())) * k.Chains()
}

// isTree reports whether products are summed in pairs, pairwise, in pairs,
// or in two chains.
func (k Problem) isTree() bool {
	switch k.Device.Core.(type) {
	case tcore.Pairwise, tcore.EvenOdd, tcore.OddPairs, tcore.FusedPairs:
		return true
	}
	return k.Order == tcore.InPairs
}

// flushes reports whether the machine replaces subnormal sums by zeros.
func (k Problem) flushes() bool {
	switch k.Device.Core.(type) {
	case tcore.Pairwise, tcore.EvenOdd, tcore.OddFirst, tcore.OddPairs:
		return true
	}
	return false
}

// each returns the probability of failure of one chain, and eachOutput that of
// one output, such that all of them together fail with probability at most e^f.
func (k Problem) each(f roundoff.Failure) roundoff.Failure {
	return f.Split(k.Chains())
}

func (k Problem) eachOutput(f roundoff.Failure) roundoff.Failure {
	return f.Split(k.Outputs())
}

// theta returns the constant of a chain, where of(n, u) is that of n factors
// 1+δ with |δ| <= u.
func (k Problem) theta(of func(n int, u float64) float64) float64 {
	z := 0.0
	for _, r := range k.roundings() {
		if r.n > 0 {
			z = roundoff.Compose(z, of(r.n, r.u))
		}
	}
	return z
}

// Accumulator returns the parameters of the machine's sums for the closed forms
// of package truncation, and false for a machine that does not align all
// products of a step.
func (k Problem) Accumulator() (truncation.Accumulator, bool) {
	c, ok := k.Device.Core.(tcore.Fused)
	if !ok {
		return truncation.Accumulator{}, false
	}
	return k.truncation(c), true
}

// truncation returns the parameters of a machine that truncates.
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

// subnormalBits returns the largest number of bits by which a nonzero product
// can lie below 2^E, E being the sum of the exponents of its factors, because a
// factor or a scale is subnormal. It counts only those cases that the constant
// covers and [Result.Underflow] does not: formats of at most 6 bits, in which
// subnormal factors are common, unless Underflow is to have these, and devices
// with scales where the ranges of the matrices are unknown, so that nothing
// else limits the size of a scaled subnormal factor.
func (k Problem) subnormalBits() int {
	bits := 0
	if k.Device.A.Bits() <= 6 && !k.subnormals || k.Device.ScaleBlock > 0 && !(k.RangeX.known() && k.RangeY.known()) {
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
