package truncation

import "math"

// kind is the class of products that a distribution describes, and whether
// their losses count with sign or by size.
type kind int

const (
	whole     kind = iota // all products, losses with sign
	nonzero               // losses by size
	positives             // losses by size
	negatives             // losses by size
	kinds
)

// includes reports whether products of a sign are of the kind.
func (k kind) includes(sign int) bool {
	switch k {
	case nonzero:
		return sign != 0
	case positives:
		return sign > 0
	case negatives:
		return sign < 0
	}
	return true
}

// cellLoss describes what one product of a cell loses, in units of the grid:
// its mean is within off of mean, and its variance is at most variance.
type cellLoss struct{ mean, off, variance float64 }

// least and most return bounds on the mean of a number in [0, 1].
func (c cellLoss) least() float64 { return max(0, c.mean-c.off) }
func (c cellLoss) most() float64  { return min(1, c.mean+c.off) }

// kindLosses describes what products of one kind lose that are aligned to one
// exponent E.
type kindLosses struct {
	upto  cellLoss // products of e <= E; those of e = E lose nothing
	below cellLoss // products of e < E
	own   cellLoss // the indicator of e = E, whose mean is ρ
	first int
	terms []cellLoss // products of exponent first, first+1 ...
}

// of returns the losses of a kind. It computes them once.
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

// cell returns what a product of the cell of a tally loses, in units of the
// grid, where it loses at most top. If the sample determines nothing, the mean
// may be anywhere in the range, and the variance is that of the two ends of the
// range with equal probabilities.
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

// centre returns the number c about which the squares of losses are tallied.
func (p *ProductDistribution) centre(k kind) float64 {
	if k == whole && p.sign == 0 {
		return 0
	}
	return 0.5
}

// mean returns an estimate of Ef, the mean of a function f of a product given
// that the product is in a cell, a bound off on the error of that estimate, and
// whether the sample determines them. If it does not, they are the middle and
// half the width of [lo, hi], the range of f. The arguments P, sum and square
// are the sums over the cell of the weights, and of the weighted f and f². pp,
// pf and ff are sums over groups, with their weights, of the squares and the
// product of two means over the group: that of the indicator of the cell, and
// that of f times it.
//
// Let n = Samples and α = √(2l/n), and let T be the mean over a group of f -
// Ef, with 0 for products outside the cell. T has mean 0 and size at most c.
// With s² = E T²,
//
//	|mean of T| <= αs + α²c/6,  s <= αc/2 + √(mean of T² + α²c²/4),
//
// where either side of the first inequality, and the second, fail with
// probability at most e^-l each. If the true mean is at a distance x from the
// estimate m, the mean of T is Px in size, the mean of T² is at most A + 2Bx +
// Cx², with A its value about m, and c is at most x larger than about m. So x
// <= G(x), with a convex G. If the slope of G tends to a limit below 1, x is at
// most the fixed point of G.
//
// Source: Bernstein's inequality, and for the mean of T² Maurer 2003; for the
// mean over all pairs of two samples Hoeffding 1963, Section 5. Maurer & Pontil
// 2009, Theorem 4, is similar.
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
	// The mean over all pairs is a mean over many assignments to groups of r pairs.
	if r := max(1, p.Partners); p.starts != nil {
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
