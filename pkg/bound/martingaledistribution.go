package bound

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// MartingaleDistribution is [MartingaleTrace] for data whose distributions are
// known before the matrices are drawn. Nothing is estimated from the matrices;
// each block has the moment generating function of its loss itself in place of
// Bennett's inequality; and θ is chosen for the variance that outputs of such
// data have, before any of these is looked at:
//
//	-Σ(a_i + r_i) - t₊ <= err <= -Σ(a_i + r_i) + t₋,
//
// where t₊ and t₋ bound the loss of the products and its negative. Given the
// past and E_i it is a theorem if the elements of A are independent and of the
// distribution told, those of B are as well, and the products of an output are
// independent. For formats of at most 8 bits and distributions that are known
// in full nothing is estimated at all; for others the moments are those of a
// sample of products of numbers drawn from the distributions, and the
// uncertainty of these is included in t₊ and t₋.
var MartingaleDistribution = register(Bound{
	Name:    "martingale-distribution",
	Source:  "derived from Robbins 1970",
	Formula: `-\sum_i \left(a_i + r_i\right) \pm \min_\theta \frac{\ell + \sum_i \kappa_i(\theta)}{\theta}`,
	Model:   TruncatingRandom,
	Needs:   Trace,
	Trusts:  true,
	Assumes: "the distributions known before the matrices were drawn",
	Fails:   notKnownBefore,
	Interval: func(k Problem, o Entry, f roundoff.Failure) Interval {
		if notKnownBefore(k) != "" || !o.traced(k) || len(o.X) == 0 {
			return Interval{nan, nan}
		}
		account := f.Account(mixtureShares)
		each := k.eachOutput(account.Spend("martingale")).Split(2) // each side
		sum := mixtureSum{losses: k.lossesBefore(), thetas: k.thetas(each)}
		sum.cell = account.Spend("distribution").Split(float64((1 + 4*len(sum.thetas)) * k.alignments()))
		kept := 0.0
		o.steps(k, func(s step) {
			kept += s.cut + s.block.Kept - s.block.Result
			sum.add(s)
		})
		most, least := sum.tail(1, each), -sum.tail(-1, each)
		return Interval{-kept - (most+least)/2, (most - least) / 2}
	},
})

// notKnownBefore returns why the losses of the products of a run do not follow
// from distributions that were known before it, or "".
func notKnownBefore(k Problem) string {
	if why := noDistribution(k); why != "" {
		return why
	}
	for _, factor := range []struct {
		name string
		Distribution
	}{{"A", k.X}, {"B", k.Y}} {
		switch {
		case !factor.CanDraw():
			return fmt.Sprintf("the distribution of %s cannot be drawn from", factor.name)
		case factor.of().elements != nil:
			return fmt.Sprintf("the distribution of %s is that of the elements of a matrix", factor.name)
		}
	}
	return ""
}

// mixtureShares are the shares of the probability of failure of
// MartingaleDistribution: for the losses of all outputs, and for the sampling
// error of the distribution of the products.
var mixtureShares = map[string]float64{"martingale": 15. / 16, "distribution": 1. / 16}

// A mixtureSum adds up the logarithms of the moment generating functions of
// what the products of the blocks of an output lose, for several θ.
type mixtureSum struct {
	losses *truncation.Losses
	cell   roundoff.Failure // of each cell of the distribution that is used
	thetas []float64
	blocks perExponent[[2]int] // of products products, if a product does not set the exponent, and if one does
	// The number of products of these blocks, and the others: the last one, if it
	// has fewer.
	products int
	last     []step
}

// add adds a block.
func (m *mixtureSum) add(s step) {
	switch {
	case s.products == 0:
	case m.products == 0 || m.products == s.products:
		m.products = s.products
		m.blocks.at(s.exponent)[bit(s.set)]++
	default:
		m.last = append(m.last, s)
	}
}

// tail returns what the loss times sign exceeds with probability at most e^f.
func (m *mixtureSum) tail(sign float64, f roundoff.Failure) float64 {
	ψ := make([]float64, len(m.thetas))
	add := func(E, products int, set bool, times float64) {
		at := m.losses.At(E, m.cell)
		for i, θ := range m.thetas {
			ψ[i] += times * at.LogMoment(sign*θ, products, set)
		}
	}
	for i, n := range m.blocks.values {
		for set, times := range n {
			if times > 0 {
				add(m.blocks.first+i, m.products, set == 1, float64(times))
			}
		}
	}
	for _, s := range m.last {
		add(s.exponent, s.products, s.set, 1)
	}
	return truncation.MixtureTail(m.thetas, ψ, f)
}

// thetas returns the θ of the mixture, for a tail of probability e^f: that
// which is best for sums of the variance that the losses of an output of the
// problem have in the mean, and two on either side of it. It does not depend on
// a run.
func (k Problem) thetas(f roundoff.Failure) []float64 {
	best := math.Sqrt(-2 * float64(f) / k.lossVariance())
	return []float64{best / 2.25, best / 1.5, best, best * 1.5, best * 2.25}
}

// lossVariance returns the variance of what the products of an output lose,
// given the exponents of its blocks, as a mean over 64 outputs of matrices that
// are drawn from the distributions of A and B: an estimate of which nothing is
// claimed. It is not less than that of one loss on the coarsest grid of these
// outputs.
func (k Problem) lossVariance() float64 {
	// Of the machine all counts.
	return k.drawn(fmt.Sprintf("loss variance %+v", k.Device), k.Length(), func() any {
		const rows = 8
		pilot := Problem{M: rows, N: rows, K: k.Length(), Machine: tcore.Machine{Device: k.Device}}
		rng := rand.New(rand.NewPCG(dataSeed, 4))
		draw := func(m, n int, d Distribution, f tcore.Format) blas32.General {
			z := blas32.General{Rows: m, Cols: n, Stride: n}
			for _, v := range k.numbers(m*n, d, f, rng) {
				z.Data = append(z.Data, float32(v))
			}
			return z
		}
		run, err := Emulate(pilot, draw(rows, pilot.K, k.X, k.Device.A), draw(pilot.K, rows, k.Y, k.Device.B))
		if err != nil {
			panic(err) // the problem has a run of this machine
		}
		losses, sum, coarsest := k.lossesBefore(), 0.0, 0.0
		for o := range run {
			o.steps(pilot, func(s step) {
				if s.products > 0 {
					at, θ := losses.At(s.exponent, 0), 0.01/s.grid // near 0
					sum += (at.LogMoment(θ, s.products, s.set) + at.LogMoment(-θ, s.products, s.set)) / (θ * θ)
					coarsest = max(coarsest, s.grid)
				}
			})
		}
		least := coarsest * coarsest / 12
		if !(sum <= math.MaxFloat64) { // sums of the largest numbers may overflow
			return least
		}
		return max(sum/(rows*rows), least)
	}).(float64)
}
