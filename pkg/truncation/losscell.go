package truncation

import "math"

// kind is which products a distribution is of, and how their losses count.
type kind int

const (
	whole     kind = iota // all, with their signs
	nonzero               // by size
	positives             // by size
	negatives             // by size
	kinds
)

// cellLoss is what one product of a cell loses, in units of the grid: its mean
// is within off of mean, its variance is at most variance.
type cellLoss struct{ mean, off, variance float64 }

// least and most return where the mean of a number in [0, 1] lies.
func (c cellLoss) least() float64 { return max(0, c.mean-c.off) }
func (c cellLoss) most() float64  { return min(1, c.mean+c.off) }

// kindLosses is what products of one kind lose that are aligned to one exponent
// E.
type kindLosses struct {
	upto  cellLoss // e <= E, those of e = E losing nothing
	below cellLoss // e < E
	own   cellLoss // its mean is ρ
	first int
	terms []cellLoss // of exponent first, first+1 ...
}

// of returns the losses of a kind.
func (a *LossesAt) of(k kind) *kindLosses {
	z := &a.kinds[k]
	z.once.Do(func() {
		t := a.losses.tally(a.E, k)
		z.upto, z.below = a.cell(k, &t.upto, 1), a.cell(k, &t.below, 1)
		own := &t.own
		z.own.mean, z.own.off, _ = a.mean(own.p, own.s, own.s, own.pp, own.ps, own.ss, 0, 1)
		z.first = t.first
		if k != whole {
			z.terms = make([]cellLoss, len(t.cells))
			for i := range t.cells {
				z.terms[i] = a.cell(k, &t.cells[i], a.top(t.first+i))
			}
		}
	})
	return &z.kindLosses
}

// term returns the losses of products of exponent e.
func (z *kindLosses) term(a *LossesAt, e int) cellLoss {
	if i := e - z.first; 0 <= i && i < len(z.terms) {
		return z.terms[i]
	}
	half := a.top(e) / 2
	return cellLoss{half, half, half * half}
}

// cell returns what a product loses that is of a tally, in units of the grid,
// at most top. Where nothing is known the mean may be anywhere in the range,
// and the variance is that of its ends.
func (a *LossesAt) cell(k kind, t *tally, top float64) cellLoss {
	dist := a.losses.Products
	c, lo, square, variance := dist.centre(k), 0., 0.25, top*top/4
	if c == 0 {
		lo, square, variance = -1, 1, 1
	}
	m, off, _ := a.mean(t.p, t.s, t.q+2*c*t.s-c*c*t.p, t.pp, t.ps, t.ss, lo, top)
	if k == whole && dist.symmetric {
		m, off = 0, 0
	}
	if q, qOff, ok := a.mean(t.p, t.q, t.f, t.pp, t.pq, t.qq, 0, square); ok {
		d := max(0, math.Abs(m-c)-off)
		variance = min(variance, max(0, q+qOff-d*d))
	}
	return cellLoss{m, off, variance}
}

// centre returns about what squares of losses are tallied.
func (p *ProductDistribution) centre(k kind) float64 {
	if k == whole && p.sign == 0 {
		return 0
	}
	return 0.5
}

// mean returns the mean of a function f of a product given that it is in a
// cell, off which the truth may be, and whether anything is known; else the
// middle of [lo, hi], in which f lies. It takes P, the sum of f and that of f²
// over the cell, and over groups of products the sums of P², Pf and f².
//
// With n = Samples, a = √(2l/n) and T the mean over a group of f - Ef, or 0 for
// what is not in the cell, of size at most c and of mean 0, but for e^-l for
// either side and for s² = E T²,
//
//	|mean of T| <= as + a²c/6,  s <= ac/2 + √(mean of T² + a²c²/4).
//
// If the truth is x from the estimate m, the mean of T is Px in size, that of
// T² is at most A + 2Bx + Cx², A about m, and c at most x more than about m. So
// x <= G(x), of a convex G, and if it grows by less than 1 in the end, x is at
// most its fixed point.
//
// Source: Bernstein's inequality, and for the mean of T² Maurer 2003; for the
// mean over all pairs of two samples Hoeffding 1963, Section 5. That of Maurer
// & Pontil 2009, Theorem 4, is alike.
func (a *LossesAt) mean(P, sum, square, pp, pf, ff, lo, hi float64) (mean, off float64, known bool) {
	middle, half := (lo+hi)/2, (hi-lo)/2
	if !(P > 0) {
		return middle, half, false
	}
	m := min(max(lo, sum/P), hi)
	if a.sides == 0 {
		return m, 0, true
	}
	p := a.losses.Products
	A, B, C := ff-2*m*pf+m*m*pp, pf-m*pp, pp
	if r := max(1, p.Partners); p.starts != nil { // of all pairs, of which groups of r are independent
		A = (square-2*m*sum+m*m*P)/r + (1-1/r)*A
		B = (sum-m*P)/r + (1-1/r)*B
		C = P/r + (1-1/r)*C
	}
	A, B = max(0, A), math.Abs(B)
	α := math.Sqrt(2 * a.sides / p.Samples)
	if α*(α/2+math.Sqrt(C+α*α/4))+α*α/6 >= P {
		return middle, half, false
	}
	c := max(m-lo, hi-m)
	for x := 0.; x < half; {
		h := α * (c + x) / 2
		next := (α*(h+math.Sqrt(A+2*B*x+C*x*x+h*h)) + α*h/3) / P
		if next <= x*(1+1e-9) {
			return m, next * (1 + 1e-6), true
		}
		x = next
	}
	return middle, half, false
}
