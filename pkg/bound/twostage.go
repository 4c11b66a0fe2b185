package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// What the two stages of a [tcore.TwoStage] keep: of products, and of c, below
// the exponent that they are aligned to, of the sum of products, and of the
// result below its leading bit.
const (
	productBits = 24
	sumBits     = 32
	resultBits  = 31
)

// noStages returns why the problem is not one that aligns products and then
// their sum, or "".
func noStages(k Problem) string {
	if _, ok := k.Device.Core.(tcore.TwoStage); !ok {
		return k.Device.Name + " does not align products before their sum"
	}
	return ""
}

// firstStage returns the problem with the first stage of its machine in place
// of both, and whether it has one.
func (k Problem) firstStage() (Problem, bool) {
	c, ok := k.Device.Core.(tcore.TwoStage)
	if ok {
		k.Device.Core = tcore.Fused{Terms: c.Terms / c.Parts, FractionBits: productBits, Result: k.Device.C}
	}
	return k, ok
}

// A stagePart is products of a block that are aligned together.
type stagePart struct {
	terms    int
	exponent int
	grid     float64 // 2^(exponent-24)
}

// A stage is one block of a machine of two stages, as its exponents and sums
// tell.
type stage struct {
	parts []stagePart
	top   int     // the greatest exponent of products
	moved float64 // what rounding c down did to it
	down  float64 // all that is rounded down else is less than that
	ulp   float64 // of the result, that rounding errs by half of; 0 if it does not
}

// stages calls f with the blocks of an output that has an exponent for every
// part.
//
// The sum and c are rounded down to multiples of 2^(e-32) and 2^(e-24), e being
// the greater exponent of top and of c. What they add up to is rounded down to
// 31 bits below its leading one, and then to nearest: not at all if the unit in
// the last place is no more than 2^(e-32), or than what divides all products
// and with them all sums. In two parts, the part of the lesser exponent is
// rounded down to the grid of the other, and c is left out where it is less
// than 2^(e-25).
func (o Entry) stages(k Problem, f func(s stage)) {
	c := k.Device.Core.(tcore.TwoStage)
	products := k.productGrid()
	parts := make([]stagePart, c.Parts)
	before := 0.0
	for i, after := range o.Sums {
		s := stage{parts: parts, top: math.MinInt}
		n := min(c.Terms, k.K-i*c.Terms)
		for j := range parts {
			E := o.Exponents[i*c.Parts+j]
			parts[j] = stagePart{(n + c.Parts - 1 - j) / c.Parts, E, math.Ldexp(1, E-productBits)}
			s.top = max(s.top, E)
		}
		grid := max(math.Ldexp(1, s.top-productBits), products) // of all that is kept of products
		if c.Parts == 2 {
			s.down += max(0, grid-max(min(parts[0].grid, parts[1].grid), products))
		}
		ec := exponentOf(k.Device.C, before)
		e := max(s.top, ec)
		unit := math.Ldexp(1, e-sumBits)
		s.down += max(0, unit-grid)
		switch g := math.Ldexp(1, e-productBits); {
		case c.Parts == 2 && ec < e-productBits-1:
			s.moved = -before
		default:
			s.moved = g*math.Floor(before/g) - before
		}
		lead := exponentOf(k.Device.C, after)
		unit = max(unit, products) // all that is added is a multiple of it
		s.down += max(0, math.Ldexp(1, lead-resultBits)-unit)
		if ulp := math.Ldexp(1, lead-k.Device.C.Precision+1); ulp > unit {
			s.ulp = ulp
		}
		f(s)
		before = after
	}
}

// exponentOf returns the exponent of x, that of the least normal number if it
// is less.
func exponentOf(f tcore.Format, x float64) int {
	if x == 0 {
		return f.Emin
	}
	return max(math.Ilogb(x), f.Emin)
}

// stageSums is [TruncationSums] of a machine of two stages. A part of n
// products cuts 2^(E-24) off all but one, that of exponent E, at most.
func (k Problem) stageSums(_ tcore.TwoStage, o Entry) Interval {
	z, products := Interval{}, k.productGrid()
	o.stages(k, func(s stage) {
		for _, p := range s.parts {
			z.Radius += float64(max(0, p.terms-1)) * max(0, p.grid-products)
		}
		z.Centre += s.moved - s.down/2
		z.Radius += s.down/2 + s.ulp/2
	})
	return z
}

// meet returns where an error lies that lies in both intervals; i if it can be
// in both nowhere.
func (i Interval) meet(j Interval) Interval {
	lo := max(i.Centre-i.Radius, j.Centre-j.Radius)
	hi := min(i.Centre+i.Radius, j.Centre+j.Radius)
	if !(lo <= hi) {
		return i
	}
	return Interval{(lo + hi) / 2, (hi - lo) / 2}
}

// TwoStageInterval is what is known for sure of an error on a machine of two
// stages of which all but the bits are known that the first stage cut off the
// products. Of a product of exponent e and f bits after the point, aligned to
// E, it is 0 if e - f >= E - 24, and else between 0 and 2^(E-24) - 2^(e-f),
// with its sign.
var TwoStageInterval = register(Bound{
	Name:   "two-stage-interval",
	Source: "derived from the arithmetic of Xie et al. 2025",
	Model:  Truncating,
	Needs:  Trace,
	Fails:  noStages,
	Interval: func(k Problem, o Entry, _ roundoff.Failure) Interval {
		if noStages(k) != "" || len(o.Stages) == 0 {
			return Interval{nan, nan}
		}
		return o.stageInterval()
	},
})

func (o Entry) stageInterval() Interval {
	var z Interval
	for _, s := range o.Stages {
		z.Centre += s.Moved
		z.Radius += math.Ldexp(1, s.Exponent-70) // to which Moved is exact
		for _, p := range s.Parts {
			z.Centre -= (p.Least + p.Most) / 2
			z.Radius += (p.Most - p.Least) / 2
		}
	}
	return z
}
