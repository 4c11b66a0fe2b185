package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// MartingaleSigns is [MartingaleTrace] with the signs of the products: the
// expected loss of a block is the sum of those of its positive and of its
// negative products. Each sign has its own distribution of losses. Where the
// distribution of A or that of B is declared symmetric, both signs share one.
var MartingaleSigns = register(Bound{
	Name:    "martingale-signs",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `-\sum_i \left(a_i + r_i + M_i\right) \pm t,\quad M_i \text{ given the signs}`,
	Model:   TruncatingRandom,
	Needs:   Trace,
	Fails:   noDistribution,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		return o.martingale(k, f, lossReader{traced: true, cells: 2 * blockCells, sizes: true, add: (*lossSum).addSigns})
	},
})

// addSigns adds the expected loss of a block, given its exponent and the
// numbers of its positive and negative products. A product that is zero loses
// nothing.
func (s *lossSum) addSigns(at step) {
	if at.nonzero > 0 {
		r, positive := s.row(at.exponent), (at.nonzero+at.block.Signs)/2
		s.add(r.Signed(positive, at.nonzero-positive, at.set), &r.errors[bit(at.set)])
	}
}
