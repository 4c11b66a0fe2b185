package truncation

import (
	"fmt"
	"math"
	"sync"
)

// Increments is a sample of the products p = xy that a step adds to a running
// sum. It consists of batches. Each batch contains all products of a sample of
// x and one of y, and is an estimate of the distribution by itself.
type Increments struct {
	batches   []pairs
	symmetric bool
}

// pairs are two samples, of which all pairs count, each in proportion to the
// weight of its y.
type pairs struct {
	x, y, weights []float64
	most          float64 // the greatest |x|
}

// Add adds a batch: the products of every x with every y, each counted with the
// weight of its y, or once if weights is nil. It panics if x or y is empty, or
// weights is not nil and differs from y in length.
func (z *Increments) Add(x, y, weights []float64) {
	if len(x) == 0 || len(y) == 0 || weights != nil && len(weights) != len(y) {
		panic(fmt.Sprintf("truncation: %d x, %d y and %d weights, want x and y, and a weight for each y or none", len(x), len(y), len(weights)))
	}
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	z.batches = append(z.batches, pairs{x, y, weights, most})
}

// Symmetric declares that x and -x, or y and -y, are equally likely. Then the
// signs in a sample are ignored, and the mean error is 0.
func (z *Increments) Symmetric() { z.symmetric = true }

// Nonzero returns the share of products that are not 0. A product 0 causes no
// rounding error: given that the product is not 0, E r and E r² are those of
// [Increments.Nearest] divided by this share. It panics if there is no batch.
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

// NearestError contains moments of r = fl(s+p) - (s+p), the error of rounding a
// sum to nearest, ties to even.
type NearestError struct {
	Mean     float64 // E r
	Square   float64 // E r²
	Estimate float64 // standard deviation of Mean as an estimate from a sample
}

// Nearest returns the moments of the error r of a step that rounds s+p to a
// multiple of the unit U, where s is such a multiple. Then r depends on p
// modulo U, and its mean is not 0 unless p is spread evenly over units.
// Products below U/2 are lost, and products of few bits have few different r. A
// p halfway between two multiples is rounded to the even one, so that r depends
// on the parity of a long sum s. Let t₁ be the probability of a tie whose lower
// multiple of U is odd, t₀ that of one whose lower multiple is even, t = t₀+t₁,
// and n₁ the probability that another p rounds to an odd multiple. Then the sum
// is even with probability (t+n₁)/(t+2n₁), and ties add (t₁-t₀) t/(t+2n₁) U/2
// to the mean. Nearest panics unless U is positive and finite, and if there are
// fewer than two batches.
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

// nearest returns the moments of the error in units of U, for units = 1/U.
func (b pairs) nearest(units float64) NearestError {
	var sum, square, odd, total float64
	var ties [2]float64
	for j, y := range b.y {
		w := 1.0
		if b.weights != nil {
			w = b.weights[j]
		}
		y *= units
		round := roundProducts
		if !(b.most*math.Abs(y) < 1<<51) {
			round = roundLargeProducts
		}
		r := round(b.x, y)
		sum += w * r.sum
		square += w * r.square
		ties[0] += w * float64(r.ties[0])
		ties[1] += w * float64(r.ties[1])
		odd += w * float64(r.odd)
		total += w * float64(len(b.x))
	}
	if t := ties[0] + ties[1]; t > 0 {
		sum += (ties[1] - ties[0]) * t / (t + 2*odd) / 2
	}
	return NearestError{Mean: sum / total, Square: square / total}
}

// roundings describes the errors of products that are rounded to the nearest
// whole number, of two to the even one.
type roundings struct {
	sum    float64 // of the errors that are not ±1/2
	square float64 // of all errors
	ties   [2]int  // errors -1/2, and errors 1/2
	odd    int     // other products that are rounded to an odd number
}

// roundProducts returns the roundings of the products of all x with y, which
// are less than 2^51 in magnitude.
func roundProducts(x []float64, y float64) roundings {
	const whole = 3 << 51 // numbers next to it are whole
	var sum, square float64
	var down, up, odd int
	for _, v := range x {
		t := float64(v * y)
		z := t + whole
		e := (z - whole) - t
		square += float64(e * e)
		if math.Abs(e) == 0.5 {
			if e < 0 {
				down++
			} else {
				up++
			}
			continue
		}
		sum += e
		odd += int(math.Float64bits(z) & 1)
	}
	return roundings{sum, square, [2]int{down, up}, odd}
}

// roundLargeProducts is roundProducts for products of any magnitude.
func roundLargeProducts(x []float64, y float64) (r roundings) {
	for _, v := range x {
		t := float64(v * y)
		k := math.RoundToEven(t)
		e := k - t
		r.square += float64(e * e)
		switch e {
		case -0.5:
			r.ties[0]++
		case 0.5:
			r.ties[1]++
		default:
			r.sum += e
			r.odd += parity(k)
		}
	}
	return r
}

// parity returns k modulo 2, for a whole number k.
func parity(k float64) int {
	if math.Abs(k) >= 1<<53 {
		return 0
	}
	return int(int64(k) & 1)
}
