package truncation

import "math"

// Prediction is what can be said of the error e = ŝ - s of a sum s of K random
// products before it is computed. What is divided by E s is NaN where E s = 0,
// and the others are 0 for a sum of zeros.
type Prediction struct {
	Mean              float64 // E e/E s, the mean relative error
	Deviation         float64 // the standard deviation of the relative error
	Slope             float64 // β = Cov(e, s)/Var s, of e on the exact sum, by least squares
	Backward          float64 // E e/(K E|p|), the mean backward error
	BackwardDeviation float64 // the standard deviation of the backward error
}

// ErrorMoments are the first moments of the error e of a sum of n independent
// products of the given distribution.
type ErrorMoments struct {
	Mean, Variance float64 // E e, Var e
	Covariance     float64 // Cov(e, s), s being the exact sum
}

// ProductMoments are the moments of one product p.
type ProductMoments struct {
	Mean, Variance, Abs float64 // μ = E p, σ² = Var p, E|p|
}

// Prediction returns the relative moments of the error of a sum of K products.
// It panics if K < 1.
//
// The relative error is taken to first order, as (e - rs)/E s + r with r = E
// e/E s.
func (e ErrorMoments) Prediction(p ProductMoments, K int) Prediction {
	check.Count("K", K)
	k := float64(K)
	z := Prediction{Mean: math.NaN(), Deviation: math.NaN()}
	if p.Mean != 0 {
		r := e.Mean / (k * p.Mean)
		z.Mean = r
		z.Deviation = math.Sqrt(max(0, e.Variance-2*r*e.Covariance+r*r*k*p.Variance)) / (k * math.Abs(p.Mean))
	}
	if p.Variance > 0 {
		z.Slope = e.Covariance / (k * p.Variance)
	}
	if p.Abs > 0 {
		z.Backward = e.Mean / (k * p.Abs)
		z.BackwardDeviation = math.Sqrt(e.Variance) / (k * p.Abs)
	}
	return z
}
