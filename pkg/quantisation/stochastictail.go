package quantisation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// A fourPoint is the distribution of one term of E.
type fourPoint struct{ value, weight [4]float64 }

// term stores in q the distribution of â_ik b̂_kj - a_ik b_kj.
func (s StochasticProduct) term(q *fourPoint, i, k, j int) {
	a, la, ha := s.a.at(i, k)
	b, lb, hb := s.b.at(k, j)
	pa, pb := probability(a, la, ha), probability(b, lb, hb)
	product := a * b
	q.value = [4]float64{la*lb - product, la*hb - product, ha*lb - product, ha*hb - product}
	q.weight = [4]float64{(1 - pa) * (1 - pb), (1 - pa) * pb, pa * (1 - pb), pa * pb}
}

// at returns mean, low and high of element (i, j).
func (p TwoPoint) at(i, j int) (mean, low, high float64) {
	return p.mean.Data[i*p.mean.Stride+j], p.low.Data[i*p.low.Stride+j], p.high.Data[i*p.high.Stride+j]
}

// probability returns that of h, for l or h with mean x.
func probability(x, l, h float64) float64 {
	if l == h {
		return 0
	}
	return (x - l) / (h - l)
}

// Cumulant returns log E e^(θE_ij), the cumulant generating function of one
// output, exactly. It panics if i or j is out of range.
func (s StochasticProduct) Cumulant(i, j int, θ float64) float64 {
	if i < 0 || i >= s.a.mean.Rows || j < 0 || j >= s.b.mean.Cols {
		panic(fmt.Sprintf("quantisation: StochasticProduct.Cumulant: output (%d, %d), want one of %d × %d", i, j, s.a.mean.Rows, s.b.mean.Cols))
	}
	return tilt(s.terms(nil, i, j), θ).cumulant
}

// terms returns the distributions of the terms of E_ij, in the memory of terms
// if that is enough.
func (s StochasticProduct) terms(terms []fourPoint, i, j int) []fourPoint {
	terms = slices.Grow(terms[:0], s.a.mean.Cols)[:s.a.mean.Cols]
	for k := range terms {
		s.term(&terms[k], i, k, j)
	}
	return terms
}

// tilted describes the sum of terms whose probabilities are multiplied by
// e^(θq) and divided by what they then add up to.
type tilted struct {
	cumulant float64 // K(θ) = Σ log E e^(θq), its first derivative is the mean and its second the variance
	mean     float64
	variance float64
	cubes    float64 // Σ E|q - Eq|³
}

// tilt returns the sum tilted by θ, without cancellation where θ is small and
// without overflow where it is large.
func tilt(terms []fourPoint, θ float64) (z tilted) {
	for i := range terms {
		q := &terms[i]
		top := max(θ*q.value[0], θ*q.value[1], θ*q.value[2], θ*q.value[3])
		if top < 1 {
			top = 0
		}
		var w [4]float64
		var excess, sum, mean float64
		for l, v := range q.value {
			e := math.Expm1(float64(θ*v) - top)
			w[l] = q.weight[l] * (e + 1)
			excess += float64(q.weight[l] * e)
			sum += w[l]
			mean += float64(w[l] * v)
		}
		if top == 0 {
			z.cumulant += math.Log1p(excess)
		} else {
			z.cumulant += top + math.Log(sum)
		}
		mean /= sum
		z.mean += mean
		for l, v := range q.value {
			d := math.Abs(v - mean)
			square := w[l] / sum * d * d
			z.variance += square
			z.cubes += float64(square * d)
		}
	}
	return z
}

// Chernoff returns t with P(|E_ij| > t_ij) <= e^f for every i and j: the larger
// of the two
//
//	t_± = min over θ > 0 of (log(2/ζ) + log E e^(±θE_ij))/θ,  ζ = e^f,
//
// of which each is exceeded on its side with a probability of at most ζ/2. The
// generating function is exact. It takes some dozens of exponentials for each
// of the MKN terms. It panics unless -Inf < f < 0.
func (s StochasticProduct) Chernoff(f roundoff.Failure) blas64.General {
	return s.tails(f, func(terms []fourPoint, l, sign float64) float64 {
		t, _ := chernoff(terms, l, sign)
		return t
	})
}

// Tilted returns t with P(|E_ij| > t_ij) <= e^f for every i and j, which is
// at most what Chernoff returns: the larger of t_± = ±K'(±θ), for the least θ >
// 0 that is found with
//
//	e^(K - θK') (1/(θs√(2π)) + 1.12 Σ E|q - Eq|³/s³) <= ζ/2,  s² = K'',
//
// where K is the cumulant generating function at ±θ, and the third moments of
// the K terms are under the tilted probabilities. It takes about twice the time
// of Chernoff. It panics unless -Inf < f < 0.
//
// Source: derived here, after Bahadur & Ranga Rao 1960. P(E >= x) is e^(K-θx)
// times the mean of e^(-θ(E-x)) over E >= x, for the tilted E, whose mean is x.
// Its distribution is normal up to C Σ E|q - Eq|³/s³, C = 0.56 (Shevtsova
// 2010), which adds 2C Σ E|q - Eq|³/s³ to the mean. For the normal distribution
// the mean is at most 1/(θs√(2π)).
func (s StochasticProduct) Tilted(f roundoff.Failure) blas64.General {
	return s.tails(f, func(terms []fourPoint, l, sign float64) float64 {
		t, θ := chernoff(terms, l, sign)
		t, _ = refined(terms, l, sign, t, θ)
		return t
	})
}

