package roundoff

import (
	"math"
	"slices"
	"sync"
)

// Losses tabulates what products of one law lose when they are aligned to an exponent E and cut
// off at g = 2^(E-F): Y = sgn(p) D, D = |p| mod g. Rows of the table are computed when they are
// first asked for. It may be used by several goroutines.
//
// It takes for granted that a product of exponent E itself loses nothing, as [Truncation] does.
type Losses struct {
	Law *Products
	F   int

	mu        sync.Mutex
	rows      map[int]*lossRow
	tallies   map[tallyKind]*lossTallies
	estimates map[lossesKind]*LossesAt
	ends      map[endKind]RoundingLoss
	chars     map[[2]int][]character
	moments   map[float64]float64
	symmetric *Losses
}

// Losses returns the table for an alignment that keeps F bits below 2^E.
func (p *Products) Losses(F int) *Losses {
	return &Losses{Law: p, F: F, rows: map[int]*lossRow{}, tallies: map[tallyKind]*lossTallies{},
		estimates: map[lossesKind]*LossesAt{}, ends: map[endKind]RoundingLoss{}, chars: map[[2]int][]character{}, moments: map[float64]float64{}}
}

// Symmetric returns the table of [Products.Symmetric] of the law, and keeps it for the next time.
func (l *Losses) Symmetric() *Losses {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.symmetric == nil {
		l.symmetric = l.Law.Symmetric().Losses(l.F)
	}
	return l.symmetric
}

// LogMoment returns [Products.LogMoment] of the law, and keeps it for the next time.
func (l *Losses) LogMoment(x float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.moments[x]; ok {
		return m
	}
	m := l.Law.LogMoment(x)
	l.moments[x] = m
	return m
}

// lossRow is the law of Y at one exponent E, split by the exponent e of the product.
type lossRow struct {
	first int // the exponent of cells[0]
	cells []lossCell
	below lossCell // the sum over e < E
	own   float64  // P(e = E)
}

// lossCell is the measure of the products of one exponent: P, E Y, E|Y| and E Y² over them.
type lossCell struct{ weight, mean, size, square float64 }

func (c *lossCell) add(w, y float64) {
	c.weight += w
	c.mean += w * y
	c.size += w * math.Abs(y)
	c.square += w * y * y
}

// given returns the mean of Y, of |Y|, and of Y², given that the product is one of the cell.
func (c lossCell) given() (mean, size, square float64) {
	if c.weight == 0 {
		return 0, 0, 0
	}
	return c.mean / c.weight, c.size / c.weight, c.square / c.weight
}

// row returns the row of E. The caller holds the lock.
func (l *Losses) row(E int) *lossRow {
	if r, ok := l.rows[E]; ok {
		return r
	}
	r := l.newRow(E)
	l.rows[E] = r
	return r
}

func (l *Losses) newRow(E int) *lossRow {
	p := l.Law
	lo, hi := slices.Min(p.exp), slices.Max(p.exp)
	r := &lossRow{first: lo, cells: make([]lossCell, hi-lo+1)}
	g, scale := math.Ldexp(1, E-l.F), math.Ldexp(1, l.F-E)
	for i, v := range p.value {
		y := 0.0
		if p.exp[i] < E {
			y = v - float64(g*math.Trunc(v*scale))
		}
		r.cells[p.exp[i]-lo].add(p.weight[i], y)
	}
	for i, c := range r.cells {
		if p.symmetric {
			r.cells[i].mean = 0
		}
		switch e := lo + i; {
		case e < E:
			r.below.weight += c.weight
			r.below.mean += r.cells[i].mean
			r.below.size += c.size
			r.below.square += c.square
		case e == E:
			r.own = c.weight
		}
	}
	return r
}
