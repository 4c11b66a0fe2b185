package probe

import (
	"context"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A GridUnit is a [Unit] that also computes the dot products of every vector of
// some with every vector of others: many results of few operands.
type GridUnit interface {
	Unit
	// Grid stores in d[in+j] the code of c[in+j] + Σ x[iK+k] y[jK+k] for every one
	// of m vectors x and n vectors y. The codes are those of [Unit.Dots].
	Grid(ctx context.Context, x, y, c, d []uint64) error
}

// gridSide is the number of vectors x, and of vectors y, in a grid of [Verify].
const gridSide = 128

// grid contains the operands of gridSide × gridSide dot products.
type grid struct{ x, y, c []uint64 }

// gridRegimes are the names of the distributions of grids: those of
// [Sampler.Draw], with pairs that cancel at the same places in all dot products
// of a grid, and with each c one of 1024; and
//
//	threshold  sums of products within a few binades of the least normal number of C, or an ulp away from it
//	opposite   factors as normal, wide or ties, and the negated sum of their products as c, changed by up to two units in the last place
//
// For integers these are sums within two units of 2^31, where they wrap, and of
// 0.
var gridRegimes = append(append([]string(nil), Regimes...), "threshold", "opposite")

// grid draws a grid from a regime, of vectors of k elements.
func (s *Sampler) grid(regime, k int) grid {
	g := grid{make([]uint64, gridSide*k), make([]uint64, gridSide*k), make([]uint64, gridSide*gridSide)}
	switch name := gridRegimes[regime]; {
	case regime >= len(Regimes) && sumsIntegers(s.d):
		s.integerGrid(g, regime, k)
		return g
	case name == "threshold":
		s.threshold(g)
		return g
	case name == "opposite":
		s.draw(g, [...]int{0, 2, 8}[s.rng.IntN(3)], k)
		s.oppose(g, k)
		return g
	}
	s.draw(g, regime, k)
	var drawn [8 * gridSide]uint64
	for i := range drawn {
		drawn[i] = s.addend(regime)
	}
	for i := range g.c {
		g.c[i] = drawn[s.rng.IntN(len(drawn))]
	}
	return g
}

// draw draws the factors of g from one of [Regimes].
func (s *Sampler) draw(g grid, regime, k int) {
	order := s.order(regime, k)
	for i := 0; i < len(g.x); i += k {
		s.factors(regime, order, g.x[i:i+k], g.y[i:i+k])
	}
}

// threshold draws factors whose products are near the least normal number of C
// or, one of three, down to four binades below half its last place, and
// numbers c next to it. Three of four factors of A are zeros if there are more
// than two products, and most factors have few bits, so that sums meet it.
func (s *Sampler) threshold(g grid) {
	a, b, f := s.d.A, s.d.B, s.d.C
	high := min(max(f.Emin/2, a.Emin), a.Emax)
	low := min(max(f.Emin-high, b.Emin), b.Emax)
	short := func(f tcore.Format, e int) uint64 {
		x := s.sign() * math.Ldexp(1, e)
		if s.rng.IntN(3) == 0 {
			x *= 1 + s.rng.Float64()
		}
		return code(f, clamp(f, x))
	}
	few := len(g.x) > 2*gridSide
	for i := range g.x {
		g.y[i] = short(b, low-s.rng.IntN(2))
		switch {
		case few && s.rng.IntN(4) > 0:
			g.x[i] = code(a, math.Copysign(0, s.sign()))
		case s.rng.IntN(3) == 0:
			g.x[i] = short(a, high-f.Precision-s.rng.IntN(5))
		default:
			g.x[i] = short(a, high+1-s.rng.IntN(4))
		}
	}
	for i := range g.c {
		least := math.Ldexp(1, f.Emin)
		switch s.rng.IntN(3) {
		case 0:
			least = 0
		case 1:
			least += math.Ldexp(float64(s.rng.IntN(5)-2), f.Emin-f.Precision+1)
		}
		g.c[i] = code(f, s.sign()*clamp(f, least))
	}
}

// oppose stores in every c the negated sum of its products, changed by up to
// two units in the last place.
func (s *Sampler) oppose(g grid, k int) {
	for i := range g.c {
		g.c[i] = code(s.d.C, 0)
	}
	sums := make([]uint64, len(g.c))
	s.d.GridCodes(k, g.x, g.y, g.c, sums)
	for i, z := range sums {
		x := number(s.d.C, z)
		unit := 2 * s.d.C.UnitRoundoff() * math.Abs(x)
		g.c[i] = code(s.d.C, clampNaN(s.d.C, -x+float64(s.rng.IntN(5)-2)*unit))
	}
}
