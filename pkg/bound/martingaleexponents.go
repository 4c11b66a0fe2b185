package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// MartingaleExponents is [MartingaleSigns] with the exponent of every product
// as well: the expected loss of a product is that of products of its exponent
// and sign. Whoever knows the exponents knows the products, and can use [Exact]
// at the same cost. Estimating a distribution for each exponent needs more data
// than the other bounds do: its interval is wider where the matrices have few
// elements.
var MartingaleExponents = register(Bound{
	Name:    "martingale-exponents",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `-\sum_i \left(a_i + r_i + M_i\right) \pm t,\quad M_i \text{ given the exponents}`,
	Model:   TruncatingRandom,
	Needs:   Trace,
	Fails:   noDistribution,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		cells := 2 * (k.Device.A.Emax + k.Device.B.Emax - k.Device.A.Emin - k.Device.B.Emin + 1)
		return o.martingale(k, f, lossReader{traced: true, cells: cells, sizes: true, add: (*lossSum).addTerms})
	},
})

// addTerms adds the expected loss of every product of a block: that of products
// of its exponent and sign. Products that are zero, or have the exponent of the
// block, lose nothing.
func (s *lossSum) addTerms(at step) {
	r := s.row(at.exponent)
	for l, v := range at.x {
		p := float64(v * at.y[l])
		if p == 0 {
			continue
		}
		e := max(math.Ilogb(v), s.leastX) + max(math.Ilogb(at.y[l]), s.leastY)
		if e >= at.exponent {
			continue
		}
		t, negative := r.terms.at(e), bit(p < 0)
		if !t.known[negative] {
			t.known[negative], t.losses[negative] = true, r.Term(e, p < 0)
		}
		s.add(t.losses[negative], &t.error)
	}
}
