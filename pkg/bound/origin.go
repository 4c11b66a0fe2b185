package bound

import (
	"math/rand/v2"
	"reflect"
)

// An origin is how a distribution was made, which tells its law in full.
type origin struct {
	source
	of     moments
	draw   uintptr // the code of Draw
	lo, hi float64 // every x is between them

	between  func(a, b float64) float64 // P(a < x < b) of a continuous law; or
	elements []float64                  // all numbers, equally likely
}

// A source is what tells the laws of origins apart: equal sources have the same law. The zero value
// is that of a law that is not known.
type source struct {
	uniform bool
	a, b    float64
	id      *int // of a matrix
}

// moments is what a distribution says of a law.
type moments struct {
	mean, square, abs, max float64
	symmetric, normal      bool
}

func (d Distribution) moments() moments {
	return moments{d.Mean, d.Square, d.Abs, d.Max, d.Symmetric, d.normal}
}

// from returns the distribution with how it was made.
func (d Distribution) from(o origin) Distribution {
	o.of, o.draw = d.moments(), codeOf(d.Draw)
	d.origin = &o
	return d
}

// made returns how the distribution was made, nil if that is not known: it was put together by hand, or
// is no longer what it was made.
func (d Distribution) made() *origin {
	if o := d.origin; o != nil && o.of == d.moments() && o.draw == codeOf(d.Draw) {
		return o
	}
	return nil
}

// codeOf returns the address of a function's code.
func codeOf(draw func(*rand.Rand) float64) uintptr {
	if draw == nil {
		return 0
	}
	return reflect.ValueOf(draw).Pointer()
}

// support returns the least and the greatest x that there may be.
func (d Distribution) support() (lo, hi float64) {
	if o := d.made(); o != nil {
		return o.lo, o.hi
	}
	return -d.Max, d.Max
}

// uniform returns the ends of a uniform distribution, and whether it is one.
func (d Distribution) uniform() (lo, hi float64, ok bool) {
	if o := d.made(); o != nil && o.uniform {
		return o.lo, o.hi, true
	}
	return 0, 0, false
}

// fourth returns E x⁴, or more.
func (d Distribution) fourth() float64 {
	if d.normal {
		m, s := d.Mean*d.Mean, d.variance()
		return m*m + 6*m*s + 3*s*s
	}
	return d.Square * d.Max * d.Max
}
