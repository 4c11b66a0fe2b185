package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Product is a test of Lemmas 1 and 2. It draws n rounding errors from U[-u,
// u], as Lemma 2 assumes, and random signs rho_i, and compares |theta_n| with
// the bounds, where theta_n = prod(1+delta_i)^rho_i - 1.
type Product struct {
	Terms      int
	Unit       float64
	Trials     int
	Confidence float64
	Seed       uint64
}

// DefaultProduct has n u = 1/4 in binary16, well inside the condition n u < 1
// of Lemma 1.
var DefaultProduct = Product{Terms: 512, Unit: u16, Trials: 100_000, Confidence: Confidence, Seed: Seed}

// ProductResult is the result of the test.
type ProductResult struct {
	Product
	Thetas []float64 // |theta_n|
	Lambda float64
	Gamma  float64 // gamma_n, the bound of Lemma 1
	Tilde  float64 // gamma-tilde_n(lambda), the bound of Lemma 2
}

// Run draws the products. It panics if Trials < 1, Confidence or Unit is
// outside (0, 1), or Terms is out of the range of [roundoff.Lambda].
func (p Product) Run() *ProductResult {
	if p.Trials < 1 {
		panic(fmt.Sprintf("paper: Trials = %d, want Trials >= 1", p.Trials))
	}
	lambda := roundoff.Lambda(roundoff.FailureOf(p.Confidence), p.Unit, p.Terms)
	r := &ProductResult{Product: p, Thetas: make([]float64, p.Trials), Lambda: lambda,
		Gamma: roundoff.Gamma(p.Terms, p.Unit), Tilde: roundoff.GammaTilde(p.Terms, p.Unit, lambda)}
	theta := p.thetaOfLogarithms
	if float64(p.Terms)*p.Unit < 1 { // no product is far from 1
		theta = p.thetaOfProducts
	}
	parallel.Each(p.Trials, func(i int) {
		r.Thetas[i] = math.Abs(theta(rand.New(rand.NewPCG(p.Seed, uint64(i)))))
	})
	return r
}

// draw draws delta_i, and 0 or 1, which is 1 if rho_i is -1.
func (p Product) draw(rng *rand.Rand) (delta float64, below uint64) {
	return p.Unit * (2*rng.Float64() - 1), rng.Uint64() & 1
}

// thetaOfLogarithms draws theta_n.
func (p Product) thetaOfLogarithms(rng *rand.Rand) float64 {
	sum := 0.0
	for range p.Terms {
		delta, below := p.draw(rng)
		if below == 0 {
			sum += math.Log1p(delta)
		} else {
			sum -= math.Log1p(delta)
		}
	}
	return math.Expm1(sum)
}

// thetaOfProducts is thetaOfLogarithms without logarithms, for n u < 1: a and b
// are the products of the factors above and below the bar, each minus 1.
func (p Product) thetaOfProducts(rng *rand.Rand) float64 {
	var a, b float64
	for range p.Terms {
		delta, below := p.draw(rng)
		down := delta * float64(below) // delta or 0, without a branch that nothing can foresee
		up := delta - down
		a += up + float64(up*a)
		b += down + float64(down*b)
	}
	return (a - b) / (1 + b)
}

// Coverage returns the fraction of products with |theta_n| <= bound.
func (r *ProductResult) Coverage(bound float64) float64 {
	inside := 0
	for _, t := range r.Thetas {
		if t <= bound {
			inside++
		}
	}
	return float64(inside) / float64(len(r.Thetas))
}

// Figure returns a chart of the upper tail of the distribution of |theta_n|
// with the bounds of both lemmas.
func (r *ProductResult) Figure() *viz.Chart {
	worst := slices.Max(r.Thetas)
	c := viz.NewChart("product-edf",
		fmt.Sprintf("The probabilistic bound γ̃ₙ is %.1f times smaller than the deterministic γₙ, and %s %% of %d products exceed it where %s %% may.",
			r.Gamma/r.Tilde, digits(100*(1-r.Coverage(r.Tilde)), 2), r.Trials, digits(100*(1-r.Confidence), 2)),
		fmt.Sprintf("Products of n = %d factors 1 + δ with δ ~ U[−u, u], u = %s, and random exponents ±1, seed %d; the largest |θₙ| is %.2f γ̃ₙ(λ), where λ = %s gives %s.",
			r.Terms, power(r.Unit), r.Seed, worst/r.Tilde, short(r.Lambda), percent(r.Confidence)))
	p := c.Panel("", viz.Axis{Label: "|θₙ|", Log: true, Min: 1e-5, Max: 1}, viz.Axis{Label: "Fraction above, 1 − F", Log: true})
	p.Exceedance(Observed, r.Thetas)
	p.Vertical(viz.Series{Label: "γ̃ₙ at " + percent(r.Confidence), Color: VIBEA.Color, Style: viz.Dashed}, r.Tilde)
	p.Vertical(viz.Series{Label: "γₙ", Color: DBEA.Color, Style: viz.Dashed}, r.Gamma)
	p.Horizontal(viz.Series{Label: "1 − confidence", Color: viz.Grey, Style: viz.Dotted}, 1-r.Confidence)
	return c
}

// ProductClaims returns the paper's claims about Lemmas 1 and 2 and about the
// growth of their constants.
func ProductClaims() []Claim {
	c := claims{source: "Section 1", notebook: "02-rounding-error-bounds", file: "product.go"}
	c.equal("gamma-limit", "γₙ holds for n u < 1: in binary16 up to n = 2047 (first n without a bound: 2048)", 2048, float64(firstUnbounded(u16)), 0, "",
		"1/u is 2048; the restriction-free (1 − u)⁻ⁿ − 1 goes on")
	slope := logSlope(func(n int) float64 { return roundoff.GammaTilde(n, u32, 2) }, 1<<4, 1<<16)
	c.equal("gamma-tilde-slope", "γ̃ₙ grows like √n for all n (slope 1/2 on logarithmic axes)", 0.5, slope, 0.01, "",
		"binary32, λ = 2, n from 2⁴ to 2¹⁶; for all n this is true of λ√n u alone: the exponential grows faster once n u² is near λ⁻² or above")
	c.source = "Lemmas 1 and 2"
	r := DefaultProduct.Run()
	c.holds("lemma1-holds", "|θₙ| ≤ γₙ always (fraction of products within)", r.Coverage(r.Gamma), "", r.Coverage(r.Gamma) == 1,
		fmt.Sprintf("%d products of %d factors, u = 2⁻¹¹", r.Trials, r.Terms))
	c.holds("lemma2-holds", fmt.Sprintf("|θₙ| ≤ γ̃ₙ(λ) with probability at least P_B, here %s (fraction of products within)", percent(r.Confidence)),
		r.Coverage(r.Tilde), "", r.Coverage(r.Tilde) >= r.Confidence,
		fmt.Sprintf("errors drawn as the lemma assumes; the bound is conservative, and the worst product reaches %.2f times it", slices.Max(r.Thetas)/r.Tilde))
	return c.list
}

// firstUnbounded returns the least n for which Lemma 1 gives no bound.
func firstUnbounded(u float64) int {
	n := 1
	for !math.IsInf(roundoff.Gamma(n, u), 1) {
		n++
	}
	return n
}

// logSlope returns the slope of f between m and n on logarithmic axes.
func logSlope(f func(int) float64, m, n int) float64 {
	return math.Log(f(n)/f(m)) / math.Log(float64(n)/float64(m))
}
