package roundoff

import (
	"math"
	"testing"
)

// signs is the law of products that are ±1.
func signs() *Products {
	return PairProducts([]float64{1}, []float64{1}, -14, -14).Symmetric()
}

// volta and hopper cut sums off to binary32; exact never cuts anything.
var (
	volta  = Truncation{Terms: 4, FractionBits: 23, Unit: 0x1p-24}
	hopper = Truncation{Terms: 16, FractionBits: 25, Unit: 0x1p-24}
	exact  = Truncation{Terms: 4, FractionBits: 60, Unit: 0x1p-53}
)

// uniforms is the law of the products of binary16 numbers all over [lo, hi].
func uniforms(lo, hi float64) *Products {
	const n = 128
	var x, y, w []float64
	round := func(z float64) float64 {
		q := math.Ldexp(1, ilogb(z)-10)
		return q * math.RoundToEven(z/q)
	}
	for i := range n {
		u, v := float64(mix(uint64(2*i+1))>>11)*0x1p-53, float64(mix(uint64(2*i+2))>>11)*0x1p-53
		x = append(x, round(lo+(hi-lo)*(float64(i)+u)/n))
		y = append(y, round(lo+(hi-lo)*(float64(i)+v)/n))
		w = append(w, 1)
	}
	return ValueProducts(x, w, y, w, -14, -14)
}

func TestChain(t *testing.T) {
	t.Run("knows the law of the sum", func(t *testing.T) {
		// Σ of K signs: log E e^(φs) = K log cosh φ.
		for _, q := range []int{1, 16, 256, 4096} {
			c := NewChain(exact, signs(), q)
			K := float64(4 * q)
			for _, x := range []float64{0.1, 1, 3, 5} { // in standard deviations
				φ := x / math.Sqrt(K)
				want := K * math.Log(math.Cosh(φ))
				if got := c.logMoment(0, φ, true); !close(got, want, 0.004) {
					t.Errorf("K = %v, φ = %v/√K: %v, want %v", K, x, got, want)
				}
			}
		}
	})

	t.Run("of constants is the constant path", func(t *testing.T) {
		// 1 + 1 + ... is exact until 2^24, and 2^-20 more than 1 is lost past 2^5.
		if p := NewChain(volta, PairProducts([]float64{1}, []float64{1}, -14, -14), 1000).Predict(); p.Mean != 0 || p.Deviation != 0 {
			t.Errorf("sum of ones: error %v ± %v, want 0", p.Mean, p.Deviation)
		}
	})

	t.Run("moment generating function is convex and 0 at 0", func(t *testing.T) {
		c := NewChain(hopper, uniforms(0, 1), 16)
		p := c.Predict()
		before := math.Inf(-1)
		for x := -4.0; x <= 4; x += 0.5 {
			slope := c.logMoment((x+0.25)/p.Deviation, 0, true) - c.logMoment((x-0.25)/p.Deviation, 0, true)
			if slope < before-1e-6 {
				t.Errorf("slope at %v is %v, before it %v", x, slope, before)
			}
			before = slope
		}
		if z := c.logMoment(0, 0, true); math.Abs(z) > 1e-9 {
			t.Errorf("at 0: %v", z)
		}
	})

	t.Run("grid is fine enough", func(t *testing.T) {
		// The same bound with twice as many layers as the number of steps asks for: steps one by one.
		c := NewChain(volta, uniforms(-1, 1).Symmetric(), 200)
		θ := 3 / c.Predict().Deviation
		coarse := c.logMoment(θ, 0, true)
		c.layers = nil
		for i := range 201 {
			half := tails*math.Sqrt(4*c.law.Variance*float64(i)) + c.reach/64
			l := layer{block: i, count: 1, start: -half, h: 2 * half / (points - 1)}
			l.nodes, l.weights = quadrature(c.central, 4)
			c.layers = append(c.layers, l)
		}
		if fine := c.logMoment(θ, 0, true); !close(fine, coarse, 0.03) {
			t.Errorf("log E e^(θ error) = %v, step by step %v", coarse, fine)
		}
	})

	t.Run("bounds grow with confidence and K", func(t *testing.T) {
		law := uniforms(-1, 1).Symmetric()
		before := 0.0
		for _, q := range []int{8, 32, 128} {
			c := NewChain(volta, law, q)
			last := 0.0
			for _, f := range []Failure{-2, -10, -20, -40} {
				x := c.ErrorBound(f)
				if !(x > last) {
					t.Errorf("q = %d: bound %v at failure e^%v, %v before", q, x, float64(f), last)
				}
				last = x
			}
			if !(last > before) {
				t.Errorf("q = %d: bound %v, %v for less", q, last, before)
			}
			before = last
		}
	})

	t.Run("backward bound is near the error bound over the mean of Σ|p|", func(t *testing.T) {
		for _, law := range []*Products{uniforms(-1, 1).Symmetric(), uniforms(0, 1)} {
			c := NewChain(hopper, law, 256)
			x, β := c.ErrorBound(-14)/(4096*law.AbsMean), c.BackwardBound(-14)
			if !close(x, β, 0.1) {
				t.Errorf("ErrorBound/K E|p| = %v, BackwardBound = %v", x, β)
			}
		}
	})

	t.Run("sums too short for a backward bound have none", func(t *testing.T) {
		if β := NewChain(volta, uniforms(-1, 1).Symmetric(), 2).BackwardBound(-14); !math.IsInf(β, 1) {
			t.Errorf("K = 8: %v, want +Inf", β)
		}
	})
}

