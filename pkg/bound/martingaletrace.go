package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// MartingaleTrace is an interval around the expected error of an output. The
// trace gives what each block did to the running sum, and the distribution of
// the products gives their expected loss, given the exponents in the trace:
//
//	err = -Σ(a_i + r_i) - ΣM(E_i) ± t,
//
// where M(E) is the mean of [truncation.LossesAt.Block] and t bounds the tail
// of the remaining martingale. Given the past and E_i it is a theorem if the
// elements of A are independent and of one distribution, those of B are as
// well, and the products of an output are independent and distributed as those
// of all pairs of elements of A and B. The uncertainty of the estimated
// distribution is included in t. The distribution is estimated from the
// matrices alone; declared distributions do not matter.
var MartingaleTrace = register(Bound{
	Name:    "martingale-trace",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `-\sum_i \left(a_i + r_i + M_i\right) \pm t`,
	Model:   TruncatingRandom,
	Needs:   Trace,
	Fails:   noDistribution,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		return o.martingale(k, f, lossReader{traced: true, cells: blockCells, add: (*lossSum).addBlock})
	},
})

// MartingaleSums is MartingaleTrace without the trace, from sums and exponents
// alone. The mean of what truncating a sum discards is modelled as half a unit
// in the last place less half a step of the grid, as for uniform low bits;
// rounding to nearest is modelled with mean zero. Where the distribution of the
// products shows that the low bits are not uniform, t is increased accordingly.
var MartingaleSums = register(Bound{
	Name:    "martingale-sums",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `-\sum_i \left(a_i + \mathbb E r_i + M_i\right) \pm t`,
	Model:   TruncatingRandom,
	Needs:   Sums,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off",
	Fails:   noDistribution,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		return o.martingale(k, f, lossReader{cells: blockCells, add: (*lossSum).addBlock})
	},
})

// blockCells is the number of cells of the distribution that
// [truncation.LossesAt.Block] uses at one exponent.
const blockCells = 3

// martingale returns the interval of the error of an output. Its centre is
// minus the known losses of the run and minus the expected losses of its
// blocks.
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

// addBlock adds the expected loss of a block, given its exponent and its number
// of products.
func (s *lossSum) addBlock(at step) {
	if at.products > 0 {
		r := s.row(at.exponent)
		s.add(r.block(at.products, at.set), &r.errors[bit(at.set)])
	}
}

// roundingKind identifies a rounding: to a multiple of u, of a sum of so many
// products aligned to exponent E.
type roundingKind struct {
	products, E int
	u           float64
}

// addRounding adds the expected effect of rounding a sum that is not known
// before it is rounded, given its exponent, and returns the mean of what the
// rounding discards.
func (s *lossSum) addRounding(c tcore.Fused, at step) float64 {
	u := at.ulp(c.Result)
	if u <= at.grid {
		return 0
	}
	nearest := c.Rounding == tcore.ToNearestEven
	if at.sum == 0 && !nearest { // the sum was less than u in size, of either sign
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
	s.slack += r.Mean - math.Abs(mean) // the largest error of the modelled mean
	s.cumulant.Add(max(0, r.Square-mean*mean), largest)
	return mean
}
