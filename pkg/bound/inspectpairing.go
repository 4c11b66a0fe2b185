package bound

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// unpaired tests whether A and B are correlated along K, over all outputs
// together and in each separately, by the elements and by their sizes. It must
// be able to detect a correlation of 1 of the elements.
func (c chosen) unpaired(f roundoff.Failure) []Finding {
	eighth := f.Split(8)
	type kind struct {
		name string
		s    series
	}
	a := []kind{{"A", c.a.ranks()}, {"sizes of A", c.a.sizes().ranks()}}
	b := []kind{{"B", c.b.ranks()}, {"sizes of B", c.b.sizes().ranks()}}
	var found []Finding
	for _, x := range a {
		for _, y := range b {
			name := x.name + " with " + y.name
			all := correlate(series{x.s.sums()}.ranks(), series{y.s.sums()}.ranks(), name+", over all outputs", eighth)
			each := correlate(x.s, y.s, name+", of one output", eighth)
			each.Unit = "correlation of A with B in one output"
			found = append(found, all, each)
			if len(found) == 2 {
				found = append(found, Finding{
					Name: "correlation of A with B that is seen", Tests: Unpaired, Statistic: min(all.Limit, each.Limit), Limit: 1, Power: nan,
					Words: fmt.Sprintf("so few numbers show correlations of A with B beyond %.2g only", min(all.Limit, each.Limit)),
				})
			}
		}
	}
	return found
}

// correlate tests the correlations of all lines of x with all lines of y. Both
// contain ranks.
//
// If the positions of y are permuted, the terms of Σ x(k) y(π(k)) over positive
// x are negatively associated. The moment generating function of this sum is
// then at most that for independent draws of y (Joag-Dev & Proschan 1983). The
// same is true for the sum over negative x. By the Cauchy-Schwarz inequality,
// the moment generating function of both sums together is bounded by that of
// independent terms with twice the sum of squares.
func correlate(x, y series, name string, f roundoff.Failure) Finding {
	each := f.Split(float64(len(x) * len(y)))
	z := Finding{Name: "correlation of " + name, Tests: Unpaired, Level: level(f), Limit: 1, Words: "all are equal"}
	worst := 0.0
	for i, u := range x {
		uu := norm(u)
		if uu == 0 {
			continue
		}
		for j, v := range y {
			vv := norm(v)
			if vv == 0 {
				continue
			}
			limit := rankTail(2*min(uu, vv), each)
			unit := math.Sqrt(uu * vv)
			sum := 0.0
			for k := range u {
				sum += u[k] * v[k]
			}
			z.Power = max(z.Power, (limit+beyond*math.Sqrt(uu*vv/float64(len(v))))/unit)
			if ratio := math.Abs(sum) / limit; ratio >= worst {
				worst, z.Statistic, z.Limit = ratio, math.Abs(sum)/unit, limit/unit
				at := ""
				if len(x)*len(y) > 1 {
					at = fmt.Sprintf(" (%d of the rows of A, %d of the columns of B tested)", i+1, j+1)
				}
				z.Words = fmt.Sprintf("correlation of %s%s is %.2g, at most %.2g of unpaired ones", name, at, sum/unit, z.Limit)
			}
		}
	}
	return z
}

// norm returns Σ x².
func norm(x []float64) float64 {
	squares := 0.0
	for _, v := range x {
		squares += v * v
	}
	return squares
}

// bitsUnpaired tests whether the bits of products are those of products of
// elements from different positions. The statistic is the mean, over K, of the
// fraction that follows bit m of the significand, for several m. Its expected
// value and its variance are estimated from lines of A and B that are shifted
// against each other.
func (c chosen) bitsUnpaired(f roundoff.Failure) Finding {
	const outputs, shifts, most, levels, step = 16, 16, 1 << 13, 9, 3
	K := len(c.a[0])
	rng := rand.New(rand.NewPCG(dataSeed, 6))
	places := sample(rng, K, most)
	each := f.Split(levels)
	z := Finding{Name: "bits of products", Tests: Unpaired, Level: level(f), Limit: 1, Power: nan}

	apart := append([]int{0}, sample(rng, K-1, shifts)...)
	for i := range apart[1:] {
		apart[i+1]++
	}
	n := min(outputs, max(len(c.a), len(c.b)))
	bits := make([][levels]float64, len(apart))
	var sum, variance [levels]float64
	for _, k := range places {
		clear(bits)
		for i := range n {
			x, y := c.pair(i)
			for s, d := range apart {
				addBits(&bits[s], x[k]*y[(k+d)%K], step, 1/float64(n))
			}
		}
		for m := range levels {
			mean, squares := 0.0, 0.0
			for _, b := range bits[1:] {
				mean += b[m] / float64(len(bits)-1)
			}
			for _, b := range bits[1:] {
				squares += (b[m] - mean) * (b[m] - mean)
			}
			sum[m] += bits[0][m] - mean
			variance[m] += squares / float64(len(bits)-2)
		}
	}
	worst := 0.0
	for m := range levels {
		limit := roundoff.Bernstein(variance[m]*(1+1/float64(len(apart)-1)), 1, each)
		if m == levels/2 {
			z.Power = (limit + beyond*math.Sqrt(variance[m])) / float64(len(places))
		}
		if ratio := math.Abs(sum[m]) / limit; ratio >= worst {
			worst, z.Statistic, z.Limit = ratio, math.Abs(sum[m])/float64(len(places)), limit/float64(len(places))
			z.Words = fmt.Sprintf("what follows bit %d of products is %.2g off in the mean from what follows it where A and B are shifted, at most %.2g of unpaired ones",
				m*step, z.Statistic, z.Limit)
		}
	}
	return z
}

// addBits adds to bits, times weight, the fraction in [0, 1) that follows bits
// 0, step, 2 step, ... of the significand of p. The fraction is 1/2 for p = 0.
func addBits(bits *[9]float64, p float64, step int, weight float64) {
	significand, _ := math.Frexp(math.Abs(p))
	significand *= 2
	for m := range bits {
		rest := 0.5
		if p != 0 {
			scaled := math.Ldexp(significand, m*step)
			rest = scaled - math.Floor(scaled)
		}
		bits[m] += weight * rest
	}
}