// Smoothed returns t with P(|E_ij| > t_ij) <= e^f for every i and j, which is
// at most what Chernoff returns: the larger of t_± = ±K'(±θ), for the least θ >
// 0 that is found with
//
//	e^(K - θK') E g(±(E - K'(±θ))) <= ζ/2,
//
// for E tilted by ±θ, where g is that of [Cumulant.Smoothed], with frequencies
// up to 64θ. The characteristic function of the tilted E is a product over its
// K terms, of sums of four complex numbers. It is computed in steps of about an
// inverse deviation, and where it is small, of as many terms as show that it
// is. Smoothed takes some times as long as Chernoff. It panics unless -Inf < f
// < 0.
//
// Source: derived here, after Graham & Vaaler 1981. P(E >= x) for x = K'(θ) is
// e^(K-θx) times the mean of e^(-θ(E-x)) over E >= x, for the tilted E, and
// g(u) is no less than e^(-θu) for u >= 0, and than 0 for u < 0.
func (s StochasticProduct) Smoothed(f roundoff.Failure) blas64.General {
	return s.tails(f, func(terms []fourPoint, l, sign float64) float64 {
		t, θ := chernoff(terms, l, sign)
		return smoothed(terms, l, sign, t, θ)
	})
}

// Tightest returns the lesser of Tilted and Smoothed for each output, or Tilted
// where that is within about 1 % of what a normal distribution would have. It
// takes as long as both together, and panics as they do.
func (s StochasticProduct) Tightest(f roundoff.Failure) blas64.General {
	return s.tails(f, tightest)
}

// greatest returns Tilted for each output, and Tightest where the largest of
// all depends on it: of one output after the other, the largest first, until
// another one is the largest, or so many that they have 2^20 terms.
func (s StochasticProduct) greatest(f roundoff.Failure) blas64.General {
	const batch = 64
	t := s.Tilted(f)
	order := make([]int, len(t.Data))
	for at := range order {
		order[at] = at
	}
	slices.SortFunc(order, func(p, q int) int { return cmp.Compare(t.Data[q], t.Data[p]) })
	order = order[:min(len(order), max(1, 1<<20/s.a.mean.Cols))]
	for most := 0.0; len(order) > 0 && t.Data[order[0]] > most; {
		next := order[:min(batch, len(order))]
		order = order[len(next):]
		parallel.Each(len(next), func(i int) {
			at := next[i]
			t.Data[at] = larger(s.terms(nil, at/t.Cols, at%t.Cols), f.TwoSidedLog(), tightest)
		})
		for _, at := range next {
			most = max(most, t.Data[at])
		}
	}
	return t
}

// A tail returns one for the terms, the logarithm l of 2/ζ and the sign of the
// side.
type tail func(terms []fourPoint, l, sign float64) float64

// larger returns that of the two tails.
func larger(terms []fourPoint, l float64, one tail) float64 {
	return max(one(terms, l, 1), one(terms, l, -1))
}

// tails returns the larger tail of each output.
func (s StochasticProduct) tails(f roundoff.Failure, one tail) blas64.General {
	l, t := f.TwoSidedLog(), matrix.New64(s.a.mean.Rows, s.b.mean.Cols)
	parallel.Ranges(len(t.Data), func(lo, hi int) {
		var terms []fourPoint
		for at := lo; at < hi; at++ {
			terms = s.terms(terms, at/t.Cols, at%t.Cols)
			t.Data[at] = larger(terms, l, one)
		}
	})
	return t
}

// chernoff returns the least (l + K(θ))/θ that it finds, for θ of the given
// sign, and the magnitude of the last θ. Any θ gives a bound, the best one is
// the root of θK' - K = l, which increases with |θ|. Newton's iteration begins
// where it would be for a normal distribution, and ends when a bound is within
// about 1e-6 of the least; where there is no root, because l exceeds what K
// terms can reach, θ grows until the bound is their greatest sum.
func chernoff(terms []fourPoint, l, sign float64) (least, θ float64) {
	V := tilt(terms, 0).variance
	if V == 0 {
		return 0, 0
	}
	least = math.Inf(1)
	θ = math.Sqrt(2 * l / V)
	for range 60 {
		z := tilt(terms, sign*θ)
		least = min(least, (l+z.cumulant)/θ)
		step := (l + z.cumulant - float64(sign*z.mean*θ)) / (θ * z.variance)
		if !(math.Abs(step) > 1e-3*θ) {
			break
		}
		θ = max(θ/2, min(θ+step, 2*θ))
	}
	return least, θ
}

