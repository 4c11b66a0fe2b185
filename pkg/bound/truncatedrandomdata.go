package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// TruncatedRandomData is what the distribution of the data tells of an error before anything is
// computed: what alignment cuts off products follows from their law, and adds up as a random walk
// with a drift. Its constant is that of K E|p|, the mean of Σ|p|. The proof is in
// docs/truncation.md.
var TruncatedRandomData = register(Bound{
	Name:    "truncated-random-data",
	Source:  "derived from Freedman 1975, Theorem 1.6",
	Model:   TruncatingRandom,
	Needs:   Moments,
	Assumes: "low bits of sums independent of the leading ones and of what is cut off; over the mean of |A||B|",
	Fails:   notTruncatedRandomData,
	Constant: func(k Kernel, f roundoff.Failure) Value {
		if notTruncatedRandomData(k) != "" {
			return plain(nan)
		}
		sum := k.truncatedSum(f)
		if math.IsNaN(sum.Largest) || math.IsInf(sum.Largest, 1) {
			return plain(math.Inf(1)) // a factor may overflow
		}
		e := sum.ErrorBound(k.Blocks(), k.Chains(), f)
		return plain(e / (float64(k.Length()) * k.X.Abs * k.Y.Abs))
	},
})

// truncatedSum returns the chain of the kernel on its data.
func (k Kernel) truncatedSum(f roundoff.Failure) roundoff.TruncatedSum {
	losses, machine := k.lossesBefore(), k.truncation(k.Core.(tcore.Fused))
	machine.FractionBits = losses.F            // whatever the size of subnormal numbers: the law knows
	tail := f - roundoff.Failure(math.Log(16)) // for each of A and B
	factor := func(f tcore.Format, d Distribution, n float64) float64 {
		return f.Round(d.largest(n, tail), tcore.ToNearestEven)
	}
	return roundoff.TruncatedSum{
		Truncation: machine,
		Losses:     losses,
		LogMoment:  k.logMoment(losses),
		Largest: factor(k.A, k.X, float64(k.M)*float64(k.K)) *
			factor(k.B, k.Y, float64(k.K)*float64(k.N)),
	}
}

// notTruncatedRandomData returns why the error of truncated sums does not follow from the
// distributions of the data, or "".
func notTruncatedRandomData(k Kernel) string {
	if why := noTrace(k); why != "" {
		return why
	}
	if why := k.overflows(); why != "" {
		return why
	}
	for _, d := range []Distribution{k.X, k.Y} {
		switch {
		case d.Draw == nil:
			return fmt.Sprintf("%s cannot be drawn from", d.Name)
		case math.IsInf(d.Max, 1) && !d.normal:
			return fmt.Sprintf("%s has no largest number, and how fast it falls off is not known", d.Name)
		}
	}
	return ""
}
