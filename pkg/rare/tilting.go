package rare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/floats"
)

// Tilting is importance sampling of a sum of products that is rounded
// stochastically. X and Y are given; what is random are the bits of the
// roundings alone.
//
// A sum that lies a fraction φ of a quantum h from its neighbour towards zero
// is rounded away from it with probability φ. Its error is r with E r = 0 up to
// 2^-Bits quanta, and the errors add up to that of the sum. They are drawn with
// probabilities in proportion to e^θr instead, and the sum counts
//
//	w = exp(-θ Σ r + Σ κ(θ)),  κ(θ) = log E e^θr given the roundings before,
//
// which is the exact ratio of likelihoods, since e^(θ Σ r - Σ κ) is a
// martingale (Siegmund 1976). A quarter of the sums each are
// drawn with a positive θ, a negative one, and half of each, and weighed by the
// mixture of all (Hesterberg 1995). θ is that for which the error of a few sums
// has the limit as its mean, above or below: it decides on the variance alone.
type Tilting struct {
	Machine tcore.Machine // FMAs, with Stochastic.Bits > 0, of one part of K, in sequence or in pairs
	X, Y    []float64
}

// Check returns an error if the machine is none of those that Tilting serves,
// or the lengths of X and Y differ or are 0.
func (t Tilting) Check() error {
	m := t.Machine
	if err := m.Check(); err != nil {
		return fmt.Errorf("rare: %w", err)
	}
	switch {
	case m.Stochastic.Bits == 0:
		return fmt.Errorf("rare: %s rounds to nearest, want Stochastic.Bits > 0 for tilting", m.Device.Name)
	case m.SplitK > 1 || m.Promote > 0 || m.Output != (tcore.Format{}) && m.Output.Precision < m.Device.C.Precision:
		return fmt.Errorf("rare: %s rounds to nearest after its stochastic sums, want one part of K, and D as they are", m.Device.Name)
	case m.Order == tcore.Compensated:
		return fmt.Errorf("rare: sums that are compensated are no sum of their errors, want them in sequence or in pairs")
	case m.Device.C.Subnormals != tcore.Kept || m.Device.C.Precision > 40:
		return fmt.Errorf("rare: stochastic rounding to %s, want a format of at most 40 bits that keeps subnormal numbers", m.Device.C.Name)
	case len(t.X) == 0 || len(t.X) != len(t.Y):
		return fmt.Errorf("rare: %d numbers of X and %d of Y, want as many, and one or more", len(t.X), len(t.Y))
	}
	return nil
}

// Exceeds estimates the probability that |D̂ - D| exceeds the limit. Where no
// sum does, it estimates that of nine tenths of the error that the greatest
// tilt gives on average, and Level says which part of the limit that is. The
// error is that of Check or of ctx. It panics if the effort is invalid.
func (t Tilting) Exceeds(ctx context.Context, limit float64, e Effort) (Estimate, error) {
	if err := t.Check(); err != nil {
		return Estimate{}, err
	}
	e = e.filled()
	m := t.Machine.Device
	x, y := make([]float64, len(t.X)), make([]float64, len(t.Y))
	m.A.RoundSlice(x, t.X, m.Convert)
	m.B.RoundSlice(y, t.Y, m.Convert)
	z := tilter{order: t.Machine.Order, x: x, y: y, plain: tilted{format: m.C, bits: t.Machine.Stochastic.Bits}}
	found, reached, err := z.exceeds(ctx, limit, e)
	if err == nil && found.Rate == 0 && 0 < reached && reached < limit {
		found, _, err = z.exceeds(ctx, reached, e)
		found.Level = reached / limit
		found.Samples *= 2
	}
	return found, err
}

// A tilter draws tilted sums of some products.
type tilter struct {
	order tcore.Order
	x, y  []float64
	plain tilted
}

// draw draws a sum by one of the tilts.
func (t *tilter) draw(θs [tilts]float64, by int, r *rand.Rand) tilted {
	z := t.plain
	z.r, z.tilts, z.by = r, θs, by
	z.dot(t.order, t.x, t.y)
	return z
}

