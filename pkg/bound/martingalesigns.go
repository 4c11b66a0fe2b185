package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// MartingaleSigns is [MartingaleTrace] with the signs of the products: a block
// is expected to lose what its positive and its negative products do. Either
// have a distribution of their own; where the distribution of A or that of B is
// told to be symmetric, they have one.
var MartingaleSigns = register(Bound{
	Name:   "martingale-signs",
	Source: "derived from Freedman 1975, Theorem 1.6",
	Model:  TruncatingRandom,
	Needs:  Trace,
	Fails:  noDistribution,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		return o.martingale(k, f, lossReader{traced: true, cells: 2 * blockCells, sizes: true, add: (*lossSum).addSigns})
	},
})

// addSigns takes a block to lose what blocks of its exponent and its signs do.
// A product that is zero loses nothing.
func (s *lossSum) addSigns(at step) {
	if at.nonzero > 0 {
		r, positive := s.row(at.exponent), (at.nonzero+at.block.Signs)/2
		s.add(r.Signed(positive, at.nonzero-positive, at.set), &r.errors[bit(at.set)])
	}
}
