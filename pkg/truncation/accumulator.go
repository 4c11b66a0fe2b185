package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Accumulator is a matrix unit that adds Terms products to its accumulator at
// a time: it aligns all to the largest exponent E of them, drops what lies
// below 2^(E-FractionBits), adds what is left, and cuts the sum to the
// precision of the unit roundoff Unit, toward zero. Where Nearest is set it
// rounds the sum to nearest instead.
//
// Step and Zeta assume factors and sums that are normal numbers, so that a term
// of exponent E is at least 2^E in size. All bounds assume that a term of
// exponent E itself loses nothing, which is so where products and accumulator
// have at most FractionBits bits after the point.
type Accumulator struct {
	Terms, FractionBits int
	Unit                float64 // u = 2^-p of the format of the sum
	Least               float64 // the least positive number of that format; 0 if there is none
	Nearest             bool
}

// Step returns w = L 2^-F + 2u, or L 2^-F + u with Nearest: one step errs by at
// most w(|s| + Σ|p|), the accumulator and the products of the step. Of the L+1
// terms one has exponent E and loses nothing, the others lose less than 2^-F
// times that one. It panics if Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here from the arithmetic of Fasi et al. 2021 and Khattak &
// Mikaitis 2025.
func (t Accumulator) Step() float64 {
	check.Count("Terms", t.Terms)
	check.Unit("Unit", t.Unit)
	cut := math.Ldexp(float64(t.Terms), -t.FractionBits)
	if t.Nearest {
		return cut + t.Unit
	}
	return cut + 2*t.Unit
}

// Zeta returns the constant of q steps, |ŝ - s| <= ζΣ|p|: ζ = qw with w = Step,
// as truncation never makes a sum larger than Σ|p|. Rounding to nearest may,
// and ζ = (w/u)((1+u)^q - 1). No condition on q is needed, and the bound always
// holds. It panics if q < 1, Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here.
func (t Accumulator) Zeta(q int) float64 {
	check.Count("q", q)
	w := t.Step()
	if t.Nearest {
		return w / t.Unit * math.Expm1(float64(q)*math.Log1p(t.Unit))
	}
	return float64(q) * w
}

// Error returns L 2^(E-F) + ulp(ŝ) - 2^(E-F), the most by which one step errs
// that aligned its terms to exponent E and returned ŝ: the second part is what
// cutting the sum can drop, where it is longer than its format, and half a unit
// in the last place with Nearest. No unit is less than Least, that of 0 and of
// subnormal sums. It panics if Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here. It needs no normal numbers: a term loses less than
// 2^(E-F).
func (t Accumulator) Error(E int, sum float64) float64 {
	check.Count("Terms", t.Terms)
	check.Unit("Unit", t.Unit)
	grid := math.Ldexp(1, E-t.FractionBits)
	cut := float64(t.Terms) * grid
	ulp := t.Least
	if sum != 0 {
		ulp = max(ulp, math.Ldexp(2*t.Unit, math.Ilogb(sum)))
	}
	switch {
	case ulp <= grid:
		return cut
	case t.Nearest:
		return cut + ulp/2
	}
	return cut + ulp - grid
}

// TwoStage returns (1+w)^q - 1, the constant of q steps of a matrix core that
// aligns terms products among themselves, truncating at 2^-24 of the largest,
// adds the accumulator so aligned to 32 bits, rounding down, and rounds the sum
// to nearest with unit roundoff u:
//
//	w = a + u + au,  a = (terms+1) 2^-24 + 2^-30,
//
// where 2^-24 is of each product and the accumulator, one of each step's two
// halves if there are two, and 2^-30 of what is rounded down at 32 and at 31
// bits. It panics if terms < 1, q < 1 or u is outside (0, 1).
//
// Source: derived here from the arithmetic of Xie et al. 2025.
func TwoStage(terms, q int, u float64) float64 {
	check.Count("terms", terms)
	check.Count("q", q)
	check.Unit("u", u)
	w := roundoff.Compose(math.Ldexp(float64(terms+1), -24)+0x1p-30, u)
	return math.Expm1(float64(q) * math.Log1p(w))
}
