package quantisation

import (
	"math/rand/v2"
	"testing"
)

// Products are added in the order of rows, whatever is done at once, and the
// jet of a series is that of Horner's rule.
func TestProductSeriesIsRowByRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a, b moments
	for i := range a {
		for k := range a[i][:degree-i+1] {
			a[i][k], b[i][k] = rng.NormFloat64(), rng.NormFloat64()
		}
	}
	got, want := exponential(0.5), exponential(0.5)
	productSeries(got, &a, &b)
	for i := range a {
		for k := range a[i][:degree-i+1] {
			want[i+k] += float64(a[i][k] * b[i][k])
		}
	}
	if *got != *want {
		t.Errorf("sums %v, want %v", *got, *want)
	}
	for _, n := range []int{0, 3, degree} {
		var f jet
		for j := n; j >= 0; j-- {
			for i := len(f) - 1; i > 0; i-- {
				f[i] = float64(f[i]*0.3) + f[i-1]
			}
			f[0] = float64(f[0]*0.3) + want[j]
		}
		if at := want.at(0.3, n); at != f {
			t.Errorf("of %d terms: %v, want %v", n, at, f)
		}
	}
}
