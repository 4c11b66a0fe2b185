package roundoff

import "math"

// A MACBound bounds the forward error of a multiply-accumulate z = ab + c,
//
//	|ẑ - z|/|z| <= (Product |a||b| + Addend |c|)/|ab + c|,
//
// which fails with log-probability at most Failure.
//
// The bounds assume neither overflow nor underflow.
type MACBound struct {
	Product float64 // coefficient of |a||b|
	Addend  float64 // coefficient of |c|
	Failure Failure
}

// Relative returns the bound on |ẑ - z|/|z| at (a, b, c), with z = ab + c
// rounded once to float64. It returns +Inf where no finite bound exists: if z =
// 0, if a coefficient is +Inf, or if an operand, a product or a sum is not
// finite.
func (m MACBound) Relative(a, b, c float64) float64 {
	z := math.FMA(a, b, c)
	r := (m.Product*math.Abs(a*b) + m.Addend*math.Abs(c)) / math.Abs(z)
	if z == 0 || math.IsNaN(r) {
		return math.Inf(1)
	}
	return r
}

// MAC returns the bound θ_2|a||b| + u|c| on ab + c computed as fl(fl(ab) + c),
// with two roundings and no FMA. Its failure is that of one product of two
// factors. It panics if u is outside (0, 1).
//
// differs: the paper plots this bound and does not state it.
func MAC(u float64, an Analysis) MACBound {
	check.Unit("u", u)
	return MACBound{Product: an.Theta(2, u), Addend: u, Failure: an.Failure(2, u)}
}

// FMA returns the bound u(|a||b| + |c|) on ab + c rounded once. The
// deterministic and the probabilistic bound are the same and never fail. It
// panics if u is outside (0, 1).
//
// The bound is derived from a backward error bound. A direct analysis gives the
// relative forward error bound u, as one rounding multiplies z by a factor 1+δ.
//
// Source: Bhola & Duraisamy 2024, Lemma "FMA without representation error".
func FMA(u float64) MACBound {
	check.Unit("u", u)
	return MACBound{Product: u, Addend: u, Failure: Never}
}

// FMARepresented returns the bound (u + θ_2 + uθ_2)|a||b| + (2u + u²)|c| on an
// FMA whose operands were first rounded from a higher precision to that of the
// FMA. With [DBEA] it is the deterministic lemma, with a [VIBEA] the
// probabilistic one. It panics if u is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemmas "FMA with representation error".
func FMARepresented(u float64, an Analysis) MACBound {
	check.Unit("u", u)
	return MACBound{
		Product: Compose(u, an.Theta(2, u)),
		Addend:  Compose(u, u),
		Failure: an.Failure(2, u),
	}
}
