package roundoff

import (
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// uniformTail returns P(|Σ x_k| > t), x_k uniform on [-h_k, h_k], exactly: a
// sum over the corners of the cube, in long arithmetic.
func uniformTail(h []float64, t float64) float64 {
	n := len(h)
	const bits = 400
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	sum, volume := number(0), number(1)
	for k, x := range h {
		volume.Mul(volume, number(2*x*float64(k+1)))
	}
	for corner := range 1 << n {
		at, sign := number(-t), 1.0 // of the corner with all x_k = h_k and some reflected
		for k, x := range h {
			if corner>>k&1 == 0 {
				at.Add(at, number(x))
			} else {
				at.Sub(at, number(x))
				sign = -sign
			}
		}
		if at.Sign() <= 0 {
			continue
		}
		term := number(sign)
		for range n {
			term.Mul(term, at)
		}
		sum.Add(sum, term)
	}
	p, _ := sum.Quo(sum, volume).Float64()
	return 2 * p
}

// The probability is exact of few numbers: the bound is never below its
// quantile, and near it.
func TestSymmetricTail_of_few_numbers(t *testing.T) {
	if p := uniformTail([]float64{1, 1}, 1); math.Abs(p-0.25) > 1e-15 { // two triangles
		t.Fatalf("P(|x + y| > 1) is %v, want 1/4", p)
	}
	for _, h := range [][]float64{
		{1}, {1, 1}, {1, 0.5}, {4, 1, 1}, {1, 1, 1, 1}, {1, 0x1p-20, 0x1p-20, 0x1p-20}, {8, 4, 4, 2, 2, 2, 1, 1, 1, 1},
		{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	} {
		counted := map[float64]int{}
		for _, x := range h {
			counted[x]++
		}
		var kinds []Symmetric
		for x, n := range counted {
			kinds = append(kinds, Symmetric{Most: x, Variance: x * x / 3, N: n})
		}
		most := 0.0
		for _, x := range h {
			most += x
		}
		for _, ζ := range []float64{0.9, 0.3, 1e-2, 1e-4, 1e-6, 1e-9} {
			f := Failure(math.Log(ζ))
			bound := SymmetricTail(kinds, f)
			if bound > most {
				t.Errorf("%v at %v: %v, and the sum is at most %v", h, ζ, bound, most)
			}
			p := uniformTail(h, bound)
			if p > ζ*(1+1e-9) {
				t.Errorf("%v at %v: %v is exceeded with probability %v", h, ζ, bound, p)
			}
			if len(h) == 12 && ζ < 0.1 && ζ > 1e-5 && p < ζ/8 {
				t.Errorf("%v at %v: %v is exceeded with probability %v, less than an eighth of it", h, ζ, bound, p)
			}
		}
	}
}

// Of many numbers the sum is nearly normal, and the bound its quantile.
func TestSymmetricTail_of_many_numbers(t *testing.T) {
	for _, ζ := range []float64{1e-2, 1e-6, 1e-12, 1e-100} {
		f := Failure(math.Log(ζ))
		got := SymmetricTail([]Symmetric{uniforms(3, 300000)}, f) / math.Sqrt(300000*3)
		low, high := 0.0, 40.0
		for range 60 {
			if x := (low + high) / 2; math.Erfc(x/math.Sqrt2) > ζ {
				low = x
			} else {
				high = x
			}
		}
		// At 21 deviations the tail of the sum is lighter than a normal one.
		if got < low*(1-1e-4) || got > low*1.01 || ζ <= 1e-6 && got > low*1.003 {
			t.Errorf("at %v: %v standard deviations, of a normal number %v", ζ, got, low)
		}
		if azuma := Azuma(1, f); got > azuma {
			t.Errorf("at %v: %v standard deviations, more than Hoeffding's %v", ζ, got, azuma)
		}
	}
}

// Failures of any size have a finite bound, and widths any size.
func TestSymmetricTail_of_any_size(t *testing.T) {
	for _, f := range []Failure{-1e-9, -0.1, -700, -1e6} {
		for _, scale := range []float64{0x1p-300, 1, 0x1p300} {
			got := SymmetricTail([]Symmetric{uniforms(scale, 5), uniforms(scale/2, 90), uniforms(0, 3)}, f) / scale
			if want := SymmetricTail([]Symmetric{uniforms(1, 5), uniforms(0.5, 90)}, f); math.Abs(got/want-1) > 1e-9 || !(got > 0 && got <= 50) {
				t.Errorf("f = %v, in units of %v: %v, in units of 1 %v", f, scale, got, want)
			}
		}
	}
	if got := SymmetricTail(nil, -1); got != 0 {
		t.Errorf("the sum of nothing is at most %v", got)
	}
}

// Numbers of a smaller variance have a smaller bound, and it holds: x is 0 with
// probability 1/2, or uniform.
func TestSymmetricTail_of_a_smaller_variance(t *testing.T) {
	const n, draws = 40, 200000
	f := Failure(math.Log(0.01))
	all := SymmetricTail([]Symmetric{uniforms(1, n)}, f)
	bound := SymmetricTail([]Symmetric{{Most: 1, Variance: 1. / 6, N: n}}, f)
	if bound > 0.75*all || bound < 0.65*all {
		t.Errorf("half of the variance: %v, with all of it %v", bound, all)
	}
	rng := rand.New(rand.NewPCG(241118747, 5))
	above := 0
	for range draws {
		sum := 0.0
		for range n {
			if rng.IntN(2) == 0 {
				sum += 2*rng.Float64() - 1
			}
		}
		if math.Abs(sum) > bound {
			above++
		}
	}
	if rate := float64(above) / draws; rate > 0.01 || rate < 0.006 {
		t.Errorf("%v is exceeded with probability %v", bound, rate)
	}
}

// The density is at least the integral of |φ|/2π on a fine grid, or one over
// the standard deviation, and not much greater.
func TestSmoothSum_density(t *testing.T) {
	for _, x := range []smoothSum{{uniforms(1, 3)}, {uniforms(1, 2), uniforms(0.1, 4)}, {uniforms(1, 1), uniforms(0.01, 5)}, {uniforms(1, 40)}} {
		variance := 0.0
		for _, s := range x {
			variance += float64(s.N) * s.Variance
		}
		for i, s := range x {
			x[i] = Symmetric{s.Most / math.Sqrt(variance), s.Variance / variance, s.N}
		}
		for _, θ := range []float64{1, 3, 6} {
			const step, end = 0.01, 5000
			sum := 0.5
			for w := step; w < end; w += step {
				φ := 1.0
				for _, s := range x {
					z := complex(θ, w) * complex(s.Most, 0)
					φ *= math.Pow(cmplx.Abs(cmplx.Sinh(z)/z)/(math.Sinh(θ*s.Most)/(θ*s.Most)), float64(s.N))
				}
				sum += φ
			}
			sum *= step / math.Pi
			variance := 0.0 // of uniform numbers under the tilted law
			for _, s := range x {
				a := θ * s.Most
				variance += float64(s.N) * s.Most * s.Most * (1/(a*a) - 1/(math.Sinh(a)*math.Sinh(a)))
			}
			if got, want := x.density(θ), min(sum, 1/math.Sqrt(variance)); got < 0.999*want || got > 1.4*sum {
				t.Errorf("%v tilted by %v: density %v, want at least %v", x, θ, got, want)
			}
		}
	}
}

func TestSymmetricTail_panics(t *testing.T) {
	for _, x := range []Symmetric{{Most: -1}, {Most: 1, Variance: 1.1, N: 1}, {Most: 1, N: -1}, {Most: math.Inf(1)}, {Most: math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v does not panic", x)
				}
			}()
			SymmetricTail([]Symmetric{x}, -1)
		}()
	}
}

// uniforms returns n numbers that are uniform on [-h, h].
func uniforms(h float64, n int) Symmetric {
	return Symmetric{Most: h, Variance: h * h / 3, N: n}
}

func BenchmarkSymmetricTail(b *testing.B) {
	var x []Symmetric
	for e := range 8 {
		x = append(x, uniforms(math.Ldexp(1, e), 1<<e))
	}
	for b.Loop() {
		SymmetricTail(x, -14)
	}
}
