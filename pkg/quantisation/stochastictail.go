package quantisation

import (
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
	return s.tails(f, refined)
}

// tails returns the larger tail of each output, where tail returns one for the
// terms, the logarithm l of 2/ζ and the sign of the side.
func (s StochasticProduct) tails(f roundoff.Failure, tail func(terms []fourPoint, l, sign float64) float64) blas64.General {
	l, t := f.TwoSidedLog(), matrix.New64(s.a.mean.Rows, s.b.mean.Cols)
	parallel.Ranges(len(t.Data), func(lo, hi int) {
		var terms []fourPoint
		for at := lo; at < hi; at++ {
			terms = s.terms(terms, at/t.Cols, at%t.Cols)
			t.Data[at] = max(tail(terms, l, 1), tail(terms, l, -1))
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

// refined returns the least tail that it finds for θ below that of chernoff.
func refined(terms []fourPoint, l, sign float64) float64 {
	least, θ := chernoff(terms, l, sign)
	if least == 0 {
		return 0
	}
	for range 8 {
		z := tilt(terms, sign*θ)
		s := math.Sqrt(z.variance)
		factor := 1/(θ*s*math.Sqrt(2*math.Pi)) + 1.12*z.cubes/(s*z.variance)
		excess := float64(sign*z.mean*θ) - z.cumulant - math.Log(factor) - l // of the exponent over what is needed
		if excess >= 0 {
			least = min(least, sign*z.mean)
		}
		if !(excess < 0 || excess > 1e-3) {
			break
		}
		θ = max(θ/2, min(θ-(excess-5e-4)/(θ*z.variance), 2*θ))
	}
	return least
}
