package quantisation

import (
	"math"
	"math/cmplx"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// Tightest returns the least of Chernoff, Tilted and Smoothed.
func (c *Cumulant) Tightest(K int, f roundoff.Failure, below bool) float64 {
	if c.meetings != nil { // one block, for which there is no refinement
		return c.Chernoff(K, f, below)
	}
	return min(c.Tilted(K, f, below), c.Smoothed(K, f, below))
}

// Smoothed returns an x as Chernoff does, that follows from
//
//	P(E - Kμ >= nK′(t)) <= exp(n(K(t) - tK′(t))) E g(E - Kμ - nK′(t))
//
// under the tilted law, where g(u) >= exp(-tu) for u >= 0 and g(u) >= 0 for all
// u. It is the least such function without frequencies above T, so that its
// mean is an integral over |s| <= T of its transform and of exp(n(K(t+is) -
// K(t))), the characteristic function of the tilted law. T is as large as the
// moments of q allow, and the time that it takes; where that is too long, as
// for scales of thousands of values or of tensors besides those of blocks,
// Smoothed is Chernoff's bound. It is at
// most that, and panics as Chernoff does.
//
// Source: Graham and Vaaler 1981 for g; what it is used for is derived here.
func (c *Cumulant) Smoothed(K int, f roundoff.Failure, below bool) float64 {
	n := c.number(K)
	s := c.blocks(n)
	x, t := s.chernoff(f, below)
	if c.meetings != nil {
		return c.size(K, x)
	}
	return c.size(K, s.refined(x, t, f, below, func(t float64, k jet) (factor, slope float64) {
		return c.overshoot(n, t, k, below), 1 / t
	}))
}

// effort is how often, about, series are summed for one mean of g.
const effort = 2e5

// overshoot returns E g(S - K′(t)) of Smoothed, or slightly more, for the sum S
// of n blocks, of which k is the jet at t. It is 1, the mean of 1, where that
// takes more effort, or t has no room below the greatest.
func (c *Cumulant) overshoot(n, t float64, k jet, below bool) float64 {
	sign := complex(1, 0)
	if below {
		sign = -1
	}
	of, number := c.complex(t * real(sign))
	deviation := max(1, math.Sqrt(2*k[2])) // or the largest q
	wide, most := 2/deviation, math.Floor(effort/float64(len(gaussX)*number))
	T := min(math.Sqrt(c.most*c.most-t*t), 32*t, wide*most)
	if most < 12 || T < t/8 {
		return 1
	}
	φ := make([]complex128, samples(T, deviation))
	step := T / float64(len(φ))
	for j := range φ {
		s := float64(j) * step
		φ[j] = cmplx.Exp(complex(n, 0)*of(sign*complex(t, s)) - complex(k[0], s*k[1]))
	}
	return overshoot(t, step, φ)
}

// overshoot returns a number that is at least E g(U), for the g of Smoothed
// with frequencies up to T: g(u) >= exp(-tu) for u >= 0 and g(u) >= 0 for all
// u. The n numbers φ are the characteristic function E exp(isU) at s = 0, step,
// …, (n-1) step, where T = n step. They may err by negligible.
//
// E g(U) is the integral over |s| <= T of φ and the transform of g. By
// Poisson's summation the sum over the multiples of a step is that of E g(U +
// mP) for all integers m, where P is 2π/step. It is no less, as g is nowhere
// negative, and hardly more, if U and g are small beyond P.
func overshoot(t, step float64, φ []complex128) float64 {
	n := float64(len(φ))
	λ, sum := 2*math.Pi*t/(n*step), 0.0
	for j, φ := range φ {
		g := majorant(λ, float64(j)/n)
		part := real(g*φ) + negligible*cmplx.Abs(g)
		if j > 0 {
			part *= 2 // with that of -j
		}
		sum += part
	}
	return sum / n
}

// samples returns n for frequencies up to T, so that P is at least six
// deviations of U.
func samples(T, deviation float64) int {
	return max(1, int(math.Ceil(6*deviation*T/(2*math.Pi))))
}

// negligible is an error of characteristic functions that is allowed for.
const negligible = 1e-7

// majorant returns the Fourier transform at ξ, 0 <= ξ <= 1, of the least
// integrable function of u that has no frequencies above 1, is at least
// exp(-λu) for u >= 0 and at least 0 for u < 0. It is
//
//	Σ_n f(n) sinc²(u-n) + f′(n) (u-n) sinc²(u-n), sinc u = sin πu / πu,
//
// where f is the function to be exceeded and f′(0) what makes Σ f′(n) = 0. The
// transform at -ξ is the conjugate.
//
// Source: Graham and Vaaler 1981.
func majorant(λ, ξ float64) complex128 {
	values := func(ξ float64) complex128 { return 1 / (1 - cmplx.Exp(complex(-λ, -2*math.Pi*ξ))) } // Σ f(n) e^(-2πinξ)
	return complex(1-ξ, 0)*values(ξ) + complex(0, λ/(2*math.Pi))*(values(ξ)-values(0))
}
