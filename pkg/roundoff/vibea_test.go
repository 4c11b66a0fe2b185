package roundoff

import (
	"math"
	"testing"
)

// printedFailure returns 1 - P_B by the printed formula of the lemma, given
// variance = σ²/n.
func printedFailure(λ, u, variance float64, n int) float64 {
	N := float64(n)
	return 2 * math.Exp(-λ*λ*N*u*u/(2*(N*variance+λ*math.Sqrt(N)*u*u/(3*(1-u)))))
}

func TestVIBEAFailure(t *testing.T) {
	t.Run("is_the_printed_one", func(t *testing.T) {
		for _, u := range someU {
			_, v := bigMoments(u)
			variance, _ := v.Float64()
			for _, n := range someN {
				for _, λ := range []float64{0.1, 1, 3, 10} {
					x, want := math.Exp(float64(VIBEAFailure(λ, u, n))), printedFailure(λ, u, variance, n)
					if !near(x, want, 1e-11) {
						t.Errorf("lambda = %v, u = %v, n = %d: %v, want %v", λ, u, n, x, want)
					}
				}
			}
		}
	})
	t.Run("falls_with_lambda_and_n_and_rises_with_u", func(t *testing.T) {
		for i, n := range someN {
			for j, u := range someU {
				for k, λ := range someLambda {
					f := VIBEAFailure(λ, u, n)
					if i > 0 && VIBEAFailure(λ, u, someN[i-1])+1e-12 < f ||
						j > 0 && VIBEAFailure(λ, someU[j-1], n) > f+1e-12 ||
						k > 0 && VIBEAFailure(someLambda[k-1], u, n) < f {
						t.Errorf("not monotone at lambda = %v, u = %v, n = %d", λ, u, n)
					}
				}
			}
		}
	})
	t.Run("has_ends", func(t *testing.T) {
		for _, u := range []float64{0x1p-1074, 0x1p-24, 0.5, 1 - 0x1p-53} {
			if f := VIBEAFailure(0, u, 1); f != math.Ln2 {
				t.Errorf("u = %v: failure %v at lambda = 0, want log 2", u, f)
			}
			if f := VIBEAFailure(math.Inf(1), u, 1); f != Never {
				t.Errorf("u = %v: failure %v at lambda = +Inf, want Never", u, f)
			}
			if f := VIBEAFailure(1e308, u, 1); math.IsNaN(float64(f)) {
				t.Errorf("u = %v: failure NaN at lambda = 1e308", u)
			}
		}
	})
}

