package roundoff

// MPFMA bounds a mixed-precision FMA, ζ(|a||b| + |c|) with ζ = ū + u_FMA + ū u_FMA: the
// product is exact, the sum is rounded to Accumulate and the result to Output. It always
// holds. Where Output <= Accumulate the second rounding does nothing, ζ is up to twice too
// large, and [MPFMASpecial] applies.
// It panics if Accumulate or Output is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemma "MPFMA without representation error".
func MPFMA(r Roundoffs) MACBound {
	ζ := r.zeta()
	return MACBound{Product: ζ, Addend: ζ, Failure: Never}
}

// MPFMASpecial bounds a mixed-precision FMA that accumulates and stores in the same format,
// of unit roundoff uHigh: one rounding, u_high(|a||b| + |c|), the bound of [FMA].
// It panics if uHigh is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, section on MPFMA, special case ũ = ū = u_FMA = u_high.
//
// differs: the paper omits the factors |b| and |c| on the way, and ũ is irrelevant.
func MPFMASpecial(uHigh float64) MACBound {
	checkUnit("uHigh", uHigh)
	return FMA(uHigh)
}

// MPFMARepresented bounds a mixed-precision FMA whose operands were first rounded, a and b to
// Low and c to High:
//
//	[θ_2 + ζ(1+θ_2)] |a||b| + [u_high + ζ(1+u_high)] |c|,  θ_2 at u_low.
//
// With [DBEA] it is the deterministic lemma, with a [VIBEA] the probabilistic one. Where c is
// already a number of the High format use [MPFMARepresentedInputs].
// It panics if Low, High, Accumulate or Output is outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemmas "MPFMA with representation error".
func MPFMARepresented(r Roundoffs, an Analysis) MACBound {
	checkUnit("High", r.High)
	m := MPFMARepresentedInputs(r, an)
	m.Addend = Compose(r.High, m.Addend)
	return m
}

// MPFMARepresentedInputs is [MPFMARepresented] for an addend c that is not converted: the
// coefficient of |c| is ζ alone.
// It panics if Low, Accumulate or Output is outside (0, 1).
//
// differs: the paper converts all three operands.
func MPFMARepresentedInputs(r Roundoffs, an Analysis) MACBound {
	checkUnit("Low", r.Low)
	ζ := r.zeta()
	return MACBound{
		Product: Compose(an.Theta(2, r.Low), ζ),
		Addend:  ζ,
		Failure: an.Failure(2, r.Low),
	}
}
