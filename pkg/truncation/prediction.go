package truncation

import "math"

// Prediction contains moments of the error e = ŝ - s of a sum s of K random
// products, predicted before the sum is computed. Mean and Deviation, which are
// divided by E s, are NaN where E s = 0. The others are 0 for a sum of zeros.
type Prediction struct {
	Mean              float64 // E e/E s, the mean relative error
	Deviation         float64 // the standard deviation of the relative error
	Slope             float64 // β = Cov(e, s)/Var s, of the regression of e on the exact sum
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

// Prediction returns the relative moments of the error of a sum of K products
// with the moments p. It panics if K < 1.
//
// The relative error is approximated to first order by (e - rs)/E s + r with r
// = E e/E s.
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