// refined returns the least tail that it finds for θ below that of chernoff,
// which returned the tail least, and about what part of it is above that of a
// normal distribution.
func refined(terms []fourPoint, l, sign, least, θ float64) (t, above float64) {
	if least == 0 {
		return 0, 0
	}
	for range 8 {
		z := tilt(terms, sign*θ)
		s := math.Sqrt(z.variance)
		normal := 1 / (θ * s * math.Sqrt(2*math.Pi))
		factor := normal + 1.12*z.cubes/(s*z.variance)
		above = math.Log(factor/normal) / (θ * θ * z.variance)
		excess := float64(sign*z.mean*θ) - z.cumulant - math.Log(factor) - l // of the exponent over what is needed
		if excess >= 0 {
			least = min(least, sign*z.mean)
		}
		if !(excess < 0 || excess > 1e-3) {
			break
		}
		θ = max(θ/2, min(θ-(excess-5e-4)/(θ*z.variance), 2*θ))
	}
	return least, above
}

// tightest returns the lesser of the tails of refined and smoothed, or that of
// refined if that is nearly normal.
func tightest(terms []fourPoint, l, sign float64) float64 {
	least, θ := chernoff(terms, l, sign)
	t, above := refined(terms, l, sign, least, θ)
	if above < 0.01 {
		return t
	}
	return min(t, smoothed(terms, l, sign, least, θ))
}

// smoothed is refined with the function of Graham and Vaaler.
func smoothed(terms []fourPoint, l, sign, least, θ float64) float64 {
	if least == 0 {
		return 0
	}
	s := walk{most: math.Inf(1), jet: func(θ float64) jet {
		z := tilt(terms, θ)
		return jet{z.cumulant, z.mean, z.variance / 2}
	}}
	waves := make([]wave, len(terms))
	return s.refined(least, θ, roundoff.Failure(-l), sign < 0, func(θ float64, k jet) (factor, slope float64) {
		T := 64 * θ
		n := samples(T, math.Sqrt(2*k[2]))
		step := T / float64(n)
		start := -k[1]
		for i := range terms {
			waves[i] = terms[i].wave(θ, sign, step)
			start += sign * terms[i].value[0]
		}
		// Those that vary most come first, as few of them are to make φ small.
		slices.SortFunc(waves, func(v, w wave) int { return cmp.Compare(w.variance, v.variance) })
		φ := characteristic(waves, n)
		for j := range φ {
			φ[j] *= turn(float64(j) * step * start)
		}
		return overshoot(θ, step, φ), 1 / θ
	})
}

// A wave is the tilted distribution of one term, less the first of its values:
// of the others, v, the exp(ihv), and the probabilities of all.
type wave struct {
	turn     [3]complex128
	weight   [4]float64
	variance float64
}

// wave returns that of q with a sign, tilted by θ, for h = step.
func (q *fourPoint) wave(θ, sign, step float64) (w wave) {
	top := math.Inf(-1)
	for _, v := range q.value {
		top = max(top, θ*sign*v)
	}
	sum := 0.0
	for l, v := range q.value {
		w.weight[l] = q.weight[l] * math.Exp(float64(θ*sign*v)-top)
		sum += w.weight[l]
	}
	mean := 0.0
	for l := range w.weight {
		w.weight[l] /= sum
		mean += float64(w.weight[l] * q.value[l])
	}
	for l, v := range q.value {
		w.variance += float64(w.weight[l] * square(v-mean))
		if l > 0 {
			w.turn[l-1] = turn(step * sign * (v - q.value[0]))
		}
	}
	return w
}

// turn returns exp(ix).
func turn(x float64) complex128 {
	sin, cos := math.Sincos(x)
	return complex(cos, sin)
}

// characteristic returns E exp(ijhU) for j = 0 … n-1, where U is the sum of the
// waves: the product of their characteristic functions, or 0 where that of the
// first of them is negligible.
func characteristic(waves []wave, n int) []complex128 {
	φ := make([]complex128, n)
	for j := range φ {
		φ[j] = 1
	}
	last := n // the others are 0
	for _, w := range waves {
		p, x, y, z := w.weight[0], complex(w.weight[1], 0), complex(w.weight[2], 0), complex(w.weight[3], 0)
		for j := range last {
			u := φ[j] * (complex(p, 0) + x + y + z)
			if square(real(u))+square(imag(u)) < negligible*negligible {
				u = 0
			}
			φ[j] = u
			x *= w.turn[0]
			y *= w.turn[1]
			z *= w.turn[2]
		}
		for φ[last-1] == 0 {
			last--
		}
	}
	return φ
}
