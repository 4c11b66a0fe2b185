package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// exactSums bounds the sums s_n of n independent products of one distribution,
// without any error.
type exactSums struct {
	mean    float64 // |μ|, or more
	largest float64 // no product is larger in size
	lines   []line  // |s_n - nμ| <= a + nb for all n at once
	block   float64 // no sum of the products of a block is larger in size
}

// line is a + nb.
type line struct{ a, b float64 }

// newExactSums returns the bounds for up to K products in blocks of L: all of
// them together hold but for a probability of e^f. Given are |μ| and the
// largest product, or more, about the standard deviation, never 0, and ψ, the
// larger of log E e^(x(p-μ)) and log E e^(-x(p-μ)), or more.
//
// |s_n - nμ| <= t_n for all n at once, with t_n = min_x (l + nψ(x))/x over a
// grid of x: one supermartingale for each x pays for all n.
func newExactSums(K, L int, mean, largest, deviation float64, ψ func(x float64) float64, f roundoff.Failure) exactSums {
	s := exactSums{mean: mean, largest: largest}
	k, terms := float64(K), float64(L)
	n := 4 + int(math.Log2(max(1, k/terms)))
	l := f.Split(float64(n + 1)).TwoSidedLog()
	for i := range n {
		x := halfOctave(math.Sqrt(2*l/k)/deviation, i-1)
		s.lines = append(s.lines, line{l / x, ψ(x) / x})
	}
	s.block = largest
	lq := l + math.Log(math.Ceil(k/terms)) // single blocks, all of them
	for i := -2; i <= 6; i++ {
		x := halfOctave(math.Sqrt(2*lq/terms)/deviation, -i)
		s.block = min(s.block, mean+(lq/terms+ψ(x))/x)
	}
	s.block *= terms
	return s
}

// halfOctave returns the power of √2 below x times √2^k: sums of any length ask
// for the same few moments.
func halfOctave(x float64, k int) float64 {
	return math.Pow(2, (math.Floor(2*math.Log2(x))+float64(k))/2)
}

// apart returns t_n, which no |s_n - nμ| exceeds, and within what |s_n| does
// not.
func (s exactSums) apart(n float64) float64 {
	t := n * (s.largest + s.mean)
	for _, l := range s.lines {
		t = min(t, l.a+n*l.b)
	}
	return t
}

func (s exactSums) within(n float64) float64 { return min(n*s.mean+s.apart(n), n*s.largest) }

// deviation returns about the standard deviation of a product, never 0.
func (p *ProductDistribution) deviation(largest float64) float64 {
	if σ := math.Sqrt(p.Variance); σ > 0 {
		return σ
	}
	return max(largest, math.SmallestNonzeroFloat32) * 0x1p-20
}
