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

	mu      sync.Mutex
	rows    map[int]*lossRow
	blocks  map[blockKind]BlockLoss
	ends    map[endKind]RoundingLoss
	chars   map[[2]int][]character
	moments map[float64]float64
}

// Losses returns the table for an alignment that keeps F bits below 2^E.
func (p *Products) Losses(F int) *Losses {
	return &Losses{Law: p, F: F, rows: map[int]*lossRow{}, blocks: map[blockKind]BlockLoss{},
		ends:  map[endKind]RoundingLoss{},
		chars: map[[2]int][]character{}, moments: map[float64]float64{}}
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

// TermLoss is the law of what one product loses, |Y|.
type TermLoss struct {
	Mean     float64
	Variance float64
	Error    float64 // the standard deviation of Mean as an estimate from a sample
	Grain    float64 // g over the size of that sample, which tells nothing finer
	Known    bool    // whether the law has such products
}

// Terms returns the law of |Y| at E for products of exponent first, first+1 and so on.
func (l *Losses) Terms(E int) (first int, losses []TermLoss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.row(E)
	losses = make([]TermLoss, len(r.cells))
	for i, c := range r.cells {
		_, m, w := c.given()
		if c.weight > 0 {
			n := l.Law.Samples * c.weight
			losses[i] = TermLoss{m, max(0, w-m*m), math.Sqrt(w / n), math.Ldexp(1, E-l.F) / n, true}
		}
	}
	return r.first, losses
}

// BlockLoss is the law of what the L products of a block lose together, ΣY, given the exponent
// that they are aligned to.
type BlockLoss struct {
	Mean     float64 // E ΣY
	Variance float64 // Var ΣY
	Largest  float64 // |Y - EY| of one product is at most that
	Error    float64 // the standard deviation of Mean as an estimate from a sample
	Grain    float64 // Lg over the size of that sample, which tells nothing finer

	// The same given the signs of all products, if sizes do not depend on them: each sign
	// loses Size, and with it the mean of ΣY is Size times positive less negative products.
	Size         float64
	SizeVariance float64 // Var ΣY given the signs
	SizeError    float64 // of Size

	Known bool // whether the law has products so small
}

// blockKind is what a block is known by.
type blockKind struct {
	L, E int
	set  bool
}

// Block returns the law of ΣY over L products aligned to E, given E: that of the running sum, no
// product having a greater one, or set, the greatest of the products itself.
//
// In the first case the products are independent, of the law of p given e <= E. In the second, N
// >= 1 products of exponent E lose nothing, the others are independent, of the law of p given
// e < E, and with ρ = P(e = E | e <= E)
//
//	E N = Lρ/(1-(1-ρ)^L),  Var ΣY <= (L-1) Var(Y | e < E) + Lρ E(Y | e < E)²
//
// in the sense of moment generating functions: Bernstein's and Bennett's inequalities hold with it.
//
// Source: derived here. Nothing is left out of the dependence between products and E.
func (l *Losses) Block(L, E int, set bool) BlockLoss {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := blockKind{L, E, set}
	if b, ok := l.blocks[k]; ok {
		return b
	}
	b := l.row(E).block(float64(L), math.Ldexp(1, E-l.F), set, l.Law)
	l.blocks[k] = b
	return b
}

func (r *lossRow) block(L, g float64, set bool, law *Products) BlockLoss {
	all := r.below.weight + r.own
	if all == 0 {
		return BlockLoss{Largest: g}
	}
	b := BlockLoss{Known: true, Largest: g, Grain: L * g / (law.Samples * all)}
	m, h, w := r.below.given()
	ρ := r.own / all
	n := L * (1 - ρ) // products of smaller exponent, in the mean
	if set {
		n = L - meanOfMost(L, ρ)
	}
	b.Mean, b.Size = n*m, n/L*h
	if set {
		b.Variance = (L-1)*max(0, w-m*m) + L*ρ*m*m
		b.SizeVariance = (L-1)*max(0, w-h*h) + L*ρ*h*h
	} else {
		b.Variance = L * max(0, (1-ρ)*w-(1-ρ)*(1-ρ)*m*m)
		b.SizeVariance = L * max(0, (1-ρ)*w-(1-ρ)*(1-ρ)*h*h)
	}
	if !law.symmetric && math.Abs(m) != h { // of two signs, and not centred
		b.Largest += math.Abs(m)
	}
	deviation := math.Sqrt(w / (law.Samples * all))
	b.SizeError = n / L * deviation
	if !law.symmetric {
		b.Error = n * deviation
	}
	return b
}

// meanOfMost returns E(N | N >= 1) for a binomial N of L trials of probability ρ.
func meanOfMost(L, ρ float64) float64 {
	if ρ == 0 {
		return 1
	}
	return min(L, L*ρ/-math.Expm1(L*math.Log1p(-ρ)))
}
