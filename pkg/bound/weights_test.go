package bound

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas64"
)

// weighed returns the problem of M rows of d times given weights.
func weighed(M int, x Distribution, b blas64.General, d tcore.Device) Problem {
	return Problem{M: M, N: b.Cols, K: b.Rows, Machine: tcore.Machine{Device: d}, Represented: true, X: x, Weights: &Weights{B: b}}
}

// decimal returns weights that are multiples of 0.1, whose errors are of few
// values and no random numbers, in columns of different size.
func decimal(K, N int) blas64.General {
	b := matrix.New64(K, N)
	for i := range K {
		for j := range N {
			b.Data[i*N+j] = float64(i*(j+3)%19-7) / 10 * float64(j+1)
		}
	}
	return b
}

// The largest |ÂB̂ - AB| / |A||B| of one output or another is above the
// constant in no more than 10 % of all products, and not far below for long
// sums.
func TestWeights_contain_the_errors(t *testing.T) {
	const M, N, products = 8, 4, 100
	f := roundoff.FailureOf(0.9)
	for _, x := range []Distribution{Uniform(-1, 1), Uniform(0, 1), Normal(0, 1)} {
		for _, format := range []tcore.Format{tcore.E4M3, tcore.E5M2, tcore.BFloat16} {
			for K, least := range map[int]float64{64: 0.1, 512: 0.3} {
				d := devices.IEEEF32()
				d.A, d.B = format, format
				b := decimal(K, N)
				hat := matrix.Map64(func(x float64) float64 { return format.Round(x, tcore.ToNearestEven) }, b)
				c := weighed(M, x, b, d).Weights.conversion(weighed(M, x, b, d), f)
				rng := rand.New(rand.NewPCG(21, uint64(K)))
				beyond, mean, draw := 0, 0.0, x.from(rng)
				for range products {
					a := filled(M, K, draw.Rand)
					ahat := matrix.Map64(func(x float64) float64 { return format.Round(x, tcore.ToNearestEven) }, a)
					D, exact, size := matrix.Product64(ahat, hat), matrix.Product64(a, b), sizes(a, b)
					most := 0.0
					for i := range D.Data {
						most = max(most, math.Abs(D.Data[i]-exact.Data[i])/size.Data[i])
					}
					if most > c {
						beyond++
					}
					mean += most / c / products
				}
				if beyond > products/10 || mean < least {
					t.Errorf("%v, %s, K = %d: %d of %d products above %v, in the mean %.2f of it, want %d at most and %v",
						x, format.Name, K, beyond, products, c, mean, products/10, least)
				}
			}
		}
	}
}

// Bounds of products of weights on a device contain the errors, are less than
// the worst case, and say what they assume.
func TestWeights_on_devices(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 0))
	for _, d := range []tcore.Device{devices.HopperE4M3(), devices.BlackwellE4M3(), devices.VoltaF16()} {
		b := decimal(512, 4)
		k := weighed(8, Normal(0, 1), b, d)
		worst := k
		worst.Weights = nil
		exact, size, _ := absoluteErrors(k, filled(8, 512, rng.NormFloat64), b)
		for i, r := range results(t, k, at99) {
			before := results(t, worst, at99)[i]
			if r.Holds != before.Holds {
				t.Errorf("%s, %s: holds is %v, without weights %v: %s", d.Name, r.Bound, r.Holds, before.Holds, r.Why)
			}
			if !r.Holds {
				continue
			}
			if !(r.Constant < before.Constant) || r.Confidence != at99 || !strings.Contains(r.Why, "independent elements of A") {
				t.Errorf("%s, %s: %v with confidence %v, %s; without weights %v", d.Name, r.Bound, r.Constant, r.Confidence, r.Why, before.Constant)
			}
			for j, e := range exact {
				if e > r.Limit(size[j]) {
					t.Errorf("%s, %s: error %v, limit %v", d.Name, r.Bound, e, r.Limit(size[j]))
				}
			}
		}
	}
}