func TestLambda(t *testing.T) {
	t.Run("of_one_event", func(t *testing.T) {
		for _, tt := range []struct {
			u    float64
			n    int
			want [3]float64 // at 90, 95, 99 %
		}{
			{0x1p-24, 1, [3]float64{2.729, 3.222, 4.345}},
			{0x1p-24, 2, [3]float64{2.286, 2.663, 3.505}},
			{0x1p-24, 100, [3]float64{1.517, 1.696, 2.064}},
			{0x1p-24, 1 << 40, [3]float64{1.413, 1.568, 1.879}},
			{0x1p-24, 32767, [3]float64{1.419, 0, 1.889}},
			{0x1p-4, 1, [3]float64{2.836, 3.357, 4.546}},
		} {
			for i, p := range []float64{0.90, 0.95, 0.99} {
				if λ := Lambda(FailureOf(p), tt.u, tt.n); tt.want[i] != 0 && math.Abs(λ-tt.want[i]) > 5.1e-4 {
					t.Errorf("Lambda(FailureOf(%v), %v, %d) = %v, want %v", p, tt.u, tt.n, λ, tt.want[i])
				}
			}
		}
	})
	t.Run("of_any_failure_inverts_the_lemma", func(t *testing.T) {
		for _, u := range someU {
			_, v := bigMoments(u)
			for _, n := range someN {
				for _, f := range []Failure{-1e-9, -0.5, FailureOf(0.99), -40, -2000, -1e9} {
					// The exponent λ²nu²/(2(σ² + λ√n u²/(3(1-u)))) is log 2 - f.
					λ := bf(Lambda(f, u, n))
					u2, N := bigMul(bf(u), bf(u)), bf(float64(n))
					linear := bigQuo(bigMul(λ, bigMul(bf(0).Sqrt(N), u2)), bigMul(bf(3), bigSub(bf(1), bf(u))))
					below := bigMul(bf(2), bigAdd(bigMul(N, v), linear))
					exponent := bigQuo(bigMul(bigMul(λ, λ), bigMul(N, u2)), below)
					if e := relativeError(math.Ln2-float64(f), exponent); e > 1e-13 {
						t.Errorf("Lambda(%v, %v, %d) = %v: relative error %v", float64(f), u, n, Lambda(f, u, n), e)
					}
				}
			}
		}
	})
	t.Run("tends_to_the_gaussian_tail", func(t *testing.T) {
		for _, p := range []float64{0.90, 0.95, 0.99} {
			want := math.Sqrt(2 * math.Log(2/(1-p)) / 3)
			if λ := Lambda(FailureOf(p), 0x1p-53, 1<<52); !near(λ, want, 1e-6) {
				t.Errorf("Lambda(FailureOf(%v), 2^-53, 2^52) = %v, want %v", p, λ, want)
			}
		}
	})
	t.Run("beats_gamma_from_a_few_factors_on", func(t *testing.T) {
		for _, tt := range []struct {
			u    float64
			want [3]int
		}{
			{0x1p-24, [3]int{4, 5, 8}}, {0x1p-11, [3]int{4, 5, 8}}, {0x1p-8, [3]int{4, 5, 7}}, {0x1p-4, [3]int{4, 5, 6}},
		} {
			for i, p := range []float64{0.90, 0.95, 0.99} {
				n := 1
				for GammaTildeMoment(n, tt.u, Lambda(FailureOf(p), tt.u, n)) >= Gamma(n, tt.u) {
					n++
				}
				if n != tt.want[i] {
					t.Errorf("u = %v, %v: from n = %d on, want %d", tt.u, p, n, tt.want[i])
				}
			}
		}
	})
}

func TestHighamMaryLambda(t *testing.T) {
	for _, tt := range []struct{ p, u, want float64 }{
		{0.90, 0x1p-24, 2.448}, {0.95, 0x1p-24, 2.716}, {0.99, 0x1p-24, 3.255},
		{0.90, 0x1p-4, 2.611}, {0.95, 0x1p-4, 2.897}, {0.99, 0x1p-4, 3.472},
	} {
		λ := HighamMaryLambda(FailureOf(tt.p), tt.u, 1)
		if math.Abs(λ-tt.want) > 5.1e-4 {
			t.Errorf("HighamMaryLambda(FailureOf(%v), %v, 1) = %v, want %v", tt.p, tt.u, λ, tt.want)
		}
		for _, events := range []float64{1, 10, 1e9} {
			f := HighamMaryFailure(HighamMaryLambda(FailureOf(tt.p), tt.u, events), tt.u).Times(events)
			if !near(float64(f), float64(FailureOf(tt.p)), 1e-13) {
				t.Errorf("p = %v, u = %v, %v events: failure %v", tt.p, tt.u, events, f)
			}
		}
	}
	t.Run("is_below_Lambda_for_one_factor_only", func(t *testing.T) {
		u := 0x1p-24
		for n := 1; n < 100; n++ {
			if below := HighamMaryLambda(FailureOf(0.95), u, 1) < Lambda(FailureOf(0.95), u, n); below != (n == 1) {
				t.Errorf("n = %d: Higham-Mary below VIBEA: %v", n, below)
			}
		}
	})
}

func FuzzLambda(f *testing.F) {
	f.Add(0.99, 0x1p-24, 1)
	f.Add(0.9, 0.5, 1000)
	f.Add(1e-300, 0x1p-1074, 1<<62)
	f.Add(1-0x1p-53, 1-0x1p-53, 2)
	f.Fuzz(func(t *testing.T, p, u float64, n int) {
		if !(0 < p && p < 1 && 0 < u && u < 1 && n >= 1) { // n = 0 never fails
			t.Skip()
		}
		λ := Lambda(FailureOf(p), u, n)
		x, want := float64(VIBEAFailure(λ, u, n)), float64(FailureOf(p))
		if math.Abs(x-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("VIBEAFailure(Lambda(FailureOf(%v), %v, %d) = %v) = %v, want %v", p, u, n, λ, x, want)
		}
	})
}
