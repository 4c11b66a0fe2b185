package bound

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// errorOfParts returns the moments of the error of an output, given the model
// of one chain: those of the parts of K, which are independent, and those of
// adding the parts in binary32.
func (k Problem) errorOfParts(chain truncation.RunningSum) (truncation.ErrorMoments, error) {
	if k.planned != nil {
		return k.errorOf(k.planned.Order, k.K, chain)
	}
	length, n := k.Length(), k.parts()
	e := chain.Error(k.K - (n-1)*length)
	if n == 1 {
		return e, nil
	}
	r, err := newResponse(k.edges(length), k.newPartAdder().step)
	if err != nil {
		return e, err
	}
	additions := truncation.RunningSum{Terms: length, Products: chain.Products, Step: r.mean}
	return add(add(e, float64(n-1), chain.Error(length)), 1, additions.Error(k.K)), nil
}

// longestPart is the largest number of products in one of several parts whose
// additions are predicted.
const longestPart = 1 << 20

// partAdder adds sums of parts of K, computed on the device, to random running
// sums in binary32.
type partAdder struct {
	k    Problem
	sums []float32 // of parts
	grid float64   // a power of two that divides them all
	rng  *rand.Rand

	partial tcore.Format // to which a part is rounded first; the zero value does not round
}

// newPartAdder computes sums of parts.
func (k Problem) newPartAdder() *partAdder {
	const batches, seed, elements = 2, 241118747, 1 << 22
	n := min(128, max(8, elements/k.Length())) // few long parts, so that they fit memory
	p := &partAdder{k: k, rng: rand.New(rand.NewPCG(seed, 1))}
	factors, z := k.newRandomFactors(n, k.Length(), p.rng), matrix.New(n, n)
	for range batches {
		factors.draw()
		factors.multiplyAdd(blas32.General{}, z)
		p.sums = append(p.sums, z.Data...)
	}
	p.grid = lastBit(p.sums)
	return p
}

// step returns the moments of the error of adding a part to running sums in
// [lo, hi] that are multiples of the last bit of parts. The error says that a
// sum overflowed.
func (p *partAdder) step(lo, hi float64) (truncation.ErrorMoments, error) {
	const samples = 1 << 15
	var t tally
	for i := range samples {
		x := p.sums[i%len(p.sums)]
		s := float32(p.grid * math.Round((lo+(hi-lo)*p.rng.Float64())/p.grid))
		z := s
		if p.partial == (tcore.Format{}) {
			z += x
		} else {
			z += float32(p.partial.Round(float64(x), tcore.ToNearestEven))
		}
		if z-z != 0 {
			return truncation.ErrorMoments{}, fmt.Errorf("bound: no prediction for %s: %v and a part of %v overflow", p.k.Device.Name, s, x)
		}
		t.add(float64(z)-(float64(s)+float64(x)), float64(x))
	}
	return t.moments(float64(p.k.Length())*p.k.ProductMoments().Mean, true), nil
}
