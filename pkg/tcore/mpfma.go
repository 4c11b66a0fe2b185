package tcore

import "github.com/roundofflab/roundoff/pkg/roundoff"

// MPFMA is a mixed-precision fused multiply-add, given by the number formats of
// its stages (Bhola & Duraisamy 2024, section 3.2): a and b in Low (the paper's
// t_low), c in High (t_high), the product in Product (t̃), the sum in
// Accumulate (t̄), the result in Output (t_FMA).
type MPFMA struct {
	Low, High, Product, Accumulate, Output Format
}

// FMA returns ẑ = fl_FMA(fl̄(fl̃(ab) + c)), every rounding to nearest even. It
// first converts a and b to Low and c to High. The product is exact if Product
// contains the products of all numbers of Low, as binary32 does for binary16;
// otherwise it is rounded.
func (m MPFMA) FMA(a, b, c float64) float64 {
	a, b = m.Low.Round(a, ToNearestEven), m.Low.Round(b, ToNearestEven)
	c = m.High.Round(c, ToNearestEven)
	return m.store(m.step(c, a, b))
}

// step returns fl̄(fl̃(xy) + s) for values x and y of Low.
func (m MPFMA) step(s, x, y float64) float64 {
	return m.Accumulate.Add(s, m.Product.Mul(x, y, ToNearestEven), ToNearestEven)
}

// store returns fl_FMA(s).
func (m MPFMA) store(s float64) float64 {
	return m.Output.Round(s, ToNearestEven)
}

// Roundoffs returns the unit roundoffs of the five formats, which the bounds of
// package roundoff use.
func (m MPFMA) Roundoffs() roundoff.Roundoffs {
	return roundoff.Roundoffs{
		Low:        m.Low.UnitRoundoff(),
		High:       m.High.UnitRoundoff(),
		Product:    m.Product.UnitRoundoff(),
		Accumulate: m.Accumulate.UnitRoundoff(),
		Output:     m.Output.UnitRoundoff(),
	}
}
