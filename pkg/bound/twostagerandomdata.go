package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// TwoStageRandomData is a bound on the error of a machine of two stages that
// follows from the distribution of the data, before anything is computed. The
// distribution of the products determines that of the bits that the first stage
// discards. The distribution of sums of products determines the sizes of the
// running sums, and with them the errors of the second stage.
var TwoStageRandomData = register(Bound{
	Name:    "two-stage-random-data",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `q\lvert M\rvert + \min_\theta \frac{\ell + \sum_i \kappa_i(\theta)}{\theta}`,
	Model:   TruncatingRandom,
	Needs:   Moments,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off; exponents as often as in a sample of the data",
	Fails:   notTwoStageRandomData,
	Constant: func(k Problem, f roundoff.Failure) Value {
		if notTwoStageRandomData(k) != "" {
			return plain(nan)
		}
		return k.fromDistribution(f, func(tails, each roundoff.Failure) float64 {
			sum := k.twoStageSum(tails)
			if math.IsInf(sum.Largest, 1) { // a factor may overflow
				return math.Inf(1)
			}
			return k.chains(func(n int) float64 { return sum.ErrorBound(n, k.Chains(), each) })
		})
	},
})

// twoStageSum returns the parameters of a chain of the problem for its data.
// All products of all chains are at most Largest in size, with probability of
// failure at most e^f.
func (k Problem) twoStageSum(f roundoff.Failure) truncation.TwoStageSum {
	c := k.Device.Core.(tcore.TwoStage)
	k, x, y := k.clipped(f)
	if math.IsInf(x*y, 1) {
		return truncation.TwoStageSum{Largest: math.Inf(1)}
	}
	first, _ := k.firstStage()
	losses := first.lossesBefore()
	return truncation.TwoStageSum{
		Terms:     c.Terms,
		Parts:     c.Parts,
		Unit:      k.Device.C.UnitRoundoff(),
		Grid:      k.productGrid(),
		Losses:    losses,
		LogMoment: k.logMoment(losses, x, y),
		Largest:   max(x, k.Device.A.MinNormal()) * max(y, k.Device.B.MinNormal()),
	}
}

// notTwoStageRandomData returns why the distributions of the data do not
// determine a bound on the error, or "".
func notTwoStageRandomData(k Problem) string {
	if why := noStages(k); why != "" {
		return why
	}
	first, _ := k.firstStage()
	return notTruncatedRandomData(first)
}
