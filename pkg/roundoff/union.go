package roundoff

import (
	"math"
	"strconv"
)

// A Union says how the union bound counts the factors 1+δ on the product x_j
// y_j of block i = 1, ..., q. In either case the factors 1+η number c2 = q-i+1.
type Union int

const (
	// Corrected counts the own block from x_j y_j on and all later blocks, c1 = b -
	// ((j-1) mod b) + b(q-i), less the first sum 0 + x_1 y_1 where it is exact.
	Corrected Union = iota

	// Printed counts as the paper prints it, c1 = b - ((j-1) mod b) +
	// b(q-max(2,i)+1). For i >= 2 that is the own block twice, so c1 never is b or
	// less (unless q = 1); as short products fail most, the sum is too small and
	// the confidence too high.
	Printed

	// Deduplicated counts the roundings that occur, each event once. As Corrected,
	// but the b products of a block share their factors 1+η, which do not occur
	// where storing rounds nothing, and where x_1 y_1 is exact x_2 y_2 shares its
	// own. It is the union of [GEMM.ZetaSharp], and not enough for Zeta.
	Deduplicated
)

// Failure bounds the probability that any output breaks the bound of Zeta, by
// the union bound over the events of the theorem,
//
//	MN Σ_(i=1..q) Σ_(j=(i-1)b+1..ib) [(1 - P(ū, c1)) + (1 - P(u_FMA, c2))].
//
// With [DBEA] it is [Never]. With Deduplicated it is the bound of ZetaSharp
// that it speaks of. It panics if union is none of the three.
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

// Events returns how many events [GEMM.Failure] counts with this union: 2KMN
// with Corrected and Printed, one less per output where K = 1 and no sum is
// rounded, and with Deduplicated at most (K+q)MN, and 0 where nothing is
// rounded. An analysis whose failure is the same for every n needs no more of
// the union than this number, which [HighamMaryLambda] and
// [MeanIndependentLambda] take. It panics if union is none of the three.
func (g GEMM) Events(union Union) float64 {
	g.check()
	n := 0.0
	for _, s := range g.stretches(union) {
		n += s.events()
	}
	return n * g.Outputs()
}

// Lambda returns the λ at which all outputs obey the bound of Zeta with
// probability 1-e^want: the smallest with Failure(VIBEA{Lambda: λ}, union) <=
// want, to 14 digits. It is 0 where nothing is rounded. It panics unless -Inf <
// want < 0, or if union is none of the three.
//
// differs: the paper reports neither λ nor the confidence of its experiments.
func (g GEMM) Lambda(want Failure, union Union) float64 {
	g.check()
	checkFailure(want)
	all := g.stretches(union)
	if len(all) == 0 {
		return 0
	}
	// The events about the shortest product of the first stretch alone force λ up
	// to lo. All 2K events are no likelier than one factor: λ <= hi.
	first := all[0]
	lo := bernsteinLambda(want.Split(g.Outputs()*float64(first.times)), first.u, first.lo)
	hi := bernsteinLambda(want.Split(g.events()), max(g.Accumulate, g.Output), 1)
	// The margins are against rounding.
	return root(lo*(1-1e-9), hi*(1+1e-9), func(λ float64) float64 {
		return float64(g.Failure(VIBEA{Lambda: λ}, union) - want)
	})
}

// root returns, to 2^-47, the smallest x in [lo, hi] with f(x) <= 0, for a
// decreasing f with f(lo) > 0 >= f(hi): regula falsi, with the value at an end
// that stays for a second time halved (the Illinois rule), which makes both
// ends converge.
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

// HighamMaryLambda returns the λ at which all outputs obey the bound of Zeta,
// by the analysis of Higham and Mary, with probability 1-e^f:
// [HighamMaryLambda] for the 2KMN events of the theorem. It panics unless -Inf
// < f < 0.
func (g GEMM) HighamMaryLambda(f Failure) float64 {
	g.check()
	return HighamMaryLambda(f, max(g.Accumulate, g.Output), g.events())
}

// events returns 2KMN: two for each product x_j y_j of each output.
func (g GEMM) events() float64 { return 2 * float64(g.K) * g.Outputs() }

// A stretch is a set of events: for each n = lo, ..., hi, products of n
// factors, times of them.
type stretch struct {
	lo, hi int
	times  int
	u      float64
}

// stretches returns the events of one output. As i and j vary, the counts c1
// and c2 fill whole ranges.
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

// events returns how many events s has. The empty product, of n = 0 factors, is
// none.
func (s stretch) events() float64 {
	if s.hi < max(1, s.lo) {
		return 0
	}
	return float64(s.hi-s.lo+1) * float64(s.times)
}

// failure adds up the events of s.
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
	if v, ok := an.(VIBEA); ok { // the same for all real n, with the variance computed once
		ratio := varianceRatio(s.u)
		at, smooth = func(n float64) Failure { return bernsteinFailure(v.Lambda, ratio, linearTerm(s.u, n)) }, 512
	}
	// Scaled by the first term, which is the largest, the sum neither overflows nor
	// underflows. Once all the rest, each at the current term, is below the last
	// digit of the sum, it is added as that.
	//
	// From smooth on, where terms decrease slowly, the sum of those from a to b is
	// the integral from a-1/2 to b+1/2 less a 24th of the change of the slope, to 8
	// digits.
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

// integral returns that of f from a to b by the Gauss-Legendre rule of eight
// points.
func integral(f func(float64) float64, a, b float64) float64 {
	nodes := [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	weights := [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
	sum, middle, half := 0.0, (a+b)/2, (b-a)/2
	for i, x := range nodes {
		sum += weights[i] * (f(middle-half*x) + f(middle+half*x))
	}
	return sum * half
}
