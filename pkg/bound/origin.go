package bound

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
)

// An origin is how a distribution was made, which tells its law in full.
type origin struct {
	source
	of     moments
	draw   uintptr // the code of Draw
	lo, hi float64 // every x is between them

	between  func(a, b float64) float64 // P(a < x < b) of a continuous law; or
	elements []float64                  // all numbers, equally likely

	once  sync.Once
	above *valueLaw // see coarse
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
func (d Distribution) from(o *origin) Distribution {
	o.of, o.draw = d.moments(), codeOf(d.Draw)
	d.origin = o
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

// fourth returns E x⁴, or more.
func (d Distribution) fourth() float64 {
	o := d.made()
	switch {
	case d.normal:
		m, s := d.Mean*d.Mean, d.variance()
		return m*m + 6*m*s + 3*s*s
	case o != nil:
		return o.coarse().mean(func(x float64) float64 { return x * x * x * x })
	}
	return d.Square * d.Max * d.Max
}

// coarse returns a law of few numbers for that of a bounded distribution, of the same mean, under which
// no convex function has a smaller one: between two of the numbers every x is replaced by them, with
// probabilities that leave its mean.
func (o *origin) coarse() *valueLaw {
	o.once.Do(func() {
		const panels = 64
		ends := make([]float64, 0, 2*panels+1)
		for i := range panels {
			ends = append(ends, o.lo+(o.hi-o.lo)*float64(i)/panels)
		}
		ends = append(ends, o.hi)
		if o.uniform {
			o.above = trapezoids(ends)
			return
		}
		sample := slices.Clone(o.elements)
		if len(sample) > 1<<12 { // of so many numbers all over, the quantiles will do
			sample = sample[:0]
			for i := range 1 << 12 {
				sample = append(sample, o.elements[i*(len(o.elements)>>12)])
			}
		}
		slices.Sort(sample)
		for i := 1; i < panels/2; i++ {
			ends = append(ends, sample[i*len(sample)*2/panels])
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
		o.above = chords(ends, o.elements)
	})
	return o.above
}

// trapezoids returns the coarse law of the uniform distribution.
func trapezoids(ends []float64) *valueLaw {
	n := len(ends) - 1
	l := &valueLaw{ends, make([]float64, n+1)}
	for i := range n {
		l.probabilities[i] += 0.5 / float64(n)
		l.probabilities[i+1] += 0.5 / float64(n)
	}
	return l
}

// chords returns the coarse law of elements.
func chords(ends, elements []float64) *valueLaw {
	l := &valueLaw{ends, make([]float64, len(ends))}
	n := float64(len(elements))
	for _, x := range elements {
		i, found := slices.BinarySearch(ends, x)
		if found {
			l.probabilities[i] += 1 / n
			continue
		}
		right := (x - ends[i-1]) / (ends[i] - ends[i-1])
		l.probabilities[i-1] += (1 - right) / n
		l.probabilities[i] += right / n
	}
	return l
}
