package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// An Accumulator describes a matrix unit that adds Terms products to its
// accumulator in one step. It aligns all terms to the largest exponent E among
// them, cuts off the bits below 2^(E-FractionBits), adds the rest exactly, and
// truncates the sum, toward zero, to the precision of the unit roundoff Unit.
// If Nearest is set it rounds the sum to nearest instead.
//
// Step and Zeta assume that factors and sums are normal numbers, so that a term
// of exponent E is at least 2^E in size. All bounds assume that a term of
// exponent E itself loses nothing. This is so where products and accumulator
// have at most FractionBits bits after the point.
type Accumulator struct {
	Terms, FractionBits int
	Unit                float64 // unit roundoff u = 2^-p of the format of the sum
	Least               float64 // the least positive number of that format; 0 if there is none
	Nearest             bool
}

// Step returns w = L 2^-F + 2u, or L 2^-F + u with Nearest, L = Terms and F =
// FractionBits: the error of one step is at most w(|s| + Σ|p|), with s the
// accumulator and p the products of the step. Of the L+1 terms, one has
// exponent E and loses nothing; each of the others loses less than 2^-F times
// that one. Step panics if Terms < 1 or Unit is outside (0, 1).
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

// Zeta returns the constant ζ of the bound |ŝ - s| <= ζΣ|p| after q steps. With
// w = Step it is ζ = qw, as truncation never makes a sum larger than Σ|p|.
// Rounding to nearest can do so, and with Nearest ζ = (w/u)((1+u)^q - 1). The
// bound always holds, for every q. Zeta panics if q < 1, Terms < 1 or Unit is
// outside (0, 1).
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

// Error returns a bound on the error of one step that aligned its terms to
// exponent E and returned ŝ = sum. With L = Terms, F = FractionBits and g =
// 2^(E-F) it is Lg where ulp(ŝ) <= g; otherwise it is Lg + ulp(ŝ) - g, or Lg +
// ulp(ŝ)/2 with Nearest. Lg bounds what alignment cuts off, the rest what
// rounding the sum to its format discards. ulp(ŝ), the unit in the last place,
// is at least Least, its value for 0 and for subnormal sums. Error panics if
// Terms < 1 or Unit is outside (0, 1).
//
// Source: derived here. Numbers need not be normal: a term loses less than
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

// TwoStage returns (1+w)^q - 1, the constant of the deterministic bound for q
// steps of a matrix core of two stages. The first stage aligns terms products
// among themselves and truncates them at 2^-24 of the largest. The second
// aligns their sum, to 32 bits, and the accumulator, to 24 bits, to the larger
// of the two, rounding down, and rounds what they add up to, first down to 31
// bits, then to nearest with unit roundoff u:
//
//	w = a + u + au,  a = (terms+1) 2^-24 + 2^-30.
//
// In a, 2^-24 bounds what alignment cuts off each product, the accumulator and,
// where a step has two halves that are aligned apart, one of the halves. 2^-30
// bounds what is rounded down at 32 bits and at 31 bits. TwoStage panics if
// terms < 1, q < 1 or u is outside (0, 1).
//
// Source: derived here from the arithmetic of Xie et al. 2025.
func TwoStage(terms, q int, u float64) float64 {
	check.Count("terms", terms)
	check.Count("q", q)
	check.Unit("u", u)
	w := roundoff.Compose(math.Ldexp(float64(terms+1), -24)+0x1p-30, u)
	return math.Expm1(float64(q) * math.Log1p(w))
}
