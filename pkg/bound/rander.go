package bound

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// A tailed is a distribution with moments and tails, which nearly all
// distributions of distuv provide.
type tailed interface {
	Mean() float64
	Variance() float64
	CDF(x float64) float64
	Survival(x float64) float64
}

// FromRander returns the distribution of the numbers that a distuv.Rander
// draws. It needs a function that makes a Rander from a source, because one
// generator fills each row of a matrix:
//
//	bound.FromRander("Laplace", func(src rand.Source) distuv.Rander {
//		return distuv.Laplace{Scale: 1, Src: src}
//	})
//
// If the Rander has the methods Mean, Variance, CDF and Survival and its
// variance is finite, bounds know its moments and tails. E|x| is computed as
// the integral of P(|x| > t). The distribution counts as symmetric if its mean
// is 0 and P(x < -t) = P(x > t) at a hundred values of t. If it has the method
// Quantile too, all x lie between Quantile(0) and Quantile(1). Without the four
// methods, or with an infinite variance, nothing is known of the distribution
// except how to draw from it. FromRander calls of(nil) to read these methods.
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
	// P(x < -t) is computed as P(x <= -t), which is not less.
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
	switch z := z.(type) {
	case distuv.Uniform:
		o.law = &law{uniformFamily, z.Min, z.Max}
	case distuv.Normal:
		o.law = &law{normalFamily, z.Mu, z.Sigma}
	case distuv.Laplace:
		o.law = &law{laplaceFamily, z.Mu, z.Scale}
	}
	return Distribution{name: name, known: o}
}

// symmetric reports whether P(x < -t) = P(x > t) at a hundred values of t from
// 1/32 to 30 standard deviations.
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

// meanAbs returns E|x| = ∫ P(|x| > t) dt over t > 0, to about 1e-9 of the root
// mean square of x.
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

// integral returns the integral of f on [a, b] by Gauss-Legendre quadrature.
// The interval is halved until the two halves agree with the whole to the
// tolerance, depth times at most.
func integral(f func(float64) float64, a, b, tolerance float64, depth int) float64 {
	m := a + (b-a)/2
	whole := quad.Fixed(f, a, b, 16, nil, 0)
	left, right := quad.Fixed(f, a, m, 16, nil, 0), quad.Fixed(f, m, b, 16, nil, 0)
	if depth == 0 || math.Abs(left+right-whole) <= tolerance {
		return left + right
	}
	return integral(f, a, m, tolerance/2, depth-1) + integral(f, m, b, tolerance/2, depth-1)
}
