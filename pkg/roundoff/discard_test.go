package roundoff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestDiscard(t *testing.T) {
	t.Run("closed forms are the moments of the low bits of all products", func(t *testing.T) {
		for d := range 9 {
			n := 1 << d
			mean, square := 0.0, 0.0
			for a := range n {
				for b := range n {
					f := float64(a*b%n) / float64(n)
					mean += f / float64(n*n)
					square += f * f / float64(n*n)
				}
			}
			if m := DiscardMean(d); math.Abs(m-mean) > 1e-15 {
				t.Errorf("d = %d: m_d = %v, all products have %v", d, m, mean)
			}
			if w := DiscardSquare(d); math.Abs(w-square) > 1e-15 {
				t.Errorf("d = %d: w_d = %v, all products have %v", d, w, square)
			}
		}
	})

	t.Run("proxy bounds the moment generating function", func(t *testing.T) {
		for d := range 8 {
			n := 1 << d
			v := DiscardProxy(d)
			if s := DiscardSquare(d) - DiscardMean(d)*DiscardMean(d); v < s {
				t.Errorf("d = %d: v_d = %v, below the variance %v", d, v, s)
			}
			for x := -30.0; x <= 30; x += 0.7 {
				sum := 0.0
				for a := range n {
					for b := range n {
						sum += math.Exp(x*(float64(a*b%n)/float64(n)-DiscardMean(d))) / float64(n*n)
					}
				}
				if got := 2 * math.Log(sum) / (x * x); got > v*1.02 {
					t.Errorf("d = %d, x = %v: 2 log E/x² = %v, want at most v_d = %v", d, x, got, v)
				}
			}
		}
	})

	t.Run("law is that of the bits cut off", func(t *testing.T) {
		// Factors a 2^-10 and b 2^-10 with a, b in [2^10, 2^11): products of 20 bits after the
		// point and exponent 0. On the grid of 2^(E-F), E-F+20 bits go.
		r := rand.New(rand.NewPCG(241118747, 1))
		const n, F = 20000, 23
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(1024+r.IntN(1024))/1024, -float64(1024+r.IntN(1024))/1024
		}
		p := PairProducts(x, y, -14, -14)
		for E := range 20 {
			d := E - F + 20
			mean, square := 0.0, 0.0
			for i := range x {
				if m := int64(-x[i] * y[i] * (1 << 20)); d > 0 {
					cut := float64(m&(1<<d-1)) * 0x1p-20
					mean -= cut / n
					square += cut * cut / n
				}
			}
			got := p.Discard(E, F)
			if !close(got.Mean, mean, 1e-12) || !close(got.Square, square, 1e-12) {
				t.Errorf("E = %d: moments %v, %v, want %v, %v", E, got.Mean, got.Square, mean, square)
			}
			g := math.Ldexp(1, E-F)
			if d > 0 && d <= 12 && (!close(-mean/g, DiscardMean(d), 0.05) || !close(square/(g*g), DiscardSquare(d), 0.05)) {
				t.Errorf("d = %d: %v and %v units, closed forms %v and %v", d, -mean/g, square/(g*g), DiscardMean(d), DiscardSquare(d))
			}
			if v := got.Square - got.Mean*got.Mean; got.Proxy < v || got.Proxy > g*g/4 {
				t.Errorf("E = %d: proxy %v, want it between the variance %v and g²/4", E, got.Proxy, v)
			}
		}
	})

	t.Run("a symmetric law loses as much on both sides", func(t *testing.T) {
		p := PairProducts([]float64{1.25, 1.5, 1.75}, []float64{1.25, 1.125, 1.5}, -14, -14)
		one, both := p.Discard(22, 24), p.Symmetric().Discard(22, 24)
		if both.Mean != 0 || both.Square != one.Square || both.Cross <= 0 {
			t.Errorf("law %+v, of one sign %+v", both, one)
		}
	})

	t.Run("products above the exponent do not count", func(t *testing.T) {
		p := PairProducts([]float64{1, 8}, []float64{1.25, 1.25}, -14, -14)
		if got := p.Discard(0, 1); got.Mean != 0.25 {
			t.Errorf("mean = %v, want that of 1.25 on a grid of ½", got.Mean)
		}
		if got := p.Discard(-1, 1); got != (Discard{}) {
			t.Errorf("no product is so small, got %+v", got)
		}
	})
}

