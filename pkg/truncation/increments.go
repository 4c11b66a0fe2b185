package truncation

import (
	"fmt"
	"math"
	"sync"
)

// Increments is a sample of what a step adds to a running sum: products xy of
// all pairs of a sample of x and one of y, in batches of which each could stand
// alone.
type Increments struct {
	batches   []pairs
	symmetric bool
}

// pairs are two samples, of which all pairs count; y in proportion to its
// weights.
type pairs struct{ x, y, weights []float64 }

// Add adds a batch: all products of an x and a y, which counts as often as its
// weight says, or once if there are no weights. It panics if there is no x or
// no y, or weights are not as many as y.
func (z *Increments) Add(x, y, weights []float64) {
	if len(x) == 0 || len(y) == 0 || weights != nil && len(weights) != len(y) {
		panic(fmt.Sprintf("truncation: %d x, %d y and %d weights, want x and y, and a weight for each y or none", len(x), len(y), len(weights)))
	}
	z.batches = append(z.batches, pairs{x, y, weights})
}

// Symmetric says that x and -x, or y and -y, are equally likely: then the signs
// of a sample do not count, and no error has a mean.
func (z *Increments) Symmetric() { z.symmetric = true }

// Nonzero returns the share of products that are not 0. A product 0 rounds
// nothing: given one that is another number, the mean of r and that of r² are
// those of [Increments.Nearest] over this share. It panics if there is no
// batch.
func (z *Increments) Nonzero() float64 {
	if len(z.batches) == 0 {
		panic("truncation: no batches, want 1 or more")
	}
	share := 0.0
	for _, b := range z.batches {
		x, y, all := 0.0, 0.0, 0.0
		for _, v := range b.x {
			if v != 0 {
				x++
			}
		}
		for j, v := range b.y {
			w := 1.0
			if b.weights != nil {
				w = b.weights[j]
			}
			all += w
			if v != 0 {
				y += w
			}
		}
		share += x / float64(len(b.x)) * y / all
	}
	return share / float64(len(z.batches))
}

// NearestError is the distribution of r = fl(s+p) - (s+p), what rounding to
// nearest even adds to a sum.
type NearestError struct {
	Mean     float64 // E r
	Square   float64 // E r²
	Estimate float64 // standard deviation of Mean, which is an estimate
}

// Nearest returns the distribution of the error of a step that rounds s+p to a
// multiple of the unit U, where s is one: then r is what p itself leaves, and
// has a mean if p is not spread evenly over units. ProductDistribution below
// U/2 are lost, those of few bits leave few different r. A p halfway between
// two multiples goes to the even one, whose parity is that of a long sum: where
// ties are of probability t, at an odd or even multiple of U with t₁ and t₀,
// and other p round to an odd one with n₁, the sum is even with probability
// (t+n₁)/(t+2n₁), and ties add (t₁-t₀) t/(t+2n₁) U/2 to the mean. It panics
// unless U is positive and finite, and there are two batches.
//
// Source: derived here. It is exact for independent p, as long as s+p stays
// below the power of two above s.
func (z *Increments) Nearest(U float64) NearestError {
	check.Positive("U", U)
	if len(z.batches) < 2 {
		panic(fmt.Sprintf("truncation: %d batches, want 2 or more", len(z.batches)))
	}
	n := float64(len(z.batches))
	dist := make([]NearestError, len(z.batches))
	var wait sync.WaitGroup
	for i, b := range z.batches {
		wait.Go(func() { dist[i] = b.nearest(1 / U) })
	}
	wait.Wait()
	var all NearestError
	for _, r := range dist {
		all.Mean += r.Mean / n
		all.Square += r.Square / n * U * U
	}
	spread := 0.0
	for _, r := range dist {
		spread += (r.Mean - all.Mean) * (r.Mean - all.Mean)
	}
	if z.symmetric {
		return NearestError{0, all.Square, 0}
	}
	return NearestError{all.Mean * U, all.Square, math.Sqrt(spread/(n*(n-1))) * U}
}

// nearest returns the distribution of the errors in units, of which there are
// so many in 1.
func (b pairs) nearest(units float64) NearestError {
	var sum, square, odd, total float64
	var ties [2]float64
	for j, y := range b.y {
		w := 1.0
		if b.weights != nil {
			w = b.weights[j]
		}
		y *= units
		var s, q float64
		for _, x := range b.x {
			t := x * y
			k := math.RoundToEven(t)
			r := k - t
			q += r * r
			if math.Abs(r) == 0.5 {
				ties[parity(math.Floor(t))] += w
				continue
			}
			s += r
			odd += w * float64(parity(k))
		}
		sum += w * s
		square += w * q
		total += w * float64(len(b.x))
	}
	if t := ties[0] + ties[1]; t > 0 {
		sum += (ties[1] - ties[0]) * t / (t + 2*odd) / 2
	}
	return NearestError{Mean: sum / total, Square: square / total}
}

// parity returns k modulo 2, for a whole number k.
func parity(k float64) int {
	if math.Abs(k) >= 1<<53 {
		return 0
	}
	return int(int64(k) & 1)
}