// Weights that are no factor of the product, or that recipes quantise, are
// refused, not left out in silence.
func TestWeights_that_are_refused(t *testing.T) {
	for want, change := range map[string]func(k *Problem){
		"Weights of 64 × 4, want K × N, 128 × 4": func(k *Problem) { k.K = 128 },
		"Weights of 64 × 4, want K × N, 64 × 5":  func(k *Problem) { k.N = 5 },
		"Weights with recipe ":                   func(k *Problem) { k.Recipes = taken(k.Device)[0] },
	} {
		k := weighed(2, Normal(0, 1), decimal(64, 4), devices.HopperE4M3())
		if _, err := Evaluate(k, at99); err != nil {
			t.Errorf("before the change: %v", err)
		}
		change(&k)
		if _, err := Evaluate(k, at99); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Evaluate: %v, want %s", err, want)
		}
		if _, err := Advise(k, 1e-2, at99, []tcore.Device{k.Device}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Advise: %v, want %s", err, want)
		}
	}
}

// Where weights tell nothing, bounds are those without them.
func TestWeights_that_are_not_used(t *testing.T) {
	e4m3 := devices.HopperE4M3()
	k := weighed(2, Normal(0, 1), decimal(64, 4), e4m3)
	if !k.weighs() {
		t.Fatal("weights are not used")
	}
	for name, change := range map[string]func(k *Problem){
		"another K":              func(k *Problem) { k.K = 128 },
		"another N":              func(k *Problem) { k.N = 5 },
		"no density of A":        func(k *Problem) { k.X = Distribution{} },
		"factors of the format":  func(k *Problem) { k.Represented = false },
		"formats that are cut":   func(k *Problem) { k.Device = devices.HopperTF32() },
		"scales of blocks":       func(k *Problem) { k.Device = devices.BlackwellMXE4M3() },
		"a weight that is large": func(k *Problem) { k.Device = devices.HopperF16(); k.Weights.B.Data[9] = 1e6 },
		"a weight that is none":  func(k *Problem) { k.Weights.B.Data[9] = math.NaN() },
	} {
		k := weighed(2, Normal(0, 1), decimal(64, 4), e4m3)
		change(&k)
		if k.weighs() {
			t.Errorf("%s: weights are used", name)
		}
	}
	// Products of rounded factors may be larger than those of factors.
	c, _ := k.better(Bound{Constant: func(Problem, roundoff.Failure) Value { return Value{} }}, at99, false)
	a, b := filled(2, 64, func() float64 { return 1.07 }), filled(64, 4, func() float64 { return 0.3 })
	e4m3Of := func(x float64) float64 { return tcore.E4M3.Round(x, tcore.ToNearestEven) }
	if got, want := sizes(a, b).Data[0], sizes(matrix.Map64(e4m3Of, a), matrix.Map64(e4m3Of, b)).Data[0]; want < 1.05*got || want > c.sizes*got {
		t.Errorf("|Â||B̂| = %v, |A||B| = %v, bound %v of it", want, got, c.sizes)
	}
	// A law beyond the format is refused, with weights too.
	k = weighed(2, Normal(0, 400), decimal(64, 4), e4m3)
	if r := k.tightest(at99); r.Holds {
		t.Errorf("N(0,400) in e4m3: %+v", r)
	}
	// Columns of zeros have no error.
	k = weighed(2, Normal(0, 1), matrix.New64(64, 4), e4m3)
	if c := k.Weights.conversion(k, at99); c != 0 {
		t.Errorf("weights of 0: %v, want 0", c)
	}
}

// A sum of weighted uniform numbers is seldom below its least.
func TestLeastWeighted(t *testing.T) {
	const n, runs = 40, 20000
	rng := rand.New(rand.NewPCG(23, 0))
	mean, square := 0.0, 0.0
	for i := range n {
		w := float64(i)
		mean += w / 2
		square += w * w / 3
	}
	for _, ζ := range []float64{0.5, 0.1, 0.01} {
		least, below := leastWeighted(mean, square, roundoff.FailureOf(1-ζ)), 0.0
		for range runs {
			sum := 0.0
			for i := range n {
				sum += float64(i) * rng.Float64()
			}
			if sum < least {
				below++
			}
		}
		if below > ζ*runs || least < mean/3 {
			t.Errorf("%v of %d below %v, the mean is %v, ζ = %v", below, runs, least, mean, ζ)
		}
	}
	if least := leastWeighted(1, 100, -3); least != 0 {
		t.Errorf("%v, want 0", least)
	}
}
