package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// CalibratedBound returns √(2lW_d) + √2 l√W_v, l = log(2N/ζ), ζ = e^f, a bound
// on |ŝ - s| of N sums of K products of a symmetric distribution, N being the
// argument sums. It is calibrated and not proved: no error has been observed to
// exceed it. W_d is the variance of the drift, the sum over all steps of the
// mean loss by truncating the sum. That loss is proportional to the running
// sum, which is a random walk:
//
//	W_d = (κσK^(3/2)/(L√3))²,  κ = 2^-f (1 - 2^(f-F))/(4 log 2), 0 to nearest,
//
// where f and F are the numbers of bits after the point that the result and the
// alignment keep. W_v is the sum over the blocks of the mean variance of what
// they lose. The second term has the tail of a product of normal numbers, as
// the noise grows with the size of the sums. CalibratedBound panics if the
// distribution is not symmetric, as [ProductDistribution.Symmetric] makes it, K
// < 1, sums < 1, or unless -Inf < f < 0.
//
// Source: derived here, calibrated on emulated tensor cores.
func (t Sum) CalibratedBound(K int, sums float64, f roundoff.Failure) float64 {
	check.Count("K", K)
	q := (K + t.Terms - 1) / t.Terms
	dist := t.Losses.Products
	check.Number("E p", dist.Mean, dist.symmetric, "products of a symmetric distribution")
	l := f.Split(sums).TwoSidedLog()
	resultBits := -math.Ilogb(t.Unit) - 1
	σ, n := math.Sqrt(dist.Variance), float64(K)
	drift := 0.0
	if !t.Nearest {
		κ := math.Ldexp(1-math.Ldexp(1, resultBits-t.FractionBits), -resultBits) / (4 * math.Ln2)
		drift = max(0, κ) * σ * n * math.Sqrt(n) / (float64(t.Terms) * math.Sqrt(3))
	}
	exps, probs := dist.MaxExponent(t.Terms)
	noise := 0.0
	for j := 0; j < q; {
		blocks := min(max(1, j/16), q-j)
		noise += float64(blocks) * t.blockVariance(σ*math.Sqrt(float64(j*t.Terms)), resultBits, exps, probs)
		j += blocks
	}
	return math.Sqrt(2*l)*drift + math.Sqrt2*l*math.Sqrt(noise)
}

// blockVariance returns the mean variance of what a block loses when the
// running sum is normal with mean zero and the given standard deviation. exps
// and probs are the distribution of the greatest exponent among the products of
// a block.
func (t Sum) blockVariance(deviation float64, resultBits int, exps []int, probs []float64) float64 {
	const nodes = 32
	sum := 0.0
	for i := range nodes {
		s := deviation * math.Sqrt2 * math.Erfinv((float64(i)+0.5)/nodes)
		for k, m := range exps {
			E := max(m, ilog(s))
			b := t.Losses.At(E, 0).Block(t.Terms, E > ilog(s))
			v, g, u := b.Variance, math.Ldexp(1, E-t.FractionBits), math.Ldexp(1, ilog(s)-resultBits)
			switch {
			case u <= g:
			case t.Nearest:
				v += (u*u + 2*g*g) / 12
			default:
				v += (u*u - g*g) / 12
			}
			sum += probs[k] * v / nodes
		}
	}
	return sum
}
