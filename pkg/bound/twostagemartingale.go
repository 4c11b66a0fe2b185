package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// TwoStageTrace takes from the trace of a machine of two stages all that its second stage did, and
// from the law of the products what the first is expected to have cut off:
//
//	err = Σ moved_i - ΣM(E_i) ± t,
//
// M(E) being the mean of [roundoff.Losses.Block] for products whose greatest exponent is E, as they
// are aligned among themselves, and t the tail of the martingale that is left. Given the past and the
// exponents it is a theorem for independent products of that law, the one of all pairs of A and B.
// What it says is no more than what [TwoStageInterval] does.
var TwoStageTrace = register(Bound{
	Name:   "two-stage-trace",
	Source: "derived from Freedman 1975, Theorem 1.6",
	Model:  TruncatingRandom,
	Needs:  Trace,
	Fails:  noStages,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
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

// TwoStageSums is TwoStageTrace without the trace, from sums and exponents alone: what rounding to
// nearest did is of mean zero, but for what the law of the products says of their low bits, and what
// is rounded down is between nothing and all.
var TwoStageSums = register(Bound{
	Name:    "two-stage-sums",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   TruncatingRandom,
	Needs:   Sums,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off",
	Fails:   noStages,
	Output: func(k Kernel, o Output, f roundoff.Failure) Interval {
		c, ok := k.Core.(tcore.TwoStage)
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

// A stageLoss adds up what the blocks of an output are expected to lose in the first stage, and what
// rounding to nearest may do.
type stageLoss struct {
	k      Kernel
	losses *roundoff.Losses
	f      roundoff.Failure // of the sum of one output
	law    float64          // log(2/ζ) of each mean of the law

	mean, slack float64
	cumulant    roundoff.Cumulant
	rounds      bool
}

// newStageLoss divides the failure between what is lost and the law as far as that is an estimate, of
// a mean for each exponent.
func newStageLoss(k Kernel, l *roundoff.Losses, f roundoff.Failure) *stageLoss {
	account := f.Account(map[string]float64{"losses": 0.5, "law": 0.5})
	_, terms := l.Terms(0)
	law := account.Spend("law") - roundoff.Failure(math.Log(float64(len(terms))))
	return &stageLoss{k: k, losses: l, f: k.eachOutput(account.Spend("losses")), law: math.Ln2 - float64(law)}
}

// addParts takes the products of a block to lose what such products do. What a sample of the law
// cannot tell is added, by the empirical Bernstein inequality (Maurer & Pontil 2009, Theorem 4).
func (l *stageLoss) addParts(s stage) {
	for _, p := range s.parts {
		if p.terms < 2 {
			continue // the greatest loses nothing
		}
		b := l.losses.Block(p.terms, p.exponent, true)
		if !b.Known {
			l.slack += float64(p.terms-1) * max(0, p.grid-l.k.productGrid())
			continue
		}
		blur := 7. / 3 * l.law * b.Grain
		l.mean += b.Mean
		l.slack += math.Sqrt(2*l.law)*b.Error + blur
		l.cumulant.Add(b.Variance+blur*b.Largest, b.Largest)
	}
}

// addRounding takes the rounding of a block to err as that of such sums does.
func (l *stageLoss) addRounding(s stage) {
	if s.ulp == 0 {
		return
	}
	l.rounds = true
	E := max(s.top, math.Ilogb(l.k.productGrid())+productBits) // no bits are finer
	r := l.losses.Rounding(l.k.Width(), E, s.ulp, true)
	l.slack += r.Mean
	l.cumulant.Add(r.Square, s.ulp/2)
}

// around returns the interval of the error, given what is known of the second stage.
func (l *stageLoss) around(known Interval) Interval {
	return Interval{known.Centre - l.mean, known.Radius + l.slack + l.cumulant.Tail(l.scale(), l.f)}
}

// scale returns a θ for [roundoff.Cumulant.Tail], from the law of the products alone: that of sums of
// the size that is expected, and of products of the exponent that is.
func (l *stageLoss) scale() float64 {
	law, n := l.losses.Law, float64(l.k.Length())
	size := n*math.Abs(law.Mean)/2 + math.Sqrt(n*law.Variance/2)
	if size == 0 {
		return 1
	}
	ulp := math.Ldexp(1, math.Ilogb(law.AbsMean)+1-productBits)
	if l.rounds {
		ulp = max(ulp, math.Ldexp(1, math.Ilogb(size)-l.k.C.Precision+1))
	}
	return roundoff.Azuma(1, l.f) / (ulp * math.Sqrt(float64(l.k.Blocks())/12))
}
