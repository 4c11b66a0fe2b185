package roundoff

// MPFMA returns the bound ζ(|a||b| + |c|), ζ = ū + u_FMA + ū u_FMA, on a
// mixed-precision FMA: the product is exact, the sum is rounded to the format
// of Accumulate and the result to that of Output. The bound never fails. Where
// Output <= Accumulate the second rounding changes nothing, ζ is up to about
// twice too large, and [MPFMASpecial] applies. It panics if Accumulate or
// Output is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemma "MPFMA without representation error".
func MPFMA(r Roundoffs) MACBound {
	ζ := r.zeta()
	return MACBound{Product: ζ, Addend: ζ, Failure: Never}
}

// MPFMASpecial returns the bound u_high(|a||b| + |c|) on a mixed-precision FMA
// that accumulates and stores in one format of unit roundoff uHigh. One
// rounding occurs, so the bound is that of [FMA]. It panics if uHigh is outside
// (0, 1).
//
// Source: Bhola & Duraisamy 2024, section on MPFMA, special case ũ = ū = u_FMA
// = u_high.
//
// differs: the paper omits the factors |b| and |c| in the derivation, and the
// bound does not depend on ũ.
func MPFMASpecial(uHigh float64) MACBound {
	check.Unit("uHigh", uHigh)
	return FMA(uHigh)
}

// MPFMARepresented returns the bound on a mixed-precision FMA whose operands
// were first rounded, a and b to the format of Low and c to that of High:
//
//	[θ_2 + ζ(1+θ_2)] |a||b| + [u_high + ζ(1+u_high)] |c|,  θ_2 at u_low.
//
// With [DBEA] it is the deterministic lemma, with a [VIBEA] the probabilistic
// one. Where c is already a number of the High format, use
// [MPFMARepresentedInputs]. Where Output <= Accumulate, as in row 1 of the
// paper's Table 2, [MPFMASpecialRepresented] is smaller. It panics if Low,
// High, Accumulate or Output is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemmas "MPFMA with representation error".
func MPFMARepresented(r Roundoffs, an Analysis) MACBound {
	check.Unit("High", r.High)
	m := MPFMARepresentedInputs(r, an)
	m.Addend = Compose(r.High, m.Addend)
	return m
}

// MPFMARepresentedInputs returns the bound of [MPFMARepresented] for an addend
// c that is not converted: the coefficient of |c| is ζ. It panics if Low,
// Accumulate or Output is outside (0, 1).
//
// differs: the paper converts all three operands.
func MPFMARepresentedInputs(r Roundoffs, an Analysis) MACBound {
	return MPFMA(r).represented(r.Low, an)
}

// MPFMASpecialRepresented returns the bound on a mixed-precision FMA that
// stores its result without a second rounding, Output <= Accumulate, and whose
// operands were first rounded, a and b to the format of Low and c to that of
// High:
//
//	[θ_2 + ū(1+θ_2)] |a||b| + [u_high + ū(1+u_high)] |c|,  θ_2 at u_low.
//
// It is [MPFMARepresented] with one rounding of the result instead of two.
// Where c is already a number of the High format, use
// [MPFMASpecialRepresentedInputs]. It panics if Low, High, Accumulate or Output
// is outside (0, 1) or Output > Accumulate.
//
// differs: the paper has the special case without representation error only.
func MPFMASpecialRepresented(r Roundoffs, an Analysis) MACBound {
	check.Unit("High", r.High)
	m := MPFMASpecialRepresentedInputs(r, an)
	m.Addend = Compose(r.High, m.Addend)
	return m
}

// MPFMASpecialRepresentedInputs returns the bound of [MPFMASpecialRepresented]
// for an addend c that is not converted: the coefficient of |c| is ū. It panics
// if Low, Accumulate or Output is outside (0, 1) or Output > Accumulate.
//
// differs: the paper has the special case without representation error only.
func MPFMASpecialRepresentedInputs(r Roundoffs, an Analysis) MACBound {
	check.Unit("Accumulate", r.Accumulate)
	check.Unit("Output", r.Output)
	check.Number("Output", r.Output, r.Output <= r.Accumulate, "Output <= Accumulate")
	return MPFMASpecial(r.Accumulate).represented(r.Low, an)
}

// represented returns the bound for a product whose factors were first rounded
// to a format of unit roundoff low.
func (m MACBound) represented(low float64, an Analysis) MACBound {
	check.Unit("Low", low)
	m.Product = Compose(an.Theta(2, low), m.Product)
	m.Failure = m.Failure.Plus(an.Failure(2, low))
	return m
}