// close reports whether x and y differ by at most ε of the larger.
func close(x, y, ε float64) bool { return math.Abs(x-y) <= ε*max(math.Abs(x), math.Abs(y)) }

func TestProducts(t *testing.T) {
	x, y := []float64{-1, 0, 0.5, 3}, []float64{2, 1.5, 0x1p-20, -7}

	t.Run("ValueProducts is PairProducts of all pairs", func(t *testing.T) {
		var px, py []float64
		for _, u := range x {
			for _, v := range y {
				px, py = append(px, u), append(py, v)
			}
		}
		even := []float64{1, 1, 1, 1}
		a, b := ValueProducts(x, even, y, even, -14, -14), PairProducts(px, py, -14, -14)
		if a.Samples, b.Samples = 1/a.Samples, b.Samples-16; fmt.Sprint(a) != fmt.Sprint(b) { // an exact law and 16 pairs
			t.Errorf("%v\n%v", a, b)
		}
	})

	t.Run("moments", func(t *testing.T) {
		p := PairProducts(x, y, -14, -14)
		mean, abs, square := 0.0, 0.0, 0.0
		for i := range x {
			z := x[i] * y[i] / 4
			mean, abs, square = mean+z, abs+math.Abs(z), square+4*z*z
		}
		if !close(p.Mean, mean, 1e-15) || !close(p.AbsMean, abs, 1e-15) || !close(p.Variance, square-mean*mean, 1e-14) {
			t.Errorf("mean %v, E|p| %v, variance %v", p.Mean, p.AbsMean, p.Variance)
		}
		if q := p.Symmetric(); q.Mean != 0 || !close(q.Variance, square, 1e-14) || p.Mean != mean {
			t.Errorf("of ±p: mean %v, variance %v, want 0, %v, and p as it was", q.Mean, q.Variance, square)
		}
		if p.Grid != 0x1p-21 {
			t.Errorf("Grid = %v, want 2^-21, of 0.5 × 2^-20", p.Grid)
		}
	})

	t.Run("MaxExponent is the law of the greatest of L", func(t *testing.T) {
		p := ValueProducts([]float64{1, 2, 8}, []float64{5, 3, 2}, []float64{1, 4}, []float64{1, 1}, -14, -14)
		want := map[int]float64{}
		for i := range p.exp {
			for j := range p.exp {
				for k := range p.exp {
					want[max(p.exp[i], p.exp[j], p.exp[k])] += p.weight[i] * p.weight[j] * p.weight[k]
				}
			}
		}
		exps, probs := p.MaxExponent(3)
		if len(exps) != len(want) {
			t.Fatalf("exponents %v, want %d of them", exps, len(want))
		}
		for i, e := range exps {
			if math.Abs(probs[i]-want[e]) > 1e-15 {
				t.Errorf("P(M = %d) = %v, counted %v", e, probs[i], want[e])
			}
		}
	})

	t.Run("exponents of laws with zeros are those of numbers", func(t *testing.T) {
		half := []float64{1, 1}
		p := ValueProducts([]float64{0, 1}, half, []float64{0, 1}, half, -14, -14)
		exps, probs := p.MaxExponent(2) // of two products, each 1 with probability 1/4
		if fmt.Sprint(exps, probs) != "[-28 0] [0.5625 0.4375]" {
			t.Errorf("exponents %v with probabilities %v", exps, probs)
		}
		if exps, _ := ValueProducts([]float64{0}, []float64{1}, []float64{1}, []float64{1}, -14, -14).MaxExponent(4); fmt.Sprint(exps) != "[-28]" {
			t.Errorf("of zeros: %v, want the least there is", exps)
		}
	})

	t.Run("subnormal factors count with Emin", func(t *testing.T) {
		if p := PairProducts([]float64{0x1p-20}, []float64{1}, -14, -14); p.exp[0] != -14 {
			t.Errorf("exponent %d, want -14", p.exp[0])
		}
	})
}
