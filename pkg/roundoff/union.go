package roundoff

import (
	"math"
	"strconv"
)

// A Union says how the union bound counts the factors of the product x_j y_j of
// block i = 1, ..., q: the c1 factors 1+δ from rounding sums, |δ| <= ū, and the
// c2 factors 1+η from storing results, |η| <= u_FMA. With Corrected and
// Printed, c2 = q-i+1.
type Union int

const (
	// Corrected counts the roundings in block i from x_j y_j on and in all later
	// blocks, c1 = b - ((j-1) mod b) + b(q-i). For x_1 y_1 it counts K-1 instead of
	// K where Zeta does: where the sum 0 + x_1 y_1 is exact, or Accumulate =
	// Output.
	Corrected Union = iota

	// Printed counts as printed in the paper, c1 = b - ((j-1) mod b) +
	// b(q-max(2,i)+1). For i >= 2 this counts block i twice, so that c1 > b (unless
	// q = 1). As short products have the largest probability of failure, the sum is
	// too small and the confidence too high.
	Printed

	// Deduplicated counts each distinct event once, for the roundings that occur.
	// The b products of a block have the same factors 1+η and count as one event;
	// they count as none where storing does not round (Output <= Accumulate). Where
	// x_1 y_1 is exact, it has the same factors 1+δ as x_2 y_2, and both count as
	// one event. Deduplicated is the union of [GEMM.ZetaSharp]; Zeta needs more
	// events.
	Deduplicated
)

// Failure returns an upper bound on the log-probability that any output
// violates the bound of Zeta, by the union bound over the events of the
// theorem,
//
//	MN Σ_(i=1..q) Σ_(j=(i-1)b+1..ib) [(1 - P(ū, c1)) + (1 - P(u_FMA, c2))].
//
// With [DBEA] it is [Never]. With Deduplicated it is the failure of the bound
// of ZetaSharp. It panics if union is none of the three.
//
// Source: Bhola & Duraisamy 2024, Theorem "Tensor cores without representation
// error", probabilistic.
//
// differs: the brackets are missing in print, and c1 is corrected unless union
// is Printed.
func (g GEMM) Failure(an Analysis, union Union) Failure {
	g.check()
	total := Never
	for _, s := range g.stretches(union) {
		total = total.Plus(s.failure(an))
	}
	return total.Times(g.Outputs())
}

// Events returns the number of events that [GEMM.Failure] counts with this
// union. With Corrected and Printed it is 2KMN; with Corrected it is one less
// per output where K = 1 and Zeta counts no rounding of sums. With Deduplicated
// it is at most (K+q)MN, and 0 where nothing is rounded. For an analysis whose
// failure is the same for every n, this number determines the union bound: it
// is the argument events of [HighamMaryLambda] and [MeanIndependentLambda]. It
// panics if union is none of the three.
func (g GEMM) Events(union Union) float64 {
	g.check()
	n := 0.0
	for _, s := range g.stretches(union) {
		n += s.events()
	}
	return n * g.Outputs()
}

// Lambda returns the λ at which all outputs satisfy the bound of Zeta (of
// ZetaSharp, with Deduplicated) with probability at least 1-e^want: the
// smallest λ with Failure(VIBEA{Lambda: λ}, union) <= want, to 14 digits. It is
// 0 where nothing is rounded. It panics unless -Inf < want < 0, or if union is
// none of the three.
//
// differs: the paper reports neither λ nor the confidence of its experiments.
func (g GEMM) Lambda(want Failure, union Union) float64 {
	g.check()
	checkFailure(want)
	all := g.stretches(union)
	if len(all) == 0 {
		return 0
	}
	// The events for the shortest product of the first stretch alone require λ >=
	// lo. None of the 2KMN events is more probable than that of one factor, so λ <=
	// hi.
	first := all[0]
	lo := bernsteinLambda(want.Split(g.Outputs()*float64(first.times)), first.u, first.lo)
	hi := bernsteinLambda(want.Split(g.events()), max(g.Accumulate, g.Output), 1)
	// The margins allow for rounding errors.
	return root(lo*(1-1e-9), hi*(1+1e-9), func(λ float64) float64 {
		return float64(g.Failure(VIBEA{Lambda: λ}, union) - want)
	})
}

// root returns, to a relative accuracy of 2^-47, the smallest x in [lo, hi]
// with f(x) <= 0, for a decreasing f with f(lo) > 0 >= f(hi). It uses regula
// falsi with the Illinois rule: the value at an endpoint that is retained a
// second time is halved, so that both endpoints converge.
func root(lo, hi float64, f func(float64) float64) float64 {
	above, below := f(lo), f(hi)
	step := 0x1p-48 * hi
	for stays := 0; hi-lo > 2*step; {
		x := lo + (hi-lo)*(above/(above-below))
		x = min(max(x, lo+step), hi-step)
		if y := f(x); y > 0 {
			lo, above = x, y
			if stays > 0 {
				below /= 2
			}
			stays = +1
		} else {
			hi, below = x, y
			if stays < 0 {
				above /= 2
			}
			stays = -1
		}
	}
	return hi
}

