package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The numbers of bits that the two stages of a [tcore.TwoStage] keep. Products,
// and c, keep productBits below the exponent to which they are aligned. The sum
// of the products keeps sumBits below that exponent. The result keeps
// resultBits below its leading bit.
const (
	productBits = 24
	sumBits     = 32
	resultBits  = 31
)

// noStages returns why the machine does not align products first and then their
// sum, or "".
func noStages(k Problem) string {
	if _, ok := k.Device.Core.(tcore.TwoStage); !ok {
		return k.Device.Name + " does not align products before their sum"
	}
	return ""
}

// firstStage returns the problem with a machine of the first stage alone, and
// whether the machine has two stages.
func (k Problem) firstStage() (Problem, bool) {
	c, ok := k.Device.Core.(tcore.TwoStage)
	if ok {
		k.Device.Core = tcore.Fused{Terms: c.Terms / c.Parts, FractionBits: productBits, Result: k.Device.C}
	}
	return k, ok
}

// A stagePart is the products of a block that are aligned together.
type stagePart struct {
	terms    int
	exponent int
	grid     float64 // 2^(exponent-24)
}

// A stage is one block of a machine of two stages, derived from its exponents
// and sums.
type stage struct {
	parts []stagePart
	top   int     // the greatest exponent of products
	moved float64 // the change of c by rounding it down
	// The other quantities that are rounded down lose less than this in total.
	down float64
	ulp  float64 // of the result, if rounding it to nearest can have an error; else 0
}

// stages calls f with every block of an output that has an exponent for each
// part.
//
// Let e be the greater of top and the exponent of c. The sum of the products is
// rounded down to a multiple of 2^(e-32), and c to a multiple of 2^(e-24).
// Their sum is rounded down to 31 bits below its leading bit, and then to
// nearest. Rounding to nearest is exact if the unit in the last place is at
// most 2^(e-32), or at most the power of two that divides all products and
// therefore all sums. With two parts, the part of the lesser exponent is
// rounded down to the grid of the other, and c is discarded where it is less
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
		grid := max(math.Ldexp(1, s.top-productBits), products) // of the kept bits of all products
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
		unit = max(unit, products) // divides all terms of the sum
		s.down += max(0, math.Ldexp(1, lead-resultBits)-unit)
		if ulp := math.Ldexp(1, lead-k.Device.C.Precision+1); ulp > unit {
			s.ulp = ulp
		}
		f(s)
		before = after
	}
}

// exponentOf returns the exponent of x, but at least that of the least normal
// number.
func exponentOf(f tcore.Format, x float64) int {
	if x == 0 {
		return f.Emin
	}
	return max(math.Ilogb(x), f.Emin)
}

// stageSums is [TruncationSums] for a machine of two stages. In a part with n
// products, at least one has exponent E and loses nothing; each of the others
// loses less than 2^(E-24).
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

// meet returns the intersection of two intervals that both contain the error,
// or i if they do not intersect.
func (i Interval) meet(j Interval) Interval {
	lo := max(i.Centre-i.Radius, j.Centre-j.Radius)
	hi := min(i.Centre+i.Radius, j.Centre+j.Radius)
	if !(lo <= hi) {
		return i
	}
	return Interval{(lo + hi) / 2, (hi - lo) / 2}
}

// TwoStageInterval contains the error of a machine of two stages with
// certainty, given everything but the bits that the first stage discarded from
// the products. A product of exponent e with f bits after the point, aligned to
// E, loses nothing if e - f >= E - 24. Otherwise its loss is between 0 and
// 2^(E-24) - 2^(e-f) in size, with the sign of the product.
var TwoStageInterval = register(Bound{
	Name:    "two-stage-interval",
	Source:  "derived from the arithmetic of Xie et al. 2025",
	Formula: `\lvert\mathrm{err} + A + \tfrac12\sum_j \mathrm{sgn}(p_j)\,c_j\rvert \le \tfrac12\sum_j c_j,\quad c_j = \max(0,\ g_i - 2^{e_j-f})`,
	Model:   Truncating,
	Needs:   Trace,
	Fails:   noStages,
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
		z.Radius += math.Ldexp(1, s.Exponent-70) // the error of Moved
		for _, p := range s.Parts {
			z.Centre -= (p.Least + p.Most) / 2
			z.Radius += (p.Most - p.Least) / 2
		}
	}
	return z
}
