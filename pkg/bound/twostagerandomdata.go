package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// TwoStageRandomData is what the distribution of the data tells of an error of a machine of two stages
// before anything is computed: what its first stage cuts off products follows from their law, and the
// sizes of running sums, and with them of what the second stage does, from that of the sums of
// products.
var TwoStageRandomData = register(Bound{
	Name:    "two-stage-random-data",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   TruncatingRandom,
	Needs:   Moments,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off; exponents as often as in a sample of the data",
	Fails:   notTwoStageRandomData,
	Constant: func(k Kernel, f roundoff.Failure) Value {
		if notTwoStageRandomData(k) != "" {
			return plain(nan)
		}
		account := f.Account(map[string]float64{"error": 0.875, "sizes": 0.125})
		sum, each := k.twoStageSum(f), account.Spend("error")
		if math.IsNaN(sum.Largest) || math.IsInf(sum.Largest, 1) {
			return plain(math.Inf(1)) // a factor may overflow
		}
		return k.overSizes(sum.ErrorBound(k.Blocks(), k.Chains(), each), nan, account.Spend("sizes"))
	},
})

// twoStageSum returns the chain of the kernel on its data, of which products beyond the largest have
// a failure of less than an eighth of 7/8 e^f.
func (k Kernel) twoStageSum(f roundoff.Failure) roundoff.TwoStageSum {
	c := k.Core.(tcore.TwoStage)
	first, _ := k.firstStage()
	losses := first.lossesBefore()
	tail := f - roundoff.Failure(math.Log(32)) // for each of A and B
	factor := func(f tcore.Format, d Distribution, n float64) float64 {
		return f.Round(d.largest(n, tail), tcore.ToNearestEven)
	}
	return roundoff.TwoStageSum{
		Terms:     c.Terms,
		Parts:     c.Parts,
		Unit:      k.C.UnitRoundoff(),
		Grid:      k.productGrid(),
		Losses:    losses,
		LogMoment: k.logMoment(losses),
		Largest: factor(k.A, k.X, float64(k.M)*float64(k.K)) *
			factor(k.B, k.Y, float64(k.K)*float64(k.N)),
	}
}

// notTwoStageRandomData returns why the error does not follow from the distributions of the data, or
// "".
func notTwoStageRandomData(k Kernel) string {
	if why := noStages(k); why != "" {
		return why
	}
	first, _ := k.firstStage()
	return notTruncatedRandomData(first)
}