func TestQuadrature(t *testing.T) {
	t.Run("integrates polynomials", func(t *testing.T) {
		p := uniforms(0, 1)
		moments := p.centralMoments(2*order - 1)
		for _, count := range []float64{1, 3, 1000} {
			x, w := quadrature(moments, count)
			want := standardMoments(moments, count)
			for r := range 2 * order {
				sum := 0.0
				for i := range x {
					sum += w[i] * math.Pow(x[i], float64(r))
				}
				if math.Abs(sum-want[r]) > 1e-9*(1+math.Abs(want[r])) {
					t.Errorf("count = %v: moment %d = %v, want %v", count, r, sum, want[r])
				}
			}
		}
	})

	t.Run("tends to the Gauss-Hermite rule", func(t *testing.T) {
		x, w := quadrature(uniforms(0, 1).centralMoments(5), 1e12)
		for i := range x {
			near, weight := 0.0, 2.0/3
			if math.Abs(x[i]) > 1 {
				near, weight = math.Copysign(math.Sqrt(3), x[i]), 1.0/6
			}
			if math.Abs(x[i]-near) > 1e-5 || math.Abs(w[i]-weight) > 1e-5 {
				t.Errorf("node %v of weight %v, want %v of %v", x[i], w[i], near, weight)
			}
		}
		if len(x) != 3 {
			t.Errorf("%d nodes, want 3", len(x))
		}
	})

	t.Run("has a node for each of few values", func(t *testing.T) {
		x, w := quadrature(signs().centralMoments(2*order-1), 1)
		if len(x) != 2 || !close(w[0], 0.5, 1e-12) || !close(math.Abs(x[0]), 1, 1e-12) {
			t.Errorf("nodes %v, weights %v, want ±1 and ½", x, w)
		}
	})

	t.Run("moments of sums are those of all sums", func(t *testing.T) {
		p := PairProducts([]float64{0, 1, 4}, []float64{1, 1, 1}, -14, -14)
		got := standardMoments(p.centralMoments(7), 2)
		deviation := math.Sqrt(2 * p.Variance)
		for r := range got {
			want := 0.0
			for _, u := range p.value {
				for _, v := range p.value {
					want += math.Pow((u+v-2*p.Mean)/deviation, float64(r)) / 9
				}
			}
			if math.Abs(got[r]-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("moment %d = %v, want %v", r, got[r], want)
			}
		}
	})
}

func BenchmarkErrorBound(b *testing.B) {
	law := uniforms(-1, 1).Symmetric()
	for b.Loop() {
		NewChain(volta, law, 8192).ErrorBound(-14)
	}
}
