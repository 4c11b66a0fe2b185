package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// exactSums contains bounds on the exact sums s_n of n independent products of
// one distribution.
type exactSums struct {
	mean    float64 // upper bound on |μ|
	largest float64 // upper bound on |p| of every product
	lines   []line  // |s_n - nμ| <= a + nb for all n at once
	block   float64 // upper bound on |Σp| over every block
}

// line is the linear function a + nb of n.
type line struct{ a, b float64 }

// newExactSums returns the bounds for up to K products in blocks of L. All of
// them together hold with probability at least 1 - e^f. mean and largest are
// upper bounds on |μ| and on the size of a product. deviation is approximately
// the standard deviation, and positive. ψ(x) is an upper bound on the larger of
// log E e^(x(p-μ)) and log E e^(-x(p-μ)).
//
// For all n at once |s_n - nμ| <= t_n = min_x (l + nψ(x))/x over a grid of x:
// one supermartingale for each x covers all n.
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
	lq := l + math.Log(math.Ceil(k/terms)) // for all single blocks
	for i := -2; i <= 6; i++ {
		x := halfOctave(math.Sqrt(2*lq/terms)/deviation, -i)
		s.block = min(s.block, mean+(lq/terms+ψ(x))/x)
	}
	s.block *= terms
	return s
}

// halfOctave returns the greatest power of √2 that is at most x, times √2^k. So
// sums of different lengths evaluate ψ at the same few numbers.
func halfOctave(x float64, k int) float64 {
	return math.Pow(2, (math.Floor(2*math.Log2(x))+float64(k))/2)
}

// apart returns t_n, an upper bound on |s_n - nμ|, and within an upper bound on
// |s_n|.
func (s exactSums) apart(n float64) float64 {
	t := n * (s.largest + s.mean)
	for _, l := range s.lines {
		t = min(t, l.a+n*l.b)
	}
	return t
}

func (s exactSums) within(n float64) float64 { return min(n*s.mean+s.apart(n), n*s.largest) }

// deviation returns the standard deviation of a product, or a small positive
// number where that is 0.
func (p *ProductDistribution) deviation(largest float64) float64 {
	if σ := math.Sqrt(p.Variance); σ > 0 {
		return σ
	}
	return max(largest, math.SmallestNonzeroFloat32) * 0x1p-20
}