// HighamMaryLambda returns the λ at which all outputs satisfy the bound of Zeta
// with probability at least 1-e^f, by the analysis of Higham and Mary:
// [HighamMaryLambda] for the 2KMN events of the theorem. It panics unless -Inf
// < f < 0.
func (g GEMM) HighamMaryLambda(f Failure) float64 {
	g.check()
	return HighamMaryLambda(f, max(g.Accumulate, g.Output), g.events())
}

// events returns 2KMN: two for each product x_j y_j of each output.
func (g GEMM) events() float64 { return 2 * float64(g.K) * g.Outputs() }

// A stretch is a set of events: for each n = lo, ..., hi, as many products of n
// factors as the field times says, at unit roundoff u.
type stretch struct {
	lo, hi int
	times  int
	u      float64
}

// stretches returns the events of one output. As i and j vary, the counts c1
// and c2 run through ranges of consecutive integers.
func (g GEMM) stretches(union Union) []stretch {
	K, b, q := g.K, g.Block, g.Blocks()
	stores := stretch{1, q, b, g.Output}
	switch union {
	case Corrected:
		top := g.sums()
		return []stretch{stores, {1, K - 1, 1, g.Accumulate}, {top, top, 1, g.Accumulate}}
	case Deduplicated:
		var all []stretch
		if g.Output > g.Accumulate {
			all = append(all, stretch{1, q, 1, g.Output})
		}
		sums := K
		if g.exactProducts() {
			sums = K - 1
		}
		if sums > 0 {
			all = append(all, stretch{1, sums, 1, g.Accumulate})
		}
		return all
	case Printed:
		if q == 1 {
			return []stretch{stores, {1, b, 1, g.Accumulate}}
		}
		return []stretch{stores, {b + 1, K, 1, g.Accumulate}, {K - b + 1, K, 1, g.Accumulate}}
	}
	panic("roundoff: union = " + strconv.Itoa(int(union)) + ", want Corrected, Printed or Deduplicated")
}

// events returns the number of events of s. The empty product, n = 0, is not an
// event.
func (s stretch) events() float64 {
	if s.hi < max(1, s.lo) {
		return 0
	}
	return float64(s.hi-s.lo+1) * float64(s.times)
}

// failure returns the sum of the failures of the events of s.
func (s stretch) failure(an Analysis) Failure {
	if s.events() == 0 {
		return Never
	}
	worst := an.Failure(s.lo, s.u)
	if worst == Never {
		return Never
	}
	if an.Failure(s.hi, s.u) == worst {
		return worst.Times(s.events())
	}
	at, smooth := func(n float64) Failure { return an.Failure(int(n), s.u) }, s.hi+1
	if v, ok := an.(VIBEA); ok { // the same failure for all real n, with the variance computed once
		ratio := varianceRatio(s.u)
		at, smooth = func(n float64) Failure { return bernsteinFailure(v.Lambda, ratio, linearTerm(s.u, n)) }, 512
	}
	// The sum is scaled by the first term, which is the largest, so that it neither
	// overflows nor underflows. All remaining terms together are at most their
	// number times the current term. Once this product is below the last digit of
	// the sum, it is added in their place.
	//
	// For n >= smooth, where the terms decrease slowly, the sum of the terms from a
	// to b is, to 8 digits, the integral from a-1/2 to b+1/2 minus 1/24 of the
	// change of the slope.
	const slow = 0.01
	term := func(n float64) float64 { return math.Exp(float64(at(n) - worst)) }
	sum := 0.0
	for n := s.lo; n <= s.hi; {
		a, b := float64(n), float64(n)
		t := term(a)
		if rest := float64(s.hi-n+1) * t; rest < 0x1p-53*sum {
			sum += rest
			break
		}
		if n >= smooth {
			if decrease := float64(at(a) - at(a+1)); decrease < slow {
				b = min(a+math.Floor(min(a, 4/decrease))-1, float64(s.hi))
				t = integral(term, a-0.5, b+0.5) - (term(b+1)-term(b)-t+term(a-1))/24
			}
		}
		sum += t
		n = int(b) + 1
	}
	return worst + Failure(math.Log(sum*float64(s.times)))
}

// integral returns the integral of f from a to b by the Gauss-Legendre rule
// with eight nodes.
func integral(f func(float64) float64, a, b float64) float64 {
	nodes := [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	weights := [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
	sum, middle, half := 0.0, (a+b)/2, (b-a)/2
	for i, x := range nodes {
		sum += weights[i] * (f(middle-half*x) + f(middle+half*x))
	}
	return sum * half
}
