package roundoff

import "math"

// tilted is what a step does under the weight e^(τX), X being its change of the error: η =
// log E e^(τX) and, under that weight, the mean change of s, as functions of s. spread is the
// standard deviation of the change, without the weight, relative to that of a block sum.
type tilted struct {
	η, drift, spread integral
}

// tilt returns the steps from every knot under the weight τ: with the variance proxies of the
// losses, which give an upper bound on η, or with their variances.
func (c *Chain) tilt(τ float64, upper bool) tilted {
	t := tilted{newIntegral(c.knots), newIntegral(c.knots), newIntegral(c.knots)}
	block := float64(c.truncation.Terms) * c.law.Variance
	for i, outcomes := range c.steps {
		var mean, square, weight, moment float64
		most := math.Inf(-1)
		for j := range outcomes {
			o := &outcomes[j]
			most = max(most, o.exponent(τ, upper))
		}
		for j := range outcomes {
			o := &outcomes[j]
			w := o.weight * math.Exp(o.exponent(τ, upper)-most)
			weight += w
			moment += w * (o.change + τ*o.variance)
			mean += o.weight * o.change
			square += o.weight * (o.change*o.change + o.variance)
		}
		spread := 0.0
		if block > 0 {
			spread = math.Sqrt(max(0, square-mean*mean) / block)
		}
		t.η.set(i, most+math.Log(weight))
		t.drift.set(i, moment/weight)
		t.spread.set(i, spread)
	}
	return t
}

// exponent returns log E e^(τX) of one outcome.
func (o *outcome) exponent(τ float64, upper bool) float64 {
	if upper {
		return τ*o.error + τ*τ*o.proxy/2
	}
	return τ*o.error + τ*τ*o.variance/2
}

// integral is a piecewise linear function with its integral, to average it over intervals.
type integral struct {
	x, y, sum []float64
}

func newIntegral(x []float64) integral {
	return integral{x, make([]float64, len(x)), make([]float64, len(x))}
}

// set gives knot i its value, in ascending order.
func (f *integral) set(i int, y float64) {
	f.y[i] = y
	if i > 0 {
		f.sum[i] = f.sum[i-1] + (f.x[i]-f.x[i-1])*(y+f.y[i-1])/2
	}
}

// averages stores the means of f over intervals of length h around x, x+h, x+2h and so on.
func (f *integral) averages(dst []float64, x, h float64) {
	k, before := 0, 0.0
	for i := range len(dst) + 1 {
		at := x + (float64(i)-0.5)*h
		for k < len(f.x)-2 && f.x[k+1] < at {
			k++
		}
		y := f.y[k] + (f.y[k+1]-f.y[k])/(f.x[k+1]-f.x[k])*(at-f.x[k])
		sum := f.sum[k] + (at-f.x[k])*(f.y[k]+y)/2
		if i > 0 {
			dst[i-1] = (sum - before) / h
		}
		before = sum
	}
}
