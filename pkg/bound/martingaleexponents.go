package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// MartingaleExponents is [MartingaleSigns] with the exponent of every product as well: each is
// expected to lose what products of its exponent do. Who has the exponents has the products, and
// can have [Exact] for the same price; it is here as the test of what the others take for granted.
var MartingaleExponents = register(Bound{
	Name:    "martingale-exponents",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   TruncatingRandom,
	Needs:   Trace,
	Assumes: "sizes independent of signs",
	Fails:   noTrace,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		return o.martingale(k, f, true, func(s *lossSum, o Output, i int, at step) {
			lo := i * s.terms
			hi := min(lo+s.terms, len(o.X))
			s.addTerms(k, s.row(at.exponent), o.X[lo:hi], o.Y[lo:hi], at)
		})
	},
})

// termRow is what [roundoff.Losses.Terms] returns.
type termRow struct {
	first int
	terms []roundoff.TermLoss
}

// row returns what products lose that are aligned to E, by their exponents.
func (s *lossSum) row(E int) *termRow {
	r := s.rows.at(E)
	if *r == nil {
		*r = new(termRow)
		(*r).first, (*r).terms = s.losses.Terms(E)
	}
	return *r
}

// addTerms takes every product of a block to lose what products of its exponent do.
func (s *lossSum) addTerms(k Kernel, row *termRow, x, y []float64, at step) {
	var mean, variance, grain float64
	for l, v := range x {
		p := v * y[l]
		if p == 0 {
			continue
		}
		e := max(math.Ilogb(v), k.A.Emin) + max(math.Ilogb(y[l]), k.B.Emin)
		if e >= at.exponent {
			continue
		}
		j := e - row.first
		if j < 0 || j >= len(row.terms) || !row.terms[j].Known {
			s.blind(1, min(at.grid, math.Abs(p)))
			continue
		}
		m := &row.terms[j]
		mean += math.Copysign(m.Mean, p)
		variance += m.Variance
		grain += m.Grain
		if m.Error > 0 {
			*s.errors.at(e, false) += math.Copysign(m.Error, p)
		}
	}
	s.add(mean, variance, at.grid, grain)
}
