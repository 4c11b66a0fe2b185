package bound

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// A tailed is what nearly all distributions of distuv tell of themselves.
type tailed interface {
	Mean() float64
	Variance() float64
	CDF(x float64) float64
	Survival(x float64) float64
}

// FromRander returns the distribution of what a distuv.Rander draws. The
// function returns one that draws from a source, as one generator fills each
// row of a matrix:
//
//	bound.FromRander("Laplace", func(src rand.Source) distuv.Rander {
//		return distuv.Laplace{Scale: 1, Src: src}
//	})
//
// Of one that has the methods Mean, Variance, CDF and Survival, bounds are told
// the moments and how fast it falls off, E|x| from the integral of P(|x| > t);
// it counts as symmetric if its mean is 0 and P(x < -t) = P(x > t) at a hundred
// t. What Quantile(0) and Quantile(1) are, if it has that method, no x is
// beyond. Of one whose variance is not finite, and of all others, nothing is
// known but how to draw.
func FromRander(name string, of func(src rand.Source) distuv.Rander) Distribution {
	o := &facts{draw: func(r *rand.Rand) float64 { return of(r).Rand() }}
	z, ok := of(nil).(tailed)
	if !ok {
		return Distribution{name: name, known: o}
	}
	mean, variance := z.Mean(), z.Variance()
	if math.IsNaN(mean-mean) || !(variance >= 0) || math.IsInf(variance, 1) {
		return Distribution{name: name, known: o}
	}
	o.lo, o.hi = math.Inf(-1), math.Inf(1)
	if q, ok := z.(distuv.Quantiler); ok {
		o.lo, o.hi = q.Quantile(0), q.Quantile(1)
	}
	// P(x < -t) is not P(x <= -t), but no more.
	o.beyond = func(t float64) float64 { return min(1, z.CDF(-t)+z.Survival(t)) }
	o.exceed = z.Survival
	o.DataMoments = DataMoments{
		Mean:       mean,
		MeanSquare: variance + mean*mean,
		MaxAbs:     max(math.Abs(o.lo), math.Abs(o.hi)),
		Symmetric:  mean == 0 && symmetric(z, math.Sqrt(variance)),
	}
	switch {
	case !(o.lo < 0) || z.CDF(-math.SmallestNonzeroFloat64) == 0, !(o.hi > 0) || z.Survival(0) == 0:
		o.MeanAbs = math.Abs(mean)
	default:
		o.MeanAbs = max(math.Abs(mean), min(meanAbs(o), math.Sqrt(o.MeanSquare)))
	}
	return Distribution{name: name, known: o}
}

// symmetric reports whether x and -x are as likely, as far as a hundred numbers
// up to 32 deviations tell.
func symmetric(z tailed, deviation float64) bool {
	for i := range 100 {
		t := deviation * math.Exp2(float64(i)/10-5)
		below, above := z.CDF(-t), z.Survival(t)
		if math.Abs(below-above) > 1e-13*above {
			return false
		}
	}
	return true
}

// meanAbs returns E|x| = ∫ P(|x| > t), t > 0, to about 1e-9 of the size of x.
func meanAbs(o *facts) float64 {
	size := math.Sqrt(o.MeanSquare)
	sum, from, to := 0.0, 0.0, size/16
	for from < o.MaxAbs && o.MeanSquare/max(from, math.SmallestNonzeroFloat64) > 1e-10*size {
		to = min(to, o.MaxAbs)
		sum += integral(o.beyond, from, to, 1e-11*size, 45)
		from, to = to, 2*to
	}
	return sum
}

// integral returns that of f on [a, b] by Gauss and Legendre, halved until both
// halves agree with the whole.
func integral(f func(float64) float64, a, b, tolerance float64, depth int) float64 {
	m := a + (b-a)/2
	whole := quad.Fixed(f, a, b, 16, nil, 0)
	left, right := quad.Fixed(f, a, m, 16, nil, 0), quad.Fixed(f, m, b, 16, nil, 0)
	if depth == 0 || math.Abs(left+right-whole) <= tolerance {
		return left + right
	}
	return integral(f, a, m, tolerance/2, depth-1) + integral(f, m, b, tolerance/2, depth-1)
}
