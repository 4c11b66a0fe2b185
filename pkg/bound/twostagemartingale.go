package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// TwoStageTrace is an interval around the expected error of an output on a
// machine of two stages. The trace gives everything that the second stage did,
// and the distribution of the products gives what the first stage is expected
// to have discarded:
//
//	err = Σ moved_i - ΣM(E_i) ± t,
//
// where M(E) is the mean of [truncation.LossesAt.Block] for products whose
// greatest exponent is E, since they are aligned among themselves, and t bounds
// the tail of the remaining martingale. Given the past and the exponents it is
// a theorem for independent products distributed as those of all pairs of
// elements of A and B. The result is intersected with [TwoStageInterval].
var TwoStageTrace = register(Bound{
	Name:    "two-stage-trace",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `-\sum_i \left(a_i + r_i + M_i\right) \pm t, \text{ within two-stage-interval}`,
	Model:   TruncatingRandom,
	Needs:   Trace,
	Fails:   noStages,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		if noStages(k) != "" || len(o.Stages) == 0 || o.Losses == nil {
			return Interval{nan, nan}
		}
		z, sum := o.stageInterval(), newStageLoss(k, o.Losses(), f)
		var known Interval
		i := 0
		o.stages(k, func(s stage) {
			known.Centre += o.Stages[i].Moved
			known.Radius += math.Ldexp(1, o.Stages[i].Exponent-70)
			sum.addParts(s)
			i++
		})
		return z.meet(sum.around(known))
	},
})

// TwoStageSums is TwoStageTrace without the trace, from sums and exponents
// alone. Errors of rounding to nearest are modelled with mean zero, up to the
// bias that the distribution of the products implies for their low bits. What
// is rounded down lies between 0 and one unit.
var TwoStageSums = register(Bound{
	Name:    "two-stage-sums",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `-\sum_i \left(a_i + \mathbb E r_i + M_i\right) \pm t`,
	Model:   TruncatingRandom,
	Needs:   Sums,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off",
	Fails:   noStages,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		c, ok := k.Device.Core.(tcore.TwoStage)
		if !ok || o.Losses == nil || len(o.Exponents) == 0 || len(o.Exponents) != c.Parts*len(o.Sums) {
			return Interval{nan, nan}
		}
		sum := newStageLoss(k, o.Losses(), f)
		var known Interval
		o.stages(k, func(s stage) {
			known.Centre += s.moved - s.down/2
			known.Radius += s.down / 2
			sum.addParts(s)
			sum.addRounding(s)
		})
		return k.stageSums(c, o).meet(sum.around(known))
	},
})

// A stageLoss accumulates the expected losses of the blocks of an output in the
// first stage, and the possible errors of rounding to nearest.
type stageLoss struct {
	k      Problem
	losses *truncation.Losses
	f      roundoff.Failure // probability of failure of the sum of one output
	cell   roundoff.Failure // of each cell of the distribution
	ends   roundoff.Failure // of each distribution of rounding errors
	first  float64          // grid of the first products that can lose something

	mean, slack float64
	cumulant    truncation.Cumulant
	rounds      bool
}

// newStageLoss divides the probability of failure between the losses and the
// estimate of their distribution, which has three cells for each exponent that
// products of the formats can have.
func newStageLoss(k Problem, l *truncation.Losses, f roundoff.Failure) *stageLoss {
	account := f.Account(martingaleShares)
	exponents := float64(k.Device.A.Emax + k.Device.B.Emax - k.Device.A.Emin - k.Device.B.Emin + 1)
	const units = 64 // that a sum can have at one exponent; the factor 2 below: whole blocks and the last one
	return &stageLoss{
		k: k, losses: l,
		f:    k.eachOutput(account.Spend("martingale")),
		cell: account.Spend("distribution").Split(3 * exponents),
		ends: account.Spend("characters").Split(2 * units * exponents),
	}
}

// addParts adds the expected loss of the products of a block.
func (l *stageLoss) addParts(s stage) {
	for _, p := range s.parts {
		if p.terms < 2 || p.exponent < l.k.Device.A.Emin+l.k.Device.B.Emin {
			continue // the greatest product loses nothing, nor do zeros
		}
		if l.first == 0 {
			l.first = p.grid
		}
		b := l.losses.At(p.exponent, l.cell).Block(p.terms, true)
		l.mean += b.Mean
		l.slack += math.Abs(b.Error) + b.Slack
		l.cumulant.Add(b.Variance, b.Largest)
	}
}

// addRounding adds the possible error of rounding the sum of a block to
// nearest.
func (l *stageLoss) addRounding(s stage) {
	if s.ulp == 0 {
		return
	}
	l.rounds = true
	if l.first == 0 {
		l.first = s.ulp / 2
	}
	E := max(s.top, math.Ilogb(l.k.productGrid())+productBits) // no product has finer bits
	r := l.losses.Rounding(l.k.Width(), E, s.ulp, true, l.ends)
	l.slack += r.Mean
	l.cumulant.Add(r.Square, s.ulp/2)
}

// around returns the interval of the error, given that of the second stage. The
// range of θ depends on the first grid alone: the losses of the first stage do
// not grow from block to block, and roundings are of sums of at most n
// products.
func (l *stageLoss) around(known Interval) Interval {
	radius := known.Radius + l.slack
	if l.first > 0 {
		n := float64(l.k.Length())
		greatest := 8 * roundoff.Azuma(1, l.f) / (math.Sqrt(n) * l.first)
		least := greatest / 8
		if l.rounds {
			least /= n
		}
		radius += l.cumulant.Tail(least, greatest, l.f)
	}
	return Interval{known.Centre - l.mean, radius}
}
