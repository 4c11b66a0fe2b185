package roundoff

import (
	"math"
	"testing"
)

func TestPanics(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	g := func(edit func(*GEMM)) GEMM {
		g := paper
		edit(&g)
		return g
	}
	mixed := func(edit func(*Roundoffs)) Roundoffs {
		r := TensorCoreF32
		edit(&r)
		return r
	}
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"p = 0, want 1 <= p <= 1074", func() { UnitRoundoff(0) }},
		{"p = 1075, want 1 <= p <= 1074", func() { UnitRoundoff(1075) }},
		{"n = -1, want n >= 0", func() { Gamma(-1, 0.5) }},
		{"u = 1, want 0 < u < 1", func() { Gamma(1, 1) }},
		{"u = 0, want 0 < u < 1", func() { Gamma(1, 0) }},
		{"u = NaN, want 0 < u < 1", func() { Gamma(1, nan) }},
		{"n = -1, want n >= 0", func() { Unrestricted(-1, 0.5) }},
		{"n = -1, want n >= 0", func() { Compound(-1, 0.5) }},
		{"u = 1, want 0 < u < 1", func() { Compound(1, 1) }},
		{"u = 1, want 0 < u < 1", func() { Gamma(0, 1) }},
		{"n = 0, want n >= 1", func() { CompensatedSum(0, 0.5) }},
		{"u = -0.5, want 0 < u < 1", func() { Unrestricted(1, -0.5) }},
		{"a = -1, want a >= 0", func() { Compose(-1, 1) }},
		{"b = NaN, want b >= 0", func() { Compose(1, nan) }},
		{"u = 1, want 0 < u < 1", func() { LogMean(1) }},
		{"u = 1, want 0 < u < 1", func() { LogVariance(1) }},
		{"u = 0, want 0 < u < 1", func() { LogVariancePrinted(0) }},
		{"n = -1, want n >= 0", func() { GammaTilde(-1, 0.5, 1) }},
		{"lambda = -1, want lambda >= 0", func() { GammaTilde(1, 0.5, -1) }},
		{"u = 1, want 0 < u < 1", func() { GammaTilde(1, 1, 1) }},
		{"lambda = NaN, want lambda >= 0", func() { GammaTildeLinear(1, 0.5, nan) }},
		{"u = +Inf, want 0 < u < 1", func() { GammaTildeMoment(1, inf, 1) }},
		{"confidence = 1, want 0 < confidence < 1", func() { FailureOf(1) }},
		{"confidence = 0, want 0 < confidence < 1", func() { FailureOf(0) }},
		{"events = 0, want events >= 1", func() { Never.Times(0) }},
		{"lambda = -1, want lambda >= 0", func() { VIBEAFailure(-1, 0.5, 1) }},
		{"u = 1, want 0 < u < 1", func() { VIBEAFailure(1, 1, 1) }},
		{"n = -1, want n >= 0", func() { VIBEAFailure(1, 0.5, -1) }},
		{"confidence = 99, want 0 < confidence < 1", func() { Lambda(FailureOf(99), 0.5, 1) }},
		{"u = 2, want 0 < u < 1", func() { Lambda(FailureOf(0.9), 2, 1) }},
		{"n = -1, want n >= 0", func() { Lambda(FailureOf(0.9), 0.5, -1) }},
		{"n = -1, want n >= 0", func() { Lambda(-1, 0.5, -1) }},
		{"u = 0, want 0 < u < 1", func() { Lambda(-1, 0, 1) }},
		{"failure = 0, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is", func() { Lambda(0, 0.5, 0) }},
		{"failure = -Inf, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is", func() { Lambda(Never, 0.5, 1) }},
		{"lambda = -0.1, want lambda >= 0", func() { HighamMaryFailure(-0.1, 0.5) }},
		{"u = 0, want 0 < u < 1", func() { HighamMaryFailure(1, 0) }},
		{"confidence = NaN, want 0 < confidence < 1", func() { HighamMaryLambda(FailureOf(nan), 0.5, 1) }},
		{"events = 0.5, want events >= 1", func() { HighamMaryLambda(FailureOf(0.9), 0.5, 0.5) }},
		{"n = -1, want n >= 0", func() { DBEA.Failure(-1, 0.5) }},
		{"u = 1, want 0 < u < 1", func() { Unconditional.Failure(1, 1) }},
		{"n = -1, want n >= 0", func() { HighamMary{1}.Failure(-1, 0.5) }},
		{"Form = 3, want Rigorous, Linear or Moment", func() { VIBEA{1, 3}.Theta(1, 0.5) }},
		{"u = 1, want 0 < u < 1", func() { MAC(1, DBEA) }},
		{"u = 1, want 0 < u < 1", func() { FMA(1) }},
		{"u = 0, want 0 < u < 1", func() { FMARepresented(0, DBEA) }},
		{"Accumulate = 0, want 0 < Accumulate < 1", func() { MPFMA(Roundoffs{}) }},
		{"Output = 2, want 0 < Output < 1", func() { MPFMA(mixed(func(r *Roundoffs) { r.Output = 2 })) }},
		{"uHigh = 1, want 0 < uHigh < 1", func() { MPFMASpecial(1) }},
		{"High = 0, want 0 < High < 1", func() { MPFMARepresented(mixed(func(r *Roundoffs) { r.High = 0 }), DBEA) }},
		{"Low = NaN, want 0 < Low < 1", func() { MPFMARepresentedInputs(mixed(func(r *Roundoffs) { r.Low = nan }), DBEA) }},
		{"Output = 0.5, want Output <= Accumulate", func() { MPFMASpecialRepresentedInputs(mixed(func(r *Roundoffs) { r.Output = 0.5 }), DBEA) }},
		{"High = 1, want 0 < High < 1", func() { MPFMASpecialRepresented(mixed(func(r *Roundoffs) { r.High = 1 }), DBEA) }},
		{"Accumulate = 0, want 0 < Accumulate < 1", func() { MPFMASpecialRepresented(mixed(func(r *Roundoffs) { r.Accumulate = 0 }), DBEA) }},
		{"M = 0, want M >= 1", func() { g(func(g *GEMM) { g.M = 0 }).Outputs() }},
		{"N = -8, want N >= 1", func() { g(func(g *GEMM) { g.N = -8 }).HighamMaryLambda(0.9) }},
		{"K = 0, want K >= 1", func() { g(func(g *GEMM) { g.K = 0 }).Zeta(DBEA) }},
		{"Block = 0, want Block >= 1", func() { g(func(g *GEMM) { g.Block = 0 }).Blocks() }},
		{"K = 32768, want a multiple of Block = 3", func() { g(func(g *GEMM) { g.Block = 3 }).ZetaSharp(DBEA) }},
		{"Low = 1, want 0 < Low < 1", func() { g(func(g *GEMM) { g.Low = 1 }).ZetaRepresented(DBEA) }},
		{"Accumulate = 1, want 0 < Accumulate < 1", func() { g(func(g *GEMM) { g.Accumulate = 1 }).Failure(DBEA, Corrected) }},
		{"Output = 0, want 0 < Output < 1", func() { g(func(g *GEMM) { g.Output = 0 }).Lambda(0.9, Corrected) }},
		{"confidence = 1, want 0 < confidence < 1", func() { paper.Lambda(FailureOf(1), Corrected) }},
		{"union = 3, want Corrected, Printed or Deduplicated", func() { paper.Failure(DBEA, 3) }},
		{"union = 3, want Corrected, Printed or Deduplicated", func() { paper.Events(3) }},
		{"union = -1, want Corrected, Printed or Deduplicated", func() { paper.Lambda(FailureOf(0.9), -1) }},
		{"confidence = -1, want 0 < confidence < 1", func() { paper.HighamMaryLambda(FailureOf(-1)) }},
		{"lambda = NaN, want lambda >= 0", func() { paper.Failure(VIBEA{Lambda: nan}, Corrected) }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			defer func() {
				if r := recover(); r != "roundoff: "+tt.want {
					t.Errorf("panics with %v, want %q", r, "roundoff: "+tt.want)
				}
			}()
			tt.call()
			t.Error("did not panic")
		})
	}
}
