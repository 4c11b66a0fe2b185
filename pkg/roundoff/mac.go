package roundoff

import "math"

// A MACBound bounds the forward error of a multiply-accumulate z = ab + c,
//
//	|ẑ - z|/|z| <= (Product |a||b| + Addend |c|)/|ab + c|,
//
// failing with log-probability at most Failure.
//
// The bounds assume neither overflow nor underflow.
type MACBound struct {
	Product float64 // coefficient of |a||b|
	Addend  float64 // coefficient of |c|
	Failure Failure
}

// Relative returns the bound at (a, b, c), with z = ab + c rounded once. Where
// no finite bound exists it returns +Inf: z = 0, a coefficient of +Inf, or an
// operand, a product or a sum that is not finite.
func (m MACBound) Relative(a, b, c float64) float64 {
	z := math.FMA(a, b, c)
	r := (m.Product*math.Abs(a*b) + m.Addend*math.Abs(c)) / math.Abs(z)
	if z == 0 || math.IsNaN(r) {
		return math.Inf(1)
	}
	return r
}

// MAC bounds ab + c computed as fl(fl(ab) + c), two roundings, without an FMA:
// θ_2|a||b| + u|c|, failing as one product of two factors does.
// It panics if u is outside (0, 1).
//
// differs: the paper plots this bound and never states it.
func MAC(u float64, an Analysis) MACBound {
	check.Unit("u", u)
	return MACBound{Product: an.Theta(2, u), Addend: u, Failure: an.Failure(2, u)}
}

// FMA bounds ab + c rounded once, u(|a||b| + |c|): it always holds,
// deterministically and probabilistically alike. It panics if u is outside (0,
// 1).
//
// The bound is a backward bound turned forward. The forward error alone is at
// most u, as one rounding changes z by a factor 1+δ.
//
// Source: Bhola & Duraisamy 2024, Lemma "FMA without representation error".
func FMA(u float64) MACBound {
	check.Unit("u", u)
	return MACBound{Product: u, Addend: u, Failure: Never}
}

// FMARepresented bounds an FMA whose operands were first rounded to the
// precision of the FMA, from a finer one: (u + θ_2 + uθ_2)|a||b| + (2u +
// u²)|c|. With [DBEA] it is the deterministic lemma, with a [VIBEA] the
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
