package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// TruncatedRandomData is a bound on the error that follows from the
// distribution of the data, before anything is computed. The distribution of
// the products determines that of the bits that alignment discards. These
// losses accumulate as a random walk with a drift. The proof is in
// docs/truncation.md.
var TruncatedRandomData = register(Bound{
	Name:    "truncated-random-data",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Formula: `\min_\theta \frac{\ell + \sum_i \kappa_i(\theta)}{\theta}`,
	Model:   TruncatingRandom,
	Needs:   Moments,
	Assumes: "where sums are rounded to nearest, their low bits as independent of the others and of what is cut off",
	Fails:   notTruncatedRandomData,
	Constant: func(k Problem, f roundoff.Failure) Value {
		if notTruncatedRandomData(k) != "" {
			return plain(nan)
		}
		drift := 0.0
		v := k.fromDistribution(f, func(tails, each roundoff.Failure) float64 {
			sum := k.truncatedSum(tails)
			if math.IsInf(sum.Largest, 1) { // a factor may overflow
				return math.Inf(1)
			}
			drifts := map[int]float64{}
			e := k.chains(func(n int) (e float64) {
				e, drifts[n] = sum.ErrorAndDrift(n, k.Chains(), each)
				return e
			})
			drift = k.chains(func(n int) float64 { return drifts[n] })
			return e
		})
		return v.drifting(drift)
	},
})

// truncatedSum returns the parameters of a chain of the problem for its data.
// All products of all chains are at most Largest in size, with probability of
// failure at most e^f.
func (k Problem) truncatedSum(f roundoff.Failure) truncation.Sum {
	k, x, y := k.clipped(f)
	if math.IsInf(x*y, 1) {
		return truncation.Sum{Largest: math.Inf(1)}
	}
	losses, machine := k.lossesBefore(), k.truncation(k.Device.Core.(tcore.Fused))
	machine.FractionBits = losses.F // without subnormalBits: the distribution accounts for subnormal numbers
	p := k.products()
	return truncation.Sum{
		Accumulator: machine,
		Losses:      losses,
		LogMoment:   k.logMoment(losses, x, y),
		Largest:     max(x, k.Device.A.MinNormal()) * max(y, k.Device.B.MinNormal()),
		LeastMean:   p.center - p.off,
		MostMean:    p.mean,
	}
}

// notTruncatedRandomData returns why the distributions of the data do not
// determine a bound on the error of truncated sums, or "".
func notTruncatedRandomData(k Problem) string {
	if why := noTrace(k); why != "" {
		return why
	}
	if why := k.overflows(true); why != "" {
		return why
	}
	for _, d := range []Distribution{k.X, k.Y} {
		switch {
		case !d.CanDraw():
			return fmt.Sprintf("%s cannot be drawn from", d)
		case !d.of().falls():
			return fmt.Sprintf("%s has no largest number, and how fast it falls off is not known", d)
		}
	}
	return ""
}
