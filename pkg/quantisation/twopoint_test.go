package quantisation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// drawn returns one rounding of x by the emulator.
func drawn(f tcore.Format, bits int, x blas64.General, seed uint64) blas64.General {
	z := matrix.New64(x.Rows, x.Cols)
	tcore.Stochastic{Seed: seed, Bits: bits}.RoundSlice(f, z.Data, x.Data, 0)
	return z
}

// All bits of the generator are tried: of 2^8 random numbers, as many round up
// as the mean says, in the emulator and in the two neighbours.
func TestRoundedHasTheMeanOfTheEmulator(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, f := range []tcore.Format{tcore.E4M3, tcore.E2M1, tcore.E5M2} {
		x := filled(1, 200, func(_, j int) float64 {
			v := math.Ldexp(r.NormFloat64(), r.IntN(12)-9)
			return max(-6, min(v, 6))
		})
		x.Data[0], x.Data[1], x.Data[2] = 0, 6, -1.5
		for _, bits := range []int{1, 3, 8} {
			p, err := Rounded(x, f, bits)
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range x.Data {
				low, high := f.Round(v, tcore.ToNegative), f.Round(v, tcore.ToPositive)
				mean := 0.0
				for n := range 1 << bits { // the neighbour away from zero if fraction and random number reach 1
					φ, near, far := math.Abs(v), math.Abs(low), math.Abs(high)
					if near > far {
						near, far = far, near
					}
					z := near
					if far > near && (φ-near)/(far-near)+math.Ldexp(float64(n), -bits) >= 1 {
						z = far
					}
					mean += math.Copysign(z, v) / float64(int(1)<<bits)
				}
				m, l, h := p.at(0, j)
				if m != mean || l != low || h != high {
					t.Errorf("%s, %d bits: %v has mean %v between %v and %v, want %v, %v, %v", f.Name, bits, v, m, l, h, mean, low, high)
				}
				if math.Abs(m) > math.Abs(v) || math.Abs(v-m) >= math.Ldexp(high-low, -bits) && v != m {
					t.Errorf("%s, %d bits: the mean of %v is %v", f.Name, bits, v, m)
				}
			}
			const draws = 4000
			sum := make([]float64, len(x.Data))
			for seed := range uint64(draws) {
				for j, v := range drawn(f, bits, x, seed).Data {
					sum[j] += v / draws
				}
			}
			for j := range sum {
				m, l, h := p.at(0, j)
				if d := math.Abs(sum[j] - m); d > 5*math.Sqrt(variance(m, l, h)/draws)+1e-9 {
					t.Errorf("%s, %d bits: the emulator's mean of %v is %v, want %v", f.Name, bits, x.Data[j], sum[j], m)
				}
			}
		}
	}
}

// Kearns and Saul's κ bounds the generating function of two values, and where
// 1-2p is small the series is the formula.
func TestProxy(t *testing.T) {
	for _, p := range []float64{1e-300, 1e-12, 0.01, 0.2, 0.4, 0.4999, 0.49999, 0.5, 0.7, 0.999} {
		κ := proxy(p, 0, 1)
		if v := p * (1 - p); κ < v*(1-1e-12) || κ > 0.25 {
			t.Errorf("p = %v: κ = %v, want between the variance %v and 1/4", p, κ, v)
		}
		for θ := -30.0; θ <= 30; θ += 0.37 {
			if K := math.Log(1-p+p*math.Exp(θ)) - θ*p; K > κ*θ*θ/2*(1+1e-9)+1e-15 {
				t.Errorf("p = %v, θ = %v: log E e^θX = %v > %v", p, θ, K, κ*θ*θ/2)
			}
		}
	}
	near(t, "the series", proxy(0.5-4.9e-5, 0, 1), (2*4.9e-5)/(4*math.Atanh(2*4.9e-5)), 1e-12)
	near(t, "a step of 3", proxy(1+0.6, 1, 4), 9*proxy(0.2, 0, 1), 1e-12)
	near(t, "mean over p, of the fact that prices it against the variance 1/6", meanProxy(), 0.213, 0.003)
	if proxy(2, 2, 2) != 0 || proxy(2, 2, 3) != 0 {
		t.Error("κ of a number of the format, want 0")
	}
}

func meanProxy() float64 {
	mean := 0.0
	for i := range 1000 {
		mean += proxy((float64(i)+0.5)/1000, 0, 1) / 1000
	}
	return mean
}

// Scales multiply what is rounded: the errors of two scaled factors are those
// of the unscaled ones, multiplied.
func TestTimes(t *testing.T) {
	s := small(t)
	scale := func(m blas64.General, c float64) blas64.General {
		return matrix.Map64(func(float64) float64 { return c }, m)
	}
	a, err := s.a.Times(scale(s.a.mean, 0.25))
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.b.Times(scale(s.b.mean, 6))
	if err != nil {
		t.Fatal(err)
	}
	f := roundoff.FailureOf(0.9)
	for i, v := range Stochastic(a, b).Chernoff(f).Data {
		near(t, "Chernoff", v, 1.5*s.Chernoff(f).Data[i], 1e-9)
	}
	panics.WantPart(t, "s = -1, want s >= 0", func() { s.a.Times(scale(s.a.mean, -1)) })
	panics.WantPart(t, "s is 3 × 2, want 1 × 3", func() { s.a.Times(s.b.mean) })
	if _, err := s.a.Times(scale(s.a.mean, math.Inf(1))); err == nil {
		t.Error("no error for an infinite scale")
	}
}
