package truncation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

// roundedValues are distributions of few products, in units: only ties, ties
// and others, products that are lost.
var roundedValues = [][]float64{
	{0.5}, {1.5}, {2.5}, {-1.5}, {0.25}, {0.75}, {1.25},
	{0.5, 1}, {0.5, 1.5}, {1.5, 1}, {0.5, 2}, {1.5, 2}, {0.25, 0.5, 0.75}, {1.5, -0.5, 3}, {0.5, 1.3, 2.2}, {2.5, 1.75, 1},
}

// The moments of the error of a step agree with the average errors over a long
// simulated sum that is rounded step by step.
func TestNearestErrorIsThatOfALongSum(t *testing.T) {
	const steps = 200000
	for _, values := range roundedValues {
		for _, U := range []float64{1, 0x1p-7} {
			rng := rand.New(rand.NewPCG(51, 52))
			s, mean, square := 0.0, 0.0, 0.0
			for range steps {
				p := values[rng.IntN(len(values))]
				z := math.RoundToEven(s + p)
				r := z - (s + p)
				mean += r / steps
				square += r * r / steps
				s = z
			}
			in := make([]float64, len(values))
			for i, v := range values {
				in[i] = v * U
			}
			var z Increments
			z.Add(in, []float64{1}, nil)
			z.Add([]float64{1}, in, nil)
			got := z.Nearest(U)
			if noise := 3 / math.Sqrt(steps); math.Abs(got.Mean/U-mean) > noise || math.Abs(got.Square/(U*U)-square) > noise {
				t.Errorf("%v, U = %v: %.4f and %.4f units, a sum has %.4f and %.4f", values, U, got.Mean/U, got.Square/(U*U), mean, square)
			}
			if got.Estimate != 0 {
				t.Errorf("%v: estimate %v of batches that are alike", values, got.Estimate)
			}
		}
	}
}

func TestIncrements(t *testing.T) {
	t.Run("weights_count", func(t *testing.T) {
		var z Increments
		z.Add([]float64{1}, []float64{0.25, 0.75}, []float64{3, 1})
		z.Add([]float64{1}, []float64{0.25, 0.75}, []float64{3, 1})
		if got := z.Nearest(1); math.Abs(got.Mean - -0.125) > 1e-15 || got.Square != 0.0625 {
			t.Errorf("%+v, want (3 × -0.25 + 0.25)/4", got)
		}
	})
	t.Run("of_either_sign_have_no_mean", func(t *testing.T) {
		var z Increments
		z.Symmetric()
		z.Add([]float64{0.25}, []float64{1}, nil)
		z.Add([]float64{0.75}, []float64{1}, nil)
		if got := z.Nearest(1); got != (NearestError{0, 0.0625, 0}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("of_different_batches_say_how_sure", func(t *testing.T) {
		var z Increments
		z.Add([]float64{0.25}, []float64{1}, nil)
		z.Add([]float64{0}, []float64{1}, nil)
		if got := z.Nearest(1); got.Mean != -0.125 || math.Abs(got.Estimate-0.125) > 1e-15 {
			t.Errorf("%+v, want a deviation of 1/8", got)
		}
	})
	for want, f := range map[string]func(){
		"truncation: 0 x, 1 y and 0 weights, want x and y, and a weight for each y or none": func() { new(Increments).Add(nil, []float64{1}, nil) },
		"truncation: 1 x, 1 y and 2 weights, want x and y, and a weight for each y or none": func() { new(Increments).Add([]float64{1}, []float64{1}, []float64{1, 2}) },
		"truncation: 0 batches, want 2 or more":                                             func() { new(Increments).Nearest(1) },
		"truncation: U = 0, want 0 < U < +Inf":                                              func() { new(Increments).Nearest(0) },
	} {
		t.Run("panics", func(t *testing.T) { panics.Want(t, want, f) })
	}
}

// roundProducts agrees with roundLargeProducts, which uses math.RoundToEven,
// and is taken only where it does.
func TestRoundProducts(t *testing.T) {
	check := func(x float64) {
		of := []float64{x, 0.75}
		got, want := roundProducts(of, 1), roundLargeProducts(of, 1)
		if math.Abs(x) < 1<<51 && got != want {
			t.Errorf("of %v: %+v, want %+v", x, got, want)
		}
		var z Increments
		z.Add(of, []float64{-1}, nil)
		z.Add(of, []float64{-1}, nil)
		k := math.RoundToEven(x)
		e := k - x
		if want := int(math.Abs(math.Mod(k, 2))); parity(k) != want {
			t.Errorf("parity(%v) = %d, want %d", k, parity(k), want)
		}
		if got, want := z.Nearest(1).Square, (float64(e*e)+0.0625)/2; got != want {
			t.Errorf("of %v: E r² = %v, want %v", x, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(53, 54))
	for range 100000 {
		x := math.Ldexp(rng.Float64(), rng.IntN(70)-8)
		for _, x := range []float64{x, math.Round(x), math.Floor(x) + 0.5} {
			check(x)
			check(-x)
		}
	}
	for _, x := range []float64{0, 0x1p51, 0x1p52, 0x1p53, 0x1p60} {
		for i := -4.; i <= 4; i += 0.25 {
			check(x + i)
			check(-x + i)
		}
	}
}
