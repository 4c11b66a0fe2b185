package roundoff

import "math"

// What truncation discards of a product. On the grid of weight g the part D = |p| mod g of a
// product is lost; in units of g it is f = D/g in [0, 1).

// DiscardMean returns m_d = E f, where f is the fraction of a unit that is lost when the last d
// bits of the product of two independent uniform significands are cut off:
//
//	m_d = (1 - 2^-d (1 + d/2))/2,
//
// and 0 for d <= 0. It is less than the (1 - 2^-d)/2 of uniform low bits, since the product of
// two random integers ends in more zeros than a random integer does. It holds while some bits
// of the product stay.
//
// Source: derived here. Given that the factors end in a total of t zeros, which has probability
// (t+1) 2^-(t+2), the bits above the lowest one are uniform.
func DiscardMean(d int) float64 {
	if d <= 0 {
		return 0
	}
	return (1 - math.Ldexp(1+float64(d)/2, -d)) / 2
}

// DiscardSquare returns w_d = E f², the second moment of what [DiscardMean] is the first of:
//
//	w_d = (2(1-2^-d) - (3/2) d 2^-d + (2^-d - 4^-d)/2)/6,
//
// and 0 for d <= 0.
//
// Source: derived here, as for [DiscardMean].
func DiscardSquare(d int) float64 {
	if d <= 0 {
		return 0
	}
	h := math.Ldexp(1, -d)
	return (2*(1-h) - 1.5*float64(d)*h + (h-h*h)/2) / 6
}

// DiscardProxy returns v_d, the least v with E exp(x(f - m_d)) <= exp(v x²/2) for all x: the
// variance proxy of the loss. It tends to 1/12, the variance of a uniform number, and is 0 for
// d <= 0. The law is enumerated, 2^d values, for d <= 8 and taken as its limit beyond.
//
// Source: derived here, from the law behind [DiscardMean]; the supremum is over a grid of x.
func DiscardProxy(d int) float64 {
	const exact = 8
	switch {
	case d <= 0:
		return 0
	case d > exact:
		return max(1.0/12, DiscardProxy(exact))
	}
	n := 1 << d
	f, w := make([]float64, n), make([]float64, n)
	for i := range f {
		f[i], w[i] = float64(i)/float64(n), discardProbability(i, d)
	}
	return proxy(f, w, 1)
}

// discardProbability returns the probability that the last d bits of the product are i. All i
// that end in t zeros are equally likely, as are the 2^(d-1-t) odd multiples of 2^t.
func discardProbability(i, d int) float64 {
	left, t := 1.0, 0
	for ; t < d && i>>t&1 == 0; t++ {
		left -= math.Ldexp(float64(t+1), -t-2)
	}
	if t == d { // at least d zeros
		return left
	}
	return math.Ldexp(math.Ldexp(float64(t+1), -t-2), -(d - 1 - t))
}

// proxy returns the supremum over x of 2 log E exp(x(y-Ey)/scale)/x² for y with weights w of
// sum 1, |y| of the order of scale, over a grid of x and the limit 0.
func proxy(y, w []float64, scale float64) float64 {
	mean, square := 0.0, 0.0
	for i, v := range y {
		mean += w[i] * v
	}
	for i, v := range y {
		square += w[i] * (v - mean) * (v - mean)
	}
	best := square / (scale * scale)
	for _, x := range []float64{-16, -8, -4, -2, -1, 1, 2, 4, 8, 16} {
		sum := 0.0
		for i, v := range y {
			sum += w[i] * math.Exp(x*(v-mean)/scale)
		}
		best = max(best, 2*math.Log(sum)/(x*x))
	}
	return best
}

// Discard is the law of Y = sgn(p) D, what one product loses on a grid.
type Discard struct {
	Mean   float64 // E Y
	Square float64 // E Y²
	Cross  float64 // Cov(p, Y)
	Proxy  float64 // the variance proxy of Y - E Y
}

// Discard returns the law of what a product loses to truncation at the weight g = 2^(E-F), given
// that its exponent is at most E. Where E is the exponent of the running sum, and no product has
// a greater one, the products of a block are independent and of this law. Where a product sets
// E, they are not: that one loses nothing, and for the block as a whole there is [Losses].
//
// Source: derived here. The tables M1, W and C1 are Mean, Square and Cross.
func (p *Products) Discard(E, F int) Discard {
	var d Discard
	var total, product float64
	g := math.Ldexp(1, E-F)
	ys, ws := make([]float64, 0, len(p.value)), make([]float64, 0, len(p.value))
	for i, v := range p.value {
		if p.exp[i] > E {
			continue
		}
		w, y := p.weight[i], v-float64(g*math.Trunc(v/g))
		total += w
		product += w * v
		d.Mean += w * y
		d.Square += w * y * y
		d.Cross += w * v * y
		ys, ws = append(ys, y), append(ws, w)
	}
	if total == 0 {
		return Discard{}
	}
	d.Mean, d.Square = d.Mean/total, d.Square/total
	if p.symmetric {
		d.Mean = 0
	}
	d.Cross = d.Cross/total - d.Mean*product/total
	if d.Square > 0 {
		d.Proxy = max(d.variance(), p.discardProxy(ys, ws, g))
	}
	return d
}

// discardProxy returns the proxy of at most some thousand of the losses.
func (p *Products) discardProxy(ys, ws []float64, g float64) float64 {
	const most = 1024
	step := (len(ys) + most - 1) / most
	var y, w []float64
	sum := 0.0
	for i := 0; i < len(ys); i += step {
		y, w = append(y, ys[i]), append(w, ws[i])
		sum += ws[i]
		if p.symmetric {
			y, w = append(y, -ys[i]), append(w, ws[i])
			sum += ws[i]
		}
	}
	for i := range w {
		w[i] /= sum
	}
	return g * g * proxy(y, w, g)
}

// variance returns Var Y.
func (d Discard) variance() float64 { return max(0, d.Square-d.Mean*d.Mean) }
