package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// MartingaleTrace takes from the trace of blocks what they did to the running
// sum, and from the distribution of the products what these are expected to
// have lost, given the exponents of the trace:
//
//	err = -Σ(a_i + r_i) - ΣM(E_i) ± t,
//
// M(E) being the mean of [truncation.LossesAt.Block] and t the tail of the
// martingale that is left. Given the past and E_i it is a theorem for
// independent products of the distribution of all pairs of A and B, the
// elements of either independent and of one distribution; what they leave open
// of that distribution is in t. It reads the matrices alone: what is told of
// their distributions does not matter.
var MartingaleTrace = register(Bound{
	Name:   "martingale-trace",
	Source: "derived from Freedman 1975, Theorem 1.6",
	Model:  TruncatingRandom,
	Needs:  Trace,
	Fails:  noDistribution,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		return o.martingale(k, f, lossReader{traced: true, cells: blockCells, add: (*lossSum).addBlock})
	},
})

// MartingaleSums is MartingaleTrace without the trace, from sums and exponents
// alone: what rounding took from the sums is half a unit in the last place less
// half a step of the grid, in the mean, as of uniform bits. Where the
// distribution of the products says that their bits are not uniform, t grows by
// what that can do.
var MartingaleSums = register(Bound{
	Name:    "martingale-sums",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   TruncatingRandom,
	Needs:   Sums,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off",
	Fails:   noDistribution,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		return o.martingale(k, f, lossReader{cells: blockCells, add: (*lossSum).addBlock})
	},
})

// blockCells is how many cells of the distribution at one exponent
// [truncation.LossesAt.Block] takes.
const blockCells = 3

// martingale returns the interval around what the run lost, as far as it is
// known, and what its blocks are expected to have lost.
func (o Entry) martingale(k Problem, f roundoff.Failure, r lossReader) Interval {
	if o.Losses == nil || noDistribution(k) != "" || len(o.Exponents) == 0 || r.traced && !(o.traced(k) && len(o.X) > 0) {
		return Interval{nan, nan}
	}
	sum := r.newLossSum(k, o.Losses(), f)
	lost := 0.0
	c := k.Device.Core.(tcore.Fused)
	o.steps(k, func(s step) {
		if s.nonzero > 0 {
			sum.start(s)
		}
		lost += s.cut
		if r.traced {
			lost += s.block.Kept - s.block.Result
		} else {
			lost += sum.addRounding(c, s)
		}
		r.add(sum, s)
	})
	return Interval{-lost - sum.mean, sum.radius(float64(k.Length()))}
}

// addBlock takes a block to lose what blocks of its exponent and as many
// products do.
func (s *lossSum) addBlock(at step) {
	if at.products > 0 {
		r := s.row(at.exponent)
		s.add(r.block(at.products, at.set), &r.errors[bit(at.set)])
	}
}

// roundingKind is what rounding to a multiple of u of a block of products
// aligned to E.
type roundingKind struct {
	products, E int
	u           float64
}

// addRounding takes rounding to lose from a sum that is not known what it does
// from sums of its exponent, and returns the mean of that.
func (s *lossSum) addRounding(c tcore.Fused, at step) float64 {
	u := at.ulp(c.Result)
	if u <= at.grid {
		return 0
	}
	nearest := c.Rounding == tcore.ToNearestEven
	if at.sum == 0 && !nearest { // what became of less than u of either sign
		s.slack += u - at.grid
		return 0
	}
	kind := roundingKind{max(1, at.products), at.exponent, u}
	r, ok := s.roundings[kind]
	if !ok {
		if s.roundings == nil {
			s.roundings = map[roundingKind]truncation.RoundingLoss{}
		}
		r = s.losses.Rounding(kind.products, at.exponent, u, nearest, s.ends)
		s.roundings[kind] = r
	}
	mean, largest := 0.0, u/2
	if !nearest {
		mean, largest = math.Copysign((u-at.grid)/2, at.sum), (u-at.grid)/2
	}
	s.slack += r.Mean - math.Abs(mean) // how far the mean may be from the truth
	s.cumulant.Add(max(0, r.Square-mean*mean), largest)
	return mean
}
