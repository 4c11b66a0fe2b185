package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// TwoStageTrace takes from the trace of a machine of two stages all that its
// second stage did, and from the distribution of the products what the first is
// expected to have cut off:
//
//	err = Σ moved_i - ΣM(E_i) ± t,
//
// M(E) being the mean of [truncation.Losses.Block] for products whose greatest
// exponent is E, as they are aligned among themselves, and t the tail of the
// martingale that is left. Given the past and the exponents it is a theorem for
// independent products of that distribution, the one of all pairs of A and B.
// What it says is no more than what [TwoStageInterval] does.
var TwoStageTrace = register(Bound{
	Name:   "two-stage-trace",
	Source: "derived from Freedman 1975, Theorem 1.6",
	Model:  TruncatingRandom,
	Needs:  Trace,
	Fails:  noStages,
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
// alone: what rounding to nearest did is of mean zero, but for what the
// distribution of the products says of their low bits, and what is rounded down
// is between nothing and all.
var TwoStageSums = register(Bound{
	Name:    "two-stage-sums",
	Source:  "derived from Freedman 1975, Theorem 1.6",
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

// A stageLoss adds up what the blocks of an output are expected to lose in the
// first stage, and what rounding to nearest may do.
type stageLoss struct {
	k      Problem
	losses *truncation.Losses
	f      roundoff.Failure // of the sum of one output
	cell   roundoff.Failure // of each cell of the distribution
	ends   roundoff.Failure // of each distribution of what rounding takes
	first  float64          // grid of the first products that can lose something

	mean, slack float64
	cumulant    truncation.Cumulant
	rounds      bool
}

// newStageLoss divides the failure between what is lost and the distribution as
// far as that is an estimate, of three cells for each exponent that products of
// the formats can have.
func newStageLoss(k Problem, l *truncation.Losses, f roundoff.Failure) *stageLoss {
	account := f.Account(martingaleShares)
	exponents := float64(k.Device.A.Emax + k.Device.B.Emax - k.Device.A.Emin - k.Device.B.Emin + 1)
	const units = 64 // that a sum may have at one exponent, and whole blocks and the last one
	return &stageLoss{
		k: k, losses: l,
		f:    k.eachOutput(account.Spend("martingale")),
		cell: account.Spend("distribution").Split(3 * exponents),
		ends: account.Spend("characters").Split(2 * units * exponents),
	}
}

// addParts takes the products of a block to lose what such products do.
func (l *stageLoss) addParts(s stage) {
	for _, p := range s.parts {
		if p.terms < 2 || p.exponent < l.k.Device.A.Emin+l.k.Device.B.Emin {
			continue // the greatest loses nothing, nor do zeros
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

// addRounding takes the rounding of a block to err as that of such sums does.
func (l *stageLoss) addRounding(s stage) {
	if s.ulp == 0 {
		return
	}
	l.rounds = true
	if l.first == 0 {
		l.first = s.ulp / 2
	}
	E := max(s.top, math.Ilogb(l.k.productGrid())+productBits) // no bits are finer
	r := l.losses.Rounding(l.k.Width(), E, s.ulp, true, l.ends)
	l.slack += r.Mean
	l.cumulant.Add(r.Square, s.ulp/2)
}

// around returns the interval of the error, given what is known of the second
// stage. The range of θ follows from the first grid alone: the losses of the
// first stage do not grow, and roundings are of sums of up to n products.
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
