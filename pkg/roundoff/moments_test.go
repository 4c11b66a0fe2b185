package roundoff

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMoments(t *testing.T) {
	const tol = 1e-14
	check := func(t *testing.T, us []float64) {
		t.Helper()
		worstMean, worstVariance := 0.0, 0.0
		for _, u := range us {
			mean, variance := bigMoments(u)
			em := relativeError(LogMean(u), mean)
			ev := relativeError(LogVariance(u), variance)
			if em > tol || ev > tol {
				t.Errorf("u = %v: relative errors %.1e of LogMean, %.1e of LogVariance, want %.0e", u, em, ev, tol)
			}
			worstMean, worstVariance = max(worstMean, em), max(worstVariance, ev)
		}
		t.Logf("%d values of u, worst %.1e of LogMean, %.1e of LogVariance", len(us), worstMean, worstVariance)
	}
	var powers, between, ends []float64
	for p := 1; p <= 113; p++ {
		powers = append(powers, math.Ldexp(1, -p))
	}
	rng := rand.New(rand.NewPCG(2024, 18747))
	for p := range 53 {
		between = append(between, math.Ldexp(1+rng.Float64(), -p-1))
	}
	for k := 1; k < 200; k++ { // evenly spread over (0, 1)
		between = append(between, (float64(k)+rng.Float64())/201)
	}
	ends = []float64{math.Nextafter(0.5, 0), 0.5, math.Nextafter(0.5, 1), 0.7615, 0.7616, 0.99, 1 - 0x1p-20, 1 - 0x1p-53, 0x1p-200, 3 * 0x1p-203}

	t.Run("at_every_precision_to_113", func(t *testing.T) { check(t, powers) })
	t.Run("between", func(t *testing.T) { check(t, between) })
	t.Run("at_seams_and_ends", func(t *testing.T) { check(t, ends) })
	t.Run("far_below_follow_their_leading_terms", func(t *testing.T) {
		u := 0x1p-500
		if x := LogMean(u); !near(x, -u*u/6, 1e-15) {
			t.Errorf("LogMean(2^-500) = %v", x)
		}
		if x := LogVariance(u); !near(x, u*u/3, 1e-15) {
			t.Errorf("LogVariance(2^-500) = %v", x)
		}
		if x := varianceRatio(0x1p-1074); !near(x, 1.0/3, 1e-15) {
			t.Errorf("varianceRatio(2^-1074) = %v", x)
		}
	})
	t.Run("at_single_precision", func(t *testing.T) {
		if x := LogVariance(0x1p-24); !near(x, 1.18424e-15, 5e-6) {
			t.Errorf("LogVariance(2^-24) = %v, want 1.18424e-15", x)
		}
	})
}

func TestLogVariancePrinted(t *testing.T) {
	t.Run("loses_its_digits", func(t *testing.T) {
		for _, tt := range []struct {
			p         int
			low, high float64 // relative error within
		}{
			{4, 0, 1e-12},
			{11, 1e-10, 1e-7},
			{24, 0.06, 0.07},
			{53, 1e31, 1e33},
		} {
			_, want := bigMoments(UnitRoundoff(tt.p))
			if e := relativeError(LogVariancePrinted(UnitRoundoff(tt.p)), want); e < tt.low || e > tt.high {
				t.Errorf("p = %d: relative error %.2e, want within [%.0e, %.0e]", tt.p, e, tt.low, tt.high)
			}
		}
	})
	t.Run("reaches_three_quarters", func(t *testing.T) {
		if x := LogVariancePrinted(0x1p-53); x != 0.75 {
			t.Errorf("LogVariancePrinted(2^-53) = %v, want 0.75", x)
		}
	})
}

// The moments agree with integrals of log(1+δ) over δ by the midpoint rule.
func TestMomentsAreIntegrals(t *testing.T) {
	for _, u := range []float64{0.01, 0.3, 0.6, 0.9} {
		const n = 20000
		sum, square := 0.0, 0.0
		for i := range n {
			y := math.Log1p(u * (2*(float64(i)+0.5)/n - 1))
			sum += y
			square += y * y
		}
		mean, variance := sum/n, square/n-(sum/n)*(sum/n)
		if !near(LogMean(u), mean, 1e-5) || !near(LogVariance(u), variance, 1e-5) {
			t.Errorf("u = %v: moments %v, %v, want %v, %v", u, LogMean(u), LogVariance(u), mean, variance)
		}
	}
}
