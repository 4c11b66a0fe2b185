package roundoff

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMACBound(t *testing.T) {
	u16, u32 := TensorCoreF32.Low, TensorCoreF32.High
	at99 := func(u float64) Analysis { return VIBEA{Lambda: Lambda(FailureOf(0.99), u, 2)} }
	// The paper's experiment: a, b and c in [1, 2], where |ab|/(ab + c) is at most
	// 4/5.
	experiment := []struct {
		name  string
		bound MACBound
		sup   float64
	}{
		{"MAC", MAC(u32, DBEA), 1.0729e-7},
		{"MAC/VIBEA", MAC(u32, at99(u32)), 2.483e-7},
		{"FMA", FMA(u32), 5.9605e-8},
		{"MPFMA", MPFMARepresented(TensorCoreF32, DBEA), 7.821e-4},
		{"MPFMA/VIBEA", MPFMARepresented(TensorCoreF32, at99(u16)), 1.9397e-3},
	}
	for _, e := range experiment {
		t.Run(e.name+"/is_largest_at_2_2_1", func(t *testing.T) {
			sup := e.bound.Relative(2, 2, 1)
			if !near(sup, e.sup, 1e-4) {
				t.Errorf("bound %v, want %v", sup, e.sup)
			}
			for _, a := range []float64{1, 1.3, 1.7, 2} {
				for _, b := range []float64{1, 1.2, 1.9, 2} {
					for _, c := range []float64{1, 1.5, 2} {
						if x := e.bound.Relative(a, b, c); x > sup*(1+1e-15) {
							t.Errorf("bound %v at (%v, %v, %v), above %v", x, a, b, c, sup)
						}
					}
				}
			}
		})
	}
	t.Run("deterministic_is_tighter_for_two_factors", func(t *testing.T) {
		for _, p := range []float64{0.90, 0.95, 0.99} {
			an := VIBEA{Lambda: Lambda(FailureOf(p), u32, 2), Form: Moment}
			if d, v := MAC(u32, DBEA), MAC(u32, an); d.Product >= v.Product {
				t.Errorf("%v: deterministic %v, probabilistic %v", p, d.Product, v.Product)
			}
		}
	})
	t.Run("is_infinite_where_nothing_holds", func(t *testing.T) {
		inf, nan := math.Inf(1), math.NaN()
		for _, x := range [][3]float64{
			{1, 1, -1}, {0, 0, 0}, {nan, 1, 1}, {1, nan, 1}, {1, 1, nan}, {inf, 0, 1}, {inf, 1, 1}, {1e200, 1e200, 1},
		} {
			if r := FMA(u32).Relative(x[0], x[1], x[2]); r != inf {
				t.Errorf("bound %v at %v, want +Inf", r, x)
			}
		}
		if r := MAC(0.5, DBEA).Relative(0, 1, 1); r != inf {
			t.Errorf("bound %v with gamma = +Inf, want +Inf", r)
		}
	})
	t.Run("sees_an_addend_that_nearly_cancels", func(t *testing.T) {
		a := 1 + 0x1p-40 // a*a - fl(a*a) = 2^-80
		c := -float64(a * a)
		if r, want := FMA(u32).Relative(a, a, c), u32*2*0x1p80; !near(r, want, 1e-10) {
			t.Errorf("bound %v, want %v", r, want)
		}
	})
}

func TestLemmas(t *testing.T) {
	// Every coefficient, written as in the paper.
	r := Roundoffs{Low: 0x1p-8, High: 0x1p-11, Product: 0x1p-16, Accumulate: 0x1p-14, Output: 0x1p-11}
	// In s, stores do not round.
	s := Roundoffs{Low: 0x1p-8, High: 0x1p-13, Product: 0x1p-16, Accumulate: 0x1p-12, Output: 0x1p-14}
	v := s.Accumulate
	for _, an := range []Analysis{DBEA, Unconditional, VIBEA{Lambda: 3}, HighamMary{Lambda: 3}} {
		u := 0x1p-11
		θ, θlow := an.Theta(2, u), an.Theta(2, r.Low)
		ζ := r.Accumulate + r.Output + r.Accumulate*r.Output
		for _, tt := range []struct {
			name            string
			got             MACBound
			product, addend float64
			failure         Failure
		}{
			{"MAC", MAC(u, an), θ, u, an.Failure(2, u)},
			{"FMA", FMA(u), u, u, Never},
			{"FMARepresented", FMARepresented(u, an), u + θ + u*θ, 2*u + u*u, an.Failure(2, u)},
			{"MPFMA", MPFMA(r), ζ, ζ, Never},
			{"MPFMASpecial", MPFMASpecial(r.High), r.High, r.High, Never},
			{"MPFMARepresented", MPFMARepresented(r, an), θlow + ζ*(1+θlow), r.High + ζ*(1+r.High), an.Failure(2, r.Low)},
			{"MPFMARepresentedInputs", MPFMARepresentedInputs(r, an), θlow + ζ*(1+θlow), ζ, an.Failure(2, r.Low)},
			{"MPFMASpecialRepresented", MPFMASpecialRepresented(s, an), θlow + v*(1+θlow), s.High + v*(1+s.High), an.Failure(2, s.Low)},
			{"MPFMASpecialRepresentedInputs", MPFMASpecialRepresentedInputs(s, an), θlow + v*(1+θlow), v, an.Failure(2, s.Low)},
		} {
			if !near(tt.got.Product, tt.product, 1e-15) || !near(tt.got.Addend, tt.addend, 1e-15) || tt.got.Failure != tt.failure {
				t.Errorf("%T %s = %+v, want %v, %v, %v", an, tt.name, tt.got, tt.product, tt.addend, tt.failure)
			}
		}
	}
}

