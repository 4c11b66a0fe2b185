package roundoff

import (
	"math"
	"testing"
)

func TestFailure(t *testing.T) {
	t.Run("inverts_confidence", func(t *testing.T) {
		for _, p := range []float64{1e-300, 1e-9, 0.5, 0.9, 0.99, 1 - 0x1p-53} {
			if q, ok := FailureOf(p).Confidence(); !ok || !near(q, p, 1e-15) {
				t.Errorf("FailureOf(%v).Confidence() = %v, %v", p, q, ok)
			}
		}
		if p, ok := Never.Confidence(); p != 1 || !ok {
			t.Errorf("Never.Confidence() = %v, %v", p, ok)
		}
	})
	t.Run("is_vacuous_from_0_on", func(t *testing.T) {
		for _, tt := range []struct {
			f    Failure
			want bool
		}{
			{Never, false}, {-1e-300, false}, {0, true}, {math.Ln2, true}, {Failure(math.Inf(1)), true}, {Failure(math.NaN()), true},
		} {
			p, ok := tt.f.Confidence()
			if tt.f.Vacuous() != tt.want || ok == tt.want || math.IsNaN(p) != tt.want {
				t.Errorf("Failure(%v): vacuous %v, confidence %v, %v", float64(tt.f), tt.f.Vacuous(), p, ok)
			}
		}
	})
	t.Run("prints", func(t *testing.T) {
		for _, tt := range []struct {
			f    Failure
			want string
		}{
			{FailureOf(0.99), "99 %"},
			{FailureOf(0.9875), "98.75 %"},
			{FailureOf(0.9999), "99.99 %"},
			{Failure(math.Log(8.9e-5)), "1 - 8.9e-5"},
			{Failure(math.Log(3.2e-17)), "1 - 3.2e-17"},
			{Failure(math.Log(9.97e-9)), "1 - 1e-8"},
			{-1000 * math.Ln10, "1 - 1e-1000"},
			{FailureOf(0.5).Times(2), "vacuous"},
			{1, "vacuous"},
			{Never, "always"},
		} {
			if s := tt.f.String(); s != tt.want {
				t.Errorf("Failure(%v) prints %q, want %q", float64(tt.f), s, tt.want)
			}
		}
	})
	t.Run("adds_like_probabilities", func(t *testing.T) {
		for _, p := range []float64{1e-200, 1e-17, 0.01, 0.5} {
			for _, q := range []float64{1e-200, 1e-17, 0.01, 0.5} {
				f, g := Failure(math.Log(p)), Failure(math.Log(q))
				if x := math.Exp(float64(f.Plus(g))); !near(x, p+q, 2e-13) {
					t.Errorf("%v plus %v = %v", p, q, x)
				}
			}
			f := Failure(math.Log(p))
			if x, y := float64(f.Times(3)), float64(f.Plus(f).Plus(f)); math.Abs(x-y) > 1e-13 {
				t.Errorf("log %v times 3 = %v, thrice added %v", p, x, y)
			}
		}
	})
	t.Run("never_adds_nothing", func(t *testing.T) {
		f := FailureOf(0.9)
		if f.Plus(Never) != f || Never.Plus(f) != f || Never.Plus(Never) != Never || Never.Times(10) != Never {
			t.Error("Never is not the zero of Plus and Times")
		}
	})
	t.Run("keeps_what_a_probability_loses", func(t *testing.T) {
		f := VIBEAFailure(20, 0x1p-24, 1000)
		if p, _ := f.Confidence(); p != 1 || f == Never || f > -100 {
			t.Errorf("failure %v, confidence %v", float64(f), p)
		}
	})
}

func TestParseConfidence(t *testing.T) {
	for s, want := range map[string]float64{
		"0.5": -math.Ln2, "0.99": math.Log(0.01), "1-0.01": math.Log(0.01), "1-1E-20": -20 * math.Ln10,
		"1 - 3.2e-17": math.Log(3.2e-17), "1-2.5e-5000": math.Log(2.5) - 5000*math.Ln10,
	} {
		f, err := ParseConfidence(s)
		if err != nil || math.Abs(float64(f)-want) > 1e-14*(1-want) {
			t.Errorf("%q: %v, %v, want %v", s, float64(f), err, want)
		}
		if back, err := ParseConfidence(f.String()); f < -40 && (err != nil || math.Abs(float64(back-f)) > 0.05) {
			t.Errorf("%q: read back as %v, %v", f.String(), float64(back), err)
		}
	}
	for _, s := range []string{"", "0", "1", "-0.5", "1.5", "NaN", "1-0", "1-1", "1-2", "1--1e-3", "1-e", "1-1e", "1-1e1.5", "1-NaN", "1-Inf", "99%"} {
		if f, err := ParseConfidence(s); err == nil {
			t.Errorf("%q: %v, want an error", s, float64(f))
		}
	}
}