// exceeds estimates the probability that |D̂ - D| exceeds the limit, and
// returns how far tilting reaches.
func (t *tilter) exceeds(ctx context.Context, limit float64, e Effort) (z Estimate, reached float64, err error) {
	up, most := t.tiltFor(1, limit, e.Seed)
	down, least := t.tiltFor(-1, limit, e.Seed)
	θs := [tilts]float64{up, down, up / 2, down / 2}
	weights := make([][]float64, e.Runs) // of the sums that exceed the limit
	var mu sync.Mutex
	done := 0
	parallel.Each(e.Runs, func(run int) {
		r := stream(e.Seed, uint64(run), 0, 0)
		for i := range e.Samples {
			if ctx.Err() != nil {
				return
			}
			if z := t.draw(θs, i%tilts, r); math.Abs(z.err) > limit*(1+slack) {
				weights[run] = append(weights[run], z.weight())
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; e.Progress != nil {
			e.Progress(done, e.Runs)
		}
	})
	if err := ctx.Err(); err != nil {
		return z, 0, err
	}
	rates := make([]float64, e.Runs)
	for i, w := range weights {
		rates[i] = floats.Sum(w) / float64(e.Samples)
	}
	z = estimate(rates)
	z.Seed, z.Samples = e.Seed, e.Runs*e.Samples
	if all := slices.Concat(weights...); len(all) > 0 {
		floats.Scale(1/floats.Max(all), all) // so that no square underflows
		sum := floats.Sum(all)
		z.Effective, z.Largest = sum*sum/floats.Dot(all, all), 1/sum
	}
	return z, max(most, least), nil
}

// tiltFor returns the θ of a sign for which the error of a few sums has the
// limit as its mean, on that side, or nine tenths of what they reach if that is
// less; and these nine tenths.
func (t *tilter) tiltFor(sign, limit float64, seed uint64) (θ, reached float64) {
	const few = 16
	mean := func(θ float64) (sum, largest float64) {
		for i := range few {
			z := t.draw([tilts]float64{sign * θ}, 0, stream(seed, math.MaxUint64, 1, i))
			sum, largest = sum+sign*z.err/few, max(largest, z.largest)
		}
		return sum, largest
	}
	_, largest := mean(0)
	if largest == 0 { // no sum is rounded
		return 0, 0
	}
	lo, hi := 0.0, 64/largest // where the greatest steps are all but certain
	most, _ := mean(hi)
	reached = 0.9 * most
	limit = min(limit, reached)
	for range 25 {
		θ := (lo + hi) / 2
		if z, _ := mean(θ); z < limit {
			lo = θ
		} else {
			hi = θ
		}
	}
	return sign * lo, reached
}

// tilts is the number of θ in the mixture.
const tilts = 4

// A tilted is one sum whose roundings are tilted by one of the θ.
type tilted struct {
	format tcore.Format
	bits   int
	r      *rand.Rand
	tilts  [tilts]float64
	by     int

	err     float64        // Σ r
	kappas  [tilts]float64 // Σ κ(θ)
	largest float64        // of the steps
}

// An uncertain is a rounding: a step away from zero of h, which is signed, with
// probability p, and the number from which it steps lies below the sum by rest.
type uncertain struct{ h, p, rest float64 }

// kappa returns log E e^θr, where r is h - rest with probability p, or else
// -rest, and the tilted probability of the former.
func (u uncertain) kappa(θ float64) (κ, p float64) {
	a := θ * u.h
	m := max(a, 0) // so that nothing overflows
	up, down := u.p*math.Exp(a-m), (1-u.p)*math.Exp(-m)
	return m + math.Log(up+down) - θ*u.rest, up / (up + down)
}

// fma returns ab + c rounded to one of its neighbours.
func (t *tilted) fma(a, b, c float64) float64 {
	toZero := t.format.FMA(a, b, c, tcore.ToZero)
	away := t.format.FMA(a, b, c, tcore.ToPositive)
	if away == toZero {
		away = t.format.FMA(a, b, c, tcore.ToNegative)
	}
	if away == toZero { // a number of the format
		return toZero
	}
	u := uncertain{h: away - toZero}
	u.rest, u.p = fraction(a, b, c, toZero, u.h, t.bits)
	var p [tilts]float64
	for i, θ := range t.tilts {
		var κ float64
		κ, p[i] = u.kappa(θ)
		t.kappas[i] += κ
	}
	t.err, t.largest = t.err-u.rest, max(t.largest, math.Abs(u.h))
	if t.r.Float64() < p[t.by] {
		t.err += u.h
		return away
	}
	return toZero
}

// fraction returns by how much ab + c lies beyond the number from, and that as
// a fraction of h truncated to so many bits. a, b and c have few enough bits
// that ab is a binary64.
func fraction(a, b, c, from, h float64, bits int) (rest, p float64) {
	ab := float64(a * b)
	s := ab + c
	z := s - ab
	lost := float64(ab-(s-z)) + (c - z)
	whole := math.Ldexp((s-from)/h, bits) // exact: h is a power of two
	tail := math.Ldexp(lost/h, bits)
	n := math.Floor(whole)
	m := math.Floor(whole - n + tail) // their sum rounds to no integer, as tail is below the last bit of the other
	return (s - from) + lost, math.Ldexp(n+m, -bits)
}

// dot adds the products as the machine does.
func (t *tilted) dot(o tcore.Order, x, y []float64) float64 {
	if o == tcore.InPairs {
		return t.pairs(x, y)
	}
	s := 0.0
	for i := range x {
		s = t.fma(x[i], y[i], s)
	}
	return s
}

// pairs adds two halves, the first a power of two of products.
func (t *tilted) pairs(x, y []float64) float64 {
	if len(x) == 1 {
		return t.fma(x[0], y[0], 0)
	}
	half := 1
	for 2*half < len(x) {
		half *= 2
	}
	return t.fma(t.pairs(x[:half], y[:half]), 1, t.pairs(x[half:], y[half:]))
}

// weight returns the likelihood of the roundings over that of the mixture of
// all tilts from which they are drawn.
func (t *tilted) weight() float64 {
	var logs [tilts]float64
	for i, θ := range t.tilts {
		logs[i] = θ*t.err - t.kappas[i]
	}
	return tilts * math.Exp(-floats.LogSumExp(logs[:]))
}
