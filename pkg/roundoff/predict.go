package roundoff

import "math"

// Prediction is what a [Chain] says of the error e = ŝ - s before anything is computed.
type Prediction struct {
	Mean      float64 // E e
	Deviation float64 // its standard deviation
	Slope     float64 // of e on the exact sum s, by least squares: Cov(e, s)/Var s
	Relative  float64 // the standard deviation of e - (E e/E s)s over |E s|; 0 if E s = 0

	SumMean, SumDeviation float64 // E s, and the standard deviation of s
}

// Predict returns the moments of the error: derivatives at 0, taken as differences, of the
// logarithm of its moment generating function.
//
// Source: derived here, from the model of [Chain].
func (c *Chain) Predict() Prediction {
	p := Prediction{SumMean: c.terms() * c.law.Mean, SumDeviation: math.Sqrt(c.terms() * c.law.Variance)}
	p.Mean, p.Deviation = c.moments(0)
	if p.Deviation == 0 || p.SumDeviation == 0 {
		return p
	}
	θ, φ := small/p.Deviation, small/p.SumDeviation
	Λ := func(i, j float64) float64 { return c.logMoment(i*θ, j*φ, false) }
	covariance := (Λ(1, 1) - Λ(1, -1) - Λ(-1, 1) + Λ(-1, -1)) / (4 * θ * φ)
	p.Slope = covariance / (p.SumDeviation * p.SumDeviation)
	if r := p.RelativeMean(); p.SumMean != 0 {
		_, d := c.moments(r)
		p.Relative = d / math.Abs(p.SumMean)
	}
	return p
}

// small is the step of differences, in standard deviations.
const small = 0.1

// moments returns the mean and the standard deviation of ŝ - (1+r)s.
func (c *Chain) moments(r float64) (mean, deviation float64) {
	size := c.terms()*math.Abs(c.law.Mean) + math.Sqrt(c.terms()*c.law.Variance)
	θ := small / (size * c.truncation.Step())
	for range 12 {
		up := c.logMoment(θ, -r*θ, false)
		down := up
		if !c.law.symmetric {
			down = c.logMoment(-θ, r*θ, false)
		}
		mean, deviation = (up-down)/(2*θ), math.Sqrt(max(0, up+down))/θ
		if x := θ * deviation; x == 0 || small/2 < x && x < 2*small {
			break
		}
		θ = small / deviation
	}
	return mean, deviation
}

// RelativeMean returns the mean relative error, E e/E s; ±Inf or NaN if E s = 0.
func (p Prediction) RelativeMean() float64 { return p.Mean / p.SumMean }
