package quantisation

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// misfitLevel is the probability that misfit refuses independent elements of
// the law.
const misfitLevel = 5e-4

// misfit returns why the elements of a matrix are not independent numbers of a
// law, "" if nothing speaks against it: their distribution function differs
// from that of the law by more than √(log(2/level)/2n).
//
// Source: Dvoretzky, Kiefer & Wolfowitz 1956, with the constant of Massart
// 1990.
func misfit(name string, m blas64.General, l Law) string {
	x := slices.Sorted(slices.Values(m.Data))
	n := float64(len(x))
	limit := math.Sqrt(math.Log(2/misfitLevel) / (2 * n))
	below := l.shares(x)
	for i, p := range below {
		if share := float64(i) / n; math.Abs(share-p) > limit || math.Abs(share+1/n-p) > limit {
			return fmt.Sprintf("of the elements of %s %.3g %% are below %.4g, of %s %.3g %% (found at level %.2g %%)",
				name, 100*share, x[i], l.Name, 100*p, 100*misfitLevel)
		}
	}
	return ""
}

// shares returns the probabilities that a number of the law is below each of x,
// which ascend.
func (l Law) shares(x []float64) []float64 {
	shares := make([]float64, len(x))
	ends := slices.Sorted(slices.Values(append(slices.Clone(x), l.Knots...)))
	lo, hi := l.bounds()
	mass, at := 0.0, 0
	for i, to := range ends {
		if i > 0 {
			mass += l.mass(max(lo, ends[i-1]), min(to, hi))
		}
		for at < len(x) && x[at] <= to {
			shares[at] = mass
			at++
		}
	}
	for i := range shares {
		shares[i] /= mass
	}
	return shares
}

// mass returns the integral of the density from lo to hi, between which is no
// knot, 0 unless lo < hi.
func (l Law) mass(lo, hi float64) float64 {
	mass := 0.0
	for j, g := range gaussX {
		mass += max(0, hi-lo) / 2 * gaussW[j] * l.Density((lo+hi)/2+float64((hi-lo)/2*g))
	}
	return mass
}
