package tcore

import "fmt"

// Order is the order of summation of the products within one part of K.
type Order int

const (
	InSequence  Order = iota // left to right, block by block, as the device does
	InPairs                  // a binary tree of least height, as software does with a device of FMAs
	Compensated              // left to right, with the errors of all operations computed and added (Dot2)
)

// String returns the order in words.
func (o Order) String() string {
	switch o {
	case InSequence:
		return "in sequence"
	case InPairs:
		return "in pairs"
	case Compensated:
		return "compensated"
	}
	return fmt.Sprintf("Order(%d)", int(o))
}

// A scalarChain adds the products of one part of K by one FMA after the other,
// in an order that software chooses or with stochastic rounding.
type scalarChain struct {
	format     Format
	stochastic Stochastic
	index      uint64 // of the next rounding
}

// fma returns fl(ab + c).
func (s *scalarChain) fma(a, b, c float64) float64 {
	if s.stochastic.Bits == 0 {
		return s.format.FMA(a, b, c, ToNearestEven)
	}
	s.index++
	return s.stochastic.FMA(s.format, a, b, c, s.index-1)
}

func (s *scalarChain) add(a, b float64) float64 { return s.fma(a, 1, b) }

// dot returns Σ xᵢyᵢ in order o.
func (s *scalarChain) dot(o Order, x, y []float64) float64 {
	switch o {
	case InPairs:
		return s.inPairs(x, y)
	case Compensated:
		return s.compensated(x, y)
	}
	z := 0.0
	for i := range x {
		z = s.fma(x[i], y[i], z)
	}
	return z
}

// inPairs returns the sum of two halves, each summed in pairs. The number of
// products in the first half is the greatest power of two below len(x).
func (s *scalarChain) inPairs(x, y []float64) float64 {
	if len(x) == 1 {
		return s.fma(x[0], y[0], 0)
	}
	half := 1
	for 2*half < len(x) {
		half *= 2
	}
	return s.add(s.inPairs(x[:half], y[:half]), s.inPairs(x[half:], y[half:]))
}

// compensated returns the sum of the products, computed in sequence, plus the
// sum of the errors of all operations. To nearest, these errors are numbers of
// the format (Ogita, Rump & Oishi 2005, Algorithm 5.3, the error of a product
// by an FMA).
func (s *scalarChain) compensated(x, y []float64) float64 {
	sum, errors := 0.0, 0.0
	for i := range x {
		product := s.fma(x[i], y[i], 0)
		lost := s.fma(x[i], y[i], -product)
		if i == 0 {
			sum, errors = product, lost
			continue
		}
		next := s.add(sum, product)
		taken := s.add(next, -sum) // the part of the product that next contains
		cut := s.add(s.add(sum, -s.add(next, -taken)), s.add(product, -taken))
		sum, errors = next, s.add(errors, s.add(cut, lost))
	}
	return s.add(sum, errors)
}