// The deterministic lemmas hold in the arithmetic model that they assume: each
// rounding multiplies by 1+δ, here with |δ| = u.
func TestLemmasHoldInTheModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	δ := func(u float64) float64 { return 1 + u*extreme(rng) }
	u, r := 0x1p-8, Roundoffs{Low: 0x1p-8, High: 0x1p-11, Product: 0x1p-16, Accumulate: 0x1p-14, Output: 0x1p-11}
	// In s, stores do not round.
	s := Roundoffs{Low: 0x1p-8, High: 0x1p-13, Product: 0x1p-16, Accumulate: 0x1p-12, Output: 0x1p-14}
	worst := map[string]float64{}
	for range 20000 {
		a, b, c := uniform(rng), uniform(rng), uniform(rng)
		z := math.FMA(a, b, c)
		check := func(name string, m MACBound, got float64) {
			ratio := math.Abs(got-z) / math.Abs(z) / m.Relative(a, b, c)
			if ratio > 1+1e-9 {
				t.Errorf("%s(%v, %v, %v): error %v times the bound", name, a, b, c, ratio)
			}
			worst[name] = max(worst[name], ratio)
		}
		check("MAC", MAC(u, DBEA), (a*b*δ(u)+c)*δ(u))
		check("FMA", FMA(u), (a*b+c)*δ(u))
		check("FMARepresented", FMARepresented(u, DBEA), (a*δ(u)*b*δ(u)+c*δ(u))*δ(u))
		check("MPFMA", MPFMA(r), (a*b+c)*δ(r.Accumulate)*δ(r.Output))
		check("MPFMARepresented", MPFMARepresented(r, DBEA), (a*δ(r.Low)*b*δ(r.Low)+c*δ(r.High))*δ(r.Accumulate)*δ(r.Output))
		check("MPFMARepresentedInputs", MPFMARepresentedInputs(r, DBEA), (a*δ(r.Low)*b*δ(r.Low)+c)*δ(r.Accumulate)*δ(r.Output))
		check("MPFMASpecialRepresented", MPFMASpecialRepresented(s, DBEA), (a*δ(s.Low)*b*δ(s.Low)+c*δ(s.High))*δ(s.Accumulate))
		check("MPFMASpecialRepresentedInputs", MPFMASpecialRepresentedInputs(s, DBEA), (a*δ(s.Low)*b*δ(s.Low)+c)*δ(s.Accumulate))
	}
	for name, x := range worst {
		if x < 0.9 {
			t.Errorf("%s: the worst error is %v of the bound, want nearly 1", name, x)
		}
	}
}

// Where storing does not round, the coefficient of |c| is the worst case, and
// that of |a||b| exceeds its worst case only because γ_2 exceeds that of two
// roundings.
func TestSpecialRepresentedIsReached(t *testing.T) {
	for _, s := range []Roundoffs{
		TensorCoreF32, TensorCoreF16,
		{Low: 0x1p-8, High: 0x1p-13, Product: 0x1p-16, Accumulate: 0x1p-12, Output: 0x1p-14},
	} {
		addend := func(high float64) float64 { return (1+high)*(1+s.Accumulate) - 1 }
		product := (1+s.Low)*(1+s.Low)*(1+s.Accumulate) - 1
		for _, tt := range []struct {
			name       string
			got, twice MACBound
			addend     float64
		}{
			{"MPFMASpecialRepresented", MPFMASpecialRepresented(s, DBEA), MPFMARepresented(s, DBEA), addend(s.High)},
			{"MPFMASpecialRepresentedInputs", MPFMASpecialRepresentedInputs(s, DBEA), MPFMARepresentedInputs(s, DBEA), addend(0)},
		} {
			if !near(tt.got.Addend, tt.addend, 1e-8) || !leq(product, tt.got.Product*(1+1e-12)) || !near(tt.got.Product, product, 3*s.Low) {
				t.Errorf("%+v: %s %+v, want %v and %v", s, tt.name, tt.got, product, tt.addend)
			}
			if !(tt.got.Addend < tt.twice.Addend && tt.got.Product < tt.twice.Product) {
				t.Errorf("%+v: %s %+v, not below that of two roundings %+v", s, tt.name, tt.got, tt.twice)
			}
		}
	}
}
