package quantisation

import (
	"errors"
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// randomBits is what bounds on stochastic rounding assume.
const randomBits = "random bits are ideal and independent"

// stochasticSubGaussian costs a few products.
var stochasticSubGaussian = Bound{
	Name:    "sub-gaussian",
	Source:  "Kearns & Saul 1998; derived here",
	Formula: "|bias| + √(2 log(2MN/ζ) min(κ_A B² + ā² κ_B, κ_A b̄² + A² κ_B))",
	Needs:   MatrixA | MatrixB,
	Assumes: randomBits,
	Random:  true,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		return k.stochastic(f, StochasticProduct.SubGaussian)
	},
}

// mostTilted is the largest MKN whose exact generating functions are computed.
const mostTilted = 1 << 24

// stochasticTilted has the distribution of every term of every output.
var stochasticTilted = Bound{
	Name:    "tilted",
	Source:  "Chernoff 1952; Bahadur & Ranga Rao 1960; Shevtsova 2010; Graham & Vaaler 1981; derived here",
	Formula: "|bias| + K'(θ), of the cumulant generating function K of each output given A and B",
	Needs:   MatrixA | MatrixB,
	Assumes: randomBits,
	Random:  true,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		if n := float64(k.M) * float64(k.K) * float64(k.N); n > mostTilted {
			return 0, fmt.Errorf("MKN = %.3g, want at most %d, as each takes some hundred exponentials; sub-gaussian is for more", n, mostTilted)
		}
		return k.stochastic(f, StochasticProduct.greatest)
	},
}

// stochastic returns the largest of the bounds that t returns, and what the
// means of random bits add.
func (k *evaluation) stochastic(f roundoff.Failure, t func(StochasticProduct, roundoff.Failure) blas64.General) (float64, error) {
	if k.RoundA.random().Bits == 0 && k.RoundB.random().Bits == 0 {
		return 0, errors.New("no factor is rounded with random bits")
	}
	return k.biased(t(Stochastic(k.a.random, k.b.random), f.Split(float64(k.M)*float64(k.N))))
}

// biased returns the largest |bias| + t, where the bias is the product of the
// means of what random bits round, less AB.
func (k *evaluation) biased(t blas64.General) (float64, error) {
	bias, err := Stochastic(k.a.random, k.b.random).Bias(k.a.x, k.b.x)
	if err != nil {
		return 0, err
	}
	return most(elementwise(func(b, t float64) float64 { return math.Abs(b) + t }, bias, t)), nil
}
