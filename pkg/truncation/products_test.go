package truncation

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

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
		a.sort()
		a.starts, a.Partners = nil, 1                                                         // of pairs
		if a.Samples, b.Samples = 1/a.Samples, b.Samples-16; fmt.Sprint(a) != fmt.Sprint(b) { // an exact distribution and 16 pairs
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

	t.Run("MaxExponent is the distribution of the greatest of L", func(t *testing.T) {
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

	t.Run("MaxExponent neglects no great exponent, however rare", func(t *testing.T) {
		p := ValueProducts([]float64{1, 2, 8}, []float64{1, 1e-15, 1e-14}, []float64{1}, []float64{1}, -14, -14)
		exps, probs := p.MaxExponent(4)
		if !slices.Equal(exps, []int{0, 3}) || !(math.Abs(probs[1]-4.4e-14) < 1e-15) {
			t.Errorf("exponents %v with probabilities %v, want 0, and 3 with 4 (10^-14 + 10^-15)", exps, probs)
		}
	})

	t.Run("exponents of distributions with zeros are those of numbers", func(t *testing.T) {
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
