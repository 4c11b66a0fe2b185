package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// MartingaleSigns is [MartingaleTrace] with the signs of the products: a block is expected to
// lose the mean size of a loss times its positive less its negative products.
var MartingaleSigns = register(Bound{
	Name:    "martingale-signs",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   TruncatingRandom,
	Needs:   Trace,
	Assumes: "sizes independent of signs",
	Fails:   noTrace,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		return o.martingale(k, f, true, (*lossSum).addSigns)
	},
})

// addSigns takes block i to lose what blocks of its exponent and its signs do.
func (s *lossSum) addSigns(o Output, i int, at step) {
	b := s.block(at)
	if !b.Known {
		s.blind(s.terms, at.grid)
		return
	}
	signs := float64(o.Blocks[i].Signs)
	s.add(signs*b.Size, b.SizeVariance, at.grid, b.Grain)
	*s.errors.at(at.exponent, at.set) += signs * b.SizeError
}
